"""The points of the hands and the crib in the show (M9)."""

from __future__ import annotations

from crib_env.engine.jit import kernel
from crib_env.engine.many_hand.records import CRIB_SLOT, HAND, SEATS
from crib_env.engine.slots import slot_points

ALL = (1 << HAND) - 1


@kernel
def hand_points(s, rules, table, seat):
    """Return the points of a seat's hand with the starter, and its cards as a mask."""
    first = HAND * seat
    slots = (ALL & ~s["discarded"][seat]) << first
    points, nob, cards = slot_points(s, table, slots, first, first + HAND, rules["flush_size"])
    return points + nob, cards


@kernel
def crib_points(s, rules, table):
    """Return the points of the crib with the starter, and its cards as a mask."""
    slots = (s["dealt"][CRIB_SLOT] >= 0) << CRIB_SLOT
    for seat in range(SEATS):
        slots |= s["discarded"][seat] << HAND * seat
    flush_size = rules["crib_flush_size"]
    points, nob, cards = slot_points(s, table, slots, 0, CRIB_SLOT + 1, flush_size)
    return points + nob, cards
