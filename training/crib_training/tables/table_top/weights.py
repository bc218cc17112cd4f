"""Fit the weights of Table Top's `rule_based` again, and print them beside the current ones.

    crib tables table_top_weights --rounds 6000 --fits 4 --seed 1

The agent plays rounds against itself. The target is the final points of every line, less its points
at the time. A least-squares fit explains them by the parts of `kernels.table_top.HEURISTICS` that
value a line: a constant, the mean of what the next card adds, by the cards in the line, and the
probability of a flush. The agent plays again with the new weights, and so on. The other weights
(``other``, ``crib_next``, ``throw``) are not part of a line's value and stay fixed. The command
writes no file: the weights of the agent are rounded and change only with its version.
"""

from __future__ import annotations

import numpy as np
from crib_agents.kernels.table_top import (
    DRAFT,
    HEURISTICS,
    LINE,
    NEXT,
    WEIGHTS,
    best_action,
    likely_points,
)
from numba import float64, int64, void

from crib_env.arrays import Doubles
from crib_env.engine.family import find_family
from crib_env.engine.jit import entry, kernel
from crib_env.engine.record import DECKS_T, LOG_T, NO_DECKS, NONE, TABLE_T
from crib_env.engine.rng import seed_states
from crib_env.engine.show import show_table
from crib_env.engine.table_top import FAMILY, PLAYERS
from crib_env.engine.table_top.cells import bit_count
from crib_env.engine.table_top.lines import line_through, nob_through, points_so_far, unseen_cards
from crib_env.engine.table_top.records import LOG_SIZE, SIZE, TABLE_TOP, TABLE_VIEW, TURNS
from crib_env.engine.table_top.rules import begin_episode, step
from crib_env.engine.table_top.views import view
from crib_env.rules import PRESETS, Rules
from crib_env.settings import Count, Seed, checked_dataclass
from crib_training.evaluation.markdown import table
from crib_training.progress import steps

STATES_T, RULES_T, VIEWS_T = FAMILY.types
PARTS = DRAFT + 1  # the weights that value a line come first


@kernel
def add_line(table, v, end, cell, rows, ones, parts, products, totals):
    """Add a line as the view ``v`` shows it, and what it came to in ``end``, to the sums."""
    cards = line_through(v, cell, rows)
    n = bit_count(cards)
    nob = nob_through(v, cell, rows)
    size = v["flush_size"]
    unseen = unseen_cards(v)
    now = points_so_far(table, cards, size, nob)
    more = points_so_far(table, line_through(end, cell, rows), size, nob) - now
    for i in range(PARTS):
        parts[i] = 0.0
    parts[LINE + n] = 1.0
    parts[NEXT + n] = likely_points(table, ones[0], cards, unseen, size, nob) - now
    parts[DRAFT] = likely_points(table, ones[1], cards, unseen, size, nob) - now
    for i in range(PARTS):
        totals[i] += parts[i] * more
        for j in range(PARTS):
            products[i, j] += parts[i] * parts[j]


@entry(
    void(
        STATES_T, RULES_T, DECKS_T, TABLE_T, float64[::1], VIEWS_T, LOG_T, int64,
        float64[:, ::1], float64[::1], float64[:, ::1], float64[::1],
    )
)  # fmt: skip
def sample(states, rules, decks, table, weights, views, log, rounds, ones, parts, products, totals):
    """Play rounds with ``weights`` and add up every line that was seen on the way.

    Args:
        views: [TURNS + 1]; ones: float64[2, K], weights that pick out what the next card adds, and
            a draft of a flush; parts: float64[PARTS], to work in.
        products, totals: float64[PARTS, PARTS] and [PARTS], the sums of the normal equations.
    """
    s = states[0]
    for _ in range(rounds):
        begin_episode(s, rules[0], decks, NONE, log)
        while s["over"] == 0:
            turn = s["turn"]
            view(s, rules[0], s["to_move"], views[turn])
            action = best_action(views[turn], table, weights)
            step(s, rules[0], decks, table, action, log)
        view(s, rules[0], 0, views[TURNS])
        for turn in range(TURNS):
            for i in range(SIZE):
                add_line(table, views[turn], views[TURNS], SIZE * i, 1, ones, parts, products,
                         totals)  # fmt: skip
                add_line(table, views[turn], views[TURNS], i, 0, ones, parts, products, totals)


FITTED = [i for i in range(PARTS) if i % (SIZE + 1) != SIZE and i != NEXT]  # no card, no next one


def fit(rules: Rules, weights: Doubles, rounds: int, seed: np.random.SeedSequence) -> Doubles:
    """Return the weights with those of the lines fitted to rounds played with ``weights``."""
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


@checked_dataclass(frozen=True, kw_only=True)
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
