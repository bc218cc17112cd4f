"""The settings of an environment: readable, and an error if somebody assigns one later.

Only who plays may change: the opponent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from crib_env.arrays import Bools
from crib_env.envs.learner import LearnerBatch
from crib_env.envs.opponents import OpponentSpec
from crib_env.policy import Agent


class Setting:
    """A setting that is fixed when an environment is made: to set it later is an AttributeError.

    Args:
        place: the attribute of the environment that it is read from, such as ``"batch.rules"``.
    """

    def __init__(self, place: str) -> None:
        self._read: Callable[[Any], Any] = attrgetter(place)

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, env: Any, owner: type) -> Any:
        return self if env is None else self._read(env)

    def __set__(self, env: Any, value: Any) -> None:
        raise AttributeError(
            f"{self._name} is fixed when the environment is made: make another with "
            f"{self._name}={value!r}"
        )


class LearnerSettings:
    """The settings of an environment of one learner or of N, which hold a `LearnerBatch`."""

    batch: LearnerBatch

    rules = Setting("batch.rules")
    players = Setting("batch.players")
    partners = Setting("batch.rules.partners")
    episode = Setting("batch.games.episode")
    reward = Setting("batch.reward")
    features = Setting("batch.features")
    suits = Setting("batch.family.suits")
    seat = Setting("batch.seat")
    partner = Setting("batch.partner")
    on_illegal = Setting("batch.on_illegal")
    phase_policy = Setting("batch.phase_policy")

    @property
    def opponent(self) -> Any:
        """Who plays in this episode; of N games, a list of N. To set it is `set_opponent`."""
        return self._opponents()

    @opponent.setter
    def opponent(self, given: OpponentSpec) -> None:
        self.batch.set_opponent(given)

    def _opponents(self) -> Agent | list[Agent]:
        return [self.batch.opponents[lane] for lane in range(self.batch.num_envs)]

    @property
    def opponent_names(self) -> list[str]:
        """The names of all opponents so far, by the number that the info calls them by."""
        return list(self.batch.opponents.names)


class LearnersSettings(LearnerSettings):
    """The settings of an environment of N learners, and what else its games share."""

    def set_opponent(self, opponent: OpponentSpec, lanes: Sequence[int] | None = None) -> None:
        """Let another opponent play, at once, also in games under way; for leagues and curricula.

        Args:
            opponent: one, or several with their shares, ``[(opponent, share), ...]``.
            lanes: in which of the games; None: in all.

        Raises:
            ValueError, TypeError: no such opponent, shares or games; nothing has changed.
        """
        self.batch.set_opponent(opponent, lanes)

    def action_masks(self) -> Bools:
        """Return which actions are legal in every game, bool[N, actions]."""
        return self.batch.masks.astype(np.bool_)
