"""Agents: their protocol, how one is found, and how one function becomes a compiled agent.

Names are looked up in the entry-point group ``crib_env.agents``: any package can add its own.
Readers of agents' files are found by the ending of the file's name, those of models by the class.
"""

from __future__ import annotations

import inspect
import operator
import sys
import warnings
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from functools import cache, wraps
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Protocol, TypeVar, cast, runtime_checkable

import numpy as np
import numpy.typing as npt

from crib_env.arrays import kernel_array
from crib_env.errors import AgentError, IllegalActionError, NoProbabilitiesError, unknown

if TYPE_CHECKING:
    from crib_env.engine.family import Family
    from crib_env.engine.jit import Entry

GROUP, FILES, MODELS = "crib_env.agents", "crib_env.agent_files", "crib_env.agent_models"
PREFIXES = "crib_env.agent_prefixes"
DISTRIBUTION = "crib-env"  # no other package can take over its names

Views = npt.NDArray[np.void]
Actions = npt.NDArray[np.int64]
F = TypeVar("F", bound=Callable[..., Any])
Act = Callable[..., Any]
"""``act(view, rng, table, weights) -> action``, in the part of Python that Numba compiles."""


@runtime_checkable
class Agent(Protocol):
    """Anything that plays.

    ``honours`` limits the rules that an agent accepts: it lists the fields of the rules that may
    have any value. All other fields must be as in a preset, or as in the agent's ``known_rules``;
    otherwise environments, batches, tables and batches of views refuse the agent. An agent without
    ``honours`` is taken to honour every field; see `crib_env.supported_rules`.

    Attributes:
        name: its name in tables.
    """

    name: str

    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return one legal action for each view.

        Args:
            views: structured array [B] of the view record of one family of games, such as
                `crib_env.engine.two_hand.VIEW`; each is of a seat to move. The agents here,
                with `one_or_many`, also take a single view and return one action.
            rng: the generator for random choices.

        Returns:
            int64[B], an action for each view.
        """


@runtime_checkable
class StochasticPolicy(Agent, Protocol):
    """An agent with a stochastic policy: it draws its actions and gives their probabilities."""

    def action_probabilities(self, views: Views) -> npt.NDArray[np.float64]:
        """Return the probability of each action.

        Args:
            views: structured array [B] of views, each of a seat to move.

        Returns:
            float64[B, actions], by action; a row sums to 1 and is 0 where the action is illegal.
        """


# --- views in, actions out ----------------------------------------------------------------------


def one_or_many(method: F) -> F:
    """Decorator: accept a single view too and return its single result.

    The method takes views after ``self`` and returns an array with a row for each. Views
    of rules that the agent does not honour are refused first; see `crib_env.supported_rules`.
    """

    @wraps(method)
    def answer(agent: Any, views: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(views, np.ndarray) and views.ndim == 1 and views.dtype.names:
            if not views.flags.writeable:  # such as Ray's: machine code needs writable ones
                views = kernel_array(views)
            if getattr(agent, "honours", None) is not None:
                from crib_env.supported_rules import refuse_views

                refuse_views(agent, views)
            return method(agent, views, *args, **kwargs)
        dtype = getattr(views, "dtype", None)
        if getattr(dtype, "names", None) is None or np.ndim(views):
            shape = f" of shape {np.shape(views)}" if dtype is not None else ""
            raise ValueError(
                "views are records of what a seat may know: one, as env.unwrapped.view() returns "
                f"it, or an array [B] of them; got {type(views).__name__}{shape}"
            )
        return answer(agent, np.array(views).reshape(1), *args, **kwargs)[0]

    return cast(F, answer)


def check_actions(answer: object, n: int) -> Actions:
    """Return an agent's actions for ``n`` views, as the int64[n] that kernels take."""
    actions = np.asarray(answer)
    if n == 0 and actions.shape == (0,):  # NumPy makes an empty list float64
        return np.zeros(0, dtype=np.int64)
    if actions.shape != (n,) or actions.dtype.kind not in "iu":
        raise ValueError(
            f"expected {n} integers, an action for each view, got {actions.dtype} of shape {actions.shape}"
        )
    return kernel_array(actions.astype(np.int64, copy=False))  # a column of the views is strided


def whole_action(action: object, actions: int) -> int:
    """Return an action given as any kind of whole number, also an array or a tensor of one."""
    given: Any = action
    if isinstance(action, np.ndarray) and action.size == 1:
        given = action.item()
    if not isinstance(given, bool) and "bool" not in str(getattr(given, "dtype", "")):
        with suppress(TypeError, ValueError, RuntimeError):  # libraries differ about two numbers
            return operator.index(given)
    raise IllegalActionError(f"an action is a whole number from 0 to {actions - 1}, got {action!r}")


