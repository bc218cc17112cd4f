"""Counting a set of cards: fifteens, pairs, runs, flushes and nobs (C2, C4, H8, F6, T8).

Points of ranks alone are read from a table indexed by the sum of the ranks' keys. The keys (found
greedily) make the sums of all five-card rank multisets distinct, and those of all four-card ones.
The table is filled once at start by the direct count `count_ranks`; a GPU gets a copy of it.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt
from numba import void

from crib_env.cards import JACK as JACK
from crib_env.engine.jit import entry, kernel
from crib_env.engine.ranks import pair_number, pips
from crib_env.engine.record import TABLE_T

KEYS = np.array([0, 1, 5, 22, 94, 312, 992, 2422, 5624, 12522, 19998, 43258, 79415], dtype=np.int64)
FOUR = 360919  # where the four-card sums begin: one more than the largest sum of five keys
SUMS = FOUR + 4 * 79415 + 1  # where the sums of `crib_sum` begin
SUMS_PER_PAIR = 105  # sums of two ranks: for each rank, for each two ranks, and for none
SUM_BYTES = 3
TABLE_SIZE = SUMS + 91 * SUMS_PER_PAIR * SUM_BYTES


@kernel
def pip(card):
    """Return the count of a card: the ace 1, court cards 10 (C1)."""
    return pips(card >> 2)


@kernel
def count_ranks(a, b, c, d, e):
    """Return the points of fifteens, pairs and runs (C2) of five ranks; ``e`` -1 for none."""
    points = 0
    packed = (1 << (4 * a)) + (1 << (4 * b)) + (1 << (4 * c)) + (1 << (4 * d))
    p0 = pips(a)
    p1 = pips(b)
    p2 = pips(c)
    p3 = pips(d)
    p4 = 100
    if e >= 0:
        packed += 1 << (4 * e)
        p4 = pips(e)
    for m in range(1, 32):
        total = (m & 1) * p0 + (m >> 1 & 1) * p1 + (m >> 2 & 1) * p2
        total += (m >> 3 & 1) * p3 + (m >> 4 & 1) * p4
        if total == 15:
            points += 2
    length = 0
    ways = 1
    for r in range(14):
        n = packed >> (4 * r) & 15
        if n > 0:
            points += n * (n - 1)
            length += 1
            ways *= n
        else:
            if length >= 3:
                points += length * ways
            length = 0
            ways = 1
    return points


@entry(void(TABLE_T))
def fill_table(table):
    """Fill ``table`` (uint8[TABLE_SIZE]) with the points of every four or five ranks."""
    for a in range(13):
        for b in range(a, 13):
            for c in range(b, 13):
                for d in range(c, 13):
                    key = KEYS[a] + KEYS[b] + KEYS[c] + KEYS[d]
                    table[FOUR + key] = count_ranks(a, b, c, d, -1)
                    for e in range(d, 13):
                        if e != a:
                            table[key + KEYS[e]] = count_ranks(a, b, c, d, e)


@kernel
def score_flush_and_nob(suits, held, starter, smallest, nob):
    """Return the points of flush and nobs of a hand or crib with the starter."""
    points = nob
    for s in range(4):
        if suits >> (8 * s) & 255 == held:
            n = held + 1 if (starter & 3) == s else held
            if n >= smallest:
                points += n
    return points


@kernel
def heels_points(rules, starter):
    """Return the points of the dealer's side for the turned starter (C3, T3)."""
    return rules["heels"] if starter >> 2 == JACK else 0


@kernel
def add_card(key, suits, jacks, card):
    """Return the key, suits and jacks of held cards (see `with_starter`) with one more."""
    nob = 1 << (card & 3) if card >> 2 == JACK else 0
    return key + KEYS[card >> 2], suits + (1 << (8 * (card & 3))), jacks | nob


@kernel
def with_starter(table, key, suits, jacks, held, starter, flush_size):
    """Return the points of held cards (sum of keys, suits in bytes, jacks) with the starter."""
    at = key + KEYS[starter >> 2] + (FOUR if held == 3 else 0)
    nob = jacks >> (starter & 3) & 1
    return table[at] + score_flush_and_nob(suits, held, starter, flush_size, nob)


@kernel
def read_sum(table, pair, i):
    """Return sum ``i`` of `fill_sums`: 0 to 12 given one rank, 13 to 103 given two, 104 none."""
    at = SUMS + SUM_BYTES * (SUMS_PER_PAIR * pair + i)
    return np.int64(table[at]) | np.int64(table[at + 1]) << 8 | np.int64(table[at + 2]) << 16


@kernel
def write_sum(table, pair, i, value):
    """Write a sum where `read_sum` reads it."""
    at = SUMS + SUM_BYTES * (SUMS_PER_PAIR * pair + i)
    for byte in range(SUM_BYTES):
        table[at + byte] = value >> 8 * byte & 255


@entry(void(TABLE_T))
def fill_sums(table):
    """Fill the sums: the points of two ranks with every three cards of a deck that hold given ones.

    Given are two, one or no cards, by their ranks. A sum with fewer given cards adds up those with
    one more, divided by how often each three cards are counted.
    """
    for b in range(13):
        for a in range(b + 1):
            pair = pair_number(a, b)
            key = KEYS[a] + KEYS[b]
            for s in range(13):
                for r in range(s + 1):
                    total = np.int64(0)
                    for t in range(13):
                        left = 4 - (t == r) - (t == s)
                        total += left * np.int64(table[key + KEYS[r] + KEYS[s] + KEYS[t]])
                    write_sum(table, pair, 13 + pair_number(r, s), total)
            every = np.int64(0)
            for r in range(13):
                total = np.int64(0)
                for s in range(13):
                    total += (4 - (s == r)) * read_sum(table, pair, 13 + pair_number(r, s))
                write_sum(table, pair, r, total // 2)
                every += 4 * (total // 2)
            write_sum(table, pair, 104, every // 3)


@cache
def show_table() -> npt.NDArray[np.uint8]:
    """Return the points of every rank multiset of four or five cards; the sums follow."""
    table = np.zeros(TABLE_SIZE, dtype=np.uint8)
    fill_table(table)
    fill_sums(table)
    return table
