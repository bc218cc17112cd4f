"""The points of the hands and the crib in the show (H8, F6)."""

from __future__ import annotations

from crib_env.engine.jit import kernel
from crib_env.engine.slots import slot_points
from crib_env.engine.two_hand.records import HAND


@kernel
def hand_points(s, rules, table, seat):
    """Return the points of a seat's hand with the starter, and its cards as a mask."""
    hand = ((1 << rules["dealt"]) - 1) & ~s["discarded"][seat]
    slots = hand if seat == 0 else hand << HAND
    return show_points(s, rules, table, slots, rules["flush_size"])


@kernel
def crib_points(s, rules, table):
    """Return the points of the crib with the starter, and its cards as a mask."""
    slots = s["discarded"][0] | s["discarded"][1] << HAND
    return show_points(s, rules, table, slots, rules["crib_flush_size"])


@kernel
def show_points(s, rules, table, slots, flush_size):
    """Return the points of the cards in these slots with the starter, and the cards as a mask."""
    points, nob, cards = slot_points(s, table, slots, 0, 2 * HAND, flush_size)
    return points + nob, cards
