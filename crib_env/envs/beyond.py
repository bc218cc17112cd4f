"""What an AEC environment offers beyond PettingZoo: its game, and positions."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from pettingzoo import AECEnv

from crib_env.envs.checks import whole_action
from crib_env.errors import IllegalActionError
from crib_env.events import Event
from crib_env.game import Game
from crib_env.positions import Snapshot

# PettingZoo's own bookkeeping, which a snapshot holds besides the game's position.
BOOKS = (
    "agents", "agent_selection", "rewards", "_cumulative_rewards", "terminations", "truncations",
    "infos", "_skip_agent_selection", "_over", "_seeded",
)  # fmt: skip


@dataclass(frozen=True)
class EnvSnapshot:
    """A position of an environment.

    Attributes:
        game: the game's part.
        books: PettingZoo's, by attribute.
        chance: the generator of the policy that plays a phase, if there is one.
    """

    game: Snapshot
    books: dict[str, Any]
    chance: np.random.Generator | None


class GameAccess(AECEnv[str, dict[str, npt.NDArray[Any]], "int | None"]):
    """An AEC environment over one `Game`.

    Attributes:
        game: the game; what changes it other than by the environment's methods is not seen by them.
    """

    game: Game
    _over: bool
    _chance: np.random.Generator | None
    _taken: list[EnvSnapshot]  # positions before the moves that pop takes back

    @property
    def scores(self) -> tuple[int, int]:
        """The scores of the present game, by side."""
        return self.game.scores

    @property
    def games(self) -> tuple[int, int]:
        """The game points of the match, by side (H11); Table Top has no matches."""
        return self.game.games

    @property
    def dealer(self) -> int:
        """The seat that deals."""
        return self.game.dealer

    @property
    def deals(self) -> int:
        """How many deals (in Table Top rounds) this episode has had."""
        return self.game.deals

    @property
    def events(self) -> list[Event]:
        """What was pegged since the last decision, in order."""
        return self.game.events

    def view(self, seat: int) -> np.void:
        """Return a copy of what ``seat`` may know, as a view record.

        Raises:
            ValueError: no such seat.
        """
        view = self.game.view(seat)
        self._look(seat)
        return view

    def snapshot(self) -> EnvSnapshot:
        """Return the position, the generator included, for `restore`; later play leaves it be."""
        books = {name: getattr(self, name) for name in BOOKS if hasattr(self, name)}
        return EnvSnapshot(self.game.snapshot(), *copy.deepcopy((books, self._chance)))

    def restore(self, snapshot: EnvSnapshot) -> None:
        """Go back to a position taken by `snapshot` of an environment of the same game.

        Raises:
            ValueError: it is of another game; nothing has changed then.
        """
        self.game.restore(snapshot.game)
        for name, value in copy.deepcopy(snapshot.books).items():
            setattr(self, name, value)
        self._chance = copy.deepcopy(snapshot.chance)
        self._forget()

    def push(self, action: int) -> None:
        """Make a move that `pop` takes back: for search, as in python-chess.

        Raises:
            IllegalActionError: an illegal action, whatever ``on_illegal`` says; nothing changed.
        """
        game = self.game
        action = whole_action(action, game.family.actions)
        if self._over or action not in game.legal:
            raise IllegalActionError(game.family.why_illegal(game.view(game.seat), action))
        self._taken.append(self.snapshot())
        self.step(action)

    def pop(self) -> None:
        """Take back the last move made by `push`.

        Raises:
            IndexError: there is none since the reset.
        """
        if not self._taken:
            raise IndexError("there is no move to take back: push() makes one")
        self.restore(self._taken.pop())

    def notation(self) -> str:
        """Return the position as one line of text; see `crib_env.notation`."""
        return self.game.notation()

    def from_notation(self, text: str) -> None:
        """Take up a position written by `notation`; given decks are not part of it.

        Raises:
            ValueError: text that is no position, or one of another game than this environment's;
                nothing has changed then.
        """
        self.game.read(text)
        self.reset()
        self.game.take(text)
        self._resume()

    def _look(self, seat: int) -> None:
        raise NotImplementedError

    def _forget(self) -> None:
        """Forget which seat the game was last observed for."""
        raise NotImplementedError

    def _resume(self) -> None:
        """Go on from the position that the game has been given."""
        raise NotImplementedError
