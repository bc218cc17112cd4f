"""Canonical suits: equal situations that differ only by suits look equal.

While a seat discards, what matters of the suits is which cards share one (flushes) and which jack
may match the starter, so its suits are put in a fixed order, by the ranks dealt in each. In the
pegging suits do not matter at all, so cards of a rank are numbered: those in the hand first, then
the seat's discards, the starter and the pile. With ``suits="canonical"`` a game uses these kernels:
observation, mask and actions then name canonical cards.

A canonical card stands in the same place of a view's hand as the card it stands for.
"""

from __future__ import annotations

from numba import void

from crib_env.engine.jit import entry, kernel
from crib_env.engine.record import NONE
from crib_env.engine.two_hand.records import DISCARD, HAND, PILE, VIEWS_T
from crib_env.engine.two_hand.slots import legal_slots
from crib_env.engine.two_hand.views import view

SUITS = 4


@kernel
def place_of(suit, c, d, h, s):
    """Return the place of a suit, whose ranks are one of four bit masks, among the four.

    Suits with higher masks come first; of suits with the same ranks, the one with the lower number.
    """
    mine = c if suit == 0 else d if suit == 1 else h if suit == 2 else s
    place = 0
    for other in range(SUITS):
        ranks = c if other == 0 else d if other == 1 else h if other == 2 else s
        place += 1 if ranks > mine or (ranks == mine and other < suit) else 0
    return place


@kernel
def order_suits(card, c, d, h, s):
    """Return the canonical card of a card, while the seat discards."""
    return (card & ~3) | place_of(card & 3, c, d, h, s)


@kernel
def next_of_rank(card, seen):
    """Return the canonical card of the next card of a rank; ``seen`` has three bits a rank."""
    return (card & ~3) | (seen >> (3 * (card >> 2)) & 7)


@kernel
def relabel(v):
    """Write canonical cards over the cards of a view."""
    if v["phase"] == DISCARD:
        c = d = h = s = 0
        for i in range(v["hand_n"] + v["discarded_n"]):
            card = v["hand"][i] if i < v["hand_n"] else v["discarded"][i - v["hand_n"]]
            bit = 1 << (card >> 2)
            suit = card & 3
            c |= bit if suit == 0 else 0
            d |= bit if suit == 1 else 0
            h |= bit if suit == 2 else 0
            s |= bit if suit == 3 else 0
        for i in range(v["hand_n"]):
            v["hand"][i] = order_suits(v["hand"][i], c, d, h, s)
        for i in range(v["discarded_n"]):
            v["discarded"][i] = order_suits(v["discarded"][i], c, d, h, s)
        return
    seen = 0
    for i in range(v["hand_n"]):
        card = v["hand"][i]
        v["hand"][i] = next_of_rank(card, seen)
        seen += 1 << (3 * (card >> 2))
    for i in range(v["discarded_n"]):
        card = v["discarded"][i]
        v["discarded"][i] = next_of_rank(card, seen)
        seen += 1 << (3 * (card >> 2))
    if v["starter"] != NONE:
        card = v["starter"]
        v["starter"] = next_of_rank(card, seen)
        seen += 1 << (3 * (card >> 2))
    for i in range(min(v["pile_n"], PILE)):
        card = v["pile"][i]
        v["pile"][i] = next_of_rank(card, seen)
        seen += 1 << (3 * (card >> 2))


@entry(void(VIEWS_T), "two_hand.relabel_views")
def relabel_views(views):
    """Write canonical cards over the cards of each view."""
    for i in range(views.shape[0]):
        relabel(views[i])


@kernel
def canonical_view(s, rules, seat, v):
    """Fill the view ``v`` as `views.view` does, in canonical cards."""
    view(s, rules, seat, v)
    relabel(v)


@kernel
def canonical_card(s, seat, slot):
    """Return the canonical card in a slot that the seat holds."""
    card = s["dealt"][HAND * seat + slot]
    if s["phase"] != DISCARD:
        place = 0
        for i in range(slot):
            same = s["dealt"][HAND * seat + i] >> 2 == card >> 2
            place += 1 if same and s["held"][seat] >> i & 1 else 0
        return (card & ~3) | place
    c = d = h = p = 0
    dealt = s["held"][seat] | s["discarded"][seat]
    for i in range(HAND):
        if dealt >> i & 1:
            other = s["dealt"][HAND * seat + i]
            bit = 1 << (other >> 2)
            suit = other & 3
            c |= bit if suit == 0 else 0
            d |= bit if suit == 1 else 0
            h |= bit if suit == 2 else 0
            p |= bit if suit == 3 else 0
    return order_suits(card, c, d, h, p)


@kernel
def canonical_slot(s, rules, card):
    """Return the slot of a canonical card the seat to move may use now, or NONE."""
    seat = s["to_move"]
    slots = legal_slots(s, seat)
    for i in range(HAND):
        if slots >> i & 1 and canonical_card(s, seat, i) == card:
            return i
    return NONE


@kernel
def canonical_card_in(s, slot):
    """Return the canonical card in a slot of the seat to move."""
    return canonical_card(s, s["to_move"], slot)
