"""The value of a position without search: each side's points to come, by the learned tables.

In a game, points of the two sides may have different weights: a side that leads near the target
wants the game to end, and a side that is behind does not (T9). Where only the difference counts
(T13), all points have the same weight.
"""

from __future__ import annotations

from crib_agents.expert.table_top.values import by_owed, crib_value, line_value, phase_of
from crib_agents.knowledge.table_top import LINES, POINTS
from crib_env.engine.jit import kernel
from crib_env.engine.table_top.lines import nob_of, owed_by
from crib_env.engine.table_top.records import CENTRE, SIZE, TURNS

MIDDLE = CENTRE % SIZE
MINE, THEIRS = range(2)  # the sides, and their weights
PAST = POINTS // 2  # totals this far past the target are clear of the ends of the table
FLAT = 1e-6  # added to every slope, so that a game as good as decided is played for points


@kernel
def sign_of(v, line):
    """Return 1 for a line of my side, -1 for one of the other's."""
    return 1 if (line < SIZE) == (v["scores_rows"] == 1) else -1


@kernel
def weight_of(weights, sign):
    """Return the value of a point of a side to mine: of my own if ``sign`` is 1."""
    return weights[MINE] if sign == 1 else -weights[THEIRS]


@kernel
def nob_in(v, line):
    """Return the jack that would score in the line, as a mask, 0 off the centre (T8)."""
    return nob_of(v) if line % SIZE == MIDDLE else 0


@kernel
def owner_moves_next(sign, mover):
    """Return 1 if the owner of a line, mine if ``sign`` is 1, is the side of ``mover``."""
    return 1 if (sign == 1) == (mover & 1 == 0) else 0


@kernel
def side_value(v, table, values, surplus, p, side):
    """Return the points that a side is likely to make in the round from the position ``p``."""
    phase = phase_of(TURNS - p["turn"])
    owner_next = 1 if p["mover"] & 1 == side else 0
    total = by_owed(values, owner_next, TURNS - p["turn"], owed_by(p, side), owed_by(p, 1 - side))
    for i in range(LINES):
        if (sign_of(v, i) == 1) == (side == 0):
            total += line_value(
                values, surplus, table, p["lines"][i], owner_next, phase, v["flush_size"],
                nob_in(v, i), p["unseen"],
            )  # fmt: skip
    if (v["my_crib"] == 1) == (side == 0):
        total += crib_value(values, table, p["crib"], v["my_crib"], nob_of(v))
    return total


@kernel
def value(v, table, values, surplus, weights, p):
    """Return the value of a position for my side, without search (weights float64[2])."""
    mine = side_value(v, table, values, surplus, p, MINE)
    theirs = side_value(v, table, values, surplus, p, THEIRS)
    return weights[MINE] * mine - weights[THEIRS] * theirs


@kernel
def weigh(v, table, values, surplus, p, win_table, weights):
    """Fill ``weights`` with the value of a point for my side and of one less for the other.

    They are the slopes of the chance of winning where both sides are expected to end the round, and
    add up to 2, so that values remain in points.
    """
    weights[MINE] = 1.0
    weights[THEIRS] = 1.0
    if win_table.shape[0] == 0:
        return
    dealer = MINE if v["my_crib"] else THEIRS
    a = v["scores"][dealer] + side_value(v, table, values, surplus, p, dealer)
    b = v["scores"][1 - dealer] + side_value(v, table, values, surplus, p, 1 - dealer)
    past = max(max(a, b) - v["target"] - PAST, 0.0)  # only the difference matters there
    i = max(int(a - past + 0.5), 1)
    j = max(int(b - past + 0.5), 1)
    now = win_table[v["turn"]]
    by_dealer = now[i + 1, j] - now[i - 1, j] + FLAT
    by_other = now[i, j - 1] - now[i, j + 1] + FLAT
    weights[dealer] = 2.0 * by_dealer / (by_dealer + by_other)
    weights[1 - dealer] = 2.0 - weights[dealer]
