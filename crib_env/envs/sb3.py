"""A native Stable-Baselines3 ``VecEnv`` over the batch, with the masks that MaskablePPO needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env.base_vec_env import VecEnv

from crib_env.arrays import Array
from crib_env.engine.record import NONE
from crib_env.envs.config import EnvConfig
from crib_env.envs.learner import LearnerBatch, VectorSettings
from crib_env.envs.spaces import Observation
from crib_env.options import check_seed, read_options


class CribbageVecEnv(VectorSettings, VecEnv):
    """N games for N learners as an SB3 environment.

    Besides SB3's own keys, the info of an ended episode has ``episode`` (``r`` the sum of rewards,
    ``l`` the learner's decisions), so no VecMonitor is needed, and the entries of `CribbageEnv`:
    ``scores``, ``winner``, ``skunk``, ``seat``, ``opponent`` (a number: `opponent_names` has the
    name), ``illegal_action``. With ``on_illegal="random"`` the info of every step in which a legal
    action was played instead has ``illegal_action``.

    Its keywords are described at `EnvConfig`; `crib_env.six_card_v0.sb3_env` lists them.
    ``mask_in_observation`` is for your own algorithms and policies (SB3's name for theirs is
    ``"MultiInputPolicy"``): MaskablePPO calls `action_masks` and needs no mask there.
    """

    render_mode = None

    def __init__(self, config: EnvConfig) -> None:
        self._config = config
        self.batch = LearnerBatch(config)
        num_envs, actions = config.num_envs, config.family.actions
        super().__init__(num_envs, self.batch.masking.space, spaces.Discrete(actions))
        self._returns = np.zeros(num_envs)
        self._lengths = np.zeros(num_envs, dtype=np.int64)

    def set_options(self, options: Any = None) -> None:
        """Set the options of the next reset: a dict for all games, or a list of one for each.

        Raises:
            ValueError: neither a dict nor as many as there are games.
        """
        if options is None or isinstance(options, Mapping):
            options = [options or {}] * self.num_envs
        if not isinstance(options, (list, tuple)) or len(options) != self.num_envs:
            raise ValueError(f"options must be a dict, or a list of {self.num_envs}, one a game, got {options!r}")
        super().set_options(list(options))

    def reset(self) -> Observation:
        """Begin an episode in every game; return observations, [N, size] of the space's dtype."""
        given_seeds, given, batch = self._seeds, self._options, self.batch
        self._reset_seeds()  # invalid ones too: they are for this reset alone
        self._reset_options()
        seeds = [check_seed(seed) for seed in given_seeds]
        options = [read_options(one or None, batch.sides, self.rules.target) for one in given]
        if any(seed is not None for seed in seeds):
            batch.seed(seeds)
        batch.reset(options if any(given) else None)
        self._returns[:] = 0.0
        self._lengths[:] = 0
        return self._observation()

    def step_async(self, actions: Array) -> None:
        """Take the actions, int[N]; `step_wait` plays them."""
        self._actions = actions

    def step_wait(self) -> tuple[Observation, Array, Array, list[dict[str, Any]]]:
        """Return observations, rewards float32[N], dones bool[N] and infos."""
        batch = self.batch
        batch.step(self._actions)
        self._returns += batch.rewards
        self._lengths += 1
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for lane in (batch.illegal != NONE).nonzero()[0].tolist():
            infos[lane]["illegal_action"] = batch.illegal[lane]
        ended = batch.ended() if batch.dones.any() else {}
        for lane in batch.dones.nonzero()[0].tolist():
            infos[lane] = {name: by_game[lane] for name, by_game in ended.items()} | {
                "terminal_observation": batch.masking.joined(
                    batch.final_observations[lane].copy(), np.zeros_like(batch.masks[lane])
                ),
                "TimeLimit.truncated": False,
                "episode": {"r": float(self._returns[lane]), "l": int(self._lengths[lane]), "t": 0.0},
            }
            self._returns[lane] = 0.0
            self._lengths[lane] = 0
        return (self._observation(), batch.rewards.astype(np.float32), batch.dones.copy(), infos)

    def _observation(self) -> Observation:
        return self.batch.masking.copied(self.batch.observations, self.batch.masks)

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def get_attr(self, attr_name: str, indices: int | Iterable[int] | None = None) -> list[Any]:
        """Return an attribute once for each named game; all share it except the opponent."""
        found = self.by_game(attr_name)
        return [found[lane] for lane in self._chosen(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: int | Iterable[int] | None = None) -> None:
        """Set the opponent of games, as `set_opponent` does; the games share all else.

        Raises:
            NotImplementedError: another attribute than ``opponent``.
        """
        self._set_by_name(attr_name, value, self._chosen(indices))

    def env_method(
        self, method_name: str, *method_args: Any, indices: int | Iterable[int] | None = None, **method_kwargs: Any
    ) -> Any:
        """Call `action_masks` or `set_opponent`; return one result for each chosen game."""
        if method_name == "set_opponent":
            chosen = self._chosen(indices)
            self.batch.set_opponent(*method_args, **{**method_kwargs, "games": chosen})
            return [None] * len(chosen)
        if method_name != "action_masks":
            raise AttributeError(f"the games have no method {method_name!r}, only 'action_masks' and 'set_opponent'")
        masks = self.action_masks()
        return masks if indices is None else masks[self._chosen(indices)]

    def env_is_wrapped(self, wrapper_class: Any, indices: int | Iterable[int] | None = None) -> list[bool]:
        """Return True for Monitor, whose infos this environment writes; False for other wrappers.

        So `evaluate_policy` reads returns from ``info["episode"]``, also under VecNormalize.
        """
        return [wrapper_class is Monitor] * len(self._chosen(indices))

    def get_images(self) -> Sequence[Array | None]:
        """Return no images: the games of a batch are not drawn."""
        return [None] * self.num_envs

    def _chosen(self, indices: int | Iterable[int] | None) -> list[int]:
        return list(self._get_indices(indices))
