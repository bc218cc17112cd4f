"""R-NaD: regularised Nash dynamics, with rewards that pull towards an earlier policy.

    crib train r_nad --env five_card_v0 --out runs/r_nad

Perolat et al. 2022, arXiv 2206.15378 (DeepNash). Each action costs its player, and pays the other,
``eta`` times the log of its probability over that of a regularising policy. NeuRD moves the logits
towards the fixed point of that game, which then becomes the regularising policy; the change from
one to the next is gradual. Here the critic sees both hands and returns are those of GAE, as with
the other methods, in place of V-trace with a critic of one hand.
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import ClassVar

import torch
from torch import Tensor

from crib_env.settings import Count, NewFolder, NotNegative, Positive, Share, checked_dataclass
from crib_training.learn.deal_learners import ActorCritic, ActorCriticSettings, Rollout, flatten, gae
from crib_training.learn.run import follow


@checked_dataclass(frozen=True, kw_only=True)
class Settings(ActorCriticSettings):
    """Learn a stochastic policy by R-NaD.

    Attributes:
        eta: weight of the log-ratio to the regularising policy in the rewards, in points.
        period: decisions until the average policy becomes the regularising policy.
        gae_lambda: lambda of GAE.
        neurd_beta: bound beyond which NeuRD pushes no logit.
        neurd_clip: bound of an action's estimated advantage, in points.
    """

    method: ClassVar[str] = "r_nad"
    epochs: Count = 1
    eta: NotNegative = 0.5
    period: Count = 125_000
    gae_lambda: Share = 0.9
    neurd_beta: Positive = 6.0
    neurd_clip: Positive = 10.0
    out: NewFolder = Path("runs/r_nad")


class Learner(ActorCritic):
    """Learns by its `Settings`."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.regular, self.before = copy.deepcopy(self.policy), copy.deepcopy(self.policy)
        self.modules |= {"regular": self.regular, "before": self.before}

    def iterate(self) -> dict[str, float]:
        """Play, learn from the decisions, and at the end of a period regularise by the policy."""
        period = self.decisions // self.settings.period
        figures = super().iterate()
        if self.decisions // self.settings.period > period:
            follow(self.before, self.regular, 1.0)
            follow(self.regular, self.average, 1.0)
        return figures

    @torch.no_grad()
    def columns(self, played: Rollout) -> list[Tensor]:
        """Return the decisions with the force on each logit: the estimated values of actions."""
        eta, sign = self.settings.eta, played.sign[:-1]
        share = min(1.0, 2 * (self.decisions % self.settings.period) / self.settings.period)
        costs = eta * (played.log_probabilities - self._regular(played, share)) * played.masks
        taken = played.actions[:, :, None]
        cost = costs.gather(2, taken)[:, :, 0]
        played = played._replace(gains=played.gains - sign * cost)
        values = self.state_values(played)
        advantages = gae(played, values, self.settings.gae_lambda)
        p = played.log_probabilities.gather(2, taken)[:, :, 0].exp()
        force = -costs
        force.scatter_add_(2, taken, ((advantages * sign + cost) / p)[:, :, None])
        force = force.clamp(-self.settings.neurd_clip, self.settings.neurd_clip)
        targets = (advantages + values[:-1]) * sign
        return flatten(played.observations, played.masks, played.both, force, targets)

    def _regular(self, played: Rollout, share: float) -> Tensor:
        """Return log-probabilities between those of the last two regularising policies."""
        seen = flatten(played.observations, played.masks)
        now, before = (net(*seen).log_softmax(1) for net in (self.regular, self.before))
        return torch.lerp(before, now, share).view_as(played.log_probabilities)

    def loss(self, *rows: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Return NeuRD's loss, and the critic's error."""
        seen, masks, both, force, target = rows
        logits, most = self.policy(seen, masks), self.settings.neurd_beta
        p = logits.detach().softmax(1)
        force = (force - (p * force).sum(1, keepdim=True)) * masks
        logits = logits.masked_fill(~masks, 0.0)
        logits = logits - logits.sum(1, keepdim=True) / masks.sum(1, keepdim=True)
        pushed = ((force > 0) & (logits < most)) | ((force < 0) & (logits > -most))
        neurd = -(logits * force * pushed * masks).sum(1).mean()
        error = (self.critic(both)[:, 0] - target).square().mean()
        entropy = -(p * (p + 1e-12).log()).sum(1).mean()
        loss = neurd + self.settings.vf_coef * error
        return loss, {"entropy": entropy, "value_error": error}
