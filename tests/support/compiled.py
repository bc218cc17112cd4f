"""Whether kernels are compiled, and kernels called from tests without compiling them each time."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar

import numba
import numpy as np
import pytest

from crib_env.engine.jit import Entry, plain
from crib_env.policy import Act, CompiledAgent

SLOW = os.environ.get("NUMBA_DISABLE_JIT", "0") != "0"  # uncompiled: the same checks on less data
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


NO_ACTION = 99
FAILS, RAISES = 1, 2


def act(v: Any, rng: Any, table: Any, weights: Any) -> Any:
    """Play the first legal card and note the generator's words, unless ``weights[0]`` is set."""
    if weights[0] == FAILS:
        return NO_ACTION
    if weights[0] == RAISES:
        raise ValueError("no book move")
    at = int(weights[1]) + 2
    if at + len(rng) <= len(weights):
        for i in range(len(rng)):
            weights[at + i] = rng[i]
        weights[1] += len(rng)
    slot = 0
    while not v["legal"] >> slot & 1:
        slot += 1
    return v["hand"][slot]


class Watched(CompiledAgent):
    """A compiled agent that fails on request, and records the generators of its calls."""

    name = "watched"
    acts: ClassVar[dict[str, Act]] = {"two_hand": act}

    def __init__(self) -> None:
        super().__init__(np.zeros(402))

    def fail(self, failing: int) -> None:
        self.weights[0] = failing

    @property
    def generators(self) -> set[tuple[float, ...]]:
        return {tuple(row) for row in self.weights[2:].reshape(-1, 4).tolist() if any(row)}
