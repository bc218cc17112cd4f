"""A small deal: three courses of the play, two values of each count."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from crib_agents.knowledge.deal_points import COUNT_SIZE, PLAY_SIZE, Outcomes

Array = npt.NDArray[Any]


PLAYS = (  # probability; seats and points in the order of pegging
    (0.5, (("dealer", 1), ("pone", 2))),
    (0.3, (("pone", 1),)),
    (0.2, (("pone", 2), ("dealer", 3), ("pone", 1))),
)
COUNTS: tuple[dict[int, float], ...] = ({2: 0.5, 6: 0.5}, {1: 0.25, 8: 0.75}, {0: 0.4, 4: 0.6})


def distribution(probabilities: dict[int, float]) -> Array:
    """Return the probabilities of a count as float64[30]."""
    found = np.zeros(COUNT_SIZE)
    for points, chance in probabilities.items():
        found[points] = chance
    return found


def small_deal() -> Outcomes:
    """Return `PLAYS` and `COUNTS` as the distributions from which the win table is solved."""
    play, pone_out, dealer_out = np.zeros((3, PLAY_SIZE, PLAY_SIZE))
    for chance, pegged in PLAYS:
        made = {"pone": 0, "dealer": 0}
        for seat, points in pegged:
            for reached in range(made[seat] + 1, made[seat] + points + 1):
                if seat == "pone":
                    pone_out[reached, made["dealer"]] += chance
                else:
                    dealer_out[reached, made["pone"]] += chance
            made[seat] += points
        play[made["pone"], made["dealer"]] += chance
    return Outcomes(play, pone_out, dealer_out, *map(distribution, COUNTS))
