"""An agent's compiled function, called by its address.

Entries that step games take the addresses of agents as an argument. So they are compiled once for
all agents, and an agent costs the compilation of its one function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numba import float64, from_dtype, int64, types
from numba.core import config
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from crib_env.arrays import Array, Doubles
from crib_env.engine.jit import Entry, entry, kernel
from crib_env.engine.record import RNG_T, TABLE_T, WEIGHTS_T

# The columns of an array of agents: address of the function, address and number of the weights.
FUNCTION, WEIGHTS, NUMBER = range(3)
AGENTS_T = int64[:, ::1]


def signature_of(view: np.dtype[np.void]) -> Any:
    """Return the signature of an agent's function for views of a dtype."""
    return int64(from_dtype(view), RNG_T, TABLE_T, WEIGHTS_T)


def act_entry(act: Callable[..., Any], view: np.dtype[np.void], name: str, seconds: int) -> Entry:
    """Return the entry of a kernel or function ``act(view, rng, table, weights) -> action``."""
    helper = act if hasattr(act, "py_func") else kernel(act)

    @entry(signature_of(view), name, seconds=seconds)
    def compiled(v, rng, table, weights):
        return helper(v, rng, table, weights)

    return compiled


def array_of_agents(agents: Sequence[tuple[Entry, Doubles]]) -> Array:
    """Return the array of agents for entries, int64[K, 3]; object[K, 3] with NUMBA_DISABLE_JIT.

    Args:
        agents: the compiled function and the weights of each, contiguous float64[K]. The caller
            must keep these objects alive while the addresses are used.
    """
    found = np.empty((len(agents), 3), dtype=object if config.DISABLE_JIT else np.int64)
    for row, (act, weights) in zip(found, agents, strict=True):
        row[FUNCTION] = act.address
        row[WEIGHTS] = weights if config.DISABLE_JIT else weights.ctypes.data
        row[NUMBER] = len(weights)
    return found


# Not `numba.carray`: Numba compiles that only where references are counted.
@intrinsic
def _weights_at(typing_context, address, number):
    """Return the float64[number] at an address."""

    def generate(context, builder, signature, args):
        address, number = args
        scalar = context.get_data_type(float64)
        width = context.get_constant(types.intp, context.get_abi_sizeof(scalar))
        array = make_array(WEIGHTS_T)(context, builder)
        populate_array(
            array,
            data=builder.inttoptr(address, scalar.as_pointer()),
            shape=[number],
            strides=[width],
            itemsize=width,
            meminfo=None,
        )
        return array._getvalue()

    return WEIGHTS_T(int64, int64), generate


@cache
def act_caller(view: np.dtype[np.void]) -> Callable[..., Any]:
    """Return the kernel ``act_by(agents, k, view, rng, table)``, the action of agent k."""
    if config.DISABLE_JIT:
        return lambda agents, k, *args: agents[k, FUNCTION](*args, agents[k, WEIGHTS])
    signature = signature_of(view)

    @intrinsic
    def call(typing_context, address, v, rng, table, weights):
        def generate(context, builder, called, args):
            result_t, args_t = called.return_type, called.args[1:]
            calling = context.call_conv
            function = builder.inttoptr(args[0], calling.get_function_type(result_t, args_t).as_pointer())
            status, action = calling.call_function(builder, function, result_t, args_t, args[1:])
            with builder.if_then(status.is_error, likely=False):
                calling.return_status_propagate(builder, status)
            return action

        return signature.return_type(int64, *signature.args), generate

    @kernel
    def act_by(agents, k, v, rng, table):
        weights = _weights_at(agents[k, WEIGHTS], agents[k, NUMBER])
        return call(agents[k, FUNCTION], v, rng, table, weights)

    found: Callable[..., Any] = act_by
    return found
