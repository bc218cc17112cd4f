"""The geometry of the 5x5 layout, with a set of cells as a mask of 25 bits, one a cell.

Everything here is shifts and masks, so that neither a CPU nor a GPU has to look anything up.
"""

from __future__ import annotations

from crib_env.engine.jit import kernel
from crib_env.engine.table_top.records import CELLS, SIZE, TO_CRIB

EVERY_CELL = (1 << CELLS) - 1
WEST = sum(1 << (SIZE * row) for row in range(SIZE))
NOT_WEST = EVERY_CELL & ~WEST
NOT_EAST = EVERY_CELL & ~(WEST << (SIZE - 1))


@kernel
def bit_count(mask):
    """Return how many bits of ``mask`` (below 2**32) are set.

    LLVM knows this shape, all 64 bits of it, and puts the processor's own instruction in its place.
    """
    mask = int(mask)  # in plain Python: NumPy would warn of the product's overflow, which is meant
    mask = mask - (mask >> 1 & 0x5555555555555555)
    mask = (mask & 0x3333333333333333) + (mask >> 2 & 0x3333333333333333)
    mask = (mask + (mask >> 4)) & 0x0F0F0F0F0F0F0F0F
    return (mask * 0x0101010101010101) >> 56 & 255


@kernel
def lowest(mask):
    """Return the place of the lowest bit set in ``mask``, which must not be 0."""
    return bit_count((mask & -mask) - 1)


@kernel
def touching(placed):
    """Return the vacant cells that touch a placed card by a side or a corner (T5)."""
    wide = placed | ((placed << 1) & NOT_WEST) | ((placed >> 1) & NOT_EAST)
    return (wide | (wide << SIZE) | (wide >> SIZE)) & EVERY_CELL & ~placed


@kernel
def open_actions(placed, owed, left, players, adjacency):
    """Return the actions open to a seat in turn, one bit each: cells, and `TO_CRIB` (T5 to T7)."""
    if owed == (left >> (players >> 1)) + 1:  # a division by two or four players
        return 1 << TO_CRIB  # T6
    cells = touching(placed) if adjacency else EVERY_CELL & ~placed  # T5, T11
    return cells | (1 << TO_CRIB) if owed else cells
