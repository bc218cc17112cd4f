"""Deep Monte Carlo on the observation: values of actions fit to returns, played by their softmax.

    crib train monte_carlo_q --env five_card_v0 --out runs/monte_carlo_q

The loss of `monte_carlo` with the inputs, the network and the choices of the policy-gradient
methods, so that the effects of loss and inputs can be told apart. The network's logits are values
over the temperature, so its softmax is the policy, in self-play and in measurements.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import torch
from torch import Tensor

from crib_env.settings import NewFolder, Positive, Share, checked_dataclass
from crib_training.learn.deal_learners import ActorCritic, ActorCriticSettings, Rollout, flatten, gae


@checked_dataclass(frozen=True, kw_only=True)
class Settings(ActorCriticSettings):
    """Learn the values of actions by Monte Carlo returns of self-play.

    Attributes:
        temperature: of the softmax over values, in points.
        gae_lambda: lambda of the returns; 1 for Monte Carlo, less to trust the critic.
    """

    method: ClassVar[str] = "monte_carlo_q"
    temperature: Positive = 0.1
    gae_lambda: Share = 1.0
    out: NewFolder = Path("runs/monte_carlo_q")


class Learner(ActorCritic):
    """Learns by its `Settings`."""

    @torch.no_grad()
    def columns(self, played: Rollout) -> list[Tensor]:
        """Return the decisions with the movers' returns."""
        values = self.state_values(played)
        returns = gae(played, values, self.settings.gae_lambda) + values[:-1]
        return flatten(played.observations, played.masks, played.both, played.actions, returns * played.sign[:-1])

    def loss(self, *rows: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the errors of the actions' values and of the critic."""
        seen, masks, both, actions, target = rows
        logits = self.policy(seen, masks).gather(1, actions[:, None])[:, 0]
        error = (self.settings.temperature * logits - target).square().mean()
        value_error = (self.critic(both)[:, 0] - target).square().mean()
        return error + self.settings.vf_coef * value_error, {"value_error": value_error}
