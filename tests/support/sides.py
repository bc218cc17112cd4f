"""What sides get of an episode, from its definition."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations


def shares(made: tuple[int, ...]) -> list[float]:
    """Return what sides get that made so many points: 1 for the first place, the loss shared.

    Where several tie, each of the orders in which they can be placed is as good.
    """
    n = len(made)
    orders = [order for order in permutations(range(n)) if made[order[0]] == max(made)]
    loss = Fraction(-1, n - 1)
    return [
        float(sum(Fraction(1) if order[0] == side else loss for order in orders) / len(orders))
        for side in range(n)
    ]