def check_takes(function: Callable[..., Any], arguments: str, called: str) -> None:
    """Raise a TypeError if a function's signature does not take these arguments."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # built in, or compiled
        return
    try:
        signature.bind(*arguments.split(", "))
    except TypeError:
        name = getattr(function, "__qualname__", repr(function))
        taken = ", ".join(signature.parameters)
        raise TypeError(f"{called} takes ({arguments}); {name} takes ({taken})") from None


def check_rng(rng: object) -> np.random.Generator:
    """Return ``rng`` if it is a NumPy generator, else raise a TypeError."""
    if isinstance(rng, np.random.Generator):
        return rng
    seed = rng if isinstance(rng, int) else 1
    raise TypeError(
        "rng must be a numpy.random.Generator, made once before the loop: "
        f"rng = numpy.random.default_rng({seed}); got {rng!r}"
    )


def sample_legal(masks: npt.NDArray[Any], rng: np.random.Generator) -> Any:
    """Draw a legal action for each mask, uniformly.

    Args:
        masks: int8 or bool: a mask [actions], or [N, actions], ``info["action_mask"]`` of a vector
            environment.
        rng: a NumPy generator.

    Returns:
        an int for one mask, int64[N] for N.

    Raises:
        ValueError: an array of another shape or kind, or a mask without a legal action.
        TypeError: ``rng`` is no generator.
    """
    given = np.asarray(masks)
    if given.ndim not in (1, 2) or given.dtype.char not in "b?":
        raise ValueError(
            f"masks must be int8 or bool of shape [actions] or [N, actions], got {given.dtype} of {given.shape}"
        )
    if given.ndim == 1:
        legal = given.nonzero()[0]
        if not legal.size:
            raise ValueError("the mask allows no action: that episode has ended")
        return legal.item(int(check_rng(rng).random() * legal.size))
    from crib_env.engine.learners import nth_legal

    draws = check_rng(rng).integers(1 << 32, size=len(given))
    actions = np.empty(len(given), dtype=np.int64)
    bad = nth_legal(kernel_array(given).view(np.int8), draws, actions)
    if bad >= 0:
        raise ValueError(f"masks[{bad}] allows no action: that episode has ended")
    return actions


# --- pairs of cards to discard: an agent chooses both, the game takes one at a time ---------------

MOST_STORED = 10_000  # above this the oldest are dropped: their games were broken off


class SecondDiscards:
    """The second card of each chosen pair, until its decision is due.

    A view does not name its game, so the key is the knowledge of its seat. Two games with the same
    key may swap their pairs.
    """

    def __init__(self) -> None:
        self._cards: dict[Hashable, list[int]] = {}

    def put(self, view: Any, first: int, second: int, game: Hashable = None) -> None:
        """Store the second card of a pair chosen in a view; ``game`` tells equal games apart."""
        if len(self._cards) >= MOST_STORED:
            self._cards.pop(next(iter(self._cards)))
        self._cards.setdefault((game, _decision(view, first)), []).append(second)

    def take(self, view: Any, game: Hashable = None) -> int | None:
        """Return the card stored for this decision, once, or None."""
        if not self._cards or "discarded" not in view.dtype.names:
            return None
        key = game, _decision(view)
        if (cards := self._cards.get(key)) is None:
            return None
        card = cards.pop(0)
        if not cards:
            del self._cards[key]
        return card


def _decision(view: Any, *gone: int) -> Hashable:
    """Return a key of the decision that follows once the cards ``gone`` are discarded."""
    discarded = {*view["discarded"][: view["discarded_n"]].tolist(), *gone}
    return (
        frozenset({*view["hand"][: view["hand_n"]].tolist(), *discarded}),
        frozenset(discarded),
        int(view["seat"]),
        int(view["dealer"]),
        int(view["deals"]),
        *view["scores"].tolist(),
        *view["match_score"].tolist(),
    )


# --- compiled agents ----------------------------------------------------------------------------


def compile_policy(act: Act, family: Family, seconds: int = 3) -> Entry:
    """Return an agent's function for the views of a family, compiled at its first use.

    Args:
        act: ``act(view, rng, table, weights) -> action``: the view record of the seat to move, its
            generator (int64[4]; draw with `crib_env.engine.rng.below`), the points of rank
            multisets (`crib_env.engine.show.show_table`), and the agent's weights, float64[K].
        family: the games it plays.
        seconds: about how long it compiles, in CPU seconds, for a message; 0 for none.

    Returns:
        The compiled function of the same arguments, the same for all rewards and forms of suits.
    """
    return _compile_policy(act, family.name, seconds)


@cache
def _compile_policy(act: Act, family: str, seconds: int) -> Entry:
    from crib_env.engine.acts import act_entry
    from crib_env.engine.family import find_family
    from crib_env.engine.jit import plain

    check_takes(plain(act), "view, rng, table, weights", "a compiled agent's function")
    name = f"{act.__module__ or 'agent'}.{family}.act"
    return act_entry(act, find_family(family).view, name, seconds)


class CompiledAgent:
    """An agent that acts by a compiled function, so that it plays inside the batch.

    A subclass names itself and its functions as class attributes, so that an instance holds nothing
    but its weights: it pickles, and it costs nothing to copy.

    Attributes:
        name: its name in tables.
        acts: its function for each family of games that it plays, by the family's name.
        honours: the fields of the rules that may have any value; None for all.
        draws: whether it draws its actions; if not, `act` does not use the generator.
        compile_seconds: about how long a function compiles, in CPU seconds; 0 if less than two.
        weights: float64[K], read by its functions.
    """

    name: str
    acts: ClassVar[Mapping[str, Act]]
    honours: ClassVar[frozenset[str] | None] = None
    draws: ClassVar[bool] = False
    compile_seconds: ClassVar[int] = 3

    def __init__(self, weights: npt.ArrayLike = ()) -> None:
        self.weights = kernel_array(np.asarray(weights, dtype=np.float64))

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    @one_or_many
    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return a legal action for each view; see `Agent.act`.

        Raises:
            ValueError: the views are of a family the agent does not play.
            TypeError: it draws, and ``rng`` is no generator.
        """
        from crib_env.engine.acts import array_of_agents
        from crib_env.engine.entries import entries_of
        from crib_env.engine.family import check_family
        from crib_env.engine.rng import WORDS
        from crib_env.engine.show import show_table

        family = check_family(self.name, views, self.acts)
        compiled = compile_policy(self.acts[family.name], family, self.compile_seconds)
        weights = self.kernel_weights()  # they must live as long as their address is used
        actions = np.empty(len(views), dtype=np.int64)
        shape = (len(views), WORDS)
        rngs = np.zeros(shape, dtype=np.int64)
        if self.draws:
            rngs = check_rng(rng).integers(1 << 32, size=shape)
        agents = array_of_agents([(compiled, weights)])
        entries_of(family).act_views(agents, np.ascontiguousarray(views), rngs, show_table(), actions)
        return actions

    def compiled_for(self, family: Family) -> Entry | None:
        """Return the agent's function, compiled for a family; None if it acts in Python.

        A subclass that overrides `act` acts in Python.
        """
        if type(self).act is not CompiledAgent.act or family.name not in self.acts:
            return None
        return compile_policy(self.acts[family.name], family, self.compile_seconds)

    def kernel_weights(self) -> npt.NDArray[np.float64]:
        """Return the weights, float64[K], for machine code; copied only if needed."""
        weights: npt.NDArray[np.float64] = kernel_array(np.asarray(self.weights, dtype=np.float64))
        if weights.ndim != 1:
            raise ValueError(f"the weights of {self.name!r} must have shape [K], got {weights.shape}")
        return weights


