"""The Gymnasium vector shell: the native batch behind ``gymnasium.make_vec``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from crib_env.envs.learner import LearnerBatch
from crib_env.options import check_seed, read_options
from crib_env.rules import Rules

Array = npt.NDArray[Any]
MODES = (AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP)


class CribbageVectorEnv(VectorEnv[Array, Array, Array]):
    """N games for N learners, stepped in compiled code.

    By default ended episodes begin anew in the same step: the observation returned is the new
    episode's, the ended one's is in ``info["final_obs"]`` and its info in ``info["final_info"]``.
    With ``AutoresetMode.NEXT_STEP``, which Gymnasium's own vector wrappers ask for, the observation
    returned is the ended episode's; the next step takes no notice of that game's action and returns
    the new episode's first observation at reward 0. Legal actions are in ``info["action_mask"]``
    (int8[N, actions]); where an action will not be noticed, all are.

    Args:
        rules: the rules to play.
        num_envs: N.
        copy: return new arrays from every step, as Gymnasium's own vector environments do. With
            False the arrays are the batch's own and the next step overwrites them.
        autoreset_mode: ``AutoresetMode.SAME_STEP`` or ``AutoresetMode.NEXT_STEP``.
        **kwargs: as `LearnerBatch` takes them.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.SAME_STEP, "render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        rules: Rules,
        *,
        num_envs: int = 1,
        copy: bool = True,
        autoreset_mode: AutoresetMode = AutoresetMode.SAME_STEP,
        **kwargs: Any,
    ) -> None:
        if autoreset_mode not in MODES:
            known = ", ".join(str(mode) for mode in MODES)
            raise ValueError(f"autoreset_mode must be one of {known}, got {autoreset_mode!r}")
        self._same_step = autoreset_mode == AutoresetMode.SAME_STEP
        self.metadata = {**self.metadata, "autoreset_mode": autoreset_mode}
        self.batch = LearnerBatch(rules, num_envs, autoreset=self._same_step, **kwargs)
        self.rules = rules
        self.copy = copy
        self.num_envs = num_envs
        family = self.batch.family
        self.single_observation_space = self.batch.space
        self.single_action_space = spaces.Discrete(family.actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._no_truncations = np.zeros(num_envs, dtype=np.bool_)
        self._everywhere = np.ones(num_envs, dtype=np.bool_)
        self._ended = np.zeros(num_envs, dtype=np.bool_)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Array, dict[str, Any]]:
        """Begin an episode in every game.

        Args:
            seed: starts all generators; None goes on with them. A sequence of N seeds starts those
                of each game by its own, as the single environment would.
            options: as in the single environment, for the first episode of every game.

        Returns:
            observations [N, size] of the space's dtype, and info with ``action_mask``
            int8[N, actions].
        """
        batch = self.batch
        several = isinstance(seed, (Sequence, np.ndarray))
        seeds = list(seed) if isinstance(seed, (Sequence, np.ndarray)) else [seed]
        for one in seeds:
            check_seed(one)
        if several and len(seeds) != self.num_envs:
            raise ValueError(f"seed must be one or {self.num_envs}, one a game, got {seed!r}")
        chosen = read_options(options, batch.players, self.rules.target)
        super().reset(seed=seeds[0])
        if several or seeds[0] is not None:
            batch.seed(seeds if several else seeds[0])
        batch.reset([chosen] * self.num_envs if options else None)
        self._ended[:] = False
        return self._own(batch.observations), self._info()

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """Act in every game.

        Args:
            actions: int[N].

        Returns:
            observations [N, size], rewards float64[N], terminations bool[N], truncations bool[N]
            (never), and info: ``action_mask``; where episodes ended and began anew
            ``final_obs`` (object[N], None where none ended) and ``final_info``, each with a bool[N]
            of the same name after ``_``.
        """
        batch = self.batch
        batch.step(actions, None if self._same_step else self._ended)
        info = self._info()
        ended = batch.dones
        if not self._same_step:
            self._ended = ended.copy()
            info["action_mask"][ended] = 1
        elif len(lanes := ended.nonzero()[0]):
            final = np.full(self.num_envs, None, dtype=object)
            final[lanes] = np.fromiter(
                batch.final_observations[lanes], dtype=object, count=len(lanes)
            )
            masks = np.zeros_like(batch.final_masks)
            masks[lanes] = batch.final_masks[lanes]
            flags = ended.copy()
            info |= {
                "final_obs": final,
                "_final_obs": flags,
                "final_info": {"action_mask": masks, "_action_mask": flags},
                "_final_info": flags,
            }
        truncations = self._own(self._no_truncations)
        return (
            self._own(batch.observations), self._own(batch.rewards), self._own(ended), truncations,
            info,
        )  # fmt: skip

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return which actions are legal in every game, bool[N, actions]."""
        return self.batch.masks.astype(np.bool_)

    def _info(self) -> dict[str, Any]:
        masks = self._own(self.batch.masks)
        return {"action_mask": masks, "_action_mask": self._own(self._everywhere)}

    def _own(self, array: Array) -> Array:
        return array.copy() if self.copy else array
