"""Fit the weights of Table Top's `rule_based` again, and print them beside the current ones.

    crib tables table_top_weights --rounds 6000 --fits 4 --seed 1

The agent plays rounds against itself. The target is the final points of every line, less its points
at the time. A least-squares fit explains them by the parts of `kernels.placing.HEURISTICS` that
value a line: a constant, the mean of what the next card adds, by the cards in the line, and the
probability of a flush. The agent plays again with the new weights, and so on. The other weights
(``other``, ``crib_next``, ``throw``) are not part of a line's value and stay fixed. The command
writes no file: the weights of the agent are rounded and change only with its version.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from crib_agents.kernels.placing import DRAFT, HEURISTICS, NEXT, WEIGHTS

from crib_env.arrays import Doubles
from crib_env.engine.family import find_family
from crib_env.engine.record import NO_DECKS
from crib_env.engine.rng import seed_states
from crib_env.engine.show import show_table
from crib_env.engine.table_top import PLAYERS
from crib_env.engine.table_top.records import LOG_SIZE, SIZE, TABLE_TOP, TABLE_VIEW, TURNS
from crib_env.rules import PRESETS, Rules
from crib_env.settings import Count, Seed
from crib_training.evaluation.markdown import table
from crib_training.progress import steps
from crib_training.tables.table_top.fitting import PARTS, sample

FITTED = [i for i in range(PARTS) if i % (SIZE + 1) != SIZE and i != NEXT]  # no card, no next one


def fit(rules: Rules, weights: Doubles, rounds: int, seed: np.random.SeedSequence) -> Doubles:
    """Return the weights with those of the lines fitted to rounds played with ``weights``.

    Args:
        rounds: played with each number of players.
    """
    states = np.zeros(1, dtype=TABLE_TOP)
    seed_states(states, seed)
    ones = np.zeros((2, len(weights)))
    ones[0, NEXT : NEXT + SIZE + 1] = 1.0
    ones[1, DRAFT] = 1.0
    products, totals = np.zeros((PARTS, PARTS)), np.zeros(PARTS)
    for players in PLAYERS:
        record = find_family("table_top").rules_record(rules, "round", players)
        sample(
            states, record, NO_DECKS, show_table(), weights, np.zeros(TURNS + 1, dtype=TABLE_VIEW),
            np.zeros(LOG_SIZE, dtype=np.int64), rounds, ones, np.zeros(PARTS), products, totals,
        )  # fmt: skip
    fitted = weights.copy()
    fitted[FITTED] = np.linalg.solve(products[np.ix_(FITTED, FITTED)], totals[FITTED])
    return fitted


@dataclass(frozen=True)
class Settings:
    """Fit the weights of Table Top's rule_based again; print both.

    Attributes:
        rounds: rounds with two and with four players.
        fits: fits in a row, each to new rounds.
        seed: fixes all random numbers.
    """

    rounds: Count = 6000
    fits: Count = 4
    seed: Seed = 1


def run(settings: Settings) -> None:
    """Fit under both sets of rules, and print the weights beside the agent's."""
    found = []
    for preset in ("table_top", "table_top_ship"):
        weights = WEIGHTS
        for seed in steps(np.random.SeedSequence(settings.seed).spawn(settings.fits), preset):
            weights = fit(PRESETS[preset], weights, settings.rounds, seed)
        found.append(weights)
    rows = [[*HEURISTICS[i][:2], *(f"{weights[i]:.2f}" for weights in found)] for i in FITTED]
    print(table(["weight", "rule_based", "table_top", "table_top_ship"], rows, numbers=True))
    print(f"\n{settings.fits} fits, each to {settings.rounds} rounds of two and of four players, "
          f"seed {settings.seed}")  # fmt: skip
