"""Magnetic mirror descent by self-play: a KL term to the last policy and one to a magnet.

    crib train mmd --env five_card_v0 --out runs/mmd
    crib train mmd --magnet ema --env five_card_v0 --out runs/ema

Sokota et al. 2023, arXiv 2206.05825: the loss adds a reverse KL to the policy that played, in the
place of PPO's clipping, and one to a magnet. The magnet is the uniform policy, whose pull falls
towards 0 (the paper's annealing), or follows the policy slowly (``ema``, as in NashPG, arXiv
2510.18183, and EMA magnets, arXiv 2606.23995), so that its pull need not fall.
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import ClassVar, Literal

import torch
from torch import Tensor

from crib_env.settings import NewFolder, NotNegative, Share, checked_dataclass
from crib_training.learn.deal_learners import ActorCritic, ActorCriticSettings, Rollout, flatten
from crib_training.learn.run import follow


@checked_dataclass(frozen=True, kw_only=True)
class Settings(ActorCriticSettings):
    """Learn a stochastic policy by magnetic mirror descent.

    Attributes:
        magnet: uniform, or ema: the slow average of the policy.
        gae_lambda: lambda of GAE.
        kl_coef: weight of the KL to the policy that played, for advantages of variance 1.
        magnet_coef: weight of the KL to the magnet.
        final_magnet_coef: that weight at the end.
        magnet_rate: step of an ema magnet towards the policy at each update.
    """

    method: ClassVar[str] = "mmd"
    magnet: Literal["uniform", "ema"] = "uniform"
    gae_lambda: Share = 0.9
    kl_coef: NotNegative = 0.5
    magnet_coef: NotNegative = 0.05
    final_magnet_coef: NotNegative = 0.005
    magnet_rate: Share = 0.02
    out: NewFolder = Path("runs/mmd")


class Learner(ActorCritic):
    """Learns by its `Settings`."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.magnet = copy.deepcopy(self.policy)
        self.modules["magnet"] = self.magnet

    def iterate(self) -> dict[str, float]:
        """Play, then learn from the decisions, and let the magnet follow."""
        figures = super().iterate()
        follow(self.magnet, self.policy, self.settings.magnet_rate)
        return figures

    def columns(self, played: Rollout) -> list[Tensor]:
        """Return the arguments of `loss`, with a row for each decision."""
        observations, masks, *rest = flatten(
            played.observations,
            played.masks,
            played.log_probabilities,
            played.both,
            played.actions,
            *self.advantages(played),
        )
        return [observations, masks, self._magnet(observations, masks), *rest]

    def loss(self, *rows: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the loss, with both KL terms and the critic's error."""
        seen, masks, magnet, before, both, actions, advantage, target = rows
        settings = self.settings
        pull = self.annealed(settings.magnet_coef, settings.final_magnet_coef)
        logits = self.policy(seen, masks)
        log_p, p = logits.log_softmax(1), logits.softmax(1)
        taken = actions[:, None]
        ratio = (log_p.gather(1, taken) - before.gather(1, taken))[:, 0].exp()
        from_last = (p * (log_p - before)).sum(1).mean()
        from_magnet = (p * (log_p - magnet)).sum(1).mean()
        error = (self.critic(both)[:, 0] - target).square().mean()
        loss = -(ratio * advantage).mean() + settings.kl_coef * from_last
        loss = loss + pull * from_magnet + settings.vf_coef * error
        return loss, {"kl": from_last, "kl_to_magnet": from_magnet, "value_error": error}

    def _magnet(self, observations: Tensor, masks: Tensor) -> Tensor:
        """Return the magnet's log-probabilities, float32[B, actions]."""
        if self.settings.magnet == "uniform":
            return torch.zeros(masks.shape).masked_fill(~masks, -1e9).log_softmax(1)
        parts = zip(torch.split(observations, 4096), torch.split(masks, 4096), strict=True)
        with torch.no_grad():
            return torch.cat([self.magnet(*part).log_softmax(1) for part in parts])
