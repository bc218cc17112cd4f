"""Exceptions a user of the environments may meet."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from difflib import get_close_matches

from gymnasium.error import ResetNeeded


class IllegalActionError(ValueError):
    """An action that the rules do not allow here; the game is as it was before it."""


class EpisodeOverError(ResetNeeded):
    """A step was asked for where none can be taken: before a reset, or after the episode's end."""


def unknown(kind: str, name: str, choices: Collection[str]) -> ValueError:
    """Return the error of a name that is none of the choices, with the nearest of them."""
    chosen = f"choose from {', '.join(choices)}{nearest(name, choices)}"
    return ValueError(f"no {kind} is called {name!r}: {chosen}")


def nearest(given: object, choices: Collection[str]) -> str:
    """Return what an error ends in that names the choices: the one nearest to what was given.

    That is one spelt much like it, or else the first that begins with it.
    """
    near = get_close_matches(str(given), choices, n=1)
    near += [choice for choice in choices if given and choice.startswith(str(given))]
    return f"; did you mean {near[0]!r}?" if near else ""


@contextmanager
def comes_with(extra: str) -> Iterator[None]:
    """Let the error of a module that is missing say by which extra it is installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "something").partition(".")[0]
        cure = f'{package} is not installed: pip install "crib-env[{extra}]"'
        raise ModuleNotFoundError(cure, name=package) from None
