"""A policy and a critic that sees both hands, trained by gradient descent on self-play.

A method by gradients defines what it learns from and its loss; the rest is here.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from crib_env.settings import Count, Portion, Positive, checked_dataclass
from crib_training.baselines.games import Games
from crib_training.baselines.learner import GamesLearner, Modules, State
from crib_training.baselines.policy import Policy
from crib_training.baselines.rollout import Rollout, both_seats, collect, gae
from crib_training.baselines.settings import RolloutSettings
from crib_training.learn.learner import mlp


@checked_dataclass(frozen=True, kw_only=True)
class ActorCriticSettings(RolloutSettings):
    """Settings of methods that learn a policy with a critic.

    Attributes:
        batch_size: decisions per step of gradient descent.
        epochs: passes over the decisions.
        learning_rate: learning rate; it falls to a tenth.
        value_weight: weight of the critic's loss.
        max_grad_norm: maximum norm of the gradients.
        ema_rate: step of the average of the weights at each update; the average is evaluated.
    """

    batch_size: Count = 1024
    epochs: Count = 2
    learning_rate: Positive = 4e-3
    value_weight: Positive = 0.05
    max_grad_norm: Positive = 0.5
    ema_rate: Portion = 0.02


class Networks:
    """A policy with its average, and a critic that sees both hands; one optimizer for both.

    Args:
        games: what they play.
        hidden_sizes: of each network.
        learning_rate: of the optimizer, Adam.
        outputs: of the critic.

    Attributes:
        modules: what a checkpoint holds of them.
    """

    def __init__(
        self, games: Games, hidden_sizes: tuple[int, ...], learning_rate: float, outputs: int = 1
    ) -> None:
        self.policy = Policy(games, hidden_sizes)
        self.average = copy.deepcopy(self.policy)
        self.critic = mlp(both_seats(games).shape[1], *hidden_sizes, outputs)
        self.weights = [*self.policy.parameters(), *self.critic.parameters()]
        self.learning_rate = learning_rate
        self.optimizer = torch.optim.Adam(self.weights, learning_rate, eps=1e-5, fused=True)
        self.modules: Modules = {
            "policy": self.policy,
            "average": self.average,
            "critic": self.critic,
            "adam": self.optimizer,
        }

    def set_rate(self, share: float) -> None:
        """Set the learning rate to a share of the first one."""
        self.optimizer.param_groups[0]["lr"] = self.learning_rate * share

    def descend(self, loss: Tensor, max_grad_norm: float, ema_rate: float) -> None:
        """Take a step of gradient descent, and let the average follow the policy."""
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.weights, max_grad_norm)
        self.optimizer.step()
        self.average.follow(self.policy, ema_rate)


class ActorCritic(GamesLearner):
    """A method that plays a while, then learns from these decisions; arguments as of `Learner`."""

    def __init__(self, settings: ActorCriticSettings) -> None:
        super().__init__(settings)
        self.chance = torch.Generator().manual_seed(settings.seed)
        self.networks = Networks(
            self.games, settings.hidden_sizes, settings.learning_rate, self.critic_size
        )
        self.policy, self.average = self.networks.policy, self.networks.average
        self.critic, self.modules = self.networks.critic, self.networks.modules

    @property
    def critic_size(self) -> int:
        """Outputs of the critic."""
        return 1

    def iterate(self) -> dict[str, float]:
        """Play, then learn from the decisions."""
        settings = self.settings
        self.networks.set_rate(0.1 + 0.9 * self.left)
        columns = self.columns(collect(self.games, self.policy, settings.steps, self.chance))
        for _ in range(settings.epochs):
            order = torch.randperm(len(columns[0]), generator=self.chance)
            for rows in torch.split(order, settings.batch_size):
                loss, figures = self.loss(*(column[rows] for column in columns))
                self.networks.descend(loss, settings.max_grad_norm, settings.ema_rate)
        self.decisions += len(order)
        return {"loss": loss.item(), **{name: one.item() for name, one in figures.items()}}

    @abstractmethod
    def columns(self, played: Rollout) -> Sequence[Tensor]:
        """Return what to learn from, tensors of as many rows as decisions were played."""

    @abstractmethod
    def loss(self, *rows: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the loss of some rows, and other figures."""

    def advantages(self, played: Rollout) -> tuple[Tensor, Tensor]:
        """Return the movers' advantages, of variance 1, and the critic's targets, float32[T, N]."""
        with torch.no_grad():
            values = self.critic(torch.cat([played.both, played.last[None]]))[:, :, 0] * played.sign
        advantages = gae(played, values, self.settings.gae_lambda)
        return normalised(advantages, advantages + values[:-1], played)

    def state(self) -> dict[str, Any]:
        """Return deals and generators."""
        return super().state() | {"chance": self.chance.get_state().numpy()}

    def restore(self, state: State) -> None:
        """Restore what `state` returned."""
        super().restore(state)
        self.chance.set_state(torch.from_numpy(state["chance"].copy()))


def normalised(advantages: Tensor, targets: Tensor, played: Rollout) -> tuple[Tensor, Tensor]:
    """Return advantages and targets for seat 0 as those of the movers, advantages of variance 1."""
    sign = played.sign[:-1]
    advantages = advantages * sign
    return advantages / (advantages.std() + 1e-8), targets * sign
