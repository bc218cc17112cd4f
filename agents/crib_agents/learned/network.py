"""A small network inside kernels.

A network is an MLP with two hidden layers and ReLUs. Most of its inputs are 0. So inputs are lists
of places and values, and the first layer adds up the rows of the listed inputs.

In the flat array a network is ``inputs, first, second, outputs`` (the sizes of its layers), then
for each layer its weights, a row for each *input*, and its biases. `LearnedFamily` describes a
family's networks. `join` puts the arrays for several rules into one.
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
WIDEST = 512  # most units of a hidden layer
MOST_INPUTS = 256  # most nonzero inputs
SIZES = LAYERS + 1
MOST_POINTS = 1000.0  # more than a deal brings
UNLIKELY = -1e9  # the value of an illegal choice

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
    """Join arrays for several rules: their number, the key and offset of each, then the arrays."""
    at = 1 + 2 * len(keys)
    head = [float(len(keys))]
    for key, numbers in zip(keys, parts, strict=True):
        head += [key, at]
        at += len(numbers)
    return np.concatenate([np.array(head, dtype=np.float64), *parts])


@kernel
def put(places, values, n, place, value):
    """Append the input ``place`` with ``value`` as the n-th; return the new number of inputs."""
    places[n] = place
    values[n] = value
    return n + 1


@kernel
def put_all(numbers, place, places, values, n):
    """Append nonzero numbers as inputs from ``place`` on; return the new number of inputs."""
    for i in range(numbers.shape[0]):  # branch-free: the branch would be unpredictable
        places[n] = place + i
        values[n] = numbers[i]
        n += numbers[i] != 0.0
    return n


@kernel
def add_rows(total, weights, at, places, values, lo, hi):
    """Add the weight rows of inputs ``lo`` to ``hi``, times their values, to a layer's sums."""
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
    """Write a layer's outputs: its biases, plus a weight row for each hidden unit above 0."""
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
    """Write the first layer's sums over ``n`` inputs, for the net at ``weights[at]``."""
    wide = int(weights[at + 1])
    bias = at + SIZES + int(weights[at]) * wide
    for j in range(wide):
        hidden[j] = weights[bias + j]
    add_rows(hidden[:wide], weights, at + SIZES, places, values, 0, n)


@kernel
def go_on(before, weights, at, places, values, lo, hi, hidden):
    """Write into ``hidden`` the sums ``before`` plus the inputs ``lo`` to ``hi``."""
    wide = int(weights[at + 1])
    for j in range(wide):
        hidden[j] = before[j]
    add_rows(hidden[:wide], weights, at + SIZES, places, values, lo, hi)


@kernel
def finish(weights, at, hidden, outputs):
    """Write the net's outputs, float64[outputs]; overwrites ``hidden``, the first layer's sums."""
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
    """Return a net's expected points, clipped to `MOST_POINTS` either way; 0 for NaN."""
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
    """A net of a family: the name and version of its inputs, and its sizes."""

    features: str
    version: int
    inputs: int
    outputs: int


@dataclass(frozen=True, eq=False)
class LearnedFamily:
    """A family of games for the learned agent."""

    name: str  # the family's
    nets: Mapping[str, Net]  # by name, in the order in which ``act`` finds them
    fields: tuple[str, ...]  # the fields of a view that the nets depend on: rules, players
    # A view's key: unique for the values of those fields, over all families.
    rules_key: Callable[[Any], int]
    act: Callable[..., Any]  # ``act(view, rng, table, weights)``; ``weights`` as `join` returns
    # ``values(view, table, weights, values)`` writes the value of each action; ``weights`` begin
    # with the nets.
    values: Callable[..., Any]
    # Shapes of tables of learned numbers, by name; ``act`` finds them after the nets.
    tables: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    # ``knows(rules)``: a computed table for ``act``, float64[K], after those tables.
    knows: Callable[[Any], Doubles] | None = None

    def key(self, rules: Rules) -> int:
        """Return the `rules_key` of these rules."""
        view = np.zeros(1, dtype=find_family(self.name).view)
        for name in self.fields:
            view[name] = getattr(rules, name)
        return int(plain(self.rules_key)(view[0]))
