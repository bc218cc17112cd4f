"""What a round brings, as measured: `rounds.npz`, made by `python -m crib_training.tables.table_top.rounds`.

For both sets of rules and both numbers of players it holds how often rounds of the expert against
itself scored what for the dealer's side and the other, and how far the points of either still
spread about what is expected after each turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from crib_env.engine.table_top.numbers import PLAYERS
from crib_env.engine.table_top.records import TURNS

PATH = Path(__file__).parent / "rounds.npz"
VERSION = 1
PRESETS = ("table_top", "table_top_ship")  # what rounds were played under, by `score_difference`
MOST_POINTS = 79  # a side's points of a round above this, none yet seen, count as this many
POINTS = MOST_POINTS + 1
COUNTED = (len(PRESETS), len(PLAYERS), POINTS, POINTS)
SPREAD = (len(PRESETS), len(PLAYERS), TURNS, 2, 2)

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Rounds:
    """What a round brings the dealer's side and the other, in this order throughout.

    Attributes:
        points: float64[80, 80], the chances of what they score: both their points, heels and crib
            included, or where only the difference counts (T13) at least one of them nothing.
        spread: float64[28, 2, 2], the covariance, after each turn, of their points in the count
            about what its mover then expects.
    """

    points: Array
    spread: Array


@cache
def load(score_difference: int, players: int, path: Path = PATH) -> Rounds:
    """Return what a round brings.

    Args:
        score_difference: 1 where only the difference counts (T13).
        players: 2 or 4.

    Raises:
        ValueError: the file is of another version or shape.
    """
    again = "make it again with training/table_top_rounds.py"
    with np.load(path) as data:
        held = {name: data[name] for name in data}
    version = int(held.get("version", 0))
    if version != VERSION:
        raise ValueError(f"{path} is of version {version}, expected {VERSION}: {again}")
    for name, shape in (("counted", COUNTED), ("spread", SPREAD)):
        if held[name].shape != shape:
            raise ValueError(f"{path} holds {name} of shape {held[name].shape}, expected {shape}: "
                             f"{again}")  # fmt: skip
    at = score_difference, PLAYERS.index(players)
    counted = held["counted"][at].astype(np.float64)
    return Rounds(counted / counted.sum(), held["spread"][at].astype(np.float64))


def save(counted: npt.NDArray[np.int64], spread: Array, path: Path = PATH) -> None:
    """Write how often rounds scored what, int64[2, 2, 80, 80], and the spread of their points."""
    np.savez_compressed(path, version=VERSION, counted=counted.astype(np.int32),
                        spread=spread.round(3).astype(np.float32))  # fmt: skip
