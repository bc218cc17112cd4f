"""The measured points of a round.

The data come from rounds of the expert against itself, for both sets of rules and both numbers of
players. They hold how often the dealer's side and the other side scored which points, and the
spread of each side's points about the expected ones after each turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from crib_agents.data import tables
from crib_env.arrays import Doubles
from crib_env.engine.table_top import PLAYERS

MOST_POINTS = 79  # a side's points of a round above this, none yet seen, count as this many
POINTS = MOST_POINTS + 1


@dataclass(frozen=True)
class Rounds:
    """What a round brings, as the dealing side sees it: its own points, then the other side's.

    Attributes:
        points: float64[80, 80], the chances of what they score: both their points, heels and crib
            included, or where only the difference counts (T13) at least one of them nothing.
        spread: float64[28, 2, 2], the covariance, after each turn, of their points in the count
            about what its mover then expects.
    """

    points: Doubles
    spread: Doubles


@cache
def load(score_difference: int, players: int) -> Rounds:
    """Return what a round brings.

    Args:
        score_difference: 1 where only the difference counts (T13).
        players: 2 or 4.
    """
    held = tables.load(tables.TABLE_TOP_ROUNDS)
    at = score_difference, PLAYERS.index(players)
    counted = held["counted"][at]
    return Rounds(counted / counted.sum(), held["spread"][at])
