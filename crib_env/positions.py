"""Positions of a game: moves made and taken back; saved and restored; written and read."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy.typing as npt

from crib_env.engine.record import NO_DECKS
from crib_env.events import Event
from crib_env.notation import Position, format_state, parse_state
from crib_env.rules import Rules

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Snapshot:
    """A position of a game, the generator of its deals included.

    Attributes:
        rules, episode, players: the game it belongs to.
        states, log, decks: copies of the game's arrays.
    """

    rules: Rules
    episode: str
    players: int
    states: Array
    log: Array
    decks: Array


class Positions:
    """What `Game` does with positions."""

    rules: Rules
    players: int
    episode: str
    states: Array
    log: Array
    decks: Array
    _taken: list[Snapshot]  # positions before the moves that pop takes back

    def step(self, action: int) -> list[Event]:
        """Act for the seat to move."""
        raise NotImplementedError

    def _bind(self) -> None:
        """Take hold of the compiled entries anew, as given decks need."""
        raise NotImplementedError

    def push(self, action: int) -> None:
        """Make a move that `pop` takes back: for search, as in python-chess.

        Raises:
            EpisodeOverError, IllegalActionError: as `step`; nothing has changed.
        """
        before = self.snapshot()
        self.step(action)
        self._taken.append(before)

    def pop(self) -> None:
        """Take back the last move made by `push`.

        Raises:
            IndexError: there is none since the beginning of the episode.
        """
        if not self._taken:
            raise IndexError("there is no move to take back: push() makes one")
        self.restore(self._taken.pop())

    def copy(self) -> Self:
        """Return a game that goes on as this one would, its generator included."""
        return copy.deepcopy(self)

    def snapshot(self) -> Snapshot:
        """Return the position, the generator included, for `restore`; later play leaves it be."""
        arrays = self.states.copy(), self.log.copy(), self.decks
        return Snapshot(self.rules, self.episode, self.players, *arrays)

    def restore(self, taken: Snapshot) -> None:
        """Go back to a position taken by `snapshot`.

        Raises:
            ValueError: of another game, by rules, episode or players; nothing has changed then.
        """
        if not isinstance(taken, Snapshot):
            raise ValueError(
                f"restore() takes what snapshot() returned, got {type(taken).__name__}"
            )
        self._check_game(taken.rules, taken.episode, taken.players)
        self.states[:] = taken.states
        self.log[:] = taken.log
        self._use(taken.decks)

    def _use(self, decks: Array) -> None:
        if decks is not self.decks:
            self.decks = decks
            self._bind()

    def notation(self) -> str:
        """Return the position as one line of text; see `crib_env.notation`."""
        return format_state(self.states, self.rules, self.episode)

    def take(self, text: str) -> None:
        """Take up a position of this game written by `notation`; given decks are not part of it.

        Raises:
            ValueError: text that is no position, or one of another game; nothing has changed then.
        """
        position = self.read(text)
        rng = self.states["rng"].copy()
        self.states[:] = position.state
        if not position.state["rng"].any():  # a text without its generator goes on with this one
            self.states["rng"] = rng
        self.log[0] = 0
        self._use(NO_DECKS)
        self._taken.clear()

    def read(self, text: str) -> Position:
        """Return a position of this game written by `notation`, without taking it up.

        Raises:
            ValueError: text that is no position, or one of another game.
        """
        position = parse_state(text)
        self._check_game(*position[1:])
        return position

    def _check_game(self, rules: Rules, episode: str, players: int) -> None:
        """Raise a ValueError unless a position of this description is one of this game."""
        differing = [
            f"{name} {theirs!r}, not {ours!r}"
            for name, theirs, ours in (
                ("rules", rules, self.rules),
                ("episode", episode, self.episode),
                ("players", players, self.players),
            )
            if theirs != ours
        ]
        if differing:
            raise ValueError(f"the position is of another game: {'; '.join(differing)}")
