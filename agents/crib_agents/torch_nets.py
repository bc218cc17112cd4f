"""Networks as PyTorch modules: `crib train` trains them, `to_onnx` exports a `PolicyNet`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from crib_agents.adapters.models import MASKS, SB3Score
from crib_agents.card_net import CardNet
from crib_agents.policy_net import CARD_NET, Layers, PolicyNetAgent, Tensors
from crib_env.encoding import ObservationLayout, layout_of


def mlp(*sizes: int) -> nn.Sequential:
    """Return linear layers with a ReLU between any two."""
    layers = [part for pair in pairwise(sizes) for part in (nn.Linear(*pair), nn.ReLU())]
    return nn.Sequential(*layers[:-1])


def layers_of(net: nn.Module) -> Layers:
    """Return weight and bias of each linear layer of a net, float32."""
    linear = [layer for layer in net.modules() if isinstance(layer, nn.Linear)]
    return [(to_array(layer.weight), to_array(layer.bias)) for layer in linear]


def to_array(tensor: Tensor) -> np.ndarray[Any, Any]:
    """Return a copy of a tensor, on any device, as an array."""
    array: np.ndarray[Any, Any] = tensor.detach().cpu().numpy().copy()
    return array


class PolicyNet(nn.Module):
    """The network of a `PolicyNetAgent`.

    Args:
        layout: of the observations; with features the net is a `CardNet`, else an MLP over bits.
        hidden_sizes: of the MLP's hidden layers; a `CardNet` uses the first and the last.
    """

    def __init__(self, layout: ObservationLayout, hidden_sizes: Sequence[int]) -> None:
        super().__init__()
        self.net: nn.Module
        if layout.rows[0]:
            self.net = CardNet(layout, hidden_sizes[0], hidden_sizes[-1])
        else:
            bits = max(part.stop for part in layout.values())
            self.net = mlp(bits, *hidden_sizes, layout.actions)

    @classmethod
    def of(cls, agent: PolicyNetAgent) -> PolicyNet:
        """Return a copy of an agent's network."""
        layers, layout = agent.layers, layout_of(agent.family, agent.features)
        if isinstance(layers, dict):
            net = cls(layout, [len(layers["encode.bias"]), len(layers["inner.bias"])])
            state = {name: torch.tensor(array) for name, array in layers.items()}
            net.net.load_state_dict(net.net.state_dict() | state)
            return net
        net = cls(layout, [len(bias) for _, bias in layers[:-1]])
        linear = [layer for layer in net.net.modules() if isinstance(layer, nn.Linear)]
        for layer, (weight, bias) in zip(linear, layers, strict=True):
            layer.load_state_dict({"weight": torch.tensor(weight), "bias": torch.tensor(bias)})
        return net

    def forward(self, observations: Tensor) -> Tensor:
        """Return logits, [B, actions]."""
        logits: Tensor = self.net(observations)
        return logits

    def as_agent(self, about: dict[str, Any], name: str) -> PolicyNetAgent:
        """Return an agent with a copy of the network; see `crib_agents.policy_net.header`."""
        if isinstance(self.net, CardNet):
            return PolicyNetAgent(tensors_of(self.net), about, name=name)
        return PolicyNetAgent(layers_of(self.net), about, name=name)


def tensors_of(net: CardNet) -> Tensors:
    """Return the tensors of a `CardNet` as a `PolicyNetAgent` takes them."""
    return {name: to_array(tensor) for name, tensor in net.state_dict().items() if name in CARD_NET}


class SB3Net(nn.Module):
    """A Stable-Baselines3 policy as a module that returns its scores."""

    def __init__(self, score: SB3Score) -> None:
        super().__init__()
        self.policy = score.policy
        self.score = score

    def forward(self, observations: Tensor, masks: Tensor | None = None) -> Tensor:
        """Return logits or values, [B, actions]."""
        scores: Tensor = self.score.scores(
            {key: masks if key in MASKS else observations for key in self.score.keys} or observations
        )
        return scores
