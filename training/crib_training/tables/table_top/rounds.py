"""Measure the points of a round of Table Top, ``table_top_rounds.npz``.

    crib tables table_top_rounds

For both sets of rules and both numbers of players the expert plays rounds against itself for points
(a few minutes each). The command prints the points, and the first dealer's probability of winning a
game that follows from them.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated

import numpy as np
from crib_agents.data.tables import RANKS, TABLE_TOP_ROUNDS, TABLE_TOP_VALUES, VARIANTS, load, save
from crib_agents.expert.table_top import ACTIONS, BUDGETS, COLUMNS, Work, act_views
from crib_agents.expert.table_top_values import MINE, THEIRS
from crib_agents.knowledge.table_top import ALIKE, MOST_POINTS, probabilities
from pydantic import Field

from crib_env.arrays import Array
from crib_env.batch import GameBatch
from crib_env.engine.show import show_table
from crib_env.engine.table_top import PLAYERS
from crib_env.engine.table_top.records import TURNS
from crib_env.rules import PRESETS as RULES
from crib_env.settings import Count, NewFile, Seed, Whole, checked_dataclass
from crib_training.progress import steps
from crib_training.tables.files import made_by

DEALER = 1  # the seat that deals: its side has the odd turns, and comes second in scores
DEALER_FIRST = slice(None, None, -1)


def measure(
    preset: str, players: int, budget: int, rounds: int, seed_seq: np.random.SeedSequence
) -> tuple[Array, Array]:
    """Play rounds of the expert against itself, for points, and return what they brought.

    Returns int64[rounds, 2], what the dealer's side and the other scored; and float64[28, rounds,
    2], after each turn the points in the count that its mover expected of them, less what they came
    to.
    """
    games = GameBatch(RULES[preset], rounds, players=players, episode="round", seed=seed_seq)
    games.reset(dealer=DEALER)
    every = np.arange(rounds)
    expected = np.zeros((TURNS, rounds, 2))
    work = Work.new()
    for turn in steps(range(TURNS), f"{preset}, {players} players, turns"):
        chosen = np.zeros(rounds, dtype=np.int64)
        analysis = np.zeros((rounds, ACTIONS, COLUMNS))
        act_views(
            games.views(every), every, show_table(), load(TABLE_TOP_VALUES)["values"],
            np.zeros(RANKS), ALIKE, np.ones(2), *BUDGETS[budget - 1],
            *(getattr(work, field.name) for field in fields(work)), chosen, analysis,
        )  # fmt: skip
        sides = [MINE, THEIRS] if turn % 2 == DEALER else [THEIRS, MINE]
        expected[turn] = analysis[every, chosen][:, sides]
        bad = games.step(every, chosen)
        assert bad is None, games.why_illegal(int(every[bad]), int(chosen[bad]))
    # Without heels, which are scored at the start.
    came_to = games.tally.sum(axis=2)[:, DEALER_FIRST]
    return games.states["scores"][:, DEALER_FIRST], expected - came_to


@checked_dataclass(frozen=True, kw_only=True)
class Settings:
    """Measure the points of a round of Table Top.

    Attributes:
        rounds: rounds of each kind.
        budget: search depth of the expert.
        seed: fixes all random numbers.
        out: the file to write.
    """

    rounds: Count = 40_000
    budget: Annotated[Whole, Field(ge=1, le=len(BUDGETS))] = 2
    seed: Seed = 1
    out: NewFile = TABLE_TOP_ROUNDS.path


def run(settings: Settings) -> None:
    """Measure, print what was found, and write the file."""
    counted = np.zeros(TABLE_TOP_ROUNDS.shapes["counted"], dtype=np.int64)
    spread = np.zeros(TABLE_TOP_ROUNDS.shapes["spread"])
    seeds = iter(np.random.SeedSequence(settings.seed).spawn(len(VARIANTS) * len(PLAYERS)))
    for i, preset in enumerate(VARIANTS):
        for j, players in enumerate(PLAYERS):
            scored, errors = measure(preset, players, settings.budget, settings.rounds, next(seeds))
            np.add.at(counted[i, j], tuple(scored.clip(max=MOST_POINTS).T), 1)
            spread[i, j] = [np.cov(turn.T) for turn in errors]
            dealer, other = scored.mean(axis=0)
            left = ", ".join(f"{(e[:, 0] - e[:, 1]).std():.1f}" for e in errors[[0, 13, 26]])
            print(f"{preset}, {players} players: the dealer's side scores {dealer:.2f} a round, "
                  f"the other {other:.2f}; their difference spreads by {left} about what is "
                  "expected after turns 1, 14 and 27", flush=True)  # fmt: skip
    save(TABLE_TOP_ROUNDS, settings.out, made_by=made_by(TABLE_TOP_ROUNDS, settings),
         counted=counted.astype(np.int32), spread=spread.round(3).astype(np.float32))  # fmt: skip
    if settings.out == TABLE_TOP_ROUNDS.path:
        for i, preset in enumerate(VARIANTS):
            for players in PLAYERS:
                first = 1.0 - probabilities(i, players, RULES[preset].target)[0, 0]
                print(f"{preset}, {players} players: the first dealer's side wins "
                      f"{100 * first:.1f} % of games")  # fmt: skip
