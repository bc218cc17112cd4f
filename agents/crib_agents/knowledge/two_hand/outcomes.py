"""The measured points of a deal.

For each two-hand game the table counts the points of the pegging by both seats together, of each
hand and of the crib, over deals of an agent against itself. A game can end within the pegging, so
the table also counts which seat first reaches how many points. Kernels use the product of these
distributions: they assume that the pegging, pone's hand, the dealer's hand and the crib are
independent. (They nearly are; `crib_training.tables.two_hand.deal_outcomes` prints their
correlations.)
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cache

import numpy as np

from crib_agents.data import tables
from crib_env.arrays import Doubles
from crib_env.rules import TwoHandRules

MOST_PLAY = 15  # a seat's points of the play above this, one deal in 500, count as this many
PLAY_SIZE = MOST_PLAY + 1
COUNT_SIZE = 30  # a hand or crib counts 0 to 29
MEASURED_HEELS = TwoHandRules.heels
JACK_TURNED = 1 / 13  # the chance that the starter is a jack


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

    pegging: Doubles
    pone_out: Doubles
    dealer_out: Doubles
    pone_hand: Doubles
    dealer_hand: Doubles
    crib: Doubles


@cache
def load(dealt: int, heels: int = MEASURED_HEELS) -> Outcomes:
    """Return what a deal of the game of ``dealt`` cards, 6 or 5, brings."""
    held = tables.load(tables.DEAL_OUTCOMES)
    game = tables.DEALT.index(dealt)
    deal = Outcomes(*(held[field.name][game] / held["deals"][game] for field in fields(Outcomes)))
    if heels == MEASURED_HEELS:
        return deal
    return replace(
        deal,
        pegging=_with_heels(deal.pegging, heels, lumped=True),
        pone_out=_with_heels(deal.pone_out, heels, lumped=True),
        dealer_out=_with_heels(deal.dealer_out.T, heels, lumped=False).T,
    )


def _with_heels(measured: Doubles, heels: int, *, lumped: bool) -> Doubles:
    """Return chances by the dealer's points, the last axis, with other heels than were measured.

    Shapes: measured float64[16, 16].
    """
    at_once = np.zeros(PLAY_SIZE)
    at_once[0] = 0.0 if lumped else 1.0

    def before(chances: Doubles, d: int, points: int) -> Doubles:
        """Return the chances of ``d`` points if heels made the last of them."""
        return chances[:, d - points] if d > points or (lumped and d == points) else at_once

    plain, found = np.zeros_like(measured), np.zeros_like(measured)
    for d in range(PLAY_SIZE):
        plain[:, d] = measured[:, d] - JACK_TURNED * before(plain, d, MEASURED_HEELS)
        plain[:, d] = np.maximum(plain[:, d], 0.0) / (1.0 - JACK_TURNED)
    for d in range(PLAY_SIZE):
        found[:, d] = (1.0 - JACK_TURNED) * plain[:, d] + JACK_TURNED * before(plain, d, heels)
    if not lumped:
        found[:, 0] = 0.0
    else:
        found[:, -1] = 0.0
        found[:, -1] = np.maximum(measured.sum(axis=1) - found.sum(axis=1), 0.0)
        found *= measured.sum() / found.sum()
    return found
