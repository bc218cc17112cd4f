"""Kernels that value a line of Table Top: as it lies, and by what the next card may add.

A line, or the crib with the starter, is a set of at most five cards as a mask, one bit a card id.
"""

from __future__ import annotations

from crib_env.engine.jit import kernel
from crib_env.engine.records import NONE
from crib_env.engine.show import FOUR, JACK, KEYS, pip
from crib_env.engine.table_top.layout import bit_count, lowest
from crib_env.engine.table_top.records import CELLS, CENTRE, CRIB_CARDS, SIZE

RANKS = 13
SUIT = sum(1 << (4 * rank) for rank in range(RANKS))  # the clubs; shifted by s, suit s
EVERY_CARD = (1 << 52) - 1
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
    return EVERY_CARD & ~seen


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
def nob_of(v):
    """Return the jack of the starter's suit as a mask, 0 if it is the starter itself (C3, C4)."""
    starter = v["starter"]
    return 0 if starter >> 2 == JACK else 1 << (4 * JACK + (starter & 3))


@kernel
def nob_through(v, cell, rows):
    """Return the jack that would score in the line through ``cell``, 0 off the centre (T8)."""
    middle = cell // SIZE if rows else cell % SIZE
    return nob_of(v) if middle == CENTRE % SIZE else 0


@kernel
def rank_key(cards):
    """Return the sum of the cards' keys, by which the show table is indexed."""
    key = 0
    while cells_left(cards):
        card = lowest(cards)
        cards &= cards - 1
        key += KEYS[card >> 2]
    return key
