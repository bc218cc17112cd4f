"""Scratch arrays on the stack: kernels allocate nothing (see `jit`), yet need room to work in.

    from crib_env.engine import stack

    HIDDEN = 64  # a constant of the module, or a number

    @kernel
    def layer(x):
        hidden = stack.floats(HIDDEN)

The memory belongs to the calling kernel's frame: pass such an array to helpers, never return it.
Its numbers are not set to 0.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numba import float64, int64, types
from numba.core import cgutils, config
from numba.core.errors import RequireLiteralValue
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

LARGEST = 4096  # numbers in one array: 32 KiB, far below a thread's stack


def _scratch(scalar: Any) -> Any:
    """Return the intrinsic that makes scratch arrays of a Numba type."""

    @intrinsic(prefer_literal=True)
    def scratch(typing_context, size):
        if not isinstance(size, types.IntegerLiteral):
            raise RequireLiteralValue("the size of a scratch array must be a constant")
        n = size.literal_value
        if not 0 < n <= LARGEST:
            raise ValueError(f"a scratch array holds 1 to {LARGEST} numbers, got {n}")
        array_t = types.Array(scalar, 1, "C")

        def generate(context, builder, signature, args):
            # In the function's first block: a loop around the call takes no more stack.
            data = cgutils.alloca_once(builder, context.get_data_type(scalar), size=n)
            width = context.get_abi_sizeof(context.get_data_type(scalar))
            word = context.get_constant(types.intp, width)
            array = make_array(array_t)(context, builder)
            populate_array(
                array,
                data=data,
                shape=[context.get_constant(types.intp, n)],
                strides=[word],
                itemsize=word,
                meminfo=None,
            )
            return array._getvalue()

        return array_t(size), generate

    return scratch


# With NUMBA_DISABLE_JIT these are NumPy arrays of NaN or of the least integer, which expose kernels
# that read numbers before they set them.
LEAST = np.iinfo(np.int64).min
floats = partial(np.full, fill_value=np.nan) if config.DISABLE_JIT else _scratch(float64)
ints = partial(np.full, fill_value=LEAST) if config.DISABLE_JIT else _scratch(int64)
