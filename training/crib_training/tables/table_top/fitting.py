"""Kernels that add up the final points of Table Top lines, to fit their value by least squares."""

from __future__ import annotations

from crib_agents.kernels.placing import DRAFT, LINE, NEXT, best_action, likely_points
from numba import float64, int64, void

from crib_env.engine.jit import entry, kernel
from crib_env.engine.record import DECKS_T, LOG_T, NONE, TABLE_T
from crib_env.engine.table_top import FAMILY
from crib_env.engine.table_top.cells import bit_count
from crib_env.engine.table_top.lines import line_through, nob_through, points_so_far, unseen_cards
from crib_env.engine.table_top.records import SIZE, TURNS
from crib_env.engine.table_top.rules import begin_episode, step
from crib_env.engine.table_top.views import view

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
