"""What the pegging half of `expert` knows by heart: the data file of `training/reflex.py`.

For each two-hand game the file holds the reflex's tables (`crib_agents.expert.two_hand.pegging.reflex`), how often each
role keeps a holding, of the times it is dealt, and how much rather it keeps cards of one suit. The
tables are in 1,024ths of a point: their sums are exact in floating point, so ties are ties in
whatever order they are added up.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from crib_agents.data.crib_tables import DEALT, ROLES
from crib_agents.expert.two_hand.pegging.holdings import HOLDINGS
from crib_agents.expert.two_hand.pegging.reflex import SIZE

PATH = Path(__file__).parents[3] / "data" / "reflex.npz"
VERSION = 2
UNIT = 1024.0  # parts of a point in the file

Array = npt.NDArray[np.float64]


@cache
def load(path: Path = PATH) -> tuple[Array, Array, Array]:
    """Return the reflex's tables, the keeping rates and what one suit does to them.

    Returns:
        float64[2 * SIZE], the tables of six-card, then of five-card cribbage; float64[4, HOLDINGS],
        how often a holding is kept, by game and role in the order of `crib_agents.data.crib_tables.chart`,
        relative to the mean over holdings; float64[4], how many times as large the odds of one
        suit are in a hand kept as in cards of the same ranks, all different, drawn at random.

    Raises:
        ValueError: the file is of another version.
    """
    with np.load(path) as data:
        if data["version"] != VERSION:
            raise ValueError(f"{path} is of version {data['version']}, expected {VERSION}: make it "
                             "again with training/reflex.py")  # fmt: skip
        tables = data["tables"].reshape(len(DEALT) * SIZE) / UNIT
        kept = data["kept"].reshape(len(DEALT) * len(ROLES), HOLDINGS).astype(np.float64)
        suited = data["suited"].reshape(len(DEALT) * len(ROLES)).astype(np.float64)
    return tables, kept, suited
