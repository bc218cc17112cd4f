"""The inputs of the discard networks: the kept hand, the discarded pair, the exact mean hand.

The order of the cards in the view changes no bit: the two decisions of a discard must give a pair
the same value.
"""

from __future__ import annotations

import numpy as np

from crib_agents.kernels.discard import DECK, starters_total
from crib_agents.learned.network import put, put_counts
from crib_env.engine.hands.counting import dealt_card
from crib_env.engine.jit import kernel

NAME = "two_hand.discard"
VERSION = 1

HELD = 0  # kept ranks, thermometer
DISCARDED = HELD + 52  # ranks of the pair: the first of a rank, then the second
PAIR = DISCARDED + 26  # which two ranks, one-hot
SUITED = PAIR + 91  # the pair is of one suit
FLUSH = SUITED + 1  # the hand kept is
MEAN = FLUSH + 1  # the mean hand over every starter not seen, in tens of points
SIZE = MEAN + 1

# Where each two ranks stand among the 91.
CELLS = np.array([[b * (b + 1) // 2 + a for b in range(13)] for a in range(13)], dtype=np.int64)


@kernel
def mean_hand(v, table, low, high):
    """Return the exact mean of the kept hand, in points, if ``low`` and ``high`` are discarded."""
    return starters_total(v, table, low, high) / (DECK - v["hand_n"] - v["discarded_n"])


@kernel
def discard_features(v, low, high, mean, places, values):
    """Write what is seen of discarding the cards ``low`` < ``high``; return how many inputs."""
    held = 0
    suit = -1
    flush = 1
    for i in range(v["hand_n"] + v["discarded_n"]):
        card = dealt_card(v, i)
        if card != low and card != high:
            held += 1 << (4 * (card >> 2))
            if suit == -1:
                suit = card & 3
            elif suit != card & 3:
                flush = 0
    a = low >> 2
    b = high >> 2
    n = put_counts(places, values, 0, HELD, held)
    n = put_counts(places, values, n, DISCARDED, (1 << (4 * a)) + (1 << (4 * b)))
    n = put(places, values, n, PAIR + CELLS[a, b], 1.0)
    if low & 3 == high & 3:
        n = put(places, values, n, SUITED, 1.0)
    if flush:
        n = put(places, values, n, FLUSH, 1.0)
    return put(places, values, n, MEAN, mean / 10.0)
