"""What a batch of learners' games leaves behind after every step."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from crib_env.engine.family import Family

Array = npt.NDArray[Any]


class LearnerArrays:
    """The arrays of N games, written anew by every step.

    Args:
        n: how many games. family: theirs. seat: the learner's in each, at first.

    Attributes:
        obs: uint8[N, obs_size], masks: int8[N, actions]: of the learner to move.
        rewards: float64[N]. dones: bool[N].
        final_obs, final_masks: where ``dones``, the ended episode's last.
        seats: int64[N], the learner's seats.
        lanes: int64[N], 0 to N - 1.
    """

    def __init__(self, n: int, family: Family, seat: int) -> None:
        self.num_envs = n
        self.family = family
        self.lanes = np.arange(n)
        self.seats = np.full(n, seat, dtype=np.int64)
        self.obs = np.zeros((n, family.obs_size), dtype=np.uint8)
        self.masks = np.zeros((n, family.actions), dtype=np.int8)
        self.final_obs = np.zeros_like(self.obs)
        self.final_masks = np.zeros_like(self.masks)
        self.rewards = np.zeros(n)
        self.dones = np.zeros(n, dtype=np.bool_)
        self._nowhere = np.zeros(n, dtype=np.bool_)

    def legal(self, actions: Array) -> npt.NDArray[np.bool_]:
        """Return which of ``actions``, int[N], any numbers, are legal in their games, bool[N]."""
        inside = (actions >= 0) & (actions < self.family.actions)
        legal: npt.NDArray[np.bool_] = (
            self.masks[self.lanes, np.where(inside, actions, 0)].astype(np.bool_) & inside
        )
        return legal
