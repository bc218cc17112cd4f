"""Potential-based shaping for Table Top: each placed card is paid at once.

A round pays only at its end, 14 of the learner's decisions after the first. Shaping adds to each
step's reward the increase in value of the learner's lines. The potential is 0 at the end of an
episode, so the best policy stays the same (Ng, Harada and Russell, 1999).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from crib_agents.kernels.potential import lines_so_far
from stable_baselines3.common.vec_env import VecEnvWrapper

from crib_env.arrays import Array, Ints
from crib_env.engine.show import show_table
from crib_env.envs.sb3 import CribbageVecEnv


class LineShaping(VecEnvWrapper):
    """Adds the change of the lines' potential to every reward of a Table Top environment."""

    def __init__(self, venv: CribbageVecEnv) -> None:
        super().__init__(venv)
        self._batch = venv.batch
        self._before = np.zeros(self.num_envs, dtype=np.int64)

    def reset(self) -> Any:
        """Begin episodes, from the potential they begin with."""
        observations = self.venv.reset()
        self._before = self._potential()
        return observations

    def step_wait(self) -> tuple[Any, Array, Array, list[dict[str, Any]]]:
        """Return the step with the shaped reward; where an episode ended, its end counts 0."""
        observations, rewards, dones, infos = self.venv.step_wait()
        now = self._potential()
        shaped = rewards + np.where(dones, 0, now) - self._before
        self._before = now
        return observations, shaped.astype(np.float32), dones, infos

    def _potential(self) -> Ints:
        batch = self._batch
        views = batch.games.views(np.arange(self.num_envs), batch.seats)
        potential = np.zeros(self.num_envs, dtype=np.int64)
        lines_so_far(views, show_table(), potential)
        return potential
