"""What a deal brings, as measured: the data file of `training/deal_outcomes.py`.

For each two-hand game the file counts, over deals of an agent against itself, the points of the
play by both seats together, those of each hand and those of the crib. A game can end within the
play, so who comes first to how many points is counted too. What is used of it is the product: the
play, pone's hand, the dealer's hand and the crib are taken to be independent of each other. (They
nearly are; `crib_training.tables.two_hand.deal_outcomes` prints their correlations.)
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

PATH = Path(__file__).parents[3] / "data" / "deal_outcomes.json"
VERSION = 1
MOST_PLAY = 15  # a seat's points of the play above this, one deal in 500, count as this many
PLAY_SIZE = MOST_PLAY + 1
COUNT_SIZE = 30  # a hand or crib counts 0 to 29

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Outcomes:
    """The distribution of what one deal brings; the dealer's play includes his heels.

    Attributes:
        play: float64[16, 16], chance of pone pegging p and the dealer d in the whole play.
        pone_out: float64[16, 16], chance that when pone first has p of the play or more, the
            dealer has exactly d so far; row 0 is empty.
        dealer_out: float64[16, 16], chance that when the dealer first has d or more, pone has
            exactly p so far: ``dealer_out[d, p]``.
        pone_hand: float64[30], chances of pone's hand.
        dealer_hand: float64[30], of the dealer's.
        crib: float64[30], of the crib.
    """

    play: Array
    pone_out: Array
    dealer_out: Array
    pone_hand: Array
    dealer_hand: Array
    crib: Array


@cache
def load(dealt: int, path: Path = PATH) -> Outcomes:
    """Return what a deal of the game of ``dealt`` cards, 6 or 5, brings.

    Raises:
        ValueError: the file is of another version.
    """
    data: dict[str, Any] = json.loads(path.read_text())
    if data["version"] != VERSION:
        raise ValueError(f"{path} is of version {data['version']}, expected {VERSION}: make it "
                         "again with training/deal_outcomes.py")  # fmt: skip
    game = next(game for game in data["games"].values() if game["dealt"] == dealt)
    return Outcomes(
        **{
            field: np.array(game[field], dtype=np.float64) / game["deals"]
            for field in Outcomes.__annotations__
        }
    )
