"""What the pegging half of `expert` knows by heart: the data file of `training/reflex.py`.

For each two-hand game the file holds the reflex's tables (`agents.expert.reflex`), and how often
each role keeps a holding, of the times it is dealt. The tables are in 1,024ths of a point: their
sums are exact in floating point, so ties are ties in whatever order they are added up.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from agents.crib_tables import DEALT, ROLES
from agents.crib_tables import load as load_crib_tables
from agents.expert.holdings import HOLDINGS
from agents.expert.reflex import SIZE

PATH = Path(__file__).parents[1] / "data" / "pegging.npz"
VERSION = 1
UNIT = 1024.0  # parts of a point in the file

Array = npt.NDArray[np.float64]


@cache
def load(path: Path = PATH) -> tuple[Array, Array]:
    """Return the reflex's tables and the keeping rates.

    Returns:
        float64[2 * SIZE], the tables of six-card, then of five-card cribbage; float64[4, HOLDINGS],
        how often a holding is kept, by game and role in the order of `agents.crib_tables.chart`,
        relative to the mean over holdings.

    Raises:
        ValueError: the file is of another version.
    """
    with np.load(path) as data:
        if data["version"] != VERSION:
            raise ValueError(f"{path} is of version {data['version']}, expected {VERSION}: make it "
                             "again with training/reflex.py")  # fmt: skip
        tables = data["tables"].reshape(len(DEALT) * SIZE) / UNIT
        kept = data["kept"].reshape(len(DEALT) * len(ROLES), HOLDINGS).astype(np.float64)
    return tables, kept


@cache
def laying_rates() -> Array:
    """Return float64[4, RANKS]: how often a card dealt is laid away, by game, role and rank."""
    _, kept = load_crib_tables()
    return np.ascontiguousarray(1.0 - kept.reshape(len(DEALT) * len(ROLES), -1))
