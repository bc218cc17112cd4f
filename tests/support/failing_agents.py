"""Agents that play `greedy` but for one failing, for the tests of what a failure costs.

A failing shows in views that hold the ace of clubs, so in some games and not in others.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from crib_agents import GreedyAgent

FATAL = 0  # the ace of clubs


def is_fatal(views: Any) -> Any:
    return (views["hand"] == FATAL).any(axis=1)


class Failing:
    name = "failing"

    def __init__(self) -> None:
        self.greedy = GreedyAgent()

    def act(self, views: Any, rng: np.random.Generator) -> Any:
        actions = self.greedy.act(views, rng)
        return self.fail(actions, is_fatal(views)) if is_fatal(views).any() else actions

    def fail(self, actions: Any, fatal: Any) -> Any:
        raise NotImplementedError


class Cheats(Failing):
    name = "cheats"

    def fail(self, actions: Any, fatal: Any) -> Any:
        return np.where(fatal, 99, actions)


class Raises(Failing):
    name = "raises"

    def fail(self, actions: Any, fatal: Any) -> Any:
        raise KeyError("no book move")


class Exits(Failing):
    name = "exits"

    def fail(self, actions: Any, fatal: Any) -> Any:
        raise SystemExit(4)


class Forgets(Failing):
    name = "forgets"

    def fail(self, actions: Any, fatal: Any) -> Any:
        return actions[:-1]


class Halves(Failing):
    name = "halves"

    def fail(self, actions: Any, fatal: Any) -> Any:
        return actions / 2


class Refuses:
    name = "refuses"

    def act(self, views: Any, rng: np.random.Generator) -> Any:
        raise ValueError("no table top")


class Rambles(Failing):
    name = "rambles"

    def fail(self, actions: Any, fatal: Any) -> Any:
        class NoArray:
            def __array__(self, *_: object, **__: object) -> Any:
                raise TypeError("it is on the GPU")

        return NoArray()


class Panics(Failing):
    name = "panics"

    def fail(self, actions: Any, fatal: Any) -> Any:
        raise BaseException("a panic of another language")


class Plants(Failing):
    name = "plants"

    def fail(self, actions: Any, fatal: Any) -> Any:
        class Bomb:
            def __reduce__(self) -> tuple[Any, ...]:
                return sys.exit, ("planted code ran",)

        return np.array([Bomb() for _ in actions], dtype=object)


class Dawdles(Failing):
    name = "dawdles"

    def fail(self, actions: Any, fatal: Any) -> Any:
        time.sleep(0.05 * len(actions))
        return actions


class Hangs(Failing):
    name = "hangs"

    def fail(self, actions: Any, fatal: Any) -> Any:
        time.sleep(600)
        return actions


class Dies(Failing):
    name = "dies"

    def fail(self, actions: Any, fatal: Any) -> Any:
        os._exit(3)


class Interrupts(Failing):
    name = "interrupts"

    def fail(self, actions: Any, fatal: Any) -> Any:
        raise KeyboardInterrupt


class Forks:
    """Forks at every call; the copy answers too, with other cards."""

    name = "forks"

    def act(self, views: Any, rng: np.random.Generator) -> Any:
        if copy := os.fork():
            leave_pid(copy)
            time.sleep(0.05)  # so that the copy would be the first to answer
            return views["hand"][:, 0]
        return views["hand"][:, 1]


class Lingers:
    """Leaves at every call a process behind, and from its making on another."""

    name = "lingers"

    def __init__(self) -> None:
        self.leave()

    def act(self, views: Any, rng: np.random.Generator) -> Any:
        self.leave()
        return views["hand"][:, 0]

    def leave(self) -> None:
        copy = os.fork()
        if not copy:
            time.sleep(600)
            os._exit(0)
        leave_pid(copy)


class LingersLong(Lingers):
    """The same, and takes a minute for every answer but the first."""

    answered = False

    def act(self, views: Any, rng: np.random.Generator) -> Any:
        if self.answered:
            time.sleep(60)
        self.answered = True
        return super().act(views, rng)


class LeavesACopy(Lingers):
    """Dies, but for a copy of itself that goes on."""

    name = "leaves_a_copy"

    def act(self, views: Any, rng: np.random.Generator) -> Any:
        super().act(views, rng)
        os._exit(5)


class Prints:
    name = "prints"

    def act(self, views: Any, rng: np.random.Generator) -> Any:
        print('[1, "actions", [0]]', flush=True)
        os.write(1, b"0\n")
        return views["hand"][:, 0]


def leave_pid(pid: int) -> None:
    """Leave a process's id as the name of a file."""
    (Path(os.environ["WAITING"]) / str(pid)).touch()


class Scribbles(Failing):
    name = "scribbles"

    def fail(self, actions: Any, fatal: Any) -> Any:
        return actions

    def act(self, views: Any, rng: np.random.Generator) -> Any:
        actions = super().act(views, rng)
        for field in views.dtype.names:
            views[field] = 7
        return actions


class Waits:
    """Leaves its process id as the name of a file and answers nothing."""

    name = "waits"

    def act(self, views: Any, rng: np.random.Generator) -> Any:
        leave_pid(os.getpid())
        time.sleep(600)


class Never:
    name = "never"

    def act(self, views: Any, rng: np.random.Generator) -> Any:
        raise ValueError("no idea")


class Unmakeable:
    name = "unmakeable"

    def __init__(self) -> None:
        raise OSError("the weights are not here")


class Quits:
    name = "quits"

    def __init__(self) -> None:
        sys.exit(3)


class Nameless:
    def act(self, views: Any, rng: np.random.Generator) -> Any:
        return views["hand"][:, 0]
