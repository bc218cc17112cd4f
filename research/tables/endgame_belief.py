"""The hands that `expert` keeps and the cards that it leads near the end of a game.

`python -m research.tables endgame_belief`: `expert` discards and leads where both seats need few
points, each class of needs equally often. It plays with the present table, so a new table fits best
after a second run.

A rank's share of the leads is first estimated from its weight among the ranks of the hand, one
weight for each class, rank and whether the hand has a pair of it. The leads of the hand itself are
then added to that.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from crib_agents.data.tables import ENDGAME_BELIEF
from crib_agents.expert.discard import read_before
from crib_agents.expert.endgame import CLASS, CLASSES, LEAD_UNIT, REACH, TABLE_SETS, key_of, standing_at, standings
from crib_agents.knowledge.deal_points import load_outcomes
from crib_agents.knowledge.pegging import COUNTED, MOST, OF_SIZE, holdings
from crib_agents.loading import load_agent

from crib_env.arrays import Array
from crib_env.batch import GameBatch
from crib_env.engine.ranks import RANKS, multiset_number
from crib_env.engine.show import FOUR, KEYS, show_table
from crib_env.options import ResetOptions
from crib_env.rules import TwoHandRules
from crib_env.settings import Count, Seed
from research.tables.dealing import batches, both_games, let_discard
from research.tables.endgame import KEPT_DIGITS, LEAST_KEPT, kept_rates, share_of_needs, widened, win_now
from research.tables.maker import makes
from research.tables.rollouts import of_size

LANES = 2000
PASSES = 30  # of the fit of the weights
STEP = 0.7  # of a pass, on their logarithms
FEW = 2.0  # leads added to the seen and the expected ones of each weight
PRIOR = 4.0  # the weight of the estimate by weights, in leads of a hand in one class
FLAT = 0.1  # the share of leads modelled as drawn uniformly from the ranks of the hand


def needs_by_class(games: int, rng: np.random.Generator) -> Array:
    """Return drawn needs of pone and the dealer, int64[games, 2], each class equally often."""
    share = share_of_needs() / np.bincount(CLASS[1:], share_of_needs())[CLASS[1:]] / CLASSES
    needs: Array = rng.choice(np.arange(1, REACH + 1), size=(games, 2), p=share)
    return needs


def begin_near_the_end(games: GameBatch, rng: np.random.Generator) -> None:
    """Begin games in which both seats need few points; seat 1 deals."""
    scores = (games.rules.target - needs_by_class(games.n, rng)).tolist()
    games.reset_each([ResetOptions(dealer=1, scores=(pone, dealer)) for pone, dealer in scores])


def leads_of_expert(rules: TwoHandRules, deals: int, seed: np.random.SeedSequence) -> tuple[Array, Array, Array]:
    """Return each lead's set of tables (`key_of`), hand, numbered within its size, and rank."""
    expert, size = load_agent("expert"), rules.dealt - 2
    table = standings(win_now(rules), load_outcomes(rules.dealt))
    keys, hands, led = [], [], []
    for games, rng in batches(rules, deals, LANES, seed, "leads"):
        begin_near_the_end(games, rng)
        lanes = let_discard(games, expert, rng)
        views = games.views(lanes)
        held = np.sort(views["hand"][:, :size] // 4, axis=1)
        counts = show_table()[KEYS[views["starter"] // 4] + KEYS[held].sum(axis=1) + (FOUR if size == 3 else 0)]
        pone, dealer = (rules.target - views["scores"][:, :2]).T
        keys.append(
            [key_of(a, b, table[standing_at(0, count, a, b)]) for a, b, count in zip(pone, dealer, counts, strict=True)]
        )
        hands.append(multiset_number(held))
        led.append(np.asarray(expert.act(views, rng)) // 4)
    return np.concatenate(keys), np.concatenate(hands), np.concatenate(led)


def shares(keys: Array, hands: Array, led: Array, size: int) -> Array:
    """Return the share of each rank in the leads, float64[TABLE_SETS, hands, MOST]."""
    counted = holdings()[of_size(size), COUNTED]
    held = counted[:, None] >> (4 * np.arange(RANKS)) & 15  # [hands, RANKS]
    paired = (held > 1).astype(int)
    weights = np.ones((TABLE_SETS, RANKS, 2))
    seen = np.zeros_like(weights)
    np.add.at(seen, (keys, led, paired[hands, led]), 1.0)
    for _ in range(PASSES):
        expected = np.zeros_like(weights)
        by_rank = np.where(held[hands] > 0, weights[keys[:, None], np.arange(RANKS), paired[hands]], 0.0)
        by_rank /= by_rank.sum(axis=1, keepdims=True)
        np.add.at(expected, (keys[:, None], np.arange(RANKS), paired[hands]), by_rank)
        weights *= ((seen + FEW) / (expected + FEW)) ** STEP
    found = np.where(held > 0, weights[:, np.arange(RANKS), paired], 0.0)
    found /= found.sum(axis=-1, keepdims=True)
    found *= PRIOR
    np.add.at(found, (keys, hands, led), 1.0)
    found /= found.sum(axis=-1, keepdims=True)
    flat = (held > 0) / (held > 0).sum(axis=1, keepdims=True)
    found += FLAT * (flat - found)
    # in the order of the ranks held, as a holding lists them
    order = np.argsort(held == 0, axis=1, kind="stable")[:, :MOST]
    by_place: Array = np.take_along_axis(found, np.broadcast_to(order, (TABLE_SETS, *order.shape)), axis=-1)
    return by_place


@makes(ENDGAME_BELIEF)
def endgame_belief(leads: Count = 40_000, hands: Count = 40_000, seed: Seed = 2036) -> dict[str, Any]:
    """Find how often the expert keeps each hand near the end of a game, and leads each rank of it.

    Args:
        leads: deals of each game that the expert leads in.
        hands: hands of each role and class of needs that it discards from.
    """
    made: dict[str, list[Array]] = {"kept": [], "leads": []}
    for rules, seed_seq in both_games(seed):
        cards, play = seed_seq.spawn(2)
        kept = kept_rates(rules, hands, *read_before(), np.random.default_rng(cards))
        made["kept"].append(widened(kept.clip(LEAST_KEPT)).round(KEPT_DIGITS).astype(np.float32))
        keys, held, led = leads_of_expert(rules, leads, play)
        found = shares(keys, held, led, rules.dealt - 2)
        wide = np.zeros((TABLE_SETS, OF_SIZE[MOST], MOST), np.uint8)
        wide[:, : found.shape[1]] = np.round(found * LEAD_UNIT)
        made["leads"].append(wide)
    return {name: np.stack(arrays) for name, arrays in made.items()}
