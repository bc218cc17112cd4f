"""The return of an episode and the gain of an action, for each side; both sum to zero over sides.

A side is one seat, or partners who score together. The rules record holds the number of sides
(``sides``) and the side of each seat (``side_of``): see `crib_env.engine.family.Family.sides`.
"""

from __future__ import annotations

from collections.abc import Iterable

from crib_env.engine.jit import kernel
from crib_env.engine.record import NONE


def count_sides(sides: Iterable[int]) -> int:
    """Return how many sides there are, from the side of each seat."""
    return 1 + int(max(sides))


@kernel
def win_return(s, rules, side):
    """Return what an ended episode brings a side: 1 to the winner, the loss shared by the others.

    A game is won by the state's ``winner``. Without one, by who made most points in the episode;
    sides that tie for it share what they would take in turn. So two sides get 1 and -1, or both 0;
    three get 1, -1/2, -1/2, or 1/4, 1/4, -1/2, or all 0.
    """
    loss = -1.0 / (rules["sides"] - 1)
    if s["winner"] != NONE:
        return 1.0 if s["winner"] == side else loss
    made = s["scores"][side] - s["start"][side]
    alike = 0
    for other in range(rules["sides"]):
        more = s["scores"][other] - s["start"][other] - made
        if more > 0:
            return loss
        alike += more == 0
    return (1.0 + (alike - 1) * loss) / alike


@kernel
def lead(s, rules, side):
    """Return a side's ``gain`` less the mean of the others', times how many those are."""
    total = 0
    for other in range(s["gain"].shape[0]):
        total += s["gain"][other]
    return rules["sides"] * s["gain"][side] - total


@kernel
def clear_gains(s):
    """Set every side's ``gain`` to 0."""
    for side in range(s["gain"].shape[0]):
        s["gain"][side] = 0
