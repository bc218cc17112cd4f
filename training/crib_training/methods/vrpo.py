"""VRPO by self-play: PPO with expected-SARSA advantages of an action critic.

    crib train vrpo --env five_card_v0 --out runs/vrpo

*GAE Falls Short in Imperfect-Information Self-Play Reinforcement Learning* (arXiv 2605.19235): a
critic that sees both hands values every action. Traces back up its mean over the policy instead of
the value of the sampled action, so that sampling adds no variance. The rest is PPO with entropy.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import torch
from torch import Tensor

from crib_env.settings import NewFolder, Share, checked_dataclass
from crib_training.learn.deal_learners import Rollout, normalised
from crib_training.methods import selfplay_ppo


@checked_dataclass(frozen=True, kw_only=True)
class Settings(selfplay_ppo.ClippedSettings):
    """Learn a stochastic policy by VRPO.

    Attributes:
        trace_lambda: lambda of the traces.
    """

    method: ClassVar[str] = "vrpo"
    trace_lambda: Share = 0.9
    out: NewFolder = Path("runs/vrpo")


class Learner(selfplay_ppo.Learner):
    """Learns by its `Settings`."""

    @property
    def critic_outputs(self) -> int:
        """Outputs of the critic, one for each action."""
        return self.games.actions

    def advantages(self, played: Rollout) -> tuple[Tensor, Tensor]:
        """Return the movers' advantages, of variance 1, and the critic's targets, float32[T, N]."""
        after = torch.from_numpy(self.games.observations), torch.from_numpy(self.games.masks)
        with torch.no_grad():
            q = self.critic(torch.cat([played.both, played.last[None]])) * played.sign[:, :, None]
            p_after = self.policy(*after).softmax(1)
        probabilities = torch.cat([played.log_probabilities.exp(), p_after[None]])
        values = (probabilities * q).sum(2)  # for seat 0, float32[T + 1, N]
        q_taken = q[:-1].gather(2, played.actions[:, :, None])[:, :, 0]
        backed_up = expected_sarsa(played, values, q_taken, self.settings.trace_lambda)
        return normalised(backed_up - values[:-1], backed_up, played)

    def values(self, both: Tensor, actions: Tensor) -> Tensor:
        """Return the critic's values of the actions taken, float32[B]."""
        values: Tensor = self.critic(both).gather(1, actions[:, None])[:, 0]
        return values


def expected_sarsa(rollout: Rollout, values: Tensor, q_taken: Tensor, lam: float) -> Tensor:
    """Return the backed-up value of each action, for seat 0, float32[T, N].

    Shapes: values float32[T + 1, N]; q_taken float32[T, N].
    """
    backed_up = torch.empty_like(q_taken)
    surprise = torch.zeros_like(q_taken[0])  # of later rewards, beyond the critic's mean
    for t in reversed(range(len(q_taken))):
        goes_on = 1 - rollout.ended[t]
        backed_up[t] = rollout.gains[t] + goes_on * (values[t + 1] + lam * surprise)
        surprise = backed_up[t] - q_taken[t]
    return backed_up
