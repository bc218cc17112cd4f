"""Drawing legal actions, uniformly or by weights; in NumPy this takes longer than a step."""

from __future__ import annotations

from numba import int8, int64, void

from crib_env.engine.jit import entry, kernel
from crib_env.engine.record import NONE
from crib_env.engine.rewards import BELOW, CONTINUE
from crib_env.engine.rng import next_word


@kernel
def legal_at(mask, word):
    """Return the legal action that a word, 0 to 2**32 - 1, falls on; NONE if none is legal."""
    legal = 0
    for action in range(mask.shape[0]):
        legal += mask[action] != 0
    k = word * legal >> 32
    for action in range(mask.shape[0]):
        k -= mask[action] != 0
        if k < 0:
            return action
    return NONE


@entry(int64(int8[:, ::1], int64[::1], int64[::1]))
def nth_legal(masks, draws, actions):
    """Write for each mask the legal action that a draw from 0 to 2**32 - 1 falls on.

    Returns NONE, or the first row without a legal action; rows before it are written.
    """
    for i in range(masks.shape[0]):
        actions[i] = legal_at(masks[i], draws[i])
        if actions[i] == NONE:
            return i
    return NONE


@entry(void(int64[:, ::1], int64[:, ::1], int64[::1], int64[::1]))
def draw_shares(rngs, bounds, lanes, drawn):
    """Draw for each lane which of K shares its word falls on.

    Shapes: rngs int64[N, 4]; bounds int64[N, K]; lanes int64[L]; drawn int64[N].
    """
    for j in range(lanes.shape[0]):
        lane = lanes[j]
        word = next_word(rngs[lane])
        k = 0
        while word >= bounds[lane, k]:
            k += 1
        drawn[lane] = k


@entry(void(int8[:, ::1], int64[:, ::1], int64[::1], int64[::1]))
def replace_illegal(masks, rngs, actions, illegal):
    """Draw a legal action in place of every illegal one.

    Shapes: masks int8[N, actions]; rngs int64[N, 4]; actions int64[N]; illegal int64[N].
    """
    for i in range(masks.shape[0]):
        illegal[i] = NONE
        action = actions[i]
        if action == CONTINUE or (0 <= action < masks.shape[1] and masks[i, action]):
            continue
        illegal[i] = BELOW if action < 0 else action
        actions[i] = legal_at(masks[i], next_word(rngs[i]))
