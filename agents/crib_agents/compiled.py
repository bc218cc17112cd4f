"""What the compiled opponents share: the entries' decorator and the class around them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt
from numba.core import config
from numba.extending import overload

from crib_env.engine.jit import OPTIONS, Entry
from crib_env.engine.rng import WORDS
from crib_env.engine.tables import show_table
from crib_env.policy import Actions, Views

F = TypeVar("F", bound=Callable[..., Any])

NO_WEIGHTS = np.zeros(0, dtype=np.float64)


def passable(function: F) -> F:
    """Compile a helper that is given to other kernels as an argument.

    A `kernel` given as an argument stands in the machine code as an address of this process, and
    Numba then refuses to cache what calls it: five seconds and more for each agent at each start.
    An overloaded function has no address.
    """
    if not config.DISABLE_JIT:
        overload(function, jit_options=OPTIONS, strict=False)(lambda *_: function)
    return function


@dataclass(frozen=True)
class Plays:
    """How an agent plays one family of games.

    Attributes:
        view: the dtype of the family's views.
        act_views: its entry of signature ``ACT_VIEWS`` in the family's batch module.
        vector_step: its entry of signature ``VECTOR_STEP`` there.
        take_turns: its entry of signature ``TAKE_TURNS`` in `crib_env.engine.phases`, if any.
    """

    view: np.dtype[np.void]
    act_views: Entry
    vector_step: Entry
    take_turns: Entry | None = None


class CompiledBot:
    """An opponent whose choice is a kernel, ``act(view, rng, table, weights) -> card``.

    A subclass names itself and its entries as class attributes, so that an instance holds nothing
    but its weights: it pickles, and it costs nothing to copy.

    Attributes:
        name: what tables call it.
        weights: float64[K], what its kernel reads.
        plays: its entries by family of games.
        draws: whether its choice uses chance; if not, `act` leaves the generator alone.
    """

    name: str
    plays: ClassVar[dict[str, Plays]]
    draws: ClassVar[bool] = False

    def __init__(self, weights: npt.NDArray[np.float64] = NO_WEIGHTS) -> None:
        self.weights = weights

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return a legal action for each view.

        Args:
            views: structured array [B] of views, each of a seat to move.
            rng: the source of any chance in the choice.

        Returns:
            int64[B], actions.

        Raises:
            ValueError: the views are of a family the agent does not play.
        """
        for plays in self.plays.values():
            if views.dtype == plays.view:
                break
        else:
            raise ValueError(f"{self.name} plays {', '.join(self.plays)} alone, got views of "
                             f"fields {', '.join(views.dtype.names or ('none',))}")  # fmt: skip
        actions = np.empty(len(views), dtype=np.int64)
        shape = (len(views), WORDS)
        rngs = rng.integers(1 << 32, size=shape) if self.draws else np.zeros(shape, dtype=np.int64)
        plays.act_views(np.ascontiguousarray(views), rngs, show_table(), self.weights, actions)
        return actions

    def vector_step_for(self, family: str) -> Entry | None:
        """Return the entry that steps lanes of a family against this agent, or None."""
        return self.plays[family].vector_step if self._compiled_in(family) else None

    def take_turns_for(self, family: str) -> Entry | None:
        """Return the entry that makes its decisions where a house plays a phase, or None."""
        return self.plays[family].take_turns if self._compiled_in(family) else None

    def _compiled_in(self, family: str) -> bool:
        # A subclass with an `act` of its own is to play by that, and not by our kernel.
        return family in self.plays and type(self).act is CompiledBot.act
