"""The network that acts: bits through hidden layers, and features of each action through a head."""

from __future__ import annotations

import torch
from crib_agents.nets import ActionHead, PolicyNetAgent, header
from torch import Tensor, nn

from crib_env.engine.family import find_family
from crib_training.baselines.games import Games
from crib_training.baselines.settings import RunSettings
from crib_training.learn.learner import mlp, to_array

HEAD = 32  # hidden units that read an action's features
ILLEGAL = -1e9


class Policy(nn.Module):
    """A network for the logits of actions, very low where illegal.

    Args:
        games: the games whose observations it reads.
        hidden_sizes: sizes of the hidden layers.
    """

    def __init__(self, games: Games, hidden_sizes: tuple[int, ...]) -> None:
        super().__init__()
        self.bits, self.actions = games.bits, games.actions
        self.count = (games.size - games.bits) // games.actions
        self.body = mlp(self.bits + 2 * self.count, *hidden_sizes)
        self.last = nn.Linear(hidden_sizes[-1], self.actions)
        with torch.no_grad():
            self.last.weight.mul_(0.01)  # the first policy is nearly uniform
        if self.count:
            self.of_features = nn.Linear(self.count, HEAD)
            self.of_state = nn.Linear(hidden_sizes[-1], HEAD, bias=False)
            self.out = nn.Linear(HEAD, 1, bias=False)
            self.skip = nn.Linear(self.count, 1, bias=False)
            for zero in (self.out, self.skip):
                nn.init.zeros_(zero.weight)

    def forward(self, observations: Tensor, masks: Tensor) -> Tensor:
        """Return logits.

        Shapes: observations float32[B, size]; masks bool[B, actions]; the result float32[B,
        actions].
        """
        x = observations[:, : self.bits]
        if self.count:
            features = observations[:, self.bits :].view(-1, self.count, self.actions)
            x = torch.cat([x, features.amax(2), features.amin(2)], 1)
        hidden = torch.relu(self.body(x))
        logits = self.last(hidden)
        if self.count:
            rows, actions = masks.nonzero(as_tuple=True)
            of_each = features[rows, :, actions]
            inner = torch.relu(self.of_features(of_each) + self.of_state(hidden)[rows])
            added = (self.out(inner) + self.skip(of_each)).squeeze(1)
            logits = logits.index_put((rows, actions), added, accumulate=True)
        legal: Tensor = logits.masked_fill(~masks, ILLEGAL)
        if not legal.isfinite().all():
            raise FloatingPointError("logits are not finite")
        return legal

    @torch.no_grad()
    def follow(self, other: Policy, rate: float) -> None:
        """Move each weight towards another network's by a share of the difference."""
        torch._foreach_lerp_(list(self.parameters()), list(other.parameters()), rate)

    def agent(self, name: str, settings: RunSettings) -> PolicyNetAgent:
        """Return the agent that samples from this policy, in NumPy."""
        layers = [part for part in self.body if isinstance(part, nn.Linear)] + [self.last]
        weights = [(to_array(layer.weight), to_array(layer.bias)) for layer in layers]
        head = None
        if self.count:
            head = ActionHead(
                to_array(self.of_features.weight), to_array(self.of_state.weight),
                to_array(self.of_features.bias), to_array(self.out.weight)[0],
                to_array(self.skip.weight)[0],
            )  # fmt: skip
        rules = settings.rules
        about = header(settings.env, rules, find_family(rules.engine), settings.features,
                       suits="canonical", sample=True)  # fmt: skip
        return PolicyNetAgent(weights, about, name=name, head=head)


def descend(optimizer: torch.optim.Optimizer, loss: Tensor) -> float:
    """Take a step of gradient descent, and return the loss."""
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    return loss.item()
