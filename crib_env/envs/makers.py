"""The six forms of an environment: AEC (two), Gymnasium, vector, tensors, SB3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from crib_env.envs import config
from crib_env.envs.aec import CribbageAEC
from crib_env.envs.gym import CribbageEnv
from crib_env.envs.vector import CribbageVectorEnv
from crib_env.errors import comes_with

if TYPE_CHECKING:
    from crib_env.envs.sb3 import CribbageVecEnv
    from crib_env.envs.torch_vector import TorchVectorEnv

LOOP = """
    import numpy as np

    from crib_env import {names}

    rng = np.random.default_rng(7)
    env = {name}.env({example})
    env.reset(seed=7)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        if termination or truncation:
            action = None
        else:
            action = sample_legal(observation["action_mask"], rng)
        env.step(action)

``help({name}.gym_env)`` lists the keywords of the Gymnasium form.
"""


class EnvMaker(config.EnvSpec):
    """Makes the forms of one environment; `EnvConfig` has their keywords."""

    @config.takes_keywords
    def env(self, **kwargs: Unpack[config.AecKeywords]) -> CribbageAEC:
        """Return the PettingZoo environment; an illegal action ends the episode."""
        return CribbageAEC(config.settle(self, "env", kwargs))

    @config.takes_keywords
    def raw_env(self, **kwargs: Unpack[config.AecKeywords]) -> CribbageAEC:
        """Return the PettingZoo environment; an illegal action raises `IllegalActionError`."""
        return CribbageAEC(config.settle(self, "raw_env", kwargs))

    @config.takes_keywords
    def gym_env(self, **kwargs: Unpack[config.GymKeywords]) -> CribbageEnv:
        """Return the Gymnasium environment: one game of a learner."""
        return CribbageEnv(config.settle(self, "gym_env", kwargs))

    @config.takes_keywords
    def vector_env(self, num_envs: int = 1, **kwargs: Unpack[config.VectorKeywords]) -> CribbageVectorEnv:
        """Return ``num_envs`` games as a Gymnasium vector environment."""
        return CribbageVectorEnv(config.settle(self, "vector_env", {"num_envs": num_envs, **kwargs}))

    @config.takes_keywords
    def torch_env(self, num_envs: int = 1, **kwargs: Unpack[config.TorchKeywords]) -> TorchVectorEnv:
        """Return ``num_envs`` games as a vector environment of PyTorch tensors."""
        with comes_with("train"):
            from crib_env.envs.torch_vector import TorchVectorEnv

        return TorchVectorEnv(config.settle(self, "torch_env", {"num_envs": num_envs, **kwargs}))

    @config.takes_keywords
    def sb3_env(self, num_envs: int = 1, **kwargs: Unpack[config.SB3Keywords]) -> CribbageVecEnv:
        """Return ``num_envs`` games as a Stable-Baselines3 ``VecEnv``."""
        with comes_with("train"):
            from crib_env.envs.sb3 import CribbageVecEnv

        return CribbageVecEnv(config.settle(self, "sb3_env", {"num_envs": num_envs, **kwargs}))

    def document(self, page: str | None) -> Any:
        """Return the page of the environment, with a loop in its section on usage."""
        if page is None:  # python -OO
            return None
        names = ", ".join(sorted([self.name, "sample_legal"]))
        loop = LOOP.format(names=names, name=self.name, example=self.example)
        return page.replace("## Usage\n", f"## Usage\n{loop}")
