"""`greedy` at Table Top: the points a card makes where it falls, and no thought of what may come.

Each cell lies in a row and a column, one of each side. The card goes where it adds most to its own
side's line less what it adds to the other's, of equals to the first cell; where every cell would
add nothing or less, it goes to the crib, if that is open.
"""

from __future__ import annotations

from crib_env.engine.jit import kernel
from crib_env.engine.table_top.cells import lowest
from crib_env.engine.table_top.lines import line_through, nob_through, points_so_far
from crib_env.engine.table_top.records import TO_CRIB


@kernel
def points_added(v, table, cell, rows):
    """Return what the card in turn adds on ``cell`` to its row (``rows`` 1) or its column."""
    line = line_through(v, cell, rows)
    nob = nob_through(v, cell, rows)
    flush_size = v["flush_size"]
    longer = line | 1 << v["card"]
    return points_so_far(table, longer, flush_size, nob) - points_so_far(
        table, line, flush_size, nob
    )


def act(v, rng, table, weights):
    """Return the greedy action for the view ``v``."""
    crib = v["legal"] >> TO_CRIB & 1
    best = TO_CRIB
    most = 0
    cells = v["legal"] & ~(1 << TO_CRIB)
    while cells:
        cell = lowest(cells)
        cells &= cells - 1
        mine = v["scores_rows"]
        gain = points_added(v, table, cell, mine) - points_added(v, table, cell, 1 - mine)
        if gain > most or (best == TO_CRIB and not crib):
            best = cell
            most = gain
    return best
