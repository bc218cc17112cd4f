"""The probability of winning a game: a table by score, and its mean after a deal of the reference.

The table is solved backwards from the last hole, from the points of the reference's deals
(`outcomes`). It is the mean of the value that `mean_chance` gives a deal, which the terms need.
Only means matter for that, so the value itself may be smoothed. Near the end of a game a
single point can decide, and the reference seldom pegs exactly the points of the real deal.
"""

from __future__ import annotations

import numpy as np
from numba import float64, void

from crib_env.engine.jit import entry, kernel
from crib_env.engine.show import JACK
from crib_training.evaluation.aivat.course import (
    DEALER_CRIB,
    DEALER_HAND,
    DEALER_PLAY,
    KINDS,
    PONE,
    PONE_HAND,
    PONE_PLAY,
)

# A value is the mean over shifts of both scores by these points, weighed as by a normal curve.
SHIFTS = np.array([-4, -2, 0, 2, 4])
_WEIGHTS = np.exp(-0.5 * (SHIFTS / 2.0) ** 2)
SHIFT_WEIGHTS = np.outer(_WEIGHTS, _WEIGHTS) / _WEIGHTS.sum() ** 2


@kernel
def shifted(need, i, target):
    """Return the points to make of the i-th shift."""
    return min(max(need - SHIFTS[i], 1), target)


@kernel
def chance_after(course, k, a, b, wins):
    """Return pone's chance after a deal with the k-th starter; ``a`` and ``b`` are still to make.

    Points count in the order in which they are made (C5): heels, the pegging, pone's hand.

    Shapes: wins float64[T + 1, T + 1].
    """
    at = KINDS * k
    made = course["made"]
    pone = a - made[at + PONE_PLAY] - made[at + PONE_HAND]
    dealer = b - made[at + DEALER_PLAY] - made[at + DEALER_HAND] - made[at + DEALER_CRIB]
    if pone > 0 and dealer > 0:
        return 1.0 - wins[dealer, pone]
    b -= course["heels"] if course["starter"][k] >> 2 == JACK else 0
    if b <= 0:
        return 0.0
    for i in range(course["cards"]):
        if course["pegger"][i] == PONE:
            a -= course["pegged"][i]
            if a <= 0:
                return 1.0
        else:
            b -= course["pegged"][i]
            if b <= 0:
                return 0.0
    return 1.0 if a <= made[at + PONE_HAND] else 0.0


@kernel
def smooth_chance(course, k, a, b, wins):
    """Return the mean of `chance_after` over the shifts."""
    target = wins.shape[0] - 1
    chance = 0.0
    for i in range(SHIFTS.shape[0]):
        for j in range(SHIFTS.shape[0]):
            pone, dealer = shifted(a, i, target), shifted(b, j, target)
            chance += SHIFT_WEIGHTS[i, j] * chance_after(course, k, pone, dealer, wins)
    return chance


@kernel
def smooth_win(a, b, wins):
    """Return the mean of the table over the shifts: that of `smooth_chance` over all deals."""
    target = wins.shape[0] - 1
    chance = 0.0
    for i in range(SHIFTS.shape[0]):
        for j in range(SHIFTS.shape[0]):
            chance += SHIFT_WEIGHTS[i, j] * wins[shifted(a, i, target), shifted(b, j, target)]
    return chance


@entry(void(float64[:, ::1], float64[:, ::1], float64, float64[:, ::1]))
def solve(ends, reached, deals, wins):
    """Fill the table of pone's probabilities of winning at the beginning of a deal.

    Shapes: ends float64[P, D]; reached float64[P, D]; wins float64[T + 1, T + 1].
    """
    target = wins.shape[0] - 1
    for both in range(2, 2 * target + 1):
        for a in range(max(1, both - target), min(target, both - 1) + 1):
            b = both - a
            chance = 0.0
            if a < ends.shape[0]:
                for d in range(min(b, ends.shape[1])):
                    chance += reached[a, d]
            for p in range(min(a, ends.shape[0])):
                for d in range(min(b, ends.shape[1])):
                    if ends[p, d] > 0.0:
                        chance += ends[p, d] * (1.0 - wins[b - d, a - p])
            wins[a, b] = chance / deals
