"""Tianshou 2: DQN with masks against a built-in opponent.

    python examples/libraries/tianshou_dqn.py

Tianshou reads masks out of the observation, under the names ``obs`` and ``mask``; the wrapper below
puts them there. Its `PettingZooEnv` wraps our AEC environments as well.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import torch
import tyro
from gymnasium import spaces
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

import crib_env

OPTIONS: dict[str, Any] = {"opponent": "rule_based", "episode": "deal", "reward": "points"}


class Masked(gymnasium.Wrapper[dict[str, Any], int, Any, int]):
    """A game of ours with its mask where Tianshou looks for it."""

    def __init__(self, env: gymnasium.Env[Any, int]) -> None:
        super().__init__(env)
        self.observation_space = spaces.Dict(
            {"obs": env.observation_space, "mask": spaces.MultiBinary(52)}
        )

    def reset(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin an episode."""
        observation, info = self.env.reset(**kwargs)
        return {"obs": observation, "mask": info["action_mask"]}, {}

    def step(self, action: int) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Act. The info holds nothing: Tianshou wants the same keys in every one."""
        observation, reward, terminated, truncated, info = self.env.step(int(action))
        seen = {"obs": observation, "mask": info["action_mask"]}
        return seen, float(reward), terminated, truncated, {}


def main(steps: int = 40_000, games: int = 16, seed: int = 1) -> float:
    """Train, and return the mean points per deal of the last test."""
    assert crib_env.ENVIRONMENTS
    np.random.seed(seed)  # noqa: NPY002 - Tianshou explores by NumPy's global generator
    torch.set_num_threads(1)  # small nets: a second thread waits more than it works
    torch.manual_seed(seed)

    def make() -> gymnasium.Env[Any, Any]:
        return Masked(gymnasium.make("crib_env/SixCard-v0", **OPTIONS))

    envs = DummyVectorEnv([make for _ in range(games)])
    envs.seed(seed)
    tests = DummyVectorEnv([make for _ in range(games)])
    one = gymnasium.make("crib_env/SixCard-v0", **OPTIONS)
    shape = one.observation_space.shape
    assert shape is not None
    net = Net(state_shape=shape, action_shape=52, hidden_sizes=[128, 128])
    policy = DiscreteQLearningPolicy(
        model=net, action_space=one.action_space, observation_space=one.observation_space,
        eps_training=0.1,
    )  # fmt: skip
    algorithm = DQN(
        policy=policy, optim=AdamOptimizerFactory(lr=1e-3), gamma=1.0, target_update_freq=500
    )
    epochs = max(1, steps // 5000)
    result = algorithm.run_training(
        OffPolicyTrainerParams(
            training_collector=Collector(
                policy, envs, VectorReplayBuffer(50_000, games), exploration_noise=True
            ),
            test_collector=Collector(policy, tests),
            max_epochs=epochs,
            epoch_num_steps=steps // epochs,
            collection_step_num_env_steps=10 * games,
            test_step_num_episodes=200,
            batch_size=128,
            update_step_num_gradient_steps_per_sample=0.1,
            show_progress=False,
        )
    )
    print(f"{result.best_reward:+.2f} points per deal against {OPTIONS['opponent']}, at its best")
    return float(result.best_reward)


if __name__ == "__main__":
    tyro.cli(main)
