"""The first layer of a policy for many observations: few bits are set, so it adds rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import float32, int64, void

from crib_env.engine.jit import entry

FLOATS_T = float32[:, ::1]


@entry(void(FLOATS_T, int64, int64, FLOATS_T, float32[::1], FLOATS_T))
def add_rows(observations, bits, count, weights, bias, out):
    """Write the first layer's outputs before the ReLU, float32[B, W].

    Shapes: observations float32[B, bits + count * actions]; weights float32[bits + 2 * count, W];
    bias float32[W].
    """
    actions = (observations.shape[1] - bits) // count if count else 0
    for k in range(observations.shape[0]):
        row = out[k]
        seen = observations[k]
        for j in range(row.shape[0]):
            row[j] = bias[j]
        for i in range(bits):
            value = seen[i]
            if value != 0.0:
                of_input = weights[i]
                for j in range(row.shape[0]):
                    row[j] += value * of_input[j]
        for f in range(count):
            high = seen[bits + f * actions]
            low = high
            for a in range(1, actions):
                value = seen[bits + f * actions + a]
                high = max(high, value)
                low = min(low, value)
            of_high = weights[bits + f]
            of_low = weights[bits + count + f]
            for j in range(row.shape[0]):
                row[j] += high * of_high[j] + low * of_low[j]


def first_layer(
    observations: npt.NDArray[Any], bits: int, count: int, weight: npt.NDArray[Any],
    bias: npt.NDArray[Any],
) -> npt.NDArray[np.float32]:  # fmt: skip
    """Return the first layer's outputs before the ReLU, float32[B, W]; see `add_rows`.

    Shapes: weight float32[W, bits + 2 * count].
    """
    out = np.empty((len(observations), len(bias)), dtype=np.float32)
    seen = np.ascontiguousarray(observations, dtype=np.float32)
    weights = np.array(weight.T, dtype=np.float32, order="C")  # by input; those of a file are fixed
    add_rows(seen, bits, count, weights, np.array(bias, dtype=np.float32), out)
    return out
