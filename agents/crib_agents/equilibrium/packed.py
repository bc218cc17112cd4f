"""Strategies in one flat array of numbers, as the compiled agent reads them.

Compiled agents take only float64. A float64 holds whole numbers up to 2**53 exactly, so six
probabilities go into one.
"""

from __future__ import annotations

import numpy as np
from numba import float64, uint8, void

from crib_agents.equilibrium.strategy import Strategy
from crib_env.arrays import Bytes, Doubles
from crib_env.engine.jit import entry, kernel

# What a strategy begins with: numbers of its parts, and where those begin behind it.
CLASSES, DISCARD_PAIRS, STARTERS, SIZE, CODES, SPLITS, ROW, CHILD, OFFSET, PEGGING = range(10)
HEAD = 10

IN_ONE = 6  # bytes in a float64


def pack_bytes(values: Bytes) -> Doubles:
    """Return bytes six to a number, the first lowest."""
    words = np.zeros((-(-len(values) // IN_ONE), 8), dtype=np.uint8)
    whole = len(values) // IN_ONE
    words[:whole, :IN_ONE] = values[: whole * IN_ONE].reshape(-1, IN_ONE)
    words[whole:, : len(values) % IN_ONE] = values[whole * IN_ONE :]
    packed: Doubles = words.view("<u8").ravel().astype(np.float64)
    return packed


@entry(void(uint8[:, ::1], float64[::1]))
def fill_splits(discard, packed):
    """Write the two likeliest splits of each class, and the first's probability, as one number.

    Shapes: discard uint8[N, S]; packed float64[N].
    """
    for k in range(discard.shape[0]):
        row = discard[k]
        first = 0
        for split in range(1, row.shape[0]):
            if row[split] >= row[first]:
                first = split
        second = 1 if first == 0 else 0
        for split in range(second + 1, row.shape[0]):
            if split != first and row[split] >= row[second]:
                second = split
        both = max(int(row[first]) + int(row[second]), 1)
        packed[k] = first + 16 * second + 256 * np.rint(255 * row[first] / both)


def pack_splits(discard: Bytes) -> Doubles:
    """Return what `fill_splits` writes, float64[2 * C], of uint8[2, C, S]."""
    packed = np.zeros(discard.shape[0] * discard.shape[1])
    fill_splits(np.array(discard).reshape(len(packed), -1), packed)  # a file is read-only
    return packed


def pack(strategy: Strategy) -> Doubles:
    """Return a strategy as one array."""
    tree = strategy.tree
    bytes_a_number = strategy.play.shape[1]
    parts = [
        strategy.classes.codes.astype(np.float64),
        pack_splits(strategy.discard),
        tree.row.astype(np.float64),
        tree.child.astype(np.float64).ravel(),
        tree.offset.astype(np.float64),
        pack_bytes(strategy.play.ravel()),
    ]
    begins = HEAD + np.cumsum([0, *map(len, parts[:-1])])
    head = [len(parts[0]), strategy.discard_pairs, len(strategy.play), bytes_a_number, *begins]
    return np.concatenate([np.array(head, dtype=np.float64), *parts])


@kernel
def byte_at(weights, place):
    """Return a byte of `pack_bytes`; ``weights`` begin where those do."""
    return int(weights[place // IN_ONE]) >> (8 * (place % IN_ONE)) & 255
