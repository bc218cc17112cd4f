"""An agent's compiled function, called by its address.

Entries that step games take the address as an argument. So they are compiled once for all agents,
and an agent costs the compilation of its one function.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import from_dtype, int64
from numba.core import config
from numba.extending import intrinsic

from crib_env.engine.jit import Entry, entry
from crib_env.engine.record import RNG_T, TABLE_T, WEIGHTS_T


def signature_of(view: np.dtype[np.void]) -> Any:
    """Return the signature of an agent's function of views of a dtype."""
    return int64(from_dtype(view), RNG_T, TABLE_T, WEIGHTS_T)


def act_entry(act: Callable[..., Any], view: np.dtype[np.void], name: str, seconds: int) -> Entry:
    """Return the entry of a kernel ``act(view, rng, table, weights) -> action``; see `Entry`."""

    @entry(signature_of(view), f"{name}.act", seconds=seconds)
    def compiled(v, rng, table, weights):
        return act(v, rng, table, weights)

    return compiled


@cache
def act_caller(view: np.dtype[np.void]) -> Callable[..., Any]:
    """Return what kernels call an agent by: ``act_at(address, view, rng, table, weights)``.

    The address is `Entry.address` of an `act_entry` for the same dtype.
    """
    if config.DISABLE_JIT:
        return lambda address, *args: address(*args)
    signature = signature_of(view)

    @intrinsic
    def act_at(typing_context, address, v, rng, table, weights):
        def generate(context, builder, called, args):
            result_t, *args_t = map(context.get_value_type, (called.return_type, *called.args[1:]))
            function = builder.inttoptr(args[0], ir.FunctionType(result_t, args_t).as_pointer())
            return builder.call(function, args[1:])

        return signature.return_type(int64, *signature.args), generate

    found: Callable[..., Any] = act_at
    return found
