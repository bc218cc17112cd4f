"""Slots: a card's place among those dealt to its seat, the same for the whole deal.

For families whose state has the cards dealt (``dealt``, seat after seat) and, by seat, which of
them are ``held``, one bit a slot.
"""

from __future__ import annotations

import numpy as np

from crib_env.engine.jit import kernel
from crib_env.engine.ranks import DECK
from crib_env.engine.record import NONE
from crib_env.engine.rng import below

LARGEST_HAND = 6

# For every set of slots, its size and its k-th slot: a draw without branches.
SLOT_COUNT = np.array([slots.bit_count() for slots in range(1 << LARGEST_HAND)], dtype=np.int64)
NTH_SLOT = np.zeros((1 << LARGEST_HAND, LARGEST_HAND), dtype=np.int64)
for _slots in range(1 << LARGEST_HAND):
    for _k, _slot in enumerate(i for i in range(LARGEST_HAND) if _slots >> i & 1):
        NTH_SLOT[_slots, _k] = _slot


@kernel
def hand_size(s):
    """Return how many slots a seat has."""
    return s["dealt"].shape[0] // s["held"].shape[0]


@kernel
def legal_slots(s, seat):
    """Return which of the seat's dealt cards it may use now, one bit a card (H1, H3)."""
    held = s["held"][seat]
    room = 31 - s["count"]
    # With room below ten a card fits if its rank, from 0, is less than the room. With more room, as
    # while seats discard, every card fits.
    below_card = 4 * room if room < 10 else DECK
    hand = hand_size(s)
    first = hand * seat & 63  # & 63: so that the compiler knows no index is negative
    fitting = 0
    for i in range(hand):  # branch-free: the branch would be unpredictable
        fitting |= (s["dealt"][first + i] < below_card) << i
    return held & fitting


@kernel
def view_hand(s, seat, v):
    """Copy a seat's own cards into its view ``v``: those held, legal and discarded."""
    slots = legal_slots(s, seat) if v["to_move"] else 0
    held = s["held"][seat]
    discarded = s["discarded"][seat]
    hand = hand_size(s)
    first = hand * seat & 63
    n = 0
    legal = 0
    for k in range(hand):
        v["hand"][k] = NONE
    for i in range(hand):  # branch-free, as above
        holds = held >> i & 1
        v["hand"][n] = s["dealt"][first + i] | holds - 1  # NONE for a card not held
        legal |= (slots >> i & holds) << n
        n += holds
    v["hand_n"] = n
    v["legal"] = legal
    n = SLOT_COUNT[discarded & 63]
    for k in range(v["discarded"].shape[0]):
        card = s["dealt"][first + (NTH_SLOT[discarded & 63, k] & 7)]
        v["discarded"][k] = card if k < n else NONE
    v["discarded_n"] = n


@kernel
def slot_of(s, rules, card):
    """Return the slot of a card the seat to move may use now, or NONE."""
    seat = s["to_move"]
    slots = legal_slots(s, seat)
    hand = hand_size(s)
    slot = NONE
    for i in range(hand):  # branch-free: the branch would be unpredictable
        slot = i if (s["dealt"][hand * seat + i] == card) & (slots >> i & 1) else slot
    return slot


@kernel
def draw_slot(s, rules, rng):
    """Draw a legal slot of the seat to move, uniformly."""
    slots = legal_slots(s, s["to_move"])
    return NTH_SLOT[slots, below(rng, SLOT_COUNT[slots])]