def ask_agent(agent: Agent, views: Views, rng: np.random.Generator) -> Actions:
    """Return an agent's checked actions; without views it is not called. Errors name it."""
    if not len(views):
        return np.zeros(0, dtype=np.int64)
    try:
        return check_actions(agent.act(views, rng), len(views))
    except BaseException as error:  # also KeyboardInterrupt: record which agent was running
        blame(repr(agent.name), error)


def blame(who: str, error: BaseException) -> NoReturn:
    """Raise an agent's error again so that it names the agent."""
    if isinstance(error, ValueError):
        raise AgentError(f"{who} failed: {error}") from error
    error.add_note(f"{who} failed")
    raise error


@one_or_many
def action_probabilities(agent: Agent, views: Views, actions: int, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """Return an agent's probability of each action, float64[B, actions].

    An agent that is no `StochasticPolicy` acts, with ``rng``, and its action has probability 1; one
    that draws its actions raises a `NoProbabilitiesError`.
    """
    if not len(views):
        return np.zeros((0, actions))
    if isinstance(agent, StochasticPolicy):
        return agent.action_probabilities(views)
    if getattr(agent, "draws", False):
        raise NoProbabilitiesError(f"{agent.name!r} draws its choices and has no action_probabilities(views)")
    chosen = ask_agent(agent, views, rng)
    if len(strange := chosen[(chosen < 0) | (chosen >= actions)]):
        raise ValueError(f"{agent.name!r} failed: {strange[0]} is not an action, 0 to {actions - 1}")
    probabilities = np.zeros((len(views), actions))
    probabilities[np.arange(len(views)), chosen] = 1.0
    return probabilities


# --- agents by name, from files, models and functions -------------------------------------------

Opponent = str | Agent | Callable[[Any, np.random.Generator], int]


class FunctionAgent:
    """An agent made from a function of one view and a generator."""

    def __init__(self, choose: Callable[[Any, np.random.Generator], int]) -> None:
        check_takes(choose, "view, rng", "an opponent that is a function")
        self.choose = choose
        self.name = getattr(choose, "__name__", type(choose).__name__)

    @one_or_many
    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return the function's action for each view, int64[B]."""
        return check_actions([self.choose(view, rng) for view in views], len(views))


def installed(group: str) -> tuple[EntryPoint, ...]:
    """Return the entry points of a group, read once: reading all packages takes 10 ms or more."""
    return _read(group, tuple(sys.path))


@cache
def _read(group: str, path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=group))


