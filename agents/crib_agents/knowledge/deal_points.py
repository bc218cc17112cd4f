"""Measured tables of two-hand games: the points of a deal, and one record of all for kernels.

For each game a table counts the points of the pegging by both seats together, of each hand and of
the crib, over deals of `expert` against itself. A game can end within the pegging, so the table
also counts which seat first reaches how many points. Kernels use the product of these
distributions: they assume that the pegging, pone's hand, the dealer's hand and the crib are
independent. (They nearly are; `research.tables.deals` prints their correlations.)

The record `MODEL` adds the pegging of each hand and the discard rates of each role. The pegging
comes from `learned` and `rule_based`, half the deals each. Between the two the pegging of a hand
differs with a standard deviation over hands of 0.15 to 0.41 points, by game and role. The rates
follow from the other two.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cache

import numpy as np
import numpy.typing as npt

from crib_agents.data import tables
from crib_agents.kernels.two_hand import CELLS
from crib_agents.knowledge.pegging import MOST, OF_SIZE
from crib_env.arrays import Doubles, portable
from crib_env.engine.record import array_of
from crib_env.policy import Views
from crib_env.rules import TwoHandRules

MOST_PLAY = 15  # a seat's pegging above this, one deal in 500, counts as this many points
PLAY_SIZE = MOST_PLAY + 1
COUNT_SIZE = 30  # a hand or crib counts 0 to 29
MEASURED_HEELS = TwoHandRules.heels
JACK_TURNED = 1 / 13  # probability that the starter is a jack


@dataclass(frozen=True)
class Outcomes:
    """Probabilities of the points of one deal; the dealer's pegging includes heels."""

    pegging: Doubles  # float64[16, 16], that pone pegs p and the dealer d in all
    # float64[16, 16], [p, d]: that the dealer has exactly d when pone first has p points of the
    # pegging or more; row 0 is empty
    pone_out: Doubles
    # float64[16, 16], [d, p]: that pone has exactly p when the dealer first has d or more
    dealer_out: Doubles
    pone_hand: Doubles  # float64[30], of the points of pone's hand
    dealer_hand: Doubles  # float64[30], of the dealer's
    crib: Doubles  # float64[30], of the crib


@cache
def load_outcomes(dealt: int, heels: int = MEASURED_HEELS) -> Outcomes:
    """Return the points of a deal in the game of ``dealt`` cards, 6 or 5."""
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
    """Convert probabilities [16, 16 by the dealer's points] to other heels than measured.

    ``lumped``: the columns are totals, the last 15 or more; else points that the dealer reaches.
    """
    at_once = np.zeros(PLAY_SIZE)
    at_once[0] = 0.0 if lumped else 1.0

    def before(chances: Doubles, d: int, points: int) -> Doubles:
        """Return the column for ``d`` points, of which heels make ``points``."""
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


Record = npt.NDArray[np.void]

MODEL = np.dtype(
    [
        # How often a role discards a pair of a cell that it was dealt; see `kernels.two_hand`.
        ("discard_rate", np.float64, (2, CELLS)),
        # Mean points of the crib with a role's pair beyond what discard rates explain; by ranks.
        ("excess", np.float64, (2, CELLS)),
        # By role and hand, in the order of `holdings`: points pegged by this seat and by the other.
        ("pegs", np.float64, (2, OF_SIZE[MOST], 2)),
        ("mean_pegs", np.float64, (2,)),  # mean points that a role pegs, by ``pegging``, less heels
        ("pegging", np.float64, (PLAY_SIZE, PLAY_SIZE)),
        ("pone_out", np.float64, (PLAY_SIZE, PLAY_SIZE)),
        ("dealer_out", np.float64, (PLAY_SIZE, PLAY_SIZE)),
        ("hand", np.float64, (2, COUNT_SIZE)),  # by role
        ("mean_hand", np.float64, (2,)),  # by role
        ("mean_crib", np.float64),
    ],
    align=True,
)
MODEL_T = array_of(MODEL)


@cache
def load_model(dealt: int, heels: int = MEASURED_HEELS) -> Record:
    """Return the `MODEL` record, shape [1], of the game of ``dealt`` cards, 6 or 5, and heels."""
    return build_model(dealt, *discard_rates(dealt), hand_pegging(dealt), heels)


def load_model_for(views: Views) -> Record:
    """Return the `MODEL` record of views that are all of one game, with the same heels."""
    return load_model(int(views["dealt"][0]), int(views["heels"][0]))


def build_model(
    dealt: int, discard_rate: Doubles, excess: Doubles, pegs: Doubles, heels: int = MEASURED_HEELS
) -> Record:
    """Return a `MODEL` record, shape [1], for given discard rates and pegging; see `load_model`."""
    deal = load_outcomes(dealt, heels)
    points, counts = np.arange(PLAY_SIZE), np.arange(COUNT_SIZE)
    model = np.zeros(1, dtype=MODEL)
    model["discard_rate"] = discard_rate
    model["excess"] = excess
    model["pegs"][0, :, : OF_SIZE[dealt - 2]] = pegs
    mean_pegs = deal.pegging.sum(axis=1) @ points, deal.pegging.sum(axis=0) @ points
    model["mean_pegs"] = portable(mean_pegs - np.array([0.0, heels * JACK_TURNED]))
    for field in ("pegging", "pone_out", "dealer_out"):
        model[field] = getattr(deal, field)
    model["hand"] = deal.pone_hand, deal.dealer_hand
    model["mean_hand"] = portable(np.array([deal.pone_hand @ counts, deal.dealer_hand @ counts]))
    model["mean_crib"] = portable(deal.crib @ counts)
    return model


def discard_rates(dealt: int) -> tuple[Doubles, Doubles]:
    """Return ``discard_rate`` and ``excess`` of `MODEL`, float64[2, 169] each."""
    pair_tables = tables.load(tables.DISCARDED)
    game = tables.DEALT.index(dealt)
    return pair_tables["discarded"][game].reshape(2, CELLS), pair_tables["excess"][game].reshape(2, CELLS)


def hand_pegging(dealt: int) -> Doubles:
    """Return the mean points pegged with each hand and against it, float64[2, hands, 2]."""
    pegging = tables.load(tables.HAND_PEGGING)
    game = tables.DEALT.index(dealt)
    both = np.stack([pegging["mine"][game], pegging["theirs"][game]], axis=-1)
    return both[:, : OF_SIZE[dealt - 2]]
