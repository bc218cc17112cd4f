"""Hands by class: hands that differ only by a suit permutation are played alike.

The 2,598,960 hands of five cards form 134,459 classes, the 20,358,520 of six 962,988. To find a
hand's class, write each suit's ranks as 13 bits and sort the suits, the largest number first. The
four numbers in this order are the class's code. The cards in this order, by rank and then by suit,
have places 0, 1, ..., and these number the ways to discard two.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
from numba import int64, void

from crib_env.arrays import Ints
from crib_env.engine import stack
from crib_env.engine.jit import entry, kernel
from crib_env.engine.ranks import RANKS, SUITS, WHOLE_DECK, bit_count
from crib_env.engine.record import NONE

HAND = 6  # cards of the largest hand


@kernel
def canonical(cards, n, order):
    """Return the code of a hand's class; write ``order``, the index of the card in each place."""
    ranks = stack.ints(SUITS)
    name = stack.ints(SUITS)  # each suit's place in the order of the class
    key = stack.ints(HAND)
    for suit in range(SUITS):
        ranks[suit] = 0
    for i in range(n):
        ranks[cards[i] & 3] |= 1 << (cards[i] >> 2)
    code = 0
    for suit in range(SUITS):
        place = 0
        for other in range(SUITS):
            more = ranks[other] > ranks[suit]
            place += more or (ranks[other] == ranks[suit] and other < suit)
        name[suit] = place
        code |= ranks[suit] << (RANKS * (SUITS - 1 - place))
    for i in range(n):
        mine = (cards[i] & ~3) | name[cards[i] & 3]
        at = i
        while at > 0 and key[at - 1] > mine:
            key[at] = key[at - 1]
            order[at] = order[at - 1]
            at -= 1
        key[at] = mine
        order[at] = i
    return code


@kernel
def find_class(codes, begin, n, code):
    """Return the number of the class with this code, or NONE."""
    low = 0
    high = n
    while low < high:
        middle = (low + high) >> 1
        if codes[begin + middle] < code:
            low = middle + 1
        else:
            high = middle
    return low if low < n and codes[begin + low] == code else NONE


@entry(int64(int64[::1], int64[::1], int64, int64, int64[::1]))
def list_codes(ranks, begins, suits, n, codes):
    """Write the code of every class of hands of ``n`` cards; return their number."""
    found = 0
    for i in range(begins[0], begins[n + 1]):
        a = ranks[i]
        for of_b in range(n - bit_count(a) + 1):
            for j in range(begins[of_b], begins[of_b + 1]):
                b = ranks[j]
                if b > a or (b > 0 and suits < 2):
                    break
                for of_c in range(n - bit_count(a) - of_b + 1):
                    of_d = n - bit_count(a) - of_b - of_c
                    for k in range(begins[of_c], begins[of_c + 1]):
                        c = ranks[k]
                        if c > b or (c > 0 and suits < 3):
                            break
                        for m in range(begins[of_d], begins[of_d + 1]):
                            d = ranks[m]
                            if d > c or (d > 0 and suits < 4):
                                break
                            if found < len(codes):
                                codes[found] = ((a << RANKS | b) << RANKS | c) << RANKS | d
                            found += 1
    return found


@entry(void(int64[::1], int64, int64[:, ::1], int64[::1]))
def write_classes(codes, suits, cards, sizes):
    """Write the cards of each class by place, and the number of its hands."""
    for i in range(len(codes)):
        n = 0
        for rank in range(RANKS):
            for suit in range(SUITS):
                if codes[i] >> (RANKS * (SUITS - 1 - suit) + rank) & 1:
                    cards[i, n] = 4 * rank + suit
                    n += 1
        ways = 1  # to permute the suits, up to swaps of suits with the same ranks
        alike = 1
        for suit in range(suits):
            mine = codes[i] >> (RANKS * (SUITS - 1 - suit)) & ((1 << RANKS) - 1)
            before = codes[i] >> (RANKS * (SUITS - suit)) & ((1 << RANKS) - 1)
            alike = alike + 1 if suit > 0 and mine == before else 1
            ways = ways * (suit + 1) // alike
        sizes[i] = ways


@dataclass(frozen=True, eq=False)
class Classes:
    """The classes of the hands that a deck deals."""

    codes: Ints  # int64[C], ascending; a class's number is the index of its code
    cards: Ints  # int64[C, dealt], card ids of a hand of the class, in the class's order
    sizes: Ints  # int64[C], the number of hands in each class
    splits: Ints  # int64[S, 2], the places discarded, by split
    keeps: Ints  # int64[S, dealt - 2], the kept places

    @property
    def hands(self) -> int:
        """The number of all hands."""
        return int(self.sizes.sum())


def split_places(dealt: int) -> tuple[Ints, Ints]:
    """Return discarded and kept places by split: int64[S, 2], int64[S, dealt - 2]."""
    splits = list(combinations(range(dealt), 2))
    keeps = [[i for i in range(dealt) if i not in split] for split in splits]
    return np.array(splits, dtype=np.int64), np.array(keeps, dtype=np.int64)


@cache
def hand_classes(dealt: int, deck: int = WHOLE_DECK) -> Classes:
    """Return the classes of hands of ``dealt`` cards."""
    held = [card for card in range(RANKS * SUITS) if deck >> card & 1]
    suits = len({card & 3 for card in held})
    there = sum(1 << rank for rank in {card >> 2 for card in held})
    subsets = [ranks for ranks in range(there + 1) if ranks & ~there == 0]
    subsets = sorted((s for s in subsets if s.bit_count() <= dealt), key=int.bit_count)
    ranks = np.array(subsets, dtype=np.int64)
    begins = np.searchsorted([s.bit_count() for s in subsets], np.arange(dealt + 2))
    none = np.empty(0, dtype=np.int64)
    codes = np.empty(list_codes(ranks, begins, suits, dealt, none), dtype=np.int64)
    list_codes(ranks, begins, suits, dealt, codes)
    codes.sort()
    cards = np.empty((len(codes), dealt), dtype=np.int64)
    sizes = np.empty(len(codes), dtype=np.int64)
    write_classes(codes, suits, cards, sizes)
    return Classes(codes, cards, sizes, *split_places(dealt))
