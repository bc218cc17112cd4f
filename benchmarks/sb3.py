"""What share of its own ceiling does MaskablePPO reach with our ``VecEnv``?

The ceiling is the same algorithm with an environment that costs nothing: it returns the same arrays
at every step, with the same shapes. 512 games, 32 steps between updates, two hidden layers of 256,
four passes in batches of 2048; PyTorch on one thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env.base_vec_env import VecEnv

from benchmarks.gym_single import in_python
from benchmarks.timing import FULL, Contender, Findings, Rate, Settings, race, rate_of, ratio
from crib_env import six_card_v0

STEPS = 32
OPPONENTS = ("random", "rule_based")


class FreeEnv(VecEnv):
    """An environment of the same shapes as ``like`` that does no work.

    It returns the first observation and mask of ``like`` for ever; no episode ends.
    """

    render_mode = None

    def __init__(self, like: Any) -> None:
        super().__init__(like.num_envs, like.observation_space, like.action_space)
        self._obs: npt.NDArray[Any] = like.reset()
        self._masks = like.action_masks()
        self._rewards = np.zeros(self.num_envs, dtype=np.float32)
        self._dones = np.zeros(self.num_envs, dtype=np.bool_)
        self._infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]

    def reset(self) -> npt.NDArray[Any]:
        """Return the observations."""
        return self._obs

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        """Do nothing."""

    def step_wait(self) -> tuple[Any, Any, Any, list[dict[str, Any]]]:
        """Return the same as ever."""
        return self._obs, self._rewards, self._dones, self._infos

    def close(self) -> None:
        """Do nothing."""

    def has_attr(self, attr_name: str) -> bool:
        """Return whether it is the one method there is."""
        return attr_name == "action_masks"

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute once for each game."""
        return [getattr(self, attr_name)] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refuse."""
        raise NotImplementedError

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> Any:
        """Return the masks, bool[N, actions]."""
        return self._masks

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Return that none is."""
        return [False] * self.num_envs

    def get_images(self) -> Sequence[Any]:
        """Return no images."""
        return [None] * self.num_envs


def learning(venv: VecEnv, steps: int) -> Rate:
    """Return the rate of learning in ``venv``, in decisions of the learner: whole updates."""
    model = MaskablePPO(
        "MlpPolicy",
        venv,
        n_steps=steps,
        batch_size=2048,
        n_epochs=4,
        policy_kwargs={"net_arch": [256, 256], "activation_fn": torch.nn.ReLU},
        seed=1,
        device="cpu",
    )

    def piece() -> int:
        model.learn(venv.num_envs * steps, reset_num_timesteps=False)
        return venv.num_envs * steps

    return rate_of(piece)


def measure(settings: Settings = FULL) -> Findings:
    """Measure both, in turn."""
    lanes, steps = (16, 4) if settings.quick else (512, STEPS)
    torch.set_num_threads(1)
    free = FreeEnv(six_card_v0.sb3_env(lanes))
    contenders = [Contender(f"free environment, {lanes} lanes", learning(free, steps))]
    for opponent in OPPONENTS:
        venv = six_card_v0.sb3_env(lanes, opponent=opponent, episode="deal", reward="points")
        contenders.append(
            Contender(f"six_card against {opponent}, {lanes} lanes", learning(venv, steps))
        )
    rows = race(contenders, "decisions/s", settings)
    ratios = [ratio(f"{row.name} / {rows[0].name}", row, rows[0]) for row in rows[1:]]
    return Findings("MaskablePPO end to end", rows, ratios, in_python(OPPONENTS))
