"""The house: a built-in policy that makes the decisions an environment leaves out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from crib_env.engine import phases
from crib_env.engine.family import Family
from crib_env.engine.two_hand.records import NONE
from crib_env.errors import IllegalActionError
from crib_env.policy import Agent, CompiledAgent

if TYPE_CHECKING:
    from crib_env.envs.learner import LearnerBatch


@dataclass(frozen=True)
class House:
    """Makes every decision of one phase of a deal, for both seats, from their views.

    Attributes:
        agent: who decides.
        phase: the phase it decides in: ``LAY_AWAY`` or ``PLAY`` of `crib_env.engine.two_hand.records`.
    """

    agent: Agent
    phase: int


@dataclass(frozen=True)
class Player:
    """One who plays in compiled passes: the house or the opponent.

    Attributes:
        part: ``HOUSE`` or ``OPPONENT`` of `crib_env.engine.phases`.
        name: what its errors call it.
        weights: float64[K], what its kernel reads.
        take_turns: its compiled entry of signature ``TAKE_TURNS``.
    """

    part: int
    name: str
    weights: npt.NDArray[np.float64]
    take_turns: Callable[..., int]


class CompiledHouse:
    """Steps a learner's games where house and opponent are compiled: `crib_env.engine.phases`.

    Args:
        phase: the phase the house plays.
        players: the house, then the opponent.
        num_envs: the number of games.
    """

    def __init__(self, phase: int, players: list[Player], num_envs: int) -> None:
        self.phase = phase
        self.players = players
        self._waiting = np.empty(num_envs, dtype=np.int64)

    def step_range(
        self, games: LearnerBatch, actions: npt.NDArray[Any], thread: int, lo: int, hi: int
    ) -> None:
        """Do in the lanes ``lo`` to ``hi`` what `vector_step_range` does where no house plays."""
        views, log = games._views[thread], games._logs[thread]
        shared = games.states, games.rules_record, games.decks
        waiting = phases.learners_act.unchecked(
            *shared, games._table, log, lo, hi, self.phase, games.seats, actions, games.rewards,
            games.dones, self._waiting,
        )  # fmt: skip
        self._play(games, thread, lo, waiting)
        waiting = phases.settle.unchecked(
            *shared, views, log, lo, hi, self.phase, int(games.points), int(games.autoreset),
            int(games.seat is None), games.seats, actions, games.rewards, games.dones,
            games.final_obs, games.final_masks, self._waiting,
        )  # fmt: skip
        self._play(games, thread, lo, waiting)
        phases.observe_range.unchecked(
            games.states, games.rules_record, views, lo, hi, games.seats, games.obs, games.masks
        )

    def _play(self, games: LearnerBatch, thread: int, lo: int, waiting: int) -> None:
        """Let house and opponent take turns until no lane waits for either."""
        while waiting:
            for player in self.players:
                waiting = player.take_turns(
                    games.states, games.rules_record, games.decks, games._table, player.weights,
                    games._rngs, games._views[thread], games._logs[thread], self.phase,
                    player.part, games.seats, self._waiting, lo, waiting,
                )  # fmt: skip
                if waiting < 0:
                    raise IllegalActionError(
                        f"{player.name!r} erred: it chose an illegal card in game {NONE - waiting}"
                    )


def compile_house(
    house: House, opponent: Agent, family: Family, num_envs: int
) -> CompiledHouse | None:
    """Return house and opponent as compiled code; None if either must be asked in Python."""
    players = []
    for part, agent in ((phases.HOUSE, house.agent), (phases.OPPONENT, opponent)):
        if not isinstance(agent, CompiledAgent):
            return None
        entry = agent.take_turns_for(family.name)
        if entry is None:
            return None
        weights = np.ascontiguousarray(agent.weights, dtype=np.float64)
        players.append(Player(part, agent.name, weights, entry.unchecked))
    return CompiledHouse(house.phase, players, num_envs)
