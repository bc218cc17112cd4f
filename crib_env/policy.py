"""What an opponent is, and how one is found by name.

An `Agent` takes views and returns cards. Names are looked up in the entry-point group
``crib_env.agents``, so a package of anyone's can add its own.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from crib_env.engine.jit import Entry

GROUP = "crib_env.agents"

Views = npt.NDArray[np.void]
Actions = npt.NDArray[np.int64]


@runtime_checkable
class Agent(Protocol):
    """Anything that plays.

    Attributes:
        name: what tables call it.
    """

    name: str

    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return one legal action for each view.

        Args:
            views: structured array [B] of `crib_env.engine.two_hand.records.VIEW` (or the Table Top view);
                every one is of a seat to move.
            rng: the source of any chance in the choice.

        Returns:
            int64[B], an action for each view.
        """


@runtime_checkable
class CompiledAgent(Agent, Protocol):
    """An agent whose choice is a kernel, so that it can also play inside the compiled batch.

    Attributes:
        weights: float64[K], what its kernels read.
    """

    weights: npt.NDArray[np.float64]

    def vector_step_for(self, family: str) -> Entry | None:
        """Return its entry of signature ``VECTOR_STEP`` in that family's batch module, if any."""

    def take_turns_for(self, family: str) -> Entry | None:
        """Return its entry of signature ``TAKE_TURNS`` in `crib_env.engine.phases`, if any."""


def check_actions(answer: object, n: int) -> Actions:
    """Return what an agent answered to ``n`` views, as the int64[n] that kernels take.

    Raises:
        ValueError: it is not one integer for each view.
    """
    actions = np.asarray(answer)
    if actions.shape != (n,) or actions.dtype.kind not in "iu":
        raise ValueError(
            f"expected {n} integers, an action for each view, got {actions.dtype} of shape "
            f"{actions.shape}"
        )
    return np.ascontiguousarray(actions, dtype=np.int64)  # a column of the views is strided


Opponent = str | Agent | Callable[[Any, np.random.Generator], int]


class _Function:
    """An opponent given as a plain function of one view."""

    def __init__(self, choose: Callable[[Any, np.random.Generator], int]) -> None:
        self.choose = choose
        self.name = getattr(choose, "__name__", type(choose).__name__)

    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        return check_actions([self.choose(view, rng) for view in views], len(views))


def agent_names() -> list[str]:
    """Return the names of all agents installed."""
    return sorted(point.name for point in entry_points(group=GROUP))


def find_agent(opponent: Opponent) -> Agent:
    """Return an agent given by name, as an `Agent`, or as a function of a view and a generator.

    A name is that of an installed agent, or ``"package.module:Name"`` of a class of agents whose
    constructor takes no arguments.

    Raises:
        ValueError: no agent of that name is installed; the message lists those that are.
        TypeError: something that is no agent.
    """
    if isinstance(opponent, str) and ":" in opponent:
        try:
            found = resolve_name(opponent)
        except (ImportError, AttributeError, ValueError) as error:
            raise ValueError(f"no agent is found at {opponent!r}: {error}") from error
        return find_agent(found() if isinstance(found, type) else found)
    if isinstance(opponent, str):
        for point in entry_points(group=GROUP):
            if point.name == opponent:
                agent = point.load()()
                assert isinstance(agent, Agent)
                return agent
        raise ValueError(f"no agent is called {opponent!r}: choose from {', '.join(agent_names())}")
    if isinstance(opponent, type):
        raise TypeError(
            f"an opponent is an agent, not its class: write {opponent.__name__}(), not "
            f"{opponent.__name__}"
        )
    if isinstance(opponent, Agent):
        return opponent
    if callable(opponent):
        return _Function(opponent)
    if hasattr(opponent, "act"):
        raise TypeError(f"an agent has a name for tables to call it: {opponent!r} has no name")
    raise TypeError(
        f"an opponent is a name, an Agent or a function of a view and a generator, got {opponent!r}"
    )
