"""Tianshou 2: PPO with masks against a built-in opponent.

    python examples/libraries/tianshou_ppo.py

Tianshou reads masks out of the observation: ``mask_in_observation="tianshou"`` puts them there. Its
`PettingZooEnv` wraps our AEC environments as well.
"""

from __future__ import annotations

import time
from typing import Any

import gymnasium
import numpy as np
import torch
import tyro
from crib_agents import from_torch
from crib_agents.card_net import CardNet
from crib_training.evaluation.evaluate import evaluate
from tianshou.algorithm import PPO
from tianshou.algorithm.modelfree.reinforce import DiscreteActorPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory, LRSchedulerFactoryLinear
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OnPolicyTrainerParams
from torch import Tensor, nn

from crib_env import observation_layout, six_card_v0

OPTIONS: dict[str, Any] = {
    "opponent": "rule_based",
    "episode": "deal",
    "reward": "expected",
    "features": True,
    "suits": "canonical",
}


class WithoutInfo(gymnasium.Wrapper[Any, Any, Any, Any]):
    """An environment with empty infos: Tianshou needs the same keys in every info."""

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Act."""
        observation, reward, terminated, truncated, _ = self.env.step(int(action))
        return observation, float(reward), terminated, truncated, {}


class Actor(nn.Module):
    """The masked logits of `CardNet`."""

    def __init__(self, net: CardNet) -> None:
        super().__init__()
        self.net = net

    def forward(self, obs: Any, state: Any = None, info: Any = None) -> tuple[Tensor, Any]:
        """Return the logits, [B, 52], and no state."""
        logits = self.net(torch.as_tensor(obs.obs, dtype=torch.float32))
        return logits.masked_fill(torch.as_tensor(obs.mask) == 0, -1e9), state


class Critic(nn.Module):
    """The value of `CardNet`."""

    def __init__(self, net: CardNet) -> None:
        super().__init__()
        self.net = net

    def forward(self, obs: Any, state: Any = None, info: Any = None) -> Tensor:
        """Return the values, [B, 1]."""
        seen = torch.as_tensor(obs.obs, dtype=torch.float32)
        return self.net.logits_and_value(seen)[1].unsqueeze(1)


def main(timesteps: int = 200_000, games: int = 64, batch: int = 4096, pairs: int = 2000, seed: int = 1) -> float:
    """Train; return the share of games won against the opponent.

    Args:
        timesteps: decisions of the learner.
        games: how many are played at once.
        batch: decisions between two updates.
        pairs: duplicate pairs of games to play at the end.
        seed: fixes the deals and the network.
    """
    np.random.seed(seed)  # noqa: NPY002 - Tianshou shuffles by NumPy's global generator
    torch.set_num_threads(1)  # small nets: a second thread waits more than it works
    torch.manual_seed(seed)

    def make() -> gymnasium.Env[Any, Any]:
        return WithoutInfo(six_card_v0.gym_env(mask_in_observation="tianshou", **OPTIONS))

    envs = DummyVectorEnv([make for _ in range(games)])
    envs.seed(seed)
    net = CardNet(observation_layout("six_card_v0", features=True), temperature=1 / 6, reads_score=False)
    policy = DiscreteActorPolicy(actor=Actor(net), action_space=envs.action_space[0])
    algorithm = PPO(
        policy=policy,
        critic=Critic(net),
        gamma=1.0,
        gae_lambda=0.95,
        vf_coef=0.02,
        ent_coef=0.0005,
        max_grad_norm=0.5,
        max_batchsize=batch,
        optim=AdamOptimizerFactory(lr=2e-3).with_lr_scheduler_factory(LRSchedulerFactoryLinear(1, timesteps, batch)),
    )
    algorithm.run_training(
        OnPolicyTrainerParams(
            training_collector=Collector(policy, envs, VectorReplayBuffer(batch, games)),
            max_epochs=1,
            epoch_num_steps=timesteps,
            collection_step_num_env_steps=batch,
            batch_size=batch // 4,
            update_step_num_repetitions=4,
            show_progress=False,
        )
    )
    cpu, agent = time.process_time(), from_torch(net, features=True, suits="canonical")
    won = evaluate(six_card_v0.maker, "hoyle", agent, OPTIONS["opponent"], pairs, seed, adjust="never")["won"]
    print(f"{cpu:.0f} CPU seconds, {won['mean']:.1%} ± {won['ci95']:.1%} of games won")
    return float(won["mean"])


if __name__ == "__main__":
    tyro.cli(main)
