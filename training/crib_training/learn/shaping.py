"""Potential-based shaping for Table Top: each placed card is paid at once.

A round pays only at its end, 14 of the learner's decisions after the first. Shaping adds to each
step's reward the increase in value of the learner's lines. The potential is 0 at the end of an
episode, so the best policy stays the same (Ng, Harada and Russell, 1999).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64, void
from stable_baselines3.common.vec_env import VecEnvWrapper

from crib_env.arrays import Array, Ints
from crib_env.engine.jit import entry
from crib_env.engine.record import TABLE_T
from crib_env.engine.show import show_table
from crib_env.engine.table_top.lines import line_through, nob_through, points_so_far
from crib_env.engine.table_top.records import SIZE, VIEWS_T
from crib_env.envs.sb3 import CribbageVecEnv


@entry(void(VIEWS_T, TABLE_T, int64[::1]))
def lines_so_far(views, table, differences):
    """Write for each view what its side's five lines score as they lie, less the other side's."""
    for k in range(views.shape[0]):
        v = views[k]
        total = 0
        for i in range(SIZE):
            for rows in range(2):
                cell = SIZE * i if rows else i
                cards = line_through(v, cell, rows)
                nob = nob_through(v, cell, rows)
                points = points_so_far(table, cards, v["flush_size"], nob)
                total += points if rows == v["scores_rows"] else -points
        differences[k] = total


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
