"""Kernels for discarding: charts of pairs, and the pair of the highest value by any measure.

Discarding is two decisions of one card. Both look for the best pair among all the cards dealt,
the second among the pairs with the card already discarded, so they agree on one pair. Values of a
pair must not depend on the order of the cards, or the two decisions could differ by rounding.
"""

from __future__ import annotations

from crib_agents.data.tables import DEALT, RANKS, ROLES
from crib_env.engine.hands.counting import DECK, dealt_card, starters_total
from crib_env.engine.jit import kernel
from crib_env.engine.record import NONE

__all__ = [
    "DECK",
    "card_of",
    "choose_pair",
    "discard_by",
    "starters_total",
]  # fmt: skip

# A chart has 13x13 numbers for the two cards a seat discards, one chart for each game and role. As
# poker players draw theirs: the higher rank's row and the lower's column for two cards of one suit,
# the lower's row and the higher's column for two suits, the diagonal for two of a rank.
CELLS = RANKS * RANKS
CHARTS = len(DEALT) * len(ROLES)


@kernel
def game_of(v):
    """Return the place of the game of the view ``v`` in `DEALT`, in which tables have games."""
    return DEALT[0] - v["dealt"]


@kernel
def pair_table_of(v, is_dealer):
    """Return which chart is a role's in the game of the view ``v``: six-card pone's is 0."""
    return len(ROLES) * game_of(v) + is_dealer


@kernel
def cell(low, high):
    """Return where a chart holds the pair of card ids ``low`` < ``high``."""
    a = low >> 2
    b = high >> 2
    return RANKS * b + a if low & 3 == high & 3 else RANKS * a + b


def choose_pair(pair_value):
    """Return a kernel ``best_pair(view, table, weights)`` by the value of a pair to discard.

    It returns ``64 * higher + lower`` card id; of equals the pair of the higher cards.
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
