"""The part of an AEC environment that is about its game: what seats see, and positions."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from crib_env.answers import whole_action
from crib_env.engine.record import NONE
from crib_env.envs.books import Observation
from crib_env.envs.phase_policy import PhasePolicy, check_phase
from crib_env.errors import EpisodeOverError, IllegalActionError
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


class GameAccess:
    """The part of an AEC environment that is about its one `Game`.

    Attributes:
        game: the game; what changes it other than by the environment's methods is not seen by them.
    """

    game: Game
    phase_policy: PhasePolicy | None
    possible_agents: list[str]
    _seat_of: dict[str, int]
    _observed: int  # the seat whose observation the game's arrays hold, or NONE
    _seeded: bool
    _over: bool
    _chance: np.random.Generator | None
    _taken: list[EnvSnapshot]  # positions before the moves that pop takes back

    def observe(self, agent: str) -> Observation:
        """Return ``{"observation": uint8[obs_size], "action_mask": int8[actions]}``, new arrays.

        The mask is all zeros for a seat not to move.
        """
        seat = self._seat_of[agent]
        if self._observed != seat:
            self._look(seat)
        return {"observation": self.game.obs.copy(), "action_mask": self.game.mask.copy()}

    def state(self) -> npt.NDArray[np.uint8]:
        """Return everything, for centralised critics.

        That is every seat's observation, then a card by id: the starter, turned or not; in Table
        Top the card in turn.

        Returns:
            uint8[players * obs_size + 52].
        """
        parts = [self.observe(agent)["observation"] for agent in self.possible_agents]
        hidden = np.zeros(52, dtype=np.uint8)
        hidden[self.game.family.hidden_card(self.game.states[0])] = 1
        return np.concatenate([*parts, hidden])

    def _look(self, seat: int) -> None:
        if not self._seeded:
            raise EpisodeOverError("there is nothing to see before the first reset(): call it")
        self.game.look(seat)
        self._observed = seat
        if self._over:
            self.game.mask[:] = 0  # also where an illegal action ended the episode

    def _forget(self) -> None:
        self._observed = NONE

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
            ValueError: no snapshot, or one of another game; nothing has changed then.
        """
        if not isinstance(snapshot, EnvSnapshot):
            raise ValueError(f"restore() takes what snapshot() returned, got {snapshot!r}")
        check_phase(self.phase_policy, snapshot.game.states[0])
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
        if not self._seeded:
            raise EpisodeOverError("there is no position before the first reset(): call it")
        return self.game.notation()

    def from_notation(self, text: str) -> None:
        """Take up a position written by `notation`; given decks are not part of it.

        Raises:
            ValueError: text that is no position, or one of another game than this environment's;
                nothing has changed then.
        """
        check_phase(self.phase_policy, self.game.read(text).state[0])
        self.reset()
        self.game.take(text)
        self._resume()

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode."""
        raise NotImplementedError

    def step(self, action: int | None) -> None:
        """Act for the seat to move."""
        raise NotImplementedError

    def _resume(self) -> None:
        """Go on from the position that the game has been given."""
        raise NotImplementedError
