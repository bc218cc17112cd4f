"""Exceptions a user of the environments may meet."""

from __future__ import annotations

from gymnasium.error import ResetNeeded


class IllegalActionError(ValueError):
    """An action that the rules do not allow here; the game is as it was before it."""


class EpisodeOverError(ResetNeeded):
    """A step was asked for where none can be taken: before a reset, or after the episode's end."""
