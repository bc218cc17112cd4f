"""The Gymnasium vector shell: the native batch behind ``gymnasium.make_vec``."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from crib_env.engine.family import Family
from crib_env.envs.learner import LearnerBatch
from crib_env.options import check_seed, read_options
from crib_env.rules import Rules

Array = npt.NDArray[Any]


class CribbageVectorEnv(VectorEnv[Array, Array, Array]):
    """N games for N learners, stepped in compiled code.

    Ended episodes begin anew in the same step (``AutoresetMode.SAME_STEP``): the observation
    returned is the new episode's, the ended one's is in ``info["final_obs"]``. Legal actions are in
    ``info["action_mask"]`` (int8[N, actions]).

    Args:
        family: the engine.
        rules: the rules to play.
        num_envs: N.
        copy: return new arrays from every step, as Gymnasium's own vector environments do. With
            False the arrays are the batch's own and the next step overwrites them.
        **kwargs: as `LearnerBatch` takes them.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.SAME_STEP, "render_modes": []}  # noqa: RUF012

    def __init__(
        self, family: Family, rules: Rules, *, num_envs: int = 1, copy: bool = True, **kwargs: Any
    ) -> None:
        self.games = LearnerBatch(family, rules, num_envs, **kwargs)
        self.rules = rules
        self.copy = copy
        self.num_envs = num_envs
        self.single_observation_space = spaces.Box(0, 1, (family.obs_size,), np.uint8)
        self.single_action_space = spaces.Discrete(family.actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._no_truncations = np.zeros(num_envs, dtype=np.bool_)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begin an episode in every game.

        Args:
            seed: starts all generators; None goes on with them.
            options: as in the single environment, for the first episode of every game.

        Returns:
            observations uint8[N, obs_size], and info with ``action_mask`` int8[N, actions].
        """
        check_seed(seed)
        chosen = read_options(options, self.games.players, self.rules.target)
        super().reset(seed=seed)
        if seed is not None:
            self.games.seed(seed)
        self.games.reset(chosen)
        return self._own(self.games.obs), {"action_mask": self._own(self.games.masks)}

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """Act in every game.

        Args:
            actions: int[N].

        Returns:
            observations uint8[N, obs_size], rewards float64[N], terminations bool[N], truncations
            bool[N] (never), and info: ``action_mask``, and where episodes ended ``final_obs``
            (object[N], None where none ended) with ``_final_obs`` (bool[N]).
        """
        games = self.games
        games.step(actions)
        info: dict[str, Any] = {"action_mask": self._own(games.masks)}
        ended = games.dones.nonzero()[0]
        if len(ended):
            final = np.full(self.num_envs, None, dtype=object)
            final[ended] = np.fromiter(games.final_obs[ended], dtype=object, count=len(ended))
            info["final_obs"] = final
            info["_final_obs"] = games.dones.copy()
        truncations = self._own(self._no_truncations)
        return (
            self._own(games.obs), self._own(games.rewards), self._own(games.dones), truncations,
            info,
        )  # fmt: skip

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return which actions are legal in every game, bool[N, actions]."""
        return self.games.masks.astype(np.bool_)

    def _own(self, array: Array) -> Array:
        return array.copy() if self.copy else array
