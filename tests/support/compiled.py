"""Whether kernels are compiled, and kernels called from tests without compiling them each time."""

import os
from collections.abc import Callable
from functools import cache
from typing import Any

import numba
import pytest

from crib_env.engine.jit import Entry, plain

SLOW = os.environ.get("NUMBA_DISABLE_JIT", "0") != "0"  # uncompiled: the same checks on less
compiled_alone = pytest.mark.skipif(SLOW, reason="takes compiled code")


@cache
def as_entry(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel whose machine code is stored between processes, as an entry's is."""
    function, entries = plain(kernel), {}
    name = f"tests.{function.__name__}"

    def call(*args: Any) -> Any:
        signature = tuple(numba.typeof(each) for each in args)
        if signature not in entries:
            entries[signature] = Entry(function, signature, name)
        return entries[signature](*args)

    return call
