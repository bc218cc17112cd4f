"""What the records of all families share, and Numba's types of the entries' arguments.

Every field of a record is int64, so a record is both one Numba type and one NumPy structured dtype.
(Measured: smaller types gain nothing, and overflow in plain Python.)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import float64, from_dtype, int8, int64, types, uint8

Array = npt.NDArray[Any]

NONE = -1


def record(*fields: str | tuple[str, int]) -> np.dtype[np.void]:
    """Return the dtype of a record with these fields; a pair is a field of so many numbers."""
    return np.dtype(
        [(f, np.int64) if isinstance(f, str) else (f[0], np.int64, (f[1],)) for f in fields],
        align=True,
    )


def array_of(dtype: np.dtype[np.void]) -> Any:
    """Return Numba's type of an array of records."""
    return types.Array(from_dtype(dtype), 1, "C")


def tuple_of(kind: type[Any], *fields: Any) -> Any:
    """Return Numba's type of tuples of class ``kind``, named or plain, with fields of these types.

    So an entry takes in one argument what belongs together.
    """
    return types.BaseTuple.from_types(fields, None if kind is tuple else kind)


NO_DECKS = np.empty((0, 52), dtype=np.int64)

DECKS_T = int64[:, ::1]
LOG_T = int64[::1]
TABLE_T = uint8[::1]
WEIGHTS_T = float64[::1]
RNGS_T = int64[:, ::1]
OBS_T = uint8[:, ::1]
MASKS_T = int8[:, ::1]
FLAGS_T = types.boolean[::1]
ENDINGS_T = int64[:, ::1]
