"""Kernels for discarding: the pair of the highest value, by one measure or another.

Discarding is two decisions of one card. Both look for the best pair among all the cards dealt,
the second among the pairs that hold the card already laid, so they agree on one pair. Values of a
pair must not depend on the order of the cards, or the two decisions could differ by rounding.
"""

from __future__ import annotations

from crib_env.engine.jit import kernel
from crib_env.engine.record import NONE
from crib_env.engine.two_hand.counting import DECK, dealt_card, starters_total

__all__ = [
    "DECK",
    "card_of",
    "choose_pair",
    "discard_by",
    "starters_total",
]  # fmt: skip


def choose_pair(pair_value):
    """Return a kernel ``best_pair(view, table, weights)`` by the value of a pair to discard.

    It returns ``64 * higher + lower`` card id; of equals the pair of the higher cards.

    Args:
        pair_value: kernel ``pair_value(view, table, weights, low, high)``.
    """

    @kernel
    def best_pair(v, table, weights):
        n = v["hand_n"] + v["discarded_n"]
        best = NONE
        most = 0.0
        for j in range(n):
            if v["discarded_n"] == 1 and j < n - 1:
                continue  # the card laid is the last of `dealt_card`, and must be of the pair
            for i in range(n if v["discarded_n"] == 1 else j):
                if i == j:
                    continue
                low = min(dealt_card(v, i), dealt_card(v, j))
                high = max(dealt_card(v, i), dealt_card(v, j))
                value = pair_value(v, table, weights, low, high)
                pair = 64 * high + low
                if best == NONE or value > most or (value == most and pair > best):
                    best = pair
                    most = value
        return best

    return best_pair


@kernel
def card_of(v, pair):
    """Return the card of a pair to discard now: the higher card first, then the other."""
    high = pair >> 6
    return pair & 63 if v["discarded_n"] == 1 and v["discarded"][0] == high else high


def discard_by(pair_value):
    """Return a kernel ``discard(view, table, weights) -> card``; see `choose_pair`."""
    best_pair = choose_pair(pair_value)

    @kernel
    def discard(v, table, weights):
        return card_of(v, best_pair(v, table, weights))

    return discard
