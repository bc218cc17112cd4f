"""The input and output of agents: views, one or a batch; actions; functions as agents."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from crib_env.errors import IllegalActionError

Views = npt.NDArray[np.void]
Actions = npt.NDArray[np.int64]

F = TypeVar("F", bound=Callable[..., Any])


def one_or_many(method: F) -> F:
    """Let a method that answers a batch of views answer one view too, by what it says of that one.

    It decorates whatever takes views after ``self`` and returns an array with a row for each. Views
    of rules that the agent does not honour are refused first; see `crib_env.honours`.
    """

    @wraps(method)
    def answer(agent: Any, views: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(views, np.ndarray) and views.ndim == 1 and views.dtype.names:
            if getattr(agent, "honours", None) is not None:
                from crib_env.honours import refuse_views

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
    """Return what an agent answered to ``n`` views, as the int64[n] that kernels take."""
    actions = np.asarray(answer)
    if n == 0 and actions.shape == (0,):  # an empty list is one of floats
        return np.zeros(0, dtype=np.int64)
    if actions.shape != (n,) or actions.dtype.kind not in "iu":
        raise ValueError(
            f"expected {n} integers, an action for each view, got {actions.dtype} of shape "
            f"{actions.shape}"
        )
    return np.ascontiguousarray(actions, dtype=np.int64)  # a column of the views is strided


def whole_action(action: object, actions: int) -> int:
    """Return an action given as any kind of whole number: also an array or a tensor of one."""
    given: Any = action
    if isinstance(action, np.ndarray) and action.size == 1:
        given = action.item()
    if not isinstance(given, bool) and "bool" not in str(getattr(given, "dtype", "")):
        with suppress(TypeError, ValueError, RuntimeError):  # libraries differ about two numbers
            return operator.index(given)
    raise IllegalActionError(f"an action is a whole number from 0 to {actions - 1}, got {action!r}")


def check_takes(function: Callable[..., Any], arguments: str, called: str) -> None:
    """Raise a TypeError if a function shows that it does not take so many arguments."""
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


class FunctionAgent:
    """An agent of a plain function of one view and a generator.

    Raises:
        TypeError: the function takes other arguments.
    """

    def __init__(self, choose: Callable[[Any, np.random.Generator], int]) -> None:
        check_takes(choose, "view, rng", "an opponent that is a function")
        self.choose = choose
        self.name = getattr(choose, "__name__", type(choose).__name__)

    @one_or_many
    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return what the function says of each view, int64[B]."""
        return check_actions([self.choose(view, rng) for view in views], len(views))
