"""PPO in one file, in the manner of CleanRL, on `gymnasium.make_vec`.

    python examples/libraries/cleanrl.py
    python examples/libraries/cleanrl.py --steps 100000 --opponent greedy

All of the algorithm is here to be read and changed: rollouts with masks, generalised advantages,
the clipped loss. The environments are the native batch, which `make_vec` finds by itself. Ended
episodes reset in the step that ends them, so the observation after a `done` is the next one's.
"""

from __future__ import annotations

from dataclasses import dataclass

import gymnasium
import numpy as np
import torch
import tyro
from gymnasium.spaces import Box, Discrete
from torch import Tensor, nn
from torch.distributions import Categorical

import crib_env  # registers the environments


@dataclass
class Settings:
    """What is trained, and how."""

    env: str = "crib_env/SixCard-v0"
    opponent: str = "rule_based"
    steps: int = 500_000
    seed: int = 1
    games: int = 256
    rollout: int = 32
    epochs: int = 4
    batches: int = 4
    learning_rate: float = 1e-3
    lam: float = 0.95
    clip: float = 0.2
    entropy: float = 0.005


class Agent(nn.Module):
    """A policy and a value on features of every action."""

    def __init__(self, size: int, actions: int) -> None:
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(size, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh())
        self.policy, self.value = nn.Linear(128, actions), nn.Linear(128, 1)

    def forward(self, observation: Tensor, mask: Tensor) -> tuple[Categorical, Tensor]:
        """Return the distribution over legal actions and the value."""
        hidden = self.trunk(observation)
        logits = self.policy(hidden).masked_fill(~mask, -1e9)
        return Categorical(logits=logits, validate_args=False), self.value(hidden).squeeze(-1)


def main(settings: Settings) -> float:
    """Train, and return the mean points a deal more than the opponent in the last five updates."""
    torch.manual_seed(settings.seed)
    torch.set_num_threads(1)
    games, rollout = settings.games, settings.rollout
    envs = gymnasium.make_vec(
        settings.env, num_envs=games, opponent=settings.opponent, episode="deal",
        reward="expected", features=True,
    )  # fmt: skip
    space, choices = envs.single_observation_space, envs.single_action_space
    assert isinstance(space, Box)
    assert isinstance(choices, Discrete)
    size, actions = space.shape[0], int(choices.n)
    agent = Agent(size, actions)
    optimizer = torch.optim.Adam(agent.parameters(), settings.learning_rate, eps=1e-5)

    observation, info = envs.reset(seed=settings.seed)
    observations = torch.zeros(rollout, games, size)
    masks = torch.zeros(rollout, games, actions, dtype=torch.bool)
    chosen = torch.zeros(rollout, games, dtype=torch.int64)
    logs, values, rewards, dones = (torch.zeros(rollout, games) for _ in range(4))
    returns: list[float] = []
    updates = max(1, settings.steps // (games * rollout))
    for update in range(updates):
        optimizer.param_groups[0]["lr"] = settings.learning_rate * (1 - update / updates)
        paid = 0.0
        for t in range(rollout):
            observations[t] = torch.from_numpy(np.asarray(observation, np.float32))
            masks[t] = torch.from_numpy(info["action_mask"] != 0)
            with torch.no_grad():
                policy, values[t] = agent(observations[t], masks[t])
            chosen[t] = policy.sample()
            logs[t] = policy.log_prob(chosen[t])
            observation, reward, terminated, truncated, info = envs.step(chosen[t].numpy())
            rewards[t] = torch.from_numpy(np.asarray(reward, np.float32))
            dones[t] = torch.from_numpy(terminated | truncated)
            paid += float(reward.sum())
        returns.append(paid / max(1.0, float(dones.sum())))

        with torch.no_grad():
            _, following = agent(
                torch.from_numpy(np.asarray(observation, np.float32)),
                torch.from_numpy(info["action_mask"] != 0),
            )
        advantages = torch.zeros_like(rewards)
        ahead = torch.zeros(games)
        for t in reversed(range(rollout)):  # no discount: a deal is a dozen decisions
            alive = 1 - dones[t]
            ahead = rewards[t] + alive * (following + settings.lam * ahead) - values[t]
            advantages[t], following = ahead, values[t]
        targets = advantages + values

        flat = [x.flatten(0, 1) for x in (observations, masks, chosen, logs, advantages, targets)]
        for _ in range(settings.epochs):
            for rows in torch.randperm(games * rollout).chunk(settings.batches):
                obs, mask, action, old, advantage, target = (x[rows] for x in flat)
                policy, value = agent(obs, mask)
                ratio = (policy.log_prob(action) - old).exp()
                advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
                clipped = ratio.clamp(1 - settings.clip, 1 + settings.clip)
                loss = (
                    -torch.min(advantage * ratio, advantage * clipped).mean()
                    + 0.5 * (value - target).square().mean() / target.var().clamp_min(1.0)
                    - settings.entropy * policy.entropy().mean()
                )
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimizer.step()
        if update % 10 == 0 or update == updates - 1:
            print(f"{(update + 1) * games * rollout:>9,} steps  {returns[-1]:+.2f} points a deal")
    return float(np.mean(returns[-5:]))


if __name__ == "__main__":
    assert crib_env.ENVIRONMENTS
    main(tyro.cli(Settings))
