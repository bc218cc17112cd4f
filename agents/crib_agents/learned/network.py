"""A small network inside kernels.

A network is an MLP with two hidden layers and ReLUs. Few of its many inputs are not 0. So features
are a list of their places and values, and the first layer adds up the rows of those inputs.

In the flat array a network is ``inputs, first, second, outputs`` (the sizes of its layers), then
for each layer its weights, a row for each *input*, and its biases. `LearnedFamily` describes a
family's networks. `join` makes one flat array of those for many rules.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from crib_env.arrays import Doubles, Floats
from crib_env.engine import stack
from crib_env.engine.family import find_family
from crib_env.engine.jit import kernel, plain
from crib_env.engine.record import NONE
from crib_env.rules import Rules

LAYERS = 3
WIDEST = 512  # numbers in a hidden layer, at most
MOST_INPUTS = 256  # inputs other than 0, at most
SIZES = LAYERS + 1
MOST_POINTS = 1000.0  # more than a deal brings
UNLIKELY = -1e9  # the value of what cannot be chosen

Layers = Sequence[tuple[Floats, Floats]]
"""Weight [out, in] and bias [out] of each layer, as PyTorch keeps them."""


def flatten(layers: Layers) -> Doubles:
    """Return a net as `forward` reads it, float64[K]."""
    sizes = [layers[0][0].shape[1], *(len(bias) for _, bias in layers)]
    parts: list[Doubles] = [np.array(sizes, dtype=np.float64)]
    for weight, bias in layers:
        parts += [weight.T.astype(np.float64).ravel(), bias.astype(np.float64)]
    return np.concatenate(parts)


def join(keys: Sequence[int], parts: Sequence[Doubles]) -> Doubles:
    """Return arrays for many rules as one: their number, each key and place, then the arrays."""
    at = 1 + 2 * len(keys)
    head = [float(len(keys))]
    for key, numbers in zip(keys, parts, strict=True):
        head += [key, at]
        at += len(numbers)
    return np.concatenate([np.array(head, dtype=np.float64), *parts])


@kernel
def put(places, values, n, place, value):
    """Write down that the input at ``place`` is ``value``, as the n-th; return how many now are."""
    places[n] = place
    values[n] = value
    return n + 1


@kernel
def put_all(numbers, place, places, values, n):
    """Write down the numbers that are not 0, from ``place`` on; return how many inputs now are."""
    for i in range(numbers.shape[0]):  # branch-free: the branch would be unpredictable
        places[n] = place + i
        values[n] = numbers[i]
        n += numbers[i] != 0.0
    return n


@kernel
def add_rows(total, weights, at, places, values, lo, hi):
    """Add rows of weights, each times its value, to the sums of a layer's units."""
    wide = total.shape[0]
    four = lo + (hi - lo) // 4 * 4
    for i in range(lo, four, 4):  # four at once: the sums are read and written a quarter as often
        at0 = at + places[i] * wide
        at1 = at + places[i + 1] * wide
        at2 = at + places[i + 2] * wide
        at3 = at + places[i + 3] * wide
        row0 = weights[at0 : at0 + wide]
        row1 = weights[at1 : at1 + wide]
        row2 = weights[at2 : at2 + wide]
        row3 = weights[at3 : at3 + wide]
        x0 = values[i]
        x1 = values[i + 1]
        x2 = values[i + 2]
        x3 = values[i + 3]
        for j in range(wide):
            total[j] += x0 * row0[j] + x1 * row1[j] + x2 * row2[j] + x3 * row3[j]
    for i in range(four, hi):
        at0 = at + places[i] * wide
        row0 = weights[at0 : at0 + wide]
        x0 = values[i]
        for j in range(wide):
            total[j] += x0 * row0[j]


@kernel
def add_layer(hidden, wide, weights, at, outputs):
    """Write a layer's outputs: the biases, and a row for each unit before it that is above 0."""
    places = stack.ints(WIDEST)
    n = 0
    for i in range(wide):  # branch-free: the branch would be unpredictable
        places[n] = i
        hidden[n] = hidden[i]
        n += hidden[i] > 0.0
    outs = outputs.shape[0]
    bias = weights[at + wide * outs : at + (wide + 1) * outs]
    for j in range(outs):
        outputs[j] = bias[j]
    add_rows(outputs, weights, at, places, hidden, 0, n)


@kernel
def begin(weights, at, places, values, n, hidden):
    """Write the first layer's sums of the first ``n`` inputs, of the net at ``weights[at]``."""
    wide = int(weights[at + 1])
    bias = at + SIZES + int(weights[at]) * wide
    for j in range(wide):
        hidden[j] = weights[bias + j]
    add_rows(hidden[:wide], weights, at + SIZES, places, values, 0, n)


@kernel
def go_on(before, weights, at, places, values, lo, hi, hidden):
    """Write the sums ``before`` with the inputs ``lo`` to ``hi`` added to them."""
    wide = int(weights[at + 1])
    for j in range(wide):
        hidden[j] = before[j]
    add_rows(hidden[:wide], weights, at + SIZES, places, values, lo, hi)


@kernel
def finish(weights, at, hidden, outputs):
    """Write the net's outputs, float64[outputs]; ``hidden`` has all its inputs, and is used up."""
    wide = int(weights[at + 1])
    narrow = int(weights[at + 2])
    second = stack.floats(WIDEST)
    layer = at + SIZES + (int(weights[at]) + 1) * wide
    add_layer(hidden, wide, weights, layer, second[:narrow])
    add_layer(second, narrow, weights, layer + (wide + 1) * narrow, outputs)


@kernel
def forward(weights, at, places, values, n, outputs):
    """Run the network stored at ``weights[at]``; write ``outputs``."""
    hidden = stack.floats(WIDEST)
    begin(weights, at, places, values, n, hidden)
    finish(weights, at, hidden, outputs)


@kernel
def bounded(points):
    """Return a net's expected points in the range of a table; NaN as 0."""
    if math.isnan(points):
        return 0.0
    return max(-MOST_POINTS, min(points, MOST_POINTS))


@kernel
def offset_of_rules(weights, key):
    """Return the offset of the part for the rules of a key, or NONE; see `join`."""
    for i in range(int(weights[0])):
        if weights[1 + 2 * i] == key:
            return int(weights[2 + 2 * i])
    return NONE


@dataclass(frozen=True)
class Net:
    """A net of a family: what its inputs are called, the version of their meaning, its sizes."""

    features: str
    version: int
    inputs: int
    outputs: int


@dataclass(frozen=True, eq=False)
class LearnedFamily:
    """A family of games as the learned agent plays it."""

    name: str  # the family's
    nets: Mapping[str, Net]  # by name, in the order in which ``act`` finds them
    fields: tuple[str, ...]  # of a view, that the nets depend on: rules, the number of players
    # Tells the values of those fields apart, and from those of every other family.
    rules_key: Callable[[Any], int]
    act: Callable[..., Any]  # ``act(view, rng, table, weights)``; ``weights`` as of `join`
    # ``values(view, table, weights, values)`` writes the value of each action; ``weights`` begin
    # with the nets.
    values: Callable[..., Any]
    # Shapes of tables of learned numbers, by name; ``act`` finds them after the nets.
    tables: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    # ``knows(rules)``: what else ``act`` knows of the rules, float64[K], after the tables.
    knows: Callable[[Any], Doubles] | None = None

    def key(self, rules: Rules) -> int:
        """Return the number by which kernels tell these rules from others."""
        view = np.zeros(1, dtype=find_family(self.name).view)
        for name in self.fields:
            view[name] = getattr(rules, name)
        return int(plain(self.rules_key)(view[0]))