def _made_of(given: Any) -> Any:
    """Return the agent built by a registered reader, or None.

    Readers are found by the prefix of a text (``"text:MODEL"``), by the ending of a file's name,
    and by the class of a model in memory: a network, or a library's model.
    """
    if isinstance(given, str):
        prefix, colon, rest = given.partition(":")
        points = [(one, rest) for one in installed(PREFIXES) if colon and one.name == prefix]
        points += [(one, given) for one in installed(FILES) if given.endswith(f".{one.name}")]
    else:
        classes = {f"{one.__module__}.{one.__qualname__}" for one in type(given).__mro__}
        points = [(one, given) for one in installed(MODELS) if one.name in classes]
    return next((point.load()(argument) for point, argument in points), None)


def agent_names() -> list[str]:
    """Return the names of all agents installed."""
    return sorted({point.name for point in installed(GROUP)})


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.value.partition(".")[0]


def _installed(name: str) -> Agent:
    """Return the installed agent of that name; a built-in name stays the built-in agent."""
    points = [point for point in installed(GROUP) if point.name == name]
    if not points:
        if name and Path(name).is_dir():
            file = Path(name) / "policy.safetensors"
            raise ValueError(f"{name} is a folder: name a file in it, such as {file}")
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
    """Return the agent of a name, a model or a function; an `Agent` is returned itself.

    A name is that of an installed agent, the path of an agent's file, ``"text:MODEL"`` for a
    language model, or ``"package.module:Name"`` for an agent or a class whose constructor takes no
    arguments. Networks, trained models, and functions of a view and a generator become agents.

    Raises:
        ValueError: no agent of that name is installed (the message lists those that are), or it
            cannot be loaded (the message names its package).
        TypeError: an object that is no agent, or whose function takes other arguments.
    """
    if isinstance(opponent, str):
        if (agent := _made_of(opponent)) is not None:
            return find_agent(agent)
        if ":" not in opponent:
            return _installed(opponent)
        try:
            found = resolve_name(opponent)
            if inspect.ismodule(found):
                raise ValueError(f"{found.__name__} is a module")
        except (ImportError, AttributeError, ValueError) as error:
            raise ValueError(
                f"there is no agent at {opponent!r}: {error}; write package.module:name, or name "
                "a file that ends in .safetensors, .zip or .onnx"
            ) from error
        return find_agent(found() if isinstance(found, type) else found)
    if isinstance(opponent, type):
        name = opponent.__name__
        raise TypeError(f"an opponent is an agent, not its class: write {name}(), not {name}")
    if isinstance(opponent, Agent):
        check_takes(opponent.act, "views, rng", f"act of the agent {opponent.name!r}")
        return opponent
    if (agent := _made_of(opponent)) is not None:
        return find_agent(agent)
    if callable(opponent):
        return FunctionAgent(opponent)
    if hasattr(opponent, "act"):
        raise TypeError(f"an agent has a name for tables to call it: {opponent!r} has no name")
    raise TypeError(
        f"an opponent is a name, an Agent, a network, a model or a function of a view and a generator, got {opponent!r}"
    )
