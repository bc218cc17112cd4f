"""Holdings: the rank multisets of up to four cards that a seat may hold in the pegging, numbered.

Suits do not matter in the pegging, so there are 1 + 13 + 91 + 455 + 1,820 holdings. A holding's
number grows with its size; within a size it is the multiset's combinadic. Kernels get the array
`holdings`, with a row of facts per holding: made once per process, 300 kB.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations_with_replacement
from math import comb

import numpy as np

from crib_agents.data.tables import RANKS
from crib_env.arrays import Ints
from crib_env.engine.jit import kernel
from crib_env.engine.record import NONE
from crib_env.engine.show import KEYS

MOST = 4  # cards in the largest holding
FIRST = np.array([comb(RANKS + size - 1, RANKS) for size in range(MOST + 2)], dtype=np.int64)
HOLDINGS = int(FIRST[MOST + 1])
OF_SIZE = np.diff(FIRST)  # how many holdings of each size there are

# Columns of `holdings`; column r is the holding left once a card of rank r is played, or NONE.
LOWEST = RANKS  # the least pip value held, `EMPTY` for nothing held
DISTINCT = RANKS + 1  # how many ranks are held
LISTED = RANKS + 2  # those ranks, ascending, four bits each, the lowest in the lowest bits
COUNTED = RANKS + 3  # how many cards of each rank, four bits a rank
KEY = RANKS + 4  # the sum of the ranks' keys, see `crib_env.engine.show`
COLUMNS = RANKS + 5
EMPTY = 99

_CHOOSE = np.array([[comb(n, k) for k in range(MOST + 1)] for n in range(RANKS + MOST)],
                   dtype=np.int64)  # fmt: skip


@kernel
def number(counted):
    """Return the number of the holding with ``counted`` cards of each rank, four bits a rank."""
    held = 0
    place = 0
    for r in range(RANKS):
        for _ in range(counted >> (4 * r) & 15):
            place += _CHOOSE[r + held, held + 1]
            held += 1
    return FIRST[held] + place


@kernel
def held_ranks(v):
    """Return how many cards of each rank the seat of a view holds, four bits a rank."""
    counted = 0
    for i in range(v["hand_n"]):
        counted += 1 << ((v["hand"][i] >> 2) << 2)
    return counted


@cache
def holdings() -> Ints:
    """Return what kernels ask of every holding, int64[HOLDINGS, COLUMNS]."""
    in_order: list[
        tuple[int, ...]
    ] = []  # as `number` counts them, which would be compiled for this
    for size in range(MOST + 1):
        of_size = combinations_with_replacement(range(RANKS), size)
        in_order += sorted(of_size, key=lambda ranks: ranks[::-1])
    numbers = {ranks: i for i, ranks in enumerate(in_order)}
    rows = np.full((HOLDINGS, COLUMNS), NONE, dtype=np.int64)
    for row, ranks in zip(rows, in_order, strict=True):
        distinct = sorted(set(ranks))
        for r in distinct:
            at = ranks.index(r)
            row[r] = numbers[ranks[:at] + ranks[at + 1 :]]
        row[LOWEST] = min(ranks[0] + 1, 10) if ranks else EMPTY
        row[DISTINCT] = len(distinct)
        row[LISTED] = sum(r << (4 * i) for i, r in enumerate(distinct))
        row[COUNTED] = sum(1 << (4 * r) for r in ranks)
        row[KEY] = sum(KEYS[r] for r in ranks)
    return rows
