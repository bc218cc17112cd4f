"""Array types for annotations, and conversion of arrays for machine code."""

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
View: TypeAlias = Any  # a seat's view record, see `crib_env.engine.family.Family`


def kernel_array(values: npt.ArrayLike) -> Array:
    """Return values as a C-contiguous, writable array for machine code, copied only if needed.

    A slice is not contiguous, and arrays of Ray and JAX are read-only.
    """
    array: Array = np.asarray(values)
    return array if array.flags.carray else np.array(array, order="C")


def whole_numbers(name: str, values: npt.ArrayLike, n: int | None = None) -> Ints:
    """Return integers of any dtype as int64[K] for kernels; with ``n``, check 0 <= value < n."""
    given = np.asarray(values)
    if given.shape == (0,):  # NumPy makes an empty list float64
        return np.zeros(0, dtype=np.int64)
    wrong: object = None
    if given.ndim != 1 or given.dtype.kind not in "iu":
        wrong = f"{given.dtype} of shape {given.shape}"
    elif n is not None and not 0 <= given.min() <= given.max() < n:
        wrong = given[(given < 0) | (given >= n)][0]
    if wrong is not None:
        limits = "" if n is None else f" from 0 to {n - 1}"
        of_a_mask = "; of a mask: numpy.flatnonzero(mask)" if given.dtype == np.bool_ else ""
        raise ValueError(f"{name} must be whole numbers{limits} [K], got {wrong}{of_a_mask}")
    return kernel_array(given.astype(np.int64, copy=False))


PORTABLE = 9  # digits after the point that do not depend on the processor


def portable(values: npt.ArrayLike) -> Doubles:
    """Return a contiguous copy, rounded to a billionth.

    Matrix products, Fourier transforms and exponentials differ between processors in their last
    digits. A choice between equal values must not depend on them.
    """
    rounded = np.round(np.asarray(values, dtype=np.float64), PORTABLE)
    return np.ascontiguousarray(rounded + 0.0)  # -0.0 becomes 0.0
