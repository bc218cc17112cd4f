"""Exceptions for users, and the checks of arguments that all modules share."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import TypeGuard

import numpy as np
from gymnasium.error import ResetNeeded

SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?")


class IllegalActionError(ValueError):
    """An action that the rules do not allow here; the game has not changed."""


class EpisodeOverError(ResetNeeded):
    """A step before a reset, or after the episode's end."""


class AgentError(ValueError):
    """An agent failed in play: it raised a ValueError, or did not return one integer per view."""


class NoProbabilitiesError(ValueError):
    """An agent draws its actions and does not give their probabilities."""


class NoResultError(RuntimeError):
    """A server or other resource of an agent failed: no result, and no game is lost."""


def printable(text: str) -> str:
    """Return a text as one line that sends no control sequence to a terminal."""
    return " ".join("".join(c if c.isprintable() else " " for c in SEQUENCE.sub("", text)).split())


def unknown(kind: str, name: str, choices: Collection[str]) -> ValueError:
    """Return the error for a name that is not among the choices, with the nearest of them."""
    chosen = f"choose from {', '.join(choices)}{nearest(name, choices)}"
    return ValueError(f"no {kind} is called {name!r}: {chosen}")


def nearest(given: object, choices: Collection[str]) -> str:
    """Return the end of an error: a choice with a similar spelling or the same beginning."""
    near = get_close_matches(str(given), choices, n=1)
    near += [choice for choice in choices if given and choice.startswith(str(given))]
    return f"; did you mean {near[0]!r}?" if near else ""


def check_choice(name: str, value: object, accepted: Collection[object]) -> None:
    """Raise a ValueError unless ``value`` is one of ``accepted``."""
    alike = [one for one in accepted if isinstance(one, bool) == isinstance(value, (bool, np.bool_))]  # 1 is not True
    if value not in alike:  # a dict or a set would hash the value
        known = ", ".join(map(repr, accepted))
        meant = nearest(value, [one for one in accepted if isinstance(one, str)])
        raise ValueError(f"{name} must be one of {known}, got {value!r}{meant}")


def is_whole(value: object) -> TypeGuard[int]:
    """Return whether a value is a whole number of any kind, and no bool."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def whole_number(name: str, value: object, least: int, most: int | None = None) -> int:
    """Return a whole number of any kind as an int; check ``least`` <= value <= ``most``."""
    if not is_whole(value) or value < least or (most is not None and value > most):
        limit = "up" if most is None else f"to {most}"
        raise ValueError(f"{name} must be a whole number from {least} {limit}, got {value!r}")
    return int(value)


@contextmanager
def comes_with(extra: str) -> Iterator[None]:
    """Context: the error for a missing module names the extra that installs it."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "something").partition(".")[0]
        cure = f'{package} is not installed: pip install "crib-env[{extra}]"'
        raise ModuleNotFoundError(cure, name=package) from None
