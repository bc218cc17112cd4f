"""What a deal brings, as measured.

For each two-hand game the table counts, over deals of an agent against itself, the points of the
play by both seats together, those of each hand and those of the crib. A game can end within the
play, so who comes first to how many points is counted too. What is used of it is the product: the
play, pone's hand, the dealer's hand and the crib are taken to be independent of each other. (They
nearly are; `crib_training.tables.two_hand.deal_outcomes` prints their correlations.)
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache

from crib_agents.data import tables
from crib_agents.data.tables import Array

MOST_PLAY = 15  # a seat's points of the play above this, one deal in 500, count as this many
PLAY_SIZE = MOST_PLAY + 1
COUNT_SIZE = 30  # a hand or crib counts 0 to 29


@dataclass(frozen=True)
class Outcomes:
    """The distribution of what one deal brings; the dealer's play includes his heels.

    Attributes:
        pegging: float64[16, 16], chance of pone pegging p and the dealer d in the whole play.
        pone_out: float64[16, 16], chance that when pone first has p of the play or more, the
            dealer has exactly d so far; row 0 is empty.
        dealer_out: float64[16, 16], chance that when the dealer first has d or more, pone has
            exactly p so far: ``dealer_out[d, p]``.
        pone_hand: float64[30], chances of pone's hand.
        dealer_hand: float64[30], of the dealer's.
        crib: float64[30], of the crib.
    """

    pegging: Array
    pone_out: Array
    dealer_out: Array
    pone_hand: Array
    dealer_hand: Array
    crib: Array


@cache
def load(dealt: int) -> Outcomes:
    """Return what a deal of the game of ``dealt`` cards, 6 or 5, brings."""
    held = tables.load(tables.DEAL_OUTCOMES)
    game = tables.DEALT.index(dealt)
    return Outcomes(*(held[field.name][game] / held["deals"][game] for field in fields(Outcomes)))
