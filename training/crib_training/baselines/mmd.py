"""Magnetic mirror descent by self-play: a KL term to the last policy and one to a magnet.

    crib train --method mmd --env five_card_v0 --out runs/mmd
    crib train --method mmd --magnet ema --env five_card_v0 --out runs/ema

Sokota et al. 2023, arXiv 2206.05825: the loss adds a reverse KL to the policy that played, in the
place of PPO's clipping, and one to a magnet. The magnet is the uniform policy, whose pull falls
towards 0 (the paper's annealing), or follows the policy slowly (``ema``, as in NashPG, arXiv
2510.18183, and EMA magnets, arXiv 2606.23995), so that its pull need not fall.
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
from crib_training.baselines.rollout import both_seats, collect, flatten, gae
from crib_training.baselines.run import Modules, RunSettings, learn
from crib_training.command_line import start


@dataclass(frozen=True)
class Settings(RunSettings):
    """Learn a mixed policy by magnetic mirror descent.

    Attributes:
        method: the method.
        magnet: uniform, or ema: the slow average of the policy.
        batch_size: decisions per step of gradient descent.
        epochs: passes over the decisions.
        learning_rate: learning rate; it falls to a tenth.
        gae_lambda: lambda of GAE.
        kl: weight of the KL to the policy that played, for advantages of variance 1.
        pull: weight of the KL to the magnet.
        last_pull: that weight at the end.
        magnet_rate: step of an ema magnet towards the policy at each update.
        value_weight: weight of the critic's loss.
        max_grad_norm: maximum norm of the gradients.
        ema_rate: step of the average of the weights at each update; the average is evaluated.
        out: the folder for results.
    """

    method: Literal["mmd"] = "mmd"
    magnet: Literal["uniform", "ema"] = "uniform"
    batch_size: Count = 1024
    epochs: Count = 2
    learning_rate: Positive = 5e-4
    gae_lambda: Share = 0.9
    kl: NotNegative = 0.5
    pull: NotNegative = 0.05
    last_pull: NotNegative = 0.005
    magnet_rate: Share = 0.02
    value_weight: Positive = 0.05
    max_grad_norm: Positive = 0.5
    ema_rate: Portion = 0.02
    out: NewFolder = Path("runs/mmd")


class MMD:
    """Learns by its `Settings`; see `crib_training.baselines.run.Learner`."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        torch.manual_seed(settings.seed)
        self.chance = torch.Generator().manual_seed(settings.seed)
        self.games = Games(settings.rules, settings.num_envs, settings.seed, settings.features)
        self.policy = Policy(self.games, settings.hidden_sizes)
        self.average = copy.deepcopy(self.policy)
        self.magnet = copy.deepcopy(self.policy)
        self.critic = mlp(both_seats(self.games).shape[1], *settings.hidden_sizes, 1)
        self.weights = [*self.policy.parameters(), *self.critic.parameters()]
        self.optimizer = torch.optim.Adam(
            self.weights, settings.learning_rate, eps=1e-5, fused=True
        )
        self.modules: Modules = {
            "policy": self.policy,
            "average": self.average,
            "magnet": self.magnet,
            "critic": self.critic,
            "adam": self.optimizer,
        }
        self.decisions = 0

    def iterate(self) -> dict[str, float]:
        """Play, then learn from the decisions."""
        settings = self.settings
        left = max(0.0, 1 - self.decisions / settings.decisions)
        pull = settings.last_pull + (settings.pull - settings.last_pull) * left
        for group in self.optimizer.param_groups:
            group["lr"] = settings.learning_rate * (0.1 + 0.9 * left)

        played = collect(self.games, self.policy, settings.steps, self.chance)
        with torch.no_grad():
            values = self.critic(torch.cat([played.both, played.last[None]]))[:, :, 0] * played.sign
        advantages = gae(played, values, settings.gae_lambda)
        targets = (advantages + values[:-1]) * played.sign[:-1]
        advantages = advantages * played.sign[:-1]
        advantages = advantages / (advantages.std() + 1e-8)
        observations, masks, before = flatten(
            played.observations, played.masks, played.log_probabilities
        )
        columns = [observations, masks, before, self._magnet(observations, masks),
                   *flatten(played.both, played.actions, advantages, targets)]  # fmt: skip

        for _ in range(settings.epochs):
            order = torch.randperm(len(observations), generator=self.chance)
            for rows in torch.split(order, settings.batch_size):
                seen, legal, before, magnet, both, actions, advantage, target = (
                    column[rows] for column in columns
                )
                log_p = self.policy(seen, legal).log_softmax(1)
                p = log_p.exp()
                taken = actions[:, None]
                ratio = (log_p.gather(1, taken) - before.gather(1, taken))[:, 0].exp()
                from_last = (p * (log_p - before)).sum(1).mean()
                from_magnet = (p * (log_p - magnet)).sum(1).mean()
                error = (self.critic(both)[:, 0] - target).square().mean()
                loss = -(ratio * advantage).mean() + settings.kl * from_last
                loss = loss + pull * from_magnet + settings.value_weight * error
                self.optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self.weights, settings.max_grad_norm)
                self.optimizer.step()
                self.average.follow(self.policy, settings.ema_rate)
        self.magnet.follow(self.policy, settings.magnet_rate)
        self.decisions += len(order)
        return {"loss": loss.item(), "kl": from_last.item(), "kl_to_magnet": from_magnet.item(),
                "value_error": error.item()}  # fmt: skip

    def _magnet(self, observations: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
        """Return the magnet's log-probabilities, float32[B, actions]."""
        if self.settings.magnet == "uniform":
            return torch.zeros(masks.shape).masked_fill(~masks, -1e9).log_softmax(1)
        parts = zip(torch.split(observations, 4096), torch.split(masks, 4096), strict=True)
        with torch.no_grad():
            return torch.cat([self.magnet(*part).log_softmax(1) for part in parts])

    def agent(self) -> PolicyNetAgent:
        """Return the policy of the averaged weights as an agent that samples."""
        return self.average.agent("mmd", self.settings)

    def state(self) -> dict[str, Any]:
        """Return deals and generators."""
        return {"games": as_array(self.games.state()), "chance": self.chance.get_state().numpy()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore what `state` returned."""
        self.games.set_state(state["games"].tobytes())
        self.chance.set_state(torch.from_numpy(state["chance"].copy()))


def run(settings: Settings) -> None:
    """Learn, and print where the results are."""
    learn("mmd", settings, MMD(settings))


if __name__ == "__main__":
    start(Settings, run)
