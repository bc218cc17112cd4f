"""What cards make: at the end of the present count (H4), and in the show (H8, F6)."""

from __future__ import annotations

from crib_env.engine.jit import kernel
from crib_env.engine.show import FOUR, JACK, KEYS, score_flush_and_nob
from crib_env.engine.two_hand.records import HAND


@kernel
def pile_cards(s, start):
    """Return the cards of the pile from ``start`` on as a mask."""
    mask = 0
    for i in range(start, s["pile_n"]):
        mask |= 1 << s["pile"][i]
    return mask


@kernel
def paired(s):
    """Return how many cards of the last rank end the present count (H4)."""
    n = s["pile_n"]
    r = s["pile"][n - 1] >> 2
    alike = 1
    for i in range(n - 2, s["pile_from"] - 1, -1):
        if s["pile"][i] >> 2 != r:
            break
        alike += 1
    return alike


@kernel
def run_length(s):
    """Return the length of the longest run that ends the present count, 0 for none (H4)."""
    low = 12
    high = 0
    seen = 0
    longest = 0
    n = s["pile_n"]
    for cards in range(1, n - s["pile_from"] + 1):
        r = s["pile"][n - cards] >> 2
        if seen >> r & 1:
            break
        seen |= 1 << r
        low = min(low, r)
        high = max(high, r)
        longest = cards if high - low == cards - 1 else longest
    return longest if longest > 2 else 0


@kernel
def heels_points(s, rules):
    """Return what the starter pegs the dealer as it is turned up (C3)."""
    return rules["heels"] if s["starter"] >> 2 == JACK else 0


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
    starter = s["starter"]
    key = KEYS[starter >> 2]
    nob_card = 4 * JACK + (starter & 3)
    suits = 0
    held = 0
    cards = 0
    for i in range(2 * HAND):  # branch-free: the branch would be unpredictable
        card = s["dealt"][i]
        one = slots >> i & 1
        key += KEYS[card >> 2] * one
        suits += one << (8 * (card & 3))
        held += one
        cards |= one << card
    nob = cards >> nob_card & 1
    if held == 3:
        key += FOUR
    return table[key] + score_flush_and_nob(suits, held, starter, flush_size, nob), cards
