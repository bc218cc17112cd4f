"""Slots: a card's place among those dealt to a seat, by which the engine names it all deal long."""

from __future__ import annotations

import numpy as np

from crib_env.engine.jit import kernel
from crib_env.engine.record import NONE
from crib_env.engine.rng import below
from crib_env.engine.show import pip
from crib_env.engine.two_hand.records import DISCARD, HAND

# For every set of slots, how many it holds and where its k-th lies: a draw without branches.
SLOT_COUNT = np.array([slots.bit_count() for slots in range(1 << HAND)], dtype=np.int64)
NTH_SLOT = np.zeros((1 << HAND, HAND), dtype=np.int64)
for _slots in range(1 << HAND):
    for _k, _slot in enumerate(i for i in range(HAND) if _slots >> i & 1):
        NTH_SLOT[_slots, _k] = _slot


@kernel
def legal_slots(s, seat):
    """Return which of the seat's dealt cards it may use now, one bit a card (H1, H3)."""
    held = s["held"][seat]
    if s["phase"] == DISCARD:
        return held
    room = 31 - s["count"]
    if room >= 10:
        return held
    fitting = 0
    for i in range(HAND):  # branch-free: the branch would be unpredictable
        fitting |= (pip(s["dealt"][HAND * seat + i]) <= room) << i
    return held & fitting


@kernel
def slot_of(s, rules, card):
    """Return the slot of a card the seat to move may use now, or NONE."""
    seat = s["to_move"]
    slots = legal_slots(s, seat)
    slot = NONE
    for i in range(HAND):  # branch-free: the branch would be unpredictable
        slot = i if (s["dealt"][HAND * seat + i] == card) & (slots >> i & 1) else slot
    return slot


@kernel
def draw_slot(s, rules, rng):
    """Draw one of the legal slots of the seat to move, each as likely."""
    slots = legal_slots(s, s["to_move"])
    return NTH_SLOT[slots, below(rng, SLOT_COUNT[slots])]


@kernel
def card_in(s, slot):
    """Return the card in a slot of the seat to move."""
    return s["dealt"][HAND * s["to_move"] + slot]
