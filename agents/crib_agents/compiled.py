"""Compiling a helper that is given to other kernels as an argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba.core import config
from numba.extending import overload

from crib_env.engine.jit import OPTIONS

F = TypeVar("F", bound=Callable[..., Any])


def passable(function: F) -> F:
    """Compile a helper that is given to other kernels as an argument.

    A `kernel` given as an argument stands in the machine code as an address of this process, and
    Numba then refuses to cache what calls it: five seconds and more for each agent at each start.
    An overloaded function has no address.
    """
    if not config.DISABLE_JIT:
        overload(function, jit_options=OPTIONS, strict=False)(lambda *_: function)
    return function
