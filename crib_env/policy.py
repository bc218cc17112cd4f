"""What plays: agents, how one is found by name, and how one function becomes a compiled agent.

Names are looked up in the entry-point group ``crib_env.agents``: any package can add its own.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import EntryPoint
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from crib_env.agent_files import agent_of_model, installed, read_agent_file
from crib_env.answers import Actions as Actions
from crib_env.answers import FunctionAgent, check_takes, one_or_many
from crib_env.answers import Views as Views
from crib_env.answers import check_actions as check_actions
from crib_env.errors import unknown
from crib_env.rules_base import games_of
from crib_env.sampling import check_rng

if TYPE_CHECKING:
    from crib_env.engine.family import Family
    from crib_env.engine.learners import AgentEntries

GROUP = "crib_env.agents"
DISTRIBUTION = "crib-env"  # the one whose names cannot be taken over

Act = Callable[..., Any]
"""``act(view, rng, table, weights) -> action``, in the part of Python that Numba compiles."""


@runtime_checkable
class Agent(Protocol):
    """Anything that plays.

    An agent that plays by some rules alone says so in ``honours``, the fields of the rules by which
    it plays whatever their values. In all others the rules must be as in a preset, or as in its
    ``known_rules``, else whatever binds it refuses it: an environment, a batch, a table, and a
    batch of views. An agent without ``honours`` is taken to honour every field; see
    `crib_env.honours`.

    Attributes:
        name: what tables call it.
    """

    name: str

    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return one legal action for each view.

        Args:
            views: structured array [B] of the view record of one family of games, such as
                `crib_env.engine.two_hand.VIEW`; every one is of a seat to move. The agents
                here, with `crib_env.answers.one_or_many`, answer one view too, by one action.
            rng: the source of any chance in the choice.

        Returns:
            int64[B], an action for each view.
        """


@runtime_checkable
class StochasticAgent(Agent, Protocol):
    """An agent that draws its choices, and says by which chances."""

    def action_probabilities(self, views: Views) -> npt.NDArray[np.float64]:
        """Return how likely it is to take each action.

        Args:
            views: structured array [B] of views, each of a seat to move.

        Returns:
            float64[B, actions], by action; a row sums to 1 and is 0 where the action is illegal.
        """


@cache
def compile_policy(act: Act, family: Family) -> AgentEntries:
    """Return everything compiled that an agent needs, made of its one function.

    Args:
        act: ``act(view, rng, table, weights) -> action``: the view record of the seat to move, its
            generator (int64[4]; draw with `crib_env.engine.rng.below`), the points of rank
            multisets (`crib_env.engine.show.show_table`), and the agent's own float64[K].
        family: the games it plays.
    """
    from crib_env.engine.jit import kernel, plain
    from crib_env.engine.learners import agent_entries

    check_takes(plain(act), "view, rng, table, weights", "a compiled agent's function")
    name = f"{act.__module__ or 'agent'}.{family.name}"
    return agent_entries(act if hasattr(act, "py_func") else kernel(act), family, name)


