"""VRPO by self-play: PPO with expected-SARSA advantages of an action critic.

    crib train --method vrpo --env five_card_v0 --out runs/vrpo

*GAE Falls Short in Imperfect-Information Self-Play* (arXiv 2605.19235): a critic that sees both
hands values every action. Traces back up its mean over the policy instead of the value of the
sampled action, so that sampling adds no variance. The rest is PPO with entropy.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from crib_agents.adapters.learned import PolicyNetAgent

from crib_env.settings import Count, NewFolder, NotNegative, Portion, Positive, Share
from crib_training.baselines.games import Games, as_array
from crib_training.baselines.policy import Policy, mlp
from crib_training.baselines.rollout import Rollout, both_seats, collect, flatten
from crib_training.baselines.run import Modules, RunSettings, learn
from crib_training.command_line import start


@dataclass(frozen=True)
class Settings(RunSettings):
    """Learn a mixed policy by VRPO.

    Attributes:
        method: the method.
        batch_size: decisions per step of gradient descent.
        epochs: passes over the decisions.
        learning_rate: learning rate; it falls to a tenth.
        clip: clipping range of the ratio.
        trace_lambda: lambda of the traces.
        entropy: weight of the entropy, for advantages of variance 1.
        last_entropy: that weight at the end.
        value_weight: weight of the critic's loss.
        max_grad_norm: maximum norm of the gradients.
        ema_rate: step of the average of the weights at each update; the average is evaluated.
        out: the folder for results.
    """

    method: Literal["vrpo"] = "vrpo"
    batch_size: Count = 1024
    epochs: Count = 2
    learning_rate: Positive = 5e-4
    clip: Share = 0.2
    trace_lambda: Share = 0.9
    entropy: NotNegative = 0.05
    last_entropy: NotNegative = 0.005
    value_weight: Positive = 0.05
    max_grad_norm: Positive = 0.5
    ema_rate: Portion = 0.02
    out: NewFolder = Path("runs/vrpo")


class VRPO:
    """Learns by its `Settings`; see `crib_training.baselines.run.Learner`."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        torch.manual_seed(settings.seed)
        self.chance = torch.Generator().manual_seed(settings.seed)
        self.games = Games(settings.rules, settings.num_envs, settings.seed, settings.features)
        self.policy = Policy(self.games, settings.hidden_sizes)
        self.average = copy.deepcopy(self.policy)
        self.critic = mlp(
            both_seats(self.games).shape[1], *settings.hidden_sizes, self.games.actions
        )
        self.weights = [*self.policy.parameters(), *self.critic.parameters()]
        self.optimizer = torch.optim.Adam(
            self.weights, settings.learning_rate, eps=1e-5, fused=True
        )
        self.modules: Modules = {
            "policy": self.policy,
            "average": self.average,
            "critic": self.critic,
            "adam": self.optimizer,
        }
        self.decisions = 0

    def iterate(self) -> dict[str, float]:
        """Play, then learn from the decisions."""
        settings = self.settings
        left = max(0.0, 1 - self.decisions / settings.decisions)
        weight = settings.last_entropy + (settings.entropy - settings.last_entropy) * left
        for group in self.optimizer.param_groups:
            group["lr"] = settings.learning_rate * (0.1 + 0.9 * left)

        played = collect(self.games, self.policy, settings.steps, self.chance)
        after = torch.from_numpy(self.games.observations), torch.from_numpy(self.games.masks)
        with torch.no_grad():
            q = self.critic(torch.cat([played.both, played.last[None]])) * played.sign[:, :, None]
            p_after = self.policy(*after).softmax(1)
        probabilities = torch.cat([played.log_probabilities.exp(), p_after[None]])
        values = (probabilities * q).sum(2)  # for seat 0, float32[T + 1, N]
        q_taken = q[:-1].gather(2, played.actions[:, :, None])[:, :, 0]
        backed_up = expected_sarsa(played, values, q_taken, settings.trace_lambda)
        advantages = (backed_up - values[:-1]) * played.sign[:-1]
        advantages = advantages / (advantages.std() + 1e-8)
        targets = backed_up * played.sign[:-1]
        taken = played.log_probabilities.gather(2, played.actions[:, :, None])[:, :, 0]
        columns = flatten(played.observations, played.masks, played.both, played.actions, taken,
                          advantages, targets)  # fmt: skip

        for _ in range(settings.epochs):
            order = torch.randperm(len(columns[0]), generator=self.chance)
            for rows in torch.split(order, settings.batch_size):
                seen, masks, both, actions, before, advantage, target = (c[rows] for c in columns)
                log_p = self.policy(seen, masks).log_softmax(1)
                entropy = -(log_p.exp() * log_p).sum(1).mean()
                ratio = (log_p.gather(1, actions[:, None])[:, 0] - before).exp()
                clipped = ratio.clamp(1 - settings.clip, 1 + settings.clip)
                gain = torch.minimum(ratio * advantage, clipped * advantage).mean()
                of_taken = self.critic(both).gather(1, actions[:, None])[:, 0]
                error = (of_taken - target).square().mean()
                loss = -gain - weight * entropy + settings.value_weight * error
                self.optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self.weights, settings.max_grad_norm)
                self.optimizer.step()
                self.average.follow(self.policy, settings.ema_rate)
        self.decisions += len(order)
        return {"loss": loss.item(), "entropy": entropy.item(), "value_error": error.item()}

    def agent(self) -> PolicyNetAgent:
        """Return the policy of the averaged weights as an agent that samples."""
        return self.average.agent("vrpo", self.settings)

    def state(self) -> dict[str, Any]:
        """Return deals and generators."""
        return {"games": as_array(self.games.state()), "chance": self.chance.get_state().numpy()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore what `state` returned."""
        self.games.set_state(state["games"].tobytes())
        self.chance.set_state(torch.from_numpy(state["chance"].copy()))


def expected_sarsa(
    rollout: Rollout, values: torch.Tensor, q_taken: torch.Tensor, lam: float
) -> torch.Tensor:
    """Return the backed-up value of each action, for seat 0, float32[T, N].

    Args:
        rollout: T rows. values: float32[T + 1, N], the critic's mean over the policy.
        q_taken: float32[T, N], the critic's value of the action taken.
        lam: lambda of the traces.
    """
    backed_up = torch.empty_like(q_taken)
    surprise = torch.zeros_like(q_taken[0])  # of what follows, beyond the critic's mean of it
    for t in reversed(range(len(q_taken))):
        goes_on = 1 - rollout.ended[t]
        backed_up[t] = rollout.gains[t] + goes_on * (values[t + 1] + lam * surprise)
        surprise = backed_up[t] - q_taken[t]
    return backed_up


def run(settings: Settings) -> None:
    """Learn, and print where the results are."""
    learn("vrpo", settings, VRPO(settings))


if __name__ == "__main__":
    start(Settings, run)
