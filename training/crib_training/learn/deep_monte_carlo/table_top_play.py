"""Compiled self-play of Table Top: choices by value and noise, and the positions after them.

The networks run inside this kernel, in the same functions by which the agent ``learned`` plays.
"""

from __future__ import annotations

from crib_agents.learned.network import MOST_INPUTS
from crib_agents.learned.table_top import (
    ACTIONS,
    EACH_TWICE,
    EVERY_LINE,
    LINES,
    RANKS,
    action_values,
    best_legal,
    crib_features,
    line_values,
    put_ranks,
    round_features,
    side_features,
    suit_features,
)
from numba import float32, float64, int64, void

from crib_env.engine import stack
from crib_env.engine.jit import entry, kernel
from crib_env.engine.record import NONE, TABLE_T, WEIGHTS_T
from crib_env.engine.table_top.lines import (
    crib_known,
    line_through,
    nob_of,
    nob_through,
    owed_by,
    points_so_far,
    unseen_cards,
)
from crib_env.engine.table_top.records import SIZE, TO_CRIB, VIEWS_T, bit_count


@kernel
def write_lines(v, action, unseen, rows):
    """Write what the net sees of each line after an action, float32[LINES, inputs]; 0 if full."""
    places = stack.ints(MOST_INPUTS)
    values = stack.floats(MOST_INPUTS)
    for line in range(LINES):
        row = rows[line]
        for i in range(row.shape[0]):
            row[i] = 0.0
        is_row = 1 if line < SIZE else 0
        i = line % SIZE
        cell = SIZE * i if is_row else i
        cards = line_through(v, cell, is_row)
        if action != TO_CRIB and i == (action // SIZE if is_row else action % SIZE):
            cards |= 1 << v["card"]
        if bit_count(cards) == SIZE:
            continue
        nob = nob_through(v, cell, is_row)
        n = round_features(v["turn"], unseen, places, values)
        for k in range(n):
            row[places[k]] = values[k]
        side = v["scores_rows"] ^ is_row
        n = side_features(side, owed_by(v, side), owed_by(v, 1 - side), places, values)
        n = put_ranks(places, values, n, RANKS, cards)
        n = suit_features(cards, nob, unseen, places, values, n)
        for k in range(n):
            row[places[k]] = values[k]


@entry(
    void(
        VIEWS_T, TABLE_T, WEIGHTS_T, float64[:, ::1], int64[::1], int64[::1], float64[:, ::1],
        int64[:, ::1], float32[:, :, ::1], float32[:, ::1], int64[::1],
    ),
    "learn.table_top",
)  # fmt: skip
def choose_actions(
    views, table, weights, noise, rows, actions, value, points, inputs, crib_inputs, crib_points
):
    """Choose an action in each view, and write down the position it leads to.

    Args:
        weights: begin with the nets.
        noise: float64[B, ACTIONS], added to the actions' values: scaled Gumbel noise draws from the
            softmax over values.
        rows: int64[B], in which row of ``inputs`` what the nets see is written, NONE for nowhere.
        actions: int64[B], receives the actions.
        value: float64[B, LINES], receives the lines' values after the action.
        points: int64[B, LINES], receives their points so far.
        inputs: float32[K, LINES, inputs], receives what the net sees of the lines, 0 of full ones.
        crib_inputs: float32[K, inputs], receives what the net sees of the crib.
        crib_points: int64[K], receives the crib's points so far.
    """
    places = stack.ints(MOST_INPUTS)
    seen = stack.floats(MOST_INPUTS)
    all_points = stack.ints(EACH_TWICE)
    all_values = stack.floats(EACH_TWICE)
    values = stack.floats(ACTIONS)
    for b in range(views.shape[0]):
        v = views[b]
        line_values(v, table, weights, EVERY_LINE, all_points, all_values)
        action_values(v, table, weights, all_values, values)
        for action in range(ACTIONS):
            values[action] += noise[b, action]
        best = best_legal(values, v["legal"])
        actions[b] = best
        for line in range(LINES):
            at = line
            i = best // SIZE if line < SIZE else best % SIZE
            if best != TO_CRIB and i == line % SIZE:
                at += LINES
            value[b, line] = all_values[at]
            points[b, line] = all_points[at]
        row = rows[b]
        if row == NONE:
            continue
        write_lines(v, best, unseen_cards(v), inputs[row])
        cards = crib_known(v)
        if best == TO_CRIB:
            cards |= 1 << v["card"]
        n = crib_features(v["my_crib"], cards, places, seen)
        for i in range(crib_inputs.shape[1]):
            crib_inputs[row, i] = 0.0
        for i in range(n):
            crib_inputs[row, places[i]] = seen[i]
        crib_points[row] = points_so_far(table, cards, v["crib_flush_size"], nob_of(v))
