"""What a pair of cards is worth in the crib, and how often each rank is kept: the data file.

`training/crib_tables.py` computes the file; nothing in it is typed in. For each two-hand game and
each role it holds the mean points of the crib by the ranks of the pair laid there, a 13x13 chart
as poker players draw theirs: the higher rank's row and the lower's column for two cards of one
suit, the lower's row and the higher's column for two suits, the diagonal for two of a rank.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from crib_env.engine.jit import kernel

PATH = Path(__file__).parent / "crib_tables.json"
VERSION = 1
RANKS = 13
CELLS = RANKS * RANKS
ROLES = ("dealer", "pone")
DEALT = (6, 5)  # cards dealt in the games of the file, in the order of the weights
CRIBS_SIZE = len(DEALT) * len(ROLES) * CELLS
KEPT_SIZE = len(DEALT) * len(ROLES) * RANKS


@kernel
def chart(v, is_dealer):
    """Return which of the game's and role's charts applies: the six-card dealer's is 0."""
    return (0 if v["dealt"] == 6 else 2) + 1 - is_dealer


@kernel
def cell(low, high):
    """Return where a chart holds the pair of card ids ``low`` < ``high``."""
    a = low >> 2
    b = high >> 2
    return RANKS * b + a if low & 3 == high & 3 else RANKS * a + b


@cache
def load(path: Path = PATH) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the charts and the keeping rates of the data file.

    Returns:
        float64[2, 2, 13, 13], the mean points of a crib by game (six-card, five-card), role
        (dealer, pone) and pair; float64[2, 2, 13], how often a card dealt to a hand of that game
        and role is kept, by its rank.

    Raises:
        ValueError: the file is of another version.
    """
    data: dict[str, Any] = json.loads(path.read_text())
    if data["version"] != VERSION:
        raise ValueError(f"{path} is of version {data['version']}, expected {VERSION}: make it "
                         "again with training/crib_tables.py")  # fmt: skip
    games = sorted(data["games"].values(), key=lambda game: DEALT.index(game["dealt"]))
    cribs = [[game[role]["crib"] for role in ROLES] for game in games]
    kept = [[game[role]["kept"] for role in ROLES] for game in games]
    return np.array(cribs, dtype=np.float64), np.array(kept, dtype=np.float64)
