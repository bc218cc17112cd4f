"""What a deal changes in the probability of winning, by the score at which it starts.

    crib evaluate master expert --env five_card_v0 --pairs 10000 --by-score

The result of a whole game hardly shows where an agent wins it. This command plays single deals,
each twice with the seats swapped, from scores that games of `rule_based` reach. The win table of
`expert` values the score at the end of a deal. This is cheaper than whole games and shows every
score separately. The output groups scores by the points that the nearer seat still needs. It shows
the first agent's gain per deal and per game, as if it played its own way only at those scores, and
like the second agent at all others.
"""

from __future__ import annotations

from itertools import chain, pairwise
from typing import Any

import numpy as np
from crib_agents.knowledge.winning import WON, probabilities

from crib_env.arrays import Array
from crib_env.batch import GameBatch
from crib_env.options import set_scores
from crib_env.policy import Agent, find_agent
from crib_env.rules import LARGEST_TARGET, Rules, TwoHandRules
from crib_env.supported_rules import refuse_rules
from crib_training.evaluation.duplicate import PAIRS_AT_ONCE, estimate
from crib_training.evaluation.figures import as_json, shown
from crib_training.outputs import table
from crib_training.progress import steps

GAMES = 4000  # of which the scores are taken
DEALER = 1  # the seat that deals
BOUNDS = (0, 5, 10, 15, 20, 30, 40, 60, 80, LARGEST_TARGET)


def deal_starts(
    games: GameBatch, agent: Agent, rng: np.random.Generator
) -> tuple[Array, Array, Array]:
    """Play games to their end by one agent; return the starts of their deals.

    Returns the games, int64[N], the scores then, int64[N, sides], and the dealers, int64[N].
    """
    games.reset()
    found, dealt = [], np.zeros(games.n, dtype=np.int64)
    for lanes in chain([games.running()], games.play(agent, rng)):
        new = lanes[games.states["deals"][lanes] > dealt[lanes]]
        states = games.states[new]
        found.append((new, states["scores"][:, : games.tally.shape[1]], states["dealer"]))
        dealt[new] += 1
    lanes, scores, dealers = (np.concatenate(column) for column in zip(*found, strict=True))
    return lanes, scores, dealers


def dealt_at(rules: TwoHandRules, seed_seq: np.random.SeedSequence) -> tuple[Array, float]:
    """Return the scores at which deals start in games of `rule_based`, and the deals per game.

    Shapes: the result int64[N, 2], pone's and the dealer's.
    """
    cards, chance = seed_seq.spawn(2)
    games, rng = GameBatch(rules, GAMES, seed=cards), np.random.default_rng(chance)
    _, scores, dealers = deal_starts(games, find_agent("rule_based"), rng)
    roles = np.stack([1 - dealers, dealers], axis=1)
    return np.take_along_axis(scores, roles, axis=1), len(scores) / GAMES


def play_deals(
    rules: TwoHandRules,
    scores: Array,
    agents: tuple[Agent, Agent],
    swapped: int,
    cards: np.random.SeedSequence,
    rngs: list[np.random.Generator],
) -> Array:
    """Play one deal from each of the scores; ``agents[swapped]`` is pone.

    Returns float64[N], the first agent's probability of winning when the deal has ended.
    """
    games = GameBatch(rules, len(scores), seed=cards)
    games.reset(dealer=DEALER)
    begun = games.states.copy()
    set_scores(begun, scores)
    games.states[:] = begun
    lanes = games.running()
    while len(lanes):
        mover = games.movers(lanes) ^ swapped
        for player, agent in enumerate(agents):
            games.ask(agent, lanes[mover == player], rngs[player])
        lanes = games.running(lanes)
        lanes = lanes[games.states["deals"][lanes] == 1]
    left = np.maximum(rules.target - games.states["scores"], 0)
    deals_next = int(swapped != DEALER)  # pone does
    wins = probabilities(rules.dealt, rules.target)[..., WON].sum(axis=3)
    expected = wins[deals_next, left[:, swapped], left[:, 1 - swapped]]
    over = games.states["over"] == 1
    won: Array = games.states["winner"] == swapped
    ended: Array = np.where(over, won, expected)
    return ended


def gains(
    rules: TwoHandRules,
    agents: tuple[Agent, Agent],
    scores: Array,
    seed_seq: np.random.SeedSequence,
) -> Array:
    """Return the first agent's gain in each deal, the mean over both seats, float64[N]."""
    parts = np.array_split(scores, -(-len(scores) // PAIRS_AT_ONCE))
    found = []
    what = f"{agents[0].name} against {agents[1].name}, deals, in parts"
    for part, one in zip(steps(parts, what), seed_seq.spawn(len(parts)), strict=True):
        cards, *chance = one.spawn(3)
        rngs = [np.random.default_rng(of_agent) for of_agent in chance]
        both = [play_deals(rules, part, agents, swapped, cards, rngs) for swapped in (0, 1)]
        found.append((both[0] + both[1]) / 2 - 0.5)
    return np.concatenate(found)


def by_score(rules: Rules, agents: tuple[Agent, Agent], pairs: int, seed: int) -> dict[str, Any]:
    """Return at which scores the first agent gains games, ready for JSON."""
    if not isinstance(rules, TwoHandRules):
        raise ValueError(f"--by-score is for six and five cards, not the rules {rules.name}")
    for agent in agents:
        refuse_rules(agent, rules, "game")
    of_scores, drawn, played = np.random.SeedSequence(seed).spawn(3)
    known, deals = dealt_at(rules, of_scores)
    scores = known[np.random.default_rng(drawn).integers(len(known), size=pairs)]
    gained = gains(rules, agents, scores, played)
    to_make = rules.target - scores.max(axis=1)
    ranges = [(low + 1, min(high, rules.target)) for low, high in pairwise(BOUNDS)]
    rows = {f"{low} to {high}": (low <= to_make) & (to_make <= high) for low, high in ranges}
    rows["all"] = np.ones(pairs, dtype=bool)
    return {
        "first": agents[0].name,
        "second": agents[1].name,
        "rules": rules.name,
        "pairs": pairs,
        "seed": seed,
        "deals_per_game": deals,
        "scores": {
            name: {
                "deals": float(here.mean()),
                "per_deal": as_json(estimate(gained[here])),
                "per_game": as_json(estimate(deals * gained * here)),
            }
            for name, here in rows.items()
            if here.any()
        },
    }


def score_table(result: dict[str, Any]) -> str:
    """Return the result of `by_score` as a Markdown table, in percent."""
    return table(
        ["to make", "deals of all", "gains per deal", "gains per game"],
        [
            [name, f"{100 * row['deals']:.0f} %",
             *(shown(row[key], 100, 2, " %") for key in ("per_deal", "per_game"))]
            for name, row in result["scores"].items()
        ],
    )  # fmt: skip