class CompiledAgent:
    """An agent whose choice is a function that is compiled, so that it plays inside the batch.

    A subclass names itself and its functions as class attributes, so that an instance holds nothing
    but its weights: it pickles, and it costs nothing to copy.

    Attributes:
        name: what tables call it.
        acts: its function for each family of games that it plays, by the family's name; of a family
            that is not built in, by the import path of its package.
        honours: the fields of the rules that it plays by whatever their values; None for all.
        draws: whether its choice uses chance; if not, `act` leaves the generator alone.
        weights: float64[K], what its functions read.
    """

    name: str
    acts: ClassVar[Mapping[str, Act]]
    honours: ClassVar[frozenset[str] | None] = None
    draws: ClassVar[bool] = False

    def __init__(self, weights: npt.ArrayLike = ()) -> None:
        self.weights = np.ascontiguousarray(weights, dtype=np.float64)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    @one_or_many
    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return a legal action for each view; see `Agent.act`.

        Raises:
            ValueError: the views are of a family the agent does not play.
            TypeError: it draws, and ``rng`` is no generator.
        """
        from crib_env.engine.rng import WORDS
        from crib_env.engine.show import show_table

        entries = compile_policy(*self._for_views(views))
        actions = np.empty(len(views), dtype=np.int64)
        shape = (len(views), WORDS)
        rngs = np.zeros(shape, dtype=np.int64)
        if self.draws:
            rngs = check_rng(rng).integers(1 << 32, size=shape)
        entries.act_views(np.ascontiguousarray(views), rngs, show_table(), self.weights, actions)
        return actions

    def entries_for(self, family: Family) -> AgentEntries | None:
        """Return what steps lanes of a family against this agent; None if it must be asked.

        A subclass with an `act` of its own is to play by that, and not by our function.
        """
        act = self.acts.get(family.name) or self.acts.get(family.engine)
        if type(self).act is not CompiledAgent.act or act is None:
            return None
        return compile_policy(act, family)

    def _for_views(self, views: Views) -> tuple[Act, Family]:
        from crib_env.engine.family import find_family

        for name, act in self.acts.items():
            family = find_family(name)
            if views.dtype == family.view:
                return act, family
        shown = ", ".join(views.dtype.names or ("none",))
        raise ValueError(f"{self.name} plays only {games_of(*self.acts)}, got views of fields "
                         f"{shown}")  # fmt: skip


def ask_agent(agent: Agent, views: Views, rng: np.random.Generator) -> Actions:
    """Return an agent's answers to views, as `check_actions` does; with no views it is not called.

    Raises:
        ValueError: they are not one integer for each view, or the agent raised it; it is named.
    """
    if not len(views):
        return np.zeros(0, dtype=np.int64)
    try:
        return check_actions(agent.act(views, rng), len(views))
    except ValueError as error:
        raise ValueError(f"{agent.name!r} failed: {error}") from error
    except BaseException as error:  # an interruption too: whose move it broke off
        error.add_note(f"{agent.name!r} failed")
        raise


@one_or_many
def action_probabilities(
    agent: Agent, views: Views, actions: int, rng: np.random.Generator
) -> npt.NDArray[np.float64]:
    """Return how likely an agent is to take each action; one that does not mix is asked for it.

    Args:
        agent: says its chances (`StochasticAgent`), or else chooses by the view alone.
        views: structured array [B] of views, each of a seat to move; with none it is not called.
        actions: how many actions the game has.
        rng: what an agent that is asked is handed.

    Returns:
        float64[B, actions]; a row has one 1 where the agent does not mix.

    Raises:
        ValueError: the agent draws its choices and does not say by which chances, or erred.
    """
    if not len(views):
        return np.zeros((0, actions))
    if isinstance(agent, StochasticAgent):
        return agent.action_probabilities(views)
    if getattr(agent, "draws", False):
        raise ValueError(f"{agent.name!r} draws its choices and has no action_probabilities(views)")
    chosen = ask_agent(agent, views, rng)
    if len(strange := chosen[(chosen < 0) | (chosen >= actions)]):
        raise ValueError(
            f"{agent.name!r} failed: {strange[0]} is not an action, 0 to {actions - 1}"
        )
    probabilities = np.zeros((len(views), actions))
    probabilities[np.arange(len(views)), chosen] = 1.0
    return probabilities


Opponent = str | Agent | Callable[[Any, np.random.Generator], int]


def agent_names() -> list[str]:
    """Return the names of all agents installed."""
    return sorted({point.name for point in installed(GROUP)})


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.value.partition(".")[0]


def _installed(name: str) -> Agent:
    """Return the installed agent of that name; a built-in name stays the built-in agent."""
    points = [point for point in installed(GROUP) if point.name == name]
    if not points:
        raise unknown("agent", name, agent_names())
    points.sort(key=lambda point: _package(point) != DISTRIBUTION)
    for other in points[1:]:
        if other.value != points[0].value:
            warnings.warn(
                f"the package {_package(other)!r} has an agent {name!r} too ({other.value}): the "
                f"one of {_package(points[0])!r} is taken",
                stacklevel=3,
            )
    package = _package(points[0])
    try:
        found = points[0].load()
        agent = found() if isinstance(found, type) else found
    except Exception as error:
        raise ValueError(
            f"the agent {name!r} of the package {package!r} cannot be loaded from "
            f"{points[0].value}: {type(error).__name__}: {error}"
        ) from error
    if not isinstance(agent, Agent):
        raise ValueError(
            f"the agent {name!r} of the package {package!r} ({points[0].value}) is not an agent: "
            "it needs a name and act(views, rng)"
        )
    return agent


def find_agent(opponent: Opponent) -> Agent:
    """Return an agent given by name, as an `Agent`, or as something that one is made of.

    A name is that of an installed agent, the path of a file that one is read from, or
    ``"package.module:Name"`` of an agent, or of a class whose constructor takes no arguments. An
    agent is made of a network, of a trained model (`crib_env.agent_files.agent_of_model`), and of a
    function of a view and a generator.

    Raises:
        ValueError: no agent of that name is installed (the message lists those that are), or it
            cannot be loaded (the message names its package).
        TypeError: something that is no agent, or takes other arguments than agents are asked with.
    """
    if isinstance(opponent, str) and (agent := read_agent_file(opponent)) is not None:
        return find_agent(agent)
    if isinstance(opponent, str) and ":" in opponent:
        try:
            found = resolve_name(opponent)
        except (ImportError, AttributeError, ValueError) as error:
            raise ValueError(f"there is no agent at {opponent!r}: {error}") from error
        return find_agent(found() if isinstance(found, type) else found)
    if isinstance(opponent, str):
        return _installed(opponent)
    if isinstance(opponent, type):
        name = opponent.__name__
        raise TypeError(f"an opponent is an agent, not its class: write {name}(), not {name}")
    if isinstance(opponent, Agent):
        check_takes(opponent.act, "views, rng", f"act of the agent {opponent.name!r}")
        return opponent
    if (agent := agent_of_model(opponent)) is not None:
        return find_agent(agent)
    if callable(opponent):
        return FunctionAgent(opponent)
    if hasattr(opponent, "act"):
        raise TypeError(f"an agent has a name for tables to call it: {opponent!r} has no name")
    raise TypeError(
        "an opponent is a name, an Agent, a network, a model or a function of a view and a "
        f"generator, got {opponent!r}"
    )
