"""Ranks as numbers, multisets of ranks, and sets of cards or cells as masks, one bit each.

A rank is 0 (ace) to 12 (king). A multiset of ranks, such as a hand without its suits, has three
forms:

- ranks in ascending order, int64[size];
- *counted*: one integer, four bits a rank, the number of cards of each rank;
- its *number*: its place among all multisets of its size, in colexicographic order.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations_with_replacement
from math import comb

import numpy as np

from crib_env.arrays import Ints
from crib_env.engine.jit import kernel

RANKS = 13
SUITS = 4
DECK = RANKS * SUITS
WHOLE_DECK = (1 << DECK) - 1  # every card in a mask, one bit a card id
MOST = 6  # the most cards that a game for two deals to a seat
CHOOSE = np.array([[comb(n, k) for k in range(MOST + 1)] for n in range(DECK)], dtype=np.int64)


@kernel
def bit_count(mask):
    """Return how many bits of ``mask`` (below 2**32) are set.

    LLVM recognises this form, in 64 bits, and replaces it by the processor's own instruction.
    """
    mask = int(mask)  # in plain Python: NumPy would warn of the product's overflow, which is intended
    mask = mask - (mask >> 1 & 0x5555555555555555)
    mask = (mask & 0x3333333333333333) + (mask >> 2 & 0x3333333333333333)
    mask = (mask + (mask >> 4)) & 0x0F0F0F0F0F0F0F0F
    return (mask * 0x0101010101010101) >> 56 & 255


@kernel
def lowest(mask):
    """Return the place of the lowest bit set in ``mask``, which must not be 0."""
    return bit_count((mask & -mask) - 1)


@kernel
def pips(rank):
    """Return the count of a rank: the ace 1, court cards 10 (C1)."""
    return min(rank + 1, 10)


def how_many(size: int) -> int:
    """Return the number of rank multisets of ``size`` cards."""
    return comb(RANKS + size - 1, size)


@cache
def multisets(size: int) -> Ints:
    """Return every rank multiset of a size by its number, int64[K, size], each in order."""
    found = sorted(combinations_with_replacement(range(RANKS), size), key=lambda ranks: ranks[::-1])
    return np.array(found, dtype=np.int64)


@cache
def rank_counts(size: int) -> Ints:
    """Return the number of cards of each rank in every multiset of a size, int64[K, 13]."""
    counts: Ints = (multisets(size)[..., None] == np.arange(RANKS)).sum(axis=1)
    return counts


RANK_PAIRS = multisets(2)


def multiset_number(ranks: Ints) -> Ints:
    """Return the numbers, int64[...], of rank multisets, int64[..., size], each in order."""
    places = np.arange(ranks.shape[-1])
    return np.ascontiguousarray(CHOOSE[ranks + places, places + 1].sum(axis=-1))


@kernel
def pair_number(first, second):
    """Return the number, 0 to 90, of the multiset of two ranks in any order."""
    high = max(first, second)
    return min(first, second) + high * (high + 1) // 2
