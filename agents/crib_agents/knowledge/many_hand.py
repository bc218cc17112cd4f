"""The chance of winning a game for three or four from the scores, by a formula with few numbers.

At the start of a deal each side has the strength exp((g - b * need) / sqrt(mean need + a)), where
``need`` is the points it still has to make, ``g`` depends on where it sits from the dealer, and the
mean is over all sides. Its chance of winning is its share of the strengths. `crib tables
many_hand_win` fits the numbers to games of `rule_based`, and says how well they predict others.

A table solved backwards, as for two, would have a place for each three scores. The formula is rough
where a side needs only a few points, for it does not know who counts first.

MERGED:

"""

from __future__ import annotations

import math

from crib_env.engine.jit import kernel
from crib_env.engine.many_hand import SEATS

# Where a row of the table has its numbers: g by places to the left of the dealing side, and these.
NEEDED = SEATS
ADDED = SEATS + 1


@kernel
def row_of(players, sides):
    """Return the row of the tables of a game, in the order of `MANY_HAND_GAMES`."""
    return players - 3 + (sides == SEATS)


@kernel
def chance_of(needs, sides, dealing, formula):
    """Return the chance that side 0 wins, at the start of a deal."""
    mean = 0.0
    for side in range(sides):
        mean += max(0.0, needs[side]) / sides
    root = math.sqrt(mean + formula[ADDED])
    total = 0.0
    for side in range(sides):
        total += math.exp(_lead(needs, side, sides, dealing, formula, root))
    return 1.0 / total


@kernel
def _lead(needs, side, sides, dealing, formula, root):
    """Return the logarithm of a side's strength beside side 0's."""
    place = (side - dealing + sides) % sides
    mine = (sides - dealing) % sides
    ahead = formula[place] - formula[mine] - formula[NEEDED] * (needs[side] - needs[0])
    return ahead / root
