"""Random hands for the tables of both two-hand games, and the points of a crib."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt
from crib_agents.kernels.two_hand import choose_pair
from crib_agents.loading import load_agent
from crib_agents.rule_based import hand_and_crib
from crib_training.progress import steps

from crib_env.arrays import Array
from crib_env.batch import GameBatch
from crib_env.engine.jit import kernel
from crib_env.engine.ranks import CHOOSE, SUITS, multiset_number, rank_counts
from crib_env.engine.record import NONE
from crib_env.engine.rng import WORDS, draw_unused, seed_words
from crib_env.engine.show import add_card, with_starter
from crib_env.engine.two_hand import HAND, VIEW
from crib_env.policy import Agent
from crib_env.rules import Rules, TwoHandRules

GAMES = ("hoyle", "five_card")


def both_games(seed: int) -> Iterator[tuple[TwoHandRules, np.random.SeedSequence]]:
    """Yield the rules of six and of five cards, each with its own seed."""
    for name, seed_seq in zip(GAMES, np.random.SeedSequence(seed).spawn(len(GAMES)), strict=True):
        yield TwoHandRules.preset(name), seed_seq


def batches(
    rules: Rules, n: int, at_once: int, seed_seq: np.random.SeedSequence, title: str, **options: Any
) -> Iterator[tuple[GameBatch, np.random.Generator]]:
    """Yield ``n`` games in batches of ``at_once`` at most, with a generator for each.

    The games are not reset. ``title`` is shown with the progress; ``options`` are `GameBatch`'s.
    """
    for i, part in enumerate(steps(seed_seq.spawn(-(-n // at_once)), f"{rules.name}, {title}, in parts")):
        cards, chance = part.spawn(2)
        games = GameBatch(rules, min(at_once, n - i * at_once), seed=cards, **options)
        yield games, np.random.default_rng(chance)


best_pair = choose_pair(hand_and_crib)  # as `rule_based` discards


@kernel
def crib_points(table, a, b, c, d, starter, flush_size):
    """Return the points of a crib's four cards with the starter (C2, C4, H8)."""
    key, suits, jacks = 0, 0, 0
    for card in (a, b, c, d):
        key, suits, jacks = add_card(key, suits, jacks, card)
    return with_starter(table, key, suits, jacks, 4, starter, flush_size)


@kernel
def deal_hands(views, rng):
    """Deal a hand to each of two views, and return the cards dealt as a mask."""
    n = views[0]["dealt"]
    used = 0
    for i in range(2 * n):
        card = draw_unused(rng, used)
        used |= 1 << card
        views[i // n]["hand"][i % n] = card
    return used


def generator(seed: np.random.SeedSequence) -> Array:
    """Return a generator for kernels, int64[4], started from a seed."""
    rng = np.zeros(WORDS, dtype=np.int64)
    seed_words(rng, *seed.generate_state(3).astype(np.int64))
    return rng


def discard_views(rules: TwoHandRules) -> npt.NDArray[np.void]:
    """Return the views of the dealer and of pone about to discard, without their cards."""
    views = np.zeros(2, dtype=VIEW)
    views["hand"][:, rules.dealt : HAND] = NONE
    views["discarded"] = NONE
    views["hand_n"] = rules.dealt
    views["starter"] = NONE
    views["dealer"] = (0, 1)
    for field in fields(rules):
        if field.name in (VIEW.names or ()):
            views[field.name] = getattr(rules, field.name)
    return views


def ways_dealt(size: int) -> Array:
    """Return in how many ways each hand of ``size`` cards can be dealt, int64[hands]."""
    ways: Array = CHOOSE[SUITS, rank_counts(size)].prod(axis=1)
    return ways


def players_named(names: str) -> list[Agent]:
    """Return the agents of comma-separated names."""
    return [load_agent(name) for name in names.split(",")]


def kept_hands(games: GameBatch, seat: int) -> Array:
    """Return the number of the ranks that a seat keeps, among hands of its size, int64[games]."""
    assert isinstance(games.rules, TwoHandRules)
    slots = np.arange(games.rules.dealt)
    ranks = games.states["dealt"][:, HAND * seat + slots] // 4
    held = (games.states["discarded"][:, seat, None] >> slots & 1) == 0
    return multiset_number(np.sort(ranks[held].reshape(games.n, -1), axis=1))


def let_discard(games: GameBatch, agent: Agent, rng: np.random.Generator) -> Array:
    """Play an agent's discards for both seats in all games; return the running games, int64[K]."""
    lanes = games.running()
    assert isinstance(games.rules, TwoHandRules)
    for _ in range(2 * games.rules.discards):
        games.step_legal(lanes, agent.act(games.views(lanes), rng))
        lanes = games.running(lanes)
    return lanes
