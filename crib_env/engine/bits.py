"""What the observations of all families share: slices, and the points still needed."""

from __future__ import annotations

import numpy as np

from crib_env.engine.jit import kernel

TENS = 20  # thermometer of the tens of points still to make
NEED = TENS + 10
M16 = 0xFFFF

# What `encode_need` writes, by points: to copy it is cheaper than to count out the tens.
NEEDS = np.array(
    [
        [i < points // 10 if i < TENS else i - TENS == points % 10 for i in range(NEED)]
        for points in range(10 * TENS + 10)
    ],
    dtype=np.uint8,
)


def offsets(layout: tuple[tuple[str, int, str], ...]) -> dict[str, int]:
    """Return where each slice of a layout begins, and under ``"end"`` the vector's length."""
    begins, at = {}, 0
    for name, size, _ in layout:
        begins[name] = at
        at += size
    begins["end"] = at
    return begins


@kernel
def encode_need(obs, at, need):
    """Write points still to make: a thermometer of tens, then the units one-hot."""
    row = (need if need < 10 * TENS else 10 * TENS + need % 10) & M16
    at &= M16  # both so that the compiler knows no index is negative
    for i in range(NEED):
        obs[at + i] = NEEDS[row, i]
