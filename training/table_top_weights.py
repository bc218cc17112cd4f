"""Fit the weights of Table Top's `rule_based` anew, and print them beside those it has.

    python -m training.table_top_weights --rounds 6000 --fits 4 --seed 1

The agent plays rounds against itself. What every line came to, less its points as it lay, is fitted
by least squares to the parts of `agents.table_top.rule_based.HEURISTICS` that value a line: a
constant and the mean of what the next card adds, by the cards in the line, and the chance of a
flush. With the weights found it plays anew, and so on. The other weights (``other``, ``crib_next``,
``throw``) are no part of a line's value; they stay as they are. Nothing is written: the weights of
the agent are rounded, and change with its version only.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import numpy.typing as npt
from numba import float64, int64, void

import agents
from agents.table_top.lines import line_through, nob_through, points_so_far, unseen_cards
from agents.table_top.rule_based import (
    DRAFT,
    HEURISTICS,
    LINE,
    NEXT,
    WEIGHTS,
    best_action,
    likely_points,
)
from crib_env.engine.families import find_family
from crib_env.engine.jit import ENGINE, entry_for, kernel
from crib_env.engine.records import DECKS_T, LOG_T, NO_DECKS, NONE, TABLE_T
from crib_env.engine.rng import seed_states
from crib_env.engine.table_top.layout import bit_count
from crib_env.engine.table_top.numbers import PLAYERS
from crib_env.engine.table_top.records import (
    LOG_SIZE,
    RULES_T,
    SIZE,
    STATES_T,
    TABLE_TOP,
    TABLE_VIEW,
    TURNS,
    VIEWS_T,
)
from crib_env.engine.table_top.table_top import begin_episode, step
from crib_env.engine.table_top.views import view
from crib_env.engine.tables import show_table
from crib_env.rules import PRESETS, Rules

Array = npt.NDArray[np.float64]

PARTS = DRAFT + 1  # the weights that value a line come first
FITTED = [i for i in range(PARTS) if i % (SIZE + 1) != SIZE and i != NEXT]  # no card, no next one

TABLE_TOP_AGENTS = Path(agents.__file__).parent / "table_top"

entry = entry_for(
    Path(__file__).parent, TABLE_TOP_AGENTS, TABLE_TOP_AGENTS.parent, ENGINE / "table_top", ENGINE
)


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


def fit(rules: Rules, weights: Array, rounds: int, seed: np.random.SeedSequence) -> Array:
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


def main() -> None:
    """Fit under both sets of rules, and print the weights beside the agent's."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=6000, help="with two and with four players")
    parser.add_argument("--fits", type=int, default=4, help="each of fresh rounds")
    parser.add_argument("--seed", type=int, default=1, help="fixes everything")
    given = parser.parse_args()
    found = []
    for preset in ("table_top", "table_top_ship"):
        weights = WEIGHTS
        for seed in np.random.SeedSequence(given.seed).spawn(given.fits):
            weights = fit(PRESETS[preset], weights, given.rounds, seed)
        found.append(weights)
    print("| weight | rule_based | table_top | table_top_ship |\n|---|---|---|---|")
    for i in FITTED:
        name, value, _ = HEURISTICS[i]
        print(f"| {name} | {value} | {found[0][i]:.2f} | {found[1][i]:.2f} |")
    print(f"\n{given.fits} fits, each to {given.rounds} rounds of two and of four players, "
          f"seed {given.seed}")  # fmt: skip


if __name__ == "__main__":
    main()
