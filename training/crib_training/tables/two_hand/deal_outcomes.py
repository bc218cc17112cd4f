"""Measure the points of a deal, ``deal_outcomes.json``, for the win table.

    crib tables deal_outcomes --agent rule_based

An agent plays single deals from 0-0 against itself (a few seconds per 100,000). The command prints
the means, and how far the parts of a deal are from independent, which the win table assumes. It
also prints the first dealer's probability of winning that follows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from crib_agents.data.tables import DEAL_OUTCOMES
from crib_agents.knowledge.measured import (
    COUNT_SIZE,
    MOST_PLAY,
    PLAY_SIZE,
)
from crib_agents.knowledge.winning import WON, probabilities
from crib_agents.loading import load_agent

from crib_env.arrays import Array
from crib_env.batch import GameBatch
from crib_env.policy import Agent
from crib_env.rules import TwoHandRules
from crib_env.settings import Count, NewFile, Seed, checked_dataclass
from crib_training.progress import steps
from crib_training.tables.files import write
from crib_training.tables.two_hand.dealing import GAMES, both_games

DEALER, PONE = 0, 1
LANES = 100_000
COUNTS = ("pone's play", "dealer's play", "pone's hand", "dealer's hand", "crib")


def measure(
    rules: TwoHandRules, agent: Agent, deals: int, seed_seq: np.random.SeedSequence
) -> tuple[Array, Array]:
    """Play ``deals`` deals of an agent against itself and return what they brought.

    Returns int64[deals, 5], the points of each deal in the order of `COUNTS`; and int64[2, 16, 16],
    in how many deals, when the seat of the first index first had as many points of the pegging as
    the second or more, the other had as many as the third.
    """
    outs = np.zeros((2, PLAY_SIZE, PLAY_SIZE), dtype=np.int64)
    points = []
    chunks = seed_seq.spawn(-(-deals // LANES))
    for chunk in steps(chunks, f"{rules.name}, deals of {agent.name}, in parts"):
        deck, chance = chunk.spawn(2)
        games = GameBatch(rules, min(LANES, deals), episode="deal", seed=deck)
        games.reset(dealer=DEALER)
        before = np.zeros((games.n, 2), dtype=np.int64)
        for lanes in games.play(agent, np.random.default_rng(chance)):
            now = np.minimum(games.tally[lanes, :, 0], MOST_PLAY)
            was = before[lanes]
            for seat in (DEALER, PONE):
                for more in range(1, PLAY_SIZE):  # one card can pass several holes
                    passed = was[:, seat] + more <= now[:, seat]
                    if not passed.any():
                        break
                    to = was[passed, seat] + more
                    np.add.at(outs[seat], (to, was[passed, 1 - seat]), 1)
            before[lanes] = now
        t = games.tally
        points.append(np.stack([t[:, PONE, 0], t[:, DEALER, 0], t[:, PONE, 1], t[:, DEALER, 1],
                                t[:, DEALER, 2]], axis=1))  # fmt: skip
        deals -= games.n
    return np.concatenate(points), outs


def as_json(points: Array, outs: Array, rules: TwoHandRules) -> dict[str, Any]:
    """Return a game's entry of the data file: counts of deals."""
    play = np.zeros((PLAY_SIZE, PLAY_SIZE), dtype=np.int64)
    capped = np.minimum(points[:, :2], MOST_PLAY)
    np.add.at(play, (capped[:, 0], capped[:, 1]), 1)
    hands = [np.bincount(points[:, i], minlength=COUNT_SIZE).tolist() for i in (2, 3, 4)]
    return {
        "dealt": rules.dealt,
        "deals": len(points),
        "pegging": play.tolist(),
        "pone_out": outs[PONE].tolist(),
        "dealer_out": outs[DEALER].tolist(),
        **dict(zip(("pone_hand", "dealer_hand", "crib"), hands, strict=True)),
    }


@checked_dataclass(frozen=True, kw_only=True)
class Settings:
    """Measure the points of a deal, for the win table.

    Attributes:
        agent: the agent that plays.
        deals: deals of each game.
        seed: fixes all random numbers.
        out: the file to write.
    """

    agent: str = "rule_based"
    deals: Count = 2_000_000
    seed: Seed = 2026
    out: NewFile = DEAL_OUTCOMES.path


def run(settings: Settings) -> None:
    """Measure both games and write the file."""
    agent = load_agent(settings.agent)
    games = {}
    for rules, seed_seq in both_games(settings.seed):
        points, outs = measure(rules, agent, settings.deals, seed_seq)
        games[rules.name] = as_json(points, outs, rules)
        means = ", ".join(f"{p} {m:.3f}" for p, m in zip(COUNTS, points.mean(axis=0), strict=True))
        print(f"{rules.name}: {means}")
        print("correlations:")
        for count, row in zip(COUNTS, np.corrcoef(points.T), strict=True):
            print(f"  {count:14}" + "".join(f"{value:7.3f}" for value in row))
    write(DEAL_OUTCOMES, settings, games)
    for name in GAMES:
        rules = TwoHandRules.preset(name)
        first = probabilities(rules.dealt, rules.target)[
            1, rules.target, rules.target - rules.for_last
        ]
        print(f"{name}: the first dealer wins {100 * first[WON].sum():.2f} % of games; by a double "
              "skunk, a skunk, plainly, and loses plainly, by a skunk, a double skunk: "
              + ", ".join(f"{100 * share:.1f}" for share in first))  # fmt: skip
