"""The network that acts: bits through hidden layers, and features of each action through a head."""

from __future__ import annotations

import torch
from crib_agents.nets import PolicyNetAgent, header
from crib_agents.torch_nets import PolicyNet
from torch import Tensor, nn

from crib_env.engine.family import find_family
from crib_training.baselines.games import Games
from crib_training.baselines.settings import RunSettings

ILLEGAL = -1e9


class Policy(PolicyNet):
    """A network for the logits of actions, very low where illegal.

    Args:
        games: the games whose observations it reads.
        hidden_sizes: sizes of the hidden layers.
    """

    def __init__(self, games: Games, hidden_sizes: tuple[int, ...]) -> None:
        count = (games.size - games.bits) // games.actions
        super().__init__(games.bits, count, games.actions, hidden_sizes)
        with torch.no_grad():
            self.last.weight.mul_(0.01)  # the first policy is nearly uniform
        if self.head is not None:
            for zero in (self.head.out, self.head.skip):
                nn.init.zeros_(zero.weight)

    def forward(self, observations: Tensor, masks: Tensor | None = None) -> Tensor:
        """Return logits.

        Shapes: observations float32[B, size]; masks bool[B, actions]; the result float32[B,
        actions].
        """
        assert masks is not None
        legal: Tensor = super().forward(observations, masks).masked_fill(~masks, ILLEGAL)
        if not legal.isfinite().all():
            raise FloatingPointError("logits are not finite")
        return legal

    @torch.no_grad()
    def follow(self, other: Policy, rate: float) -> None:
        """Move each weight towards another network's by a share of the difference."""
        torch._foreach_lerp_(list(self.parameters()), list(other.parameters()), rate)

    def agent(self, name: str, settings: RunSettings) -> PolicyNetAgent:
        """Return the agent that samples from this policy, in NumPy."""
        rules = settings.rules
        about = header(settings.env, rules, find_family(rules.engine), settings.features,
                       suits=settings.suits, sample=True)  # fmt: skip
        return self.as_agent(about, name)


def descend(optimizer: torch.optim.Optimizer, loss: Tensor) -> float:
    """Take a step of gradient descent, and return the loss."""
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    return loss.item()
