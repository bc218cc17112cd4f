"""Drawing legal actions, uniformly or by weights; in NumPy this takes longer than a step."""

from __future__ import annotations

from numba import int8, int64, void

from crib_env.engine.jit import entry
from crib_env.engine.record import NONE
from crib_env.engine.rng import next_word


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


@entry(void(int64[:, ::1], int64[:, ::1], int64[::1], int64[::1]))
def draw_shares(rngs, bounds, lanes, drawn):
    """Draw for each lane which of K shares its word falls on.

    Args:
        rngs: int64[N, 4]. bounds: int64[N, K], ascending; the last is 2**32.
        lanes: int64[L]. drawn: int64[N], receives the draws of these lanes.
    """
    for j in range(lanes.shape[0]):
        lane = lanes[j]
        word = next_word(rngs[lane])
        k = 0
        while word >= bounds[lane, k]:
            k += 1
        drawn[lane] = k
