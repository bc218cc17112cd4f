"""Tables the kernels read, made once in a process."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from crib_env.engine.show import TABLE_SIZE
from crib_env.engine.two_hand.single import fill_table


@cache
def show_table() -> npt.NDArray[np.uint8]:
    """Return the points of every rank multiset of four or five cards, uint8[TABLE_SIZE]."""
    table = np.zeros(TABLE_SIZE, dtype=np.uint8)
    fill_table(table)
    return table
