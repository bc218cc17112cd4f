"""Names of the array types that annotations use, and arrays as machine code takes them."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
Bools: TypeAlias = npt.NDArray[np.bool_]
Bytes: TypeAlias = npt.NDArray[np.uint8]
Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float32]
Doubles: TypeAlias = npt.NDArray[np.float64]


def kernel_array(values: npt.ArrayLike) -> Array:
    """Return an array as machine code takes it, contiguous and writable; a copy if need be.

    A slice is not contiguous, and arrays of Ray and JAX are read-only.
    """
    array: Array = np.asarray(values)
    return array if array.flags.carray else np.array(array, order="C")
