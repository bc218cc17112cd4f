"""Agents that play as `greedy` with one failure each, for the tests of failures.

An agent fails in views that hold the ace of clubs, so in some games and not in others.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from crib_agents import GreedyAgent

from crib_env.errors import NoResultError

FATAL = 0  # the ace of clubs


def is_fatal(views: Any) -> Any:
    return (views["hand"] == FATAL).any(axis=1)


class Failing:
    name: str

    def __init__(self) -> None:
        self.greedy = GreedyAgent()

    def act(self, views: Any, rng: np.random.Generator) -> Any:
        actions = self.greedy.act(views, rng)
        return self.fail(actions, is_fatal(views)) if is_fatal(views).any() else actions

    def fail(self, actions: Any, fatal: Any) -> Any:
        raise NotImplementedError


class NoArray:
    def __array__(self, *_: object, **__: object) -> Any:
        raise TypeError("it is on the GPU")


def failing(name: str, fail: Callable[[Any, Any], Any]) -> type[Failing]:
    """Return an agent whose actions in batches with a fatal view are ``fail(actions, fatal)``."""
    members = {"name": name.lower(), "fail": lambda _, *given: fail(*given), "__module__": __name__}
    return type(name, (Failing,), members)


def always(name: str, answer: Callable[[Any], Any]) -> type:
    """Return an agent whose actions are ``answer(views)``."""
    members = {"name": name.lower(), "act": lambda _, views, __: answer(views), "__module__": __name__}
    return type(name, (), members)


def throw(error: BaseException) -> Any:
    raise error


def late(seconds: float, actions: Any) -> Any:
    time.sleep(seconds)
    return actions


def leave_pid(pid: int) -> None:
    """Create a file named after a process id."""
    (Path(os.environ["WAITING"]) / str(pid)).touch()


def fork(views: Any) -> Any:
    """Fork; the copy answers too, with other cards."""
    if copy := os.fork():
        leave_pid(copy)
        time.sleep(0.05)  # so that the copy would be the first to answer
        return views["hand"][:, 0]
    return views["hand"][:, 1]


def print_answers(views: Any) -> Any:
    print('[1, "actions", [0]]', flush=True)
    os.write(1, b"0\n")
    return views["hand"][:, 0]


def scribble(views: Any) -> Any:
    actions = GreedyAgent().act(views, np.random.default_rng(0))
    for field in views.dtype.names:
        views[field] = 7
    return actions


Cheats = failing("Cheats", lambda actions, fatal: np.where(fatal, 99, actions))
Values = failing("Values", lambda *_: throw(ValueError("no idea")))
Shouts = failing("Shouts", lambda *_: throw(ValueError("no " * 400)))
Raises = failing("Raises", lambda *_: throw(KeyError("no book move")))
Stops = failing("Stops", lambda *_: throw(NoResultError("the server is down")))
Exits = failing("Exits", lambda *_: throw(SystemExit(4)))
Panics = failing("Panics", lambda *_: throw(BaseException("a panic of another language")))
Interrupts = failing("Interrupts", lambda *_: throw(KeyboardInterrupt()))
Forgets = failing("Forgets", lambda actions, _: actions[:-1])
Halves = failing("Halves", lambda actions, _: actions / 2)
Rambles = failing("Rambles", lambda *_: NoArray())
Dawdles = failing("Dawdles", lambda actions, _: late(0.05 * len(actions), actions))
Hangs = failing("Hangs", lambda actions, _: late(600, actions))
Never = always("Never", lambda _: throw(ValueError("no idea")))
Paints = always("Paints", lambda _: throw(RuntimeError("\x1b[31mred\x1b[0m \x1b]0;title\x07text\u202e")))
Waits = always("Waits", lambda views: (leave_pid(os.getpid()), late(600, views)))
Forks = always("Forks", fork)
Prints = always("Prints", print_answers)
Scribbles = always("Scribbles", scribble)


class Changes:
    """Plays as the agent of this module that a file names."""

    name = "changes"

    def act(self, views: Any, rng: np.random.Generator) -> Any:
        return globals()[(Path(os.environ["WAITING"]) / "how").read_text()]().act(views, rng)


class Unmakeable:
    def __init__(self) -> None:
        raise OSError("the weights are not here")


class Quits:
    def __init__(self) -> None:
        sys.exit(3)


class Nameless:
    def act(self, views: Any, rng: np.random.Generator) -> Any:
        return views["hand"][:, 0]
