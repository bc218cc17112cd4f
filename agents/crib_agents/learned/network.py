"""A small network inside kernels: its numbers lie in one flat array, its inputs are a short list.

A net is an MLP of two hidden layers with ReLUs. Of its many inputs few are not 0, so features are
written as a list of which are and what they are, and the first layer adds up those inputs' rows.

In the flat array a net is ``inputs, first, second, outputs`` (the sizes of its layers), then for
each layer its weights, a row for each *input*, and its biases.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from crib_env.engine import stack
from crib_env.engine.jit import kernel

LAYERS = 3
WIDEST = 512  # numbers in a hidden layer, at most
MOST_INPUTS = 256  # inputs other than 0, at most
SIZES = LAYERS + 1

Array = npt.NDArray[np.float32]
Layers = Sequence[tuple[Array, Array]]
"""Weight [out, in] and bias [out] of each layer, as PyTorch keeps them."""


def flatten(layers: Layers) -> npt.NDArray[np.float64]:
    """Return a net as `forward` reads it, float64[K]."""
    sizes = [layers[0][0].shape[1], *(len(bias) for _, bias in layers)]
    parts: list[npt.NDArray[np.float64]] = [np.array(sizes, dtype=np.float64)]
    for weight, bias in layers:
        parts += [weight.T.astype(np.float64).ravel(), bias.astype(np.float64)]
    return np.concatenate(parts)


@kernel
def put(places, values, n, place, value):
    """Write down that the input at ``place`` is ``value``, as the n-th; return how many now are."""
    places[n] = place
    values[n] = value
    return n + 1


@kernel
def put_counts(places, values, n, place, counts):
    """Write a thermometer of ``counts`` (so many of each rank, four bits a rank): 4 x 13 inputs."""
    for r in range(13):
        for i in range(counts >> (4 * r) & 15):
            places[n] = place + 13 * i + r
            values[n] = 1.0
            n += 1
    return n


@kernel
def add_row(total, row, x):
    """Add ``x`` times a row of weights to what a layer's inputs have come to so far."""
    for j in range(row.shape[0]):
        total[j] += x * row[j]


@kernel
def forward(weights, at, places, values, n, outputs):
    """Write what the net at ``weights[at]`` makes of its inputs into ``outputs``.

    Args:
        weights: float64[K]. at: where the net begins; see `flatten`.
        places: int64, which inputs are not 0. values: float64, what they are. n: how many.
        outputs: float64[outputs].
    """
    inputs = int(weights[at])
    wide = int(weights[at + 1])
    narrow = int(weights[at + 2])
    outs = int(weights[at + 3])
    first = stack.floats(WIDEST)
    second = stack.floats(WIDEST)
    at += SIZES
    bias = weights[at + inputs * wide : at + (inputs + 1) * wide]
    for j in range(wide):
        first[j] = bias[j]
    for i in range(n):
        row = at + places[i] * wide
        add_row(first, weights[row : row + wide], values[i])
    at += (inputs + 1) * wide
    bias = weights[at + wide * narrow : at + (wide + 1) * narrow]
    for j in range(narrow):
        second[j] = bias[j]
    for i in range(wide):
        if first[i] > 0.0:
            row = at + i * narrow
            add_row(second, weights[row : row + narrow], first[i])
    at += (wide + 1) * narrow
    bias = weights[at + narrow * outs : at + (narrow + 1) * outs]
    for j in range(outs):
        outputs[j] = bias[j]
    for i in range(narrow):
        if second[i] > 0.0:
            row = at + i * outs
            add_row(outputs, weights[row : row + outs], second[i])
