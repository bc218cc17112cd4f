"""The value of the lines of a layout as they lie: one side's less the other's."""

from __future__ import annotations

from numba import int64, void

from crib_env.engine.jit import entry
from crib_env.engine.record import TABLE_T
from crib_env.engine.table_top.lines import line_through, nob_through, points_so_far
from crib_env.engine.table_top.records import SIZE, VIEWS_T


@entry(void(VIEWS_T, TABLE_T, int64[::1]))
def lines_so_far(views, table, differences):
    """Write for each view what its side's five lines score as they lie, less the other side's."""
    for k in range(views.shape[0]):
        v = views[k]
        total = 0
        for i in range(SIZE):
            for rows in range(2):
                cell = SIZE * i if rows else i
                cards = line_through(v, cell, rows)
                nob = nob_through(v, cell, rows)
                points = points_so_far(table, cards, v["flush_size"], nob)
                total += points if rows == v["scores_rows"] else -points
        differences[k] = total
