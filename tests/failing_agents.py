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
        (Path(os.environ["WAITING"]) / str(os.getpid())).touch()
        time.sleep(600)


class Never:
    name = "never"

    def act(self, views: Any, rng: np.random.Generator) -> Any:
        raise ValueError("no idea")


class Unmakeable:
    name = "unmakeable"

    def __init__(self) -> None:
        raise OSError("the weights are not here")


class Nameless:
    def act(self, views: Any, rng: np.random.Generator) -> Any:
        return views["hand"][:, 0]
