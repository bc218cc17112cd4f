"""Kernels that value a line of Table Top: its points now, and those the next card may add.

A line, or the crib with the starter, is at most five cards as a mask, one bit a card id.
"""

from __future__ import annotations

import numpy as np

from crib_env.engine.jit import kernel
from crib_env.engine.ranks import RANKS, WHOLE_DECK, bit_count, lowest
from crib_env.engine.record import NONE
from crib_env.engine.show import FOUR, JACK, KEYS, pip
from crib_env.engine.table_top.records import CELLS, CENTRE, CRIB_CARDS, SIZE

SUIT = sum(1 << (4 * rank) for rank in range(RANKS))  # the clubs; shifted by s, suit s
SUMS = (1 << 60) - 1  # fifteen places of four bits: how many subsets make 0 to 14


@kernel
def unseen_cards(v):
    """Return the cards the seat has not seen in this round."""
    seen = 0
    for cell in range(CELLS):
        card = v["layout"][cell]
        if card != NONE:
            seen |= 1 << card
    for i in range(CRIB_CARDS):
        card = v["crib"][i]
        if card != NONE:
            seen |= 1 << card
    if v["card"] != NONE:
        seen |= 1 << v["card"]
    return WHOLE_DECK & ~seen


@kernel
def line_through(v, cell, rows):
    """Return the cards in the row of ``cell`` if ``rows`` is 1, else those in its column."""
    at = cell - cell % SIZE if rows else cell % SIZE
    along = 1 if rows else SIZE
    cards = 0
    for i in range(SIZE):
        card = v["layout"][at + along * i]
        if card != NONE:
            cards |= 1 << card
    return cards


@kernel
def crib_known(v):
    """Return the starter and the cards of the crib that the seat knows."""
    cards = 1 << v["starter"]
    for i in range(CRIB_CARDS):
        card = v["crib"][i]
        if card != NONE:
            cards |= 1 << card
    return cards


@kernel
def owed_by(v, side):
    """Return how many cards a side owes the crib in a view: side 0 is mine."""
    return v["owed"][side] + v["owed"][side + 2]


@kernel
def nob_of(v):
    """Return the jack of the starter's suit as a mask, 0 if it is the starter itself (C3, C4)."""
    starter = v["starter"]
    return 0 if starter >> 2 == JACK else 1 << (4 * JACK + (starter & 3))


@kernel
def nob_through(v, cell, rows):
    """Return the jack that scores for nobs in the line through ``cell``, 0 off the centre (T8)."""
    middle = cell // SIZE if rows else cell % SIZE
    return nob_of(v) if middle == CENTRE % SIZE else 0


@kernel
def subset_sums(cards):
    """Return how many subsets of at most five cards make each total of 0 to 14, four bits each."""
    sums = 1
    while cards:
        sums += (sums << (4 * pip(lowest(cards)))) & SUMS
        cards &= cards - 1
    return sums


@kernel
def adds(cards, sums, rank):
    """Return the fifteens and pairs (C2) that a card of ``rank`` adds to ``cards``."""
    fifteens = sums >> (4 * (15 - pip(4 * rank))) & 15
    return 2 * (fifteens + bit_count(cards >> (4 * rank) & 15))


@kernel
def run_of_three(cards):
    """Return 3 if the two or three cards are a run, else 0 (C2)."""
    low = lowest(cards) >> 2
    for i in range(3):
        if bit_count(cards >> (4 * (low + i)) & 15) != 1:
            return 0
    return 3


@kernel
def rank_key(cards):
    """Return the sum of the cards' keys, by which the show table is indexed."""
    key = 0
    while cards:
        key += KEYS[lowest(cards) >> 2]
        cards &= cards - 1
    return key


@kernel
def rank_points(table, cards):
    """Return the points of at most five cards by their ranks: fifteens, pairs and runs (C2)."""
    n = bit_count(cards)
    if n >= 4:
        return np.int64(table[rank_key(cards) + (FOUR if n == 4 else 0)])
    points = run_of_three(cards) if n == 3 else 0
    sums = 1
    before = 0
    while cards:
        card = lowest(cards)
        points += adds(before, sums, card >> 2)
        sums += (sums << (4 * pip(card))) & SUMS
        before |= 1 << card
        cards &= cards - 1
    return points


@kernel
def flush_points(cards, flush_size):
    """Return the points of a flush, if ``flush_size`` or more are of one suit (T8, T12)."""
    points = 0
    for suit in range(4):
        n = bit_count(cards & SUIT << suit)
        if n >= flush_size:
            points += n
    return points


@kernel
def most_of_a_suit(cards):
    """Return how many of the cards are of the commonest suit."""
    most = 0
    for suit in range(4):
        most = max(most, bit_count(cards & SUIT << suit))
    return most


@kernel
def points_so_far(table, cards, flush_size, nob):
    """Return the present points of at most five cards (C2, C4, T8, T12)."""
    points = rank_points(table, cards) + flush_points(cards, flush_size)
    return points + 1 if cards & nob else points


@kernel
def next_of_rank(table, cards, sums, key, now, rank, left):
    """Return the fifteens, pairs and runs that a next card of ``rank`` adds to at most four cards.

    ``sums``, ``key`` (plus `FOUR` with three cards) and ``now`` are their `subset_sums`, `rank_key`
    and `rank_points`; ``left`` the unseen cards of the rank, four bits, not 0.
    """
    n = bit_count(cards)
    if n >= 3:
        return np.int64(table[key + KEYS[rank]]) - now
    more = adds(cards, sums, rank)
    if n == 2:
        more += run_of_three(cards | (left & -left) << (4 * rank))
    return more


@kernel
def next_by_rank(table, cards, unseen, points):
    """Write the points that a next card of each unseen rank adds to at most four ``cards``.

    These are fifteens, pairs and runs. Returns their sum over every unseen card.
    """
    sums = subset_sums(cards)
    now = rank_points(table, cards)
    key = rank_key(cards) + (FOUR if bit_count(cards) == 3 else 0)
    total = 0
    for rank in range(RANKS):
        left = unseen >> (4 * rank) & 15
        if left:
            more = next_of_rank(table, cards, sums, key, now, rank, left)
            points[rank] = more
            total += bit_count(left) * more
    return total
