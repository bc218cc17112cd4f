"""Drawing legal actions in compiled code: in NumPy it takes longer than a step of the games."""

from __future__ import annotations

from numba import int8, int64

from crib_env.engine.jit import entry
from crib_env.engine.record import NONE


@entry(int64(int8[:, ::1], int64[::1], int64[::1]))
def nth_legal(masks, draws, actions):
    """Write for each mask the legal action that a draw from 0 to 2**32 - 1 falls on.

    Returns:
        NONE, or the first row without a legal action; rows before it are written.
    """
    for i in range(masks.shape[0]):
        legal = 0
        for action in range(masks.shape[1]):
            legal += masks[i, action] != 0
        if legal == 0:
            return i
        k = draws[i] * legal >> 32
        for action in range(masks.shape[1]):
            k -= masks[i, action] != 0
            if k < 0:
                actions[i] = action
                break
    return NONE
