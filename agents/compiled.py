"""What the compiled opponents share: the entries' decorator and the class around them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt
from numba.core import config
from numba.extending import overload

from crib_env.engine.jit import ENGINE, entry_for
from crib_env.engine.rng import WORDS
from crib_env.engine.tables import show_table
from crib_env.opponents import Actions, Views

F = TypeVar("F", bound=Callable[..., Any])

NO_WEIGHTS = np.zeros(0, dtype=np.float64)

entry = entry_for(Path(__file__).parent, ENGINE)


def passable(function: F) -> F:
    """Compile a helper that is given to other kernels as an argument.

    A `kernel` given as an argument stands in the machine code as an address of this process, and
    Numba then refuses to cache what calls it: five seconds and more for each agent at each start.
    An overloaded function has no address.
    """
    if not config.DISABLE_JIT:
        options = {"error_model": "numpy", "nogil": True}
        overload(function, jit_options=options, strict=False)(lambda *_: function)
    return function


class CompiledBot:
    """An opponent whose choice is a kernel, ``act(view, rng, table, weights) -> card``.

    A subclass names itself and its two entries as class attributes, so that an instance holds
    nothing but its weights: it pickles, and it costs nothing to copy.

    Attributes:
        name: what tables call it.
        weights: float64[K], what its kernel reads.
        vector_step: its entry of signature `crib_env.engine.batch.VECTOR_STEP`.
        act_views: its entry of signature `crib_env.engine.batch.ACT_VIEWS`.
        draws: whether its choice uses chance; if not, `act` leaves the generator alone.
    """

    name: str
    vector_step: Callable[..., int]
    act_views: Callable[..., None]
    draws: ClassVar[bool] = False

    def __init__(self, weights: npt.NDArray[np.float64] = NO_WEIGHTS) -> None:
        self.weights = weights

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return a legal card for each view.

        Args:
            views: structured array [B] of `crib_env.engine.records.VIEW`, each of a seat to move.
            rng: the source of any chance in the choice.

        Returns:
            int64[B], card ids.
        """
        actions = np.empty(len(views), dtype=np.int64)
        shape = (len(views), WORDS)
        rngs = rng.integers(1 << 32, size=shape) if self.draws else np.zeros(shape, dtype=np.int64)
        self.act_views(np.ascontiguousarray(views), rngs, show_table(), self.weights, actions)
        return actions


