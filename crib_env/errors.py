"""Exceptions a user of the environments may meet."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches

from gymnasium.error import ResetNeeded


class IllegalActionError(ValueError):
    """An action that the rules do not allow here; the game is as it was before it."""


class EpisodeOverError(ResetNeeded):
    """A step was asked for where none can be taken: before a reset, or after the episode's end."""


def unknown(kind: str, name: str, choices: Collection[str]) -> ValueError:
    """Return the error of a name that is none of the choices, with the nearest of them."""
    near = get_close_matches(name, choices, n=1)
    meant = f"; did you mean {near[0]!r}?" if near else ""
    return ValueError(f"no {kind} is called {name!r}: choose from {', '.join(choices)}{meant}")
