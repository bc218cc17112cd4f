"""Self-play PPO with entropy: one network plays both seats.

    crib train selfplay_ppo --env five_card_v0 --out runs/ppo

Schulman et al. 2017, with a critic that sees both hands in training (the policy sees its own).
Learning rate and entropy fall linearly. The moving average of the weights is evaluated.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import torch
from torch import Tensor

from crib_env.settings import NewFolder, NotNegative, Share, checked_dataclass
from crib_training.learn.deal_learners import ActorCritic, ActorCriticSettings, Rollout, flatten


@checked_dataclass(frozen=True, kw_only=True)
class ClippedSettings(ActorCriticSettings):
    """Settings of methods with PPO's loss.

    Attributes:
        clip_coef: clipping range of the ratio.
        ent_coef: weight of the entropy, for advantages of variance 1.
        final_ent_coef: that weight at the end.
    """

    clip_coef: Share = 0.2
    ent_coef: NotNegative = 0.05
    final_ent_coef: NotNegative = 0.005


@checked_dataclass(frozen=True, kw_only=True)
class Settings(ClippedSettings):
    """Learn a stochastic policy by self-play PPO.

    Attributes:
        gae_lambda: lambda of GAE.
    """

    method: ClassVar[str] = "selfplay_ppo"
    gae_lambda: Share = 0.9
    out: NewFolder = Path("runs/selfplay_ppo")


class Learner(ActorCritic):
    """Learns by its `Settings`."""

    def columns(self, played: Rollout) -> list[Tensor]:
        """Return the arguments of `loss`, with a row for each decision."""
        taken = played.log_probabilities.gather(2, played.actions[:, :, None])[:, :, 0]
        return flatten(played.observations, played.masks, played.both, played.actions, taken, *self.advantages(played))

    def loss(self, *rows: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the clipped loss, with entropy and the critic's error."""
        seen, masks, both, actions, before, advantage, target = rows
        settings = self.settings
        weight = self.annealed(settings.ent_coef, settings.final_ent_coef)
        logits = self.policy(seen, masks)
        log_p = logits.log_softmax(1)
        entropy = -(logits.softmax(1) * log_p).sum(1).mean()
        ratio = (log_p.gather(1, actions[:, None])[:, 0] - before).exp()
        clipped = ratio.clamp(1 - settings.clip_coef, 1 + settings.clip_coef)
        gain = torch.minimum(ratio * advantage, clipped * advantage).mean()
        error = (self.values(both, actions) - target).square().mean()
        loss = -gain - weight * entropy + settings.vf_coef * error
        return loss, {"entropy": entropy, "value_error": error}

    def values(self, both: Tensor, actions: Tensor) -> Tensor:
        """Return the critic's values of decisions, float32[B]."""
        values: Tensor = self.critic(both)[:, 0]
        return values
