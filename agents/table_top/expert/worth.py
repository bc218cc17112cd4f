"""What a position is worth without search: each side's points to come, by the learned tables."""

from __future__ import annotations

from agents.table_top.expert.position import LINES, owed_by
from agents.table_top.expert.values import by_share, crib_value, line_value, phase_of
from agents.table_top.lines import nob_of
from crib_env.engine.jit import kernel
from crib_env.engine.table_top.records import CENTRE, SIZE, TURNS

MIDDLE = CENTRE % SIZE


@kernel
def sign_of(v, line):
    """Return 1 for a line of my side, -1 for one of the other's."""
    return 1 if (line < SIZE) == (v["scores_rows"] == 1) else -1


@kernel
def nob_in(v, line):
    """Return the jack that would score in the line, as a mask, 0 off the centre (T8)."""
    return nob_of(v) if line % SIZE == MIDDLE else 0


@kernel
def role_of(sign, mover):
    """Return 1 if the owner of a line, mine if ``sign`` is 1, is the side of ``mover``."""
    return 1 if (sign == 1) == (mover & 1 == 0) else 0


@kernel
def side_value(v, table, values, mix, p, side):
    """Return the points that a side is likely to make in the round from the position ``p``."""
    phase = phase_of(TURNS - p["turn"])
    role = 1 if p["mover"] & 1 == side else 0
    total = by_share(values, role, TURNS - p["turn"], owed_by(p, side), owed_by(p, 1 - side))
    for i in range(LINES):
        if (sign_of(v, i) == 1) == (side == 0):
            total += line_value(
                values, mix, table, p["lines"][i], role, phase, v["flush_size"], nob_in(v, i),
                p["unseen"],
            )  # fmt: skip
    if (v["my_crib"] == 1) == (side == 0):
        total += crib_value(values, table, p["crib"], v["my_crib"], nob_of(v))
    return total


@kernel
def value(v, table, values, mix, p):
    """Return the value of a position for my side, without search."""
    return side_value(v, table, values, mix, p, 0) - side_value(v, table, values, mix, p, 1)
