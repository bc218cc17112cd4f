"""The one reader of every table in this folder.

`README.md` describes each table and its making. An axis for the role, here and in derived arrays,
has the order of `ROLES`: ``is_dealer`` is a role's index.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from crib_agents.files import read_arrays, write_whole
from crib_env.arrays import Doubles
from crib_env.engine.ranks import RANKS

FOLDER = Path(__file__).parent
ROLES = ("pone", "dealer")
DEALT = (6, 5)  # the two-hand games by the cards dealt to a seat, in the order of the game axis
VARIANTS = ("table_top", "table_top_ship")  # Table Top's presets, in the order of that axis
MANY_HAND = ("three_hand", "four_hand")  # the many-hand presets, likewise


@dataclass(frozen=True, eq=False)
class Table:
    """A file of arrays with their expected shapes."""

    file: str  # its name; the stem is its name in ``python -m research.tables``
    version: int  # of its format
    # the shapes of its arrays. The first axis is the game (`DEALT`, `VARIANTS` or `MANY_HAND`).
    # Where the five-card game has fewer hands, zeros follow them.
    shapes: dict[str, tuple[int, ...]]
    dtype: type[np.floating[Any]] | None = np.float64  # of its arrays once loaded; None: the file's

    @property
    def path(self) -> Path:
        """The path of the file."""
        return FOLDER / self.file

    @property
    def made_by(self) -> str:
        """The command that makes it."""
        return f"python -m research.tables {self.path.stem}"


CHARTS = (len(DEALT), len(ROLES), RANKS, RANKS)
PLAY = (len(DEALT), 16, 16)
COUNT = (len(DEALT), 30)

CRIB_TABLES = Table("crib_tables.npz", 1, {"crib": CHARTS, "kept": CHARTS[:3]})
DEAL_OUTCOMES = Table(
    "deal_outcomes.npz",
    1,
    {
        "deals": (len(DEALT),),
        "pegging": PLAY,
        "pone_out": PLAY,
        "dealer_out": PLAY,
        "pone_hand": COUNT,
        "dealer_hand": COUNT,
        "crib": COUNT,
    },
)
HAND_PEGGING = Table("hand_pegging.npz", 1, dict.fromkeys(("mine", "theirs"), (len(DEALT), len(ROLES), 1820)))
DISCARDED = Table("discarded.npz", 1, {"discarded": CHARTS, "excess": CHARTS})
ROLLOUT_POLICY = Table(
    "rollout_policy.npz",
    3,
    {"tables": (len(DEALT), 65_124), "kept": (len(DEALT), len(ROLES), 2380), "suited": (len(DEALT), len(ROLES))},
)
HANDS_KEPT = Table("hands_kept.npz", 1, {"kept": (len(DEALT), len(ROLES), 2380)})
CHOICES = Table("choices.npz", 1, {"tables": (len(DEALT), 65_124)})
ENDGAME = Table(
    "endgame.npz",
    1,
    {
        "tables": (len(DEALT), 75, 65_124),
        "kept": (len(DEALT), len(ROLES), 25, 1820),
        "before": (len(DEALT), len(ROLES) * 121, 1820),
        "share": (len(DEALT), len(ROLES) * 121),
    },
    dtype=None,
)
ENDGAME_BELIEF = Table(
    "endgame_belief.npz",
    1,
    {"kept": (len(DEALT), len(ROLES), 25, 1820), "leads": (len(DEALT), 75, 1820, 4)},
    dtype=None,
)
ENDGAME_WIN = Table("endgame_win.npz", 1, {"beyond": (len(DEALT), 31, 31)})
ENDGAME_SHIFT = Table("endgame_shift.npz", 1, {"shift": (len(DEALT), 3, len(ROLES), 25)})
REFERENCE_DEALS = Table(
    "reference_deals.npz",
    1,
    {
        "deals": (len(DEALT),),
        "points": (len(DEALT), 6),
        "ends": (len(DEALT), 70, 100),
        "reached": (len(DEALT), 70, 100),
    },
)
TABLE_TOP_ROUNDS = Table(
    "table_top_rounds.npz", 1, {"counted": (len(VARIANTS), 2, 80, 80), "spread": (len(VARIANTS), 2, 28, 2, 2)}
)
TABLE_TOP_VALUES = Table("table_top_values.npz", 1, {"values": (len(VARIANTS), 103_432)})
MANY_HAND_CRIBS = Table("many_hand_cribs.npz", 1, {"crib": (len(MANY_HAND), len(ROLES), RANKS)})
TABLES = (
    CRIB_TABLES, ROLLOUT_POLICY, DEAL_OUTCOMES, HAND_PEGGING, DISCARDED, HANDS_KEPT, CHOICES,
    ENDGAME, ENDGAME_WIN, ENDGAME_BELIEF, ENDGAME_SHIFT, REFERENCE_DEALS, TABLE_TOP_VALUES,
    TABLE_TOP_ROUNDS, MANY_HAND_CRIBS,
)  # fmt: skip


@cache
def load(table: Table, path: Path | None = None) -> dict[str, Doubles]:
    """Return the arrays of a table after checks of version and shapes; cached per process."""
    path = path or table.path
    again = f"make it again with {table.made_by}"
    if not path.exists():
        raise ValueError(f"there is no {path}: {again}")
    held = read_arrays(path)
    version = int(held.pop("version", 0))
    if version != table.version:
        raise ValueError(f"{path} is of version {version}, expected {table.version}: {again}")
    arrays = {}
    for name, shape in table.shapes.items():
        if name not in held:
            raise ValueError(f"{path} holds {', '.join(held) or 'nothing'}, expected {name} too: {again}")
        if held[name].shape != shape:
            raise ValueError(f"{path} holds {name} of shape {held[name].shape}, expected {shape}: {again}")
        arrays[name] = held[name].astype(table.dtype or held[name].dtype, copy=False)
    return arrays


def save(table: Table, path: Path | None = None, **arrays: Any) -> None:
    """Write the file of a table."""
    held = io.BytesIO()
    np.savez_compressed(held, version=table.version, **arrays)
    write_whole(path or table.path, held.getvalue())
