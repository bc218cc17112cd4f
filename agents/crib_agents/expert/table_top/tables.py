"""The file of learned values, `values.npz`, made by `python -m crib_training.tables.table_top.values`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from crib_agents.expert.table_top.values import VALUES

PATH = Path(__file__).parent / "values.npz"
VERSION = 1
PRESETS = ("table_top", "table_top_ship")  # the rules the rows of the values were learned under


@cache
def load(path: Path = PATH) -> npt.NDArray[np.float64]:
    """Return the learned values, float64[2, VALUES], a row for each of `PRESETS`.

    Raises:
        ValueError: the file is of another version or shape.
    """
    with np.load(path) as data:
        if "version" not in data or "values" not in data:
            raise ValueError(f"{path} holds {', '.join(data) or 'nothing'}, expected version and "
                             "values: make it with training/table_top_values.py")  # fmt: skip
        version = int(data["version"])
        values: npt.NDArray[np.float64] = data["values"].astype(np.float64)
    if version != VERSION:
        raise ValueError(f"{path} is of version {version}, expected {VERSION}: make it again with "
                         "training/table_top_values.py")  # fmt: skip
    if values.shape != (len(PRESETS), VALUES):
        raise ValueError(f"{path} holds values of shape {values.shape}, expected "
                         f"{(len(PRESETS), VALUES)}: make it again with "
                         "training/table_top_values.py")  # fmt: skip
    return values


def save(values: npt.NDArray[np.float64], path: Path = PATH) -> None:
    """Write the values, float64[2, VALUES], to a hundredth of a point."""
    np.savez_compressed(path, version=VERSION, values=values.round(2).astype(np.float32))
