"""Networks as PyTorch modules that score all actions, for export."""

from __future__ import annotations

import torch
from torch import nn

from crib_agents.adapters.models import MASKS, SB3Score
from crib_agents.nets import PolicyNetAgent


class PolicyNet(nn.Module):
    """The network of a `PolicyNetAgent`.

    Args:
        agent: whose weights it copies.
    """

    def __init__(self, agent: PolicyNetAgent) -> None:
        super().__init__()
        self.bits = sum(size for _, size in agent.about["observation_layout"])
        self.layers = nn.ModuleList(_linear(*layer) for layer in agent.layers)
        self.head: nn.ParameterDict | None = None
        if agent.head is not None:
            count, actions = agent.head.features.shape[1], int(agent.about["actions"])
            self.bits -= count * actions
            self.shape = (-1, count, actions)
            weights = vars(agent.head).items()
            self.head = nn.ParameterDict({name: torch.tensor(one) for name, one in weights})

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return logits, float32[B, actions], of observations float32[B, size]."""
        x = observations[:, : self.bits]
        if self.head is not None:
            features = observations[:, self.bits :].reshape(self.shape)
            x = torch.cat([x, features.amax(2), features.amin(2)], dim=1)
        for layer in self.layers[:-1]:
            x = torch.relu(layer(x))
        logits: torch.Tensor = self.layers[-1](x)
        if self.head is None:
            return logits
        head = self.head
        of_each = features.transpose(1, 2)  # [B, actions, K]
        of_state = (x @ head["state"].T + head["bias"]).unsqueeze(1)
        inner = torch.relu(of_each @ head["features"].T + of_state)
        # Not by MatMul with a vector: onnxruntime fuses that with the transposition, and errs.
        added: torch.Tensor = (inner * head["out"]).sum(2) + (of_each * head["skip"]).sum(2)
        return logits + added


class SB3Net(nn.Module):
    """A policy of Stable-Baselines3.

    Args:
        score: the policy and what it reads.
    """

    def __init__(self, score: SB3Score) -> None:
        super().__init__()
        self.policy = score.policy
        self.score = score

    def forward(
        self, observations: torch.Tensor, masks: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Return logits or values, [B, actions]."""
        scores: torch.Tensor = self.score.scores(
            {key: masks if key in MASKS else observations for key in self.score.keys}
            or observations
        )
        return scores


def _linear(weight: object, bias: object) -> nn.Linear:
    weights, biases = torch.tensor(weight), torch.tensor(bias)
    layer = nn.Linear(weights.shape[1], weights.shape[0])
    layer.load_state_dict({"weight": weights, "bias": biases})
    return layer
