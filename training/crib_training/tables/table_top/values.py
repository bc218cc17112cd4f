"""Learn the values of the Table Top expert, ``table_top_values.npz``.

Run ``crib tables table_top_values`` (some ten minutes on one core). For each set of rules the
expert plays rounds against itself, in turn with two and four players. It chooses by its values
alone and corrects them; see `learning`. All values start at zero. Equal seeds give equal files.
"""

from __future__ import annotations

import time

import numpy as np
from crib_agents.data.tables import RANKS, TABLE_TOP_VALUES, VARIANTS, save
from crib_agents.expert.table_top import ACTIONS, DECK, GAINS
from crib_agents.expert.table_top_values import VALUES
from crib_agents.knowledge.table_top import POSITION

from crib_env.arrays import Doubles
from crib_env.engine.family import find_family
from crib_env.engine.record import NO_DECKS
from crib_env.engine.rng import seed_states
from crib_env.engine.show import show_table
from crib_env.engine.table_top import PLAYERS
from crib_env.engine.table_top.records import LOG_SIZE, TABLE_TOP, TABLE_VIEW, TURNS
from crib_env.rules import PRESETS as RULES
from crib_env.settings import Count, NewFile, Seed, checked_dataclass
from crib_training.progress import steps
from crib_training.tables.files import made_by
from crib_training.tables.table_top.learning import self_play

# By whole sides or by single lines; one action in so many at random; the rate; parts of --rounds.
STAGES = (
    (0, 20, 0.05, 1),
    (0, 30, 0.01, 1),
    (0, 40, 0.003, 1),
    (1, 100, 0.003, 2),
    (1, 100, 0.001, 2),
    (1, 100, 0.0003, 2),
)
EARLIER_VISITS = 20.0  # what a stage finds first weighs as one more find after so many


def learn(preset: str, rounds: int, seed: np.random.SeedSequence) -> Doubles:
    """Return values, float64[VALUES], learned under the rules called ``preset``."""
    family = find_family("table_top")
    states = np.zeros(1, dtype=TABLE_TOP)
    seed_states(states, seed)
    values = np.zeros(VALUES)
    for stage in steps(range(len(STAGES)), f"{preset}, stages"):
        whole, epsilon, rate, parts = STAGES[stage]
        visits = np.full(VALUES, EARLIER_VISITS if stage else 0.0)
        for players in PLAYERS:
            points = np.zeros((parts * rounds, 2), dtype=np.int64)
            began = time.perf_counter()
            self_play(
                states, family.rules_record(RULES[preset], "round", players), NO_DECKS,
                show_table(), values, visits, np.zeros(RANKS), np.ones(2),
                np.zeros(TURNS, dtype=TABLE_VIEW),
                np.zeros(TURNS + 1, dtype=POSITION), np.zeros((GAINS, DECK)), np.zeros(ACTIONS),
                np.zeros(LOG_SIZE, dtype=np.int64), len(points), whole, epsilon, rate, points,
            )  # fmt: skip
            margin = points[:, 0] - points[:, 1]
            print(f"{preset}, {players} players, {'sides' if whole else 'lines'} at {rate}: "
                  f"{time.perf_counter() - began:.0f} s, {points.mean():.2f} points a side, "
                  f"margins' spread {margin.std():.2f}", flush=True)  # fmt: skip
    return values


@checked_dataclass(frozen=True, kw_only=True)
class Settings:
    """Learn the values of the Table Top expert.

    Attributes:
        rounds: rounds per number of players in a stage of one part.
        seed: fixes all random numbers.
        out: the file to write.
    """

    rounds: Count = 200_000
    seed: Seed = 1
    out: NewFile = TABLE_TOP_VALUES.path


def run(settings: Settings) -> None:
    """Learn both rules' values, and write the file."""
    seeds = np.random.SeedSequence(settings.seed).spawn(len(VARIANTS))
    pairs = zip(VARIANTS, seeds, strict=True)
    learned = np.array([learn(preset, settings.rounds, seed) for preset, seed in pairs])
    save(TABLE_TOP_VALUES, settings.out, made_by=made_by(TABLE_TOP_VALUES, settings),
         values=learned.round(2).astype(np.float32))  # fmt: skip
