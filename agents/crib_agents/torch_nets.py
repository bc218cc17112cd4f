"""Networks as PyTorch modules: `crib train` trains them, `to_onnx` exports those of `nets`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from crib_agents.adapters.models import MASKS, SB3Score
from crib_agents.policy_net import ActionHead, Layers, PolicyNetAgent

INNER = 32  # hidden units that read an action's features


def hidden_layers(*sizes: int) -> nn.Sequential:
    """Return linear layers with a ReLU behind each."""
    pairs = ((nn.Linear(*pair), nn.ReLU()) for pair in pairwise(sizes))
    return nn.Sequential(*(part for pair in pairs for part in pair))


def mlp(*sizes: int) -> nn.Sequential:
    """Return linear layers with a ReLU between any two."""
    return nn.Sequential(*list(hidden_layers(*sizes))[:-1])


def layers_of(net: nn.Module) -> Layers:
    """Return weight and bias of each linear layer of a net, float32."""
    linear = [layer for layer in net.modules() if isinstance(layer, nn.Linear)]
    return [(to_array(layer.weight), to_array(layer.bias)) for layer in linear]


def to_array(tensor: Tensor) -> np.ndarray[Any, Any]:
    """Return a copy of a tensor as an array, wherever it is."""
    array: np.ndarray[Any, Any] = tensor.detach().cpu().numpy().copy()
    return array


class Head(nn.Module):
    """An `ActionHead`: all actions share its weights, so a feature's value is learned once."""

    def __init__(self, width: int, count: int, inner: int = INNER) -> None:
        super().__init__()
        self.of_features = nn.Linear(count, inner)
        self.of_state = nn.Linear(width, inner, bias=False)
        self.out = nn.Linear(inner, 1, bias=False)
        self.skip = nn.Linear(count, 1, bias=False)

    def forward(self, features: Tensor, of_state: Tensor) -> Tensor:
        """Return terms to add to logits, [...], of [..., count] and, by its layer, [..., inner]."""
        inner = torch.relu(self.of_features(features) + of_state)
        added: Tensor = (self.out(inner) + self.skip(features)).squeeze(-1)
        return added

    def weights(self) -> ActionHead:
        """Return its weights."""
        return ActionHead(*map(to_array, self._parts()))

    @torch.no_grad()
    def load(self, head: ActionHead) -> None:
        """Take over weights."""
        for part, array in zip(self._parts(), vars(head).values(), strict=True):
            part.copy_(torch.tensor(array))

    def _parts(self) -> tuple[Tensor, ...]:
        """Return the weights in the order of `ActionHead`."""
        bias, out, skip = self.of_features.bias, self.out.weight[0], self.skip.weight[0]
        return self.of_features.weight, self.of_state.weight, bias, out, skip


class PolicyNet(nn.Module):
    """The network of a `PolicyNetAgent`: ``bits`` entries, and ``count`` features an action."""

    def __init__(
        self, bits: int, count: int, actions: int, hidden_sizes: Sequence[int], inner: int = INNER
    ) -> None:
        super().__init__()
        self.bits, self.count, self.actions = bits, count, actions
        inputs = bits + 2 * count
        width = [inputs, *hidden_sizes][-1]
        self.body = hidden_layers(inputs, *hidden_sizes)
        self.last = nn.Linear(width, actions)
        self.head = Head(width, count, inner) if count else None

    @classmethod
    def of(cls, agent: PolicyNetAgent) -> PolicyNet:
        """Return a copy of an agent's network."""
        count, inner = agent.head.features.T.shape if agent.head is not None else (0, 0)
        sizes = [len(bias) for _, bias in agent.layers]
        bits = agent.layers[0][0].shape[1] - 2 * count
        net = cls(bits, count, sizes[-1], sizes[:-1], inner)
        for layer, (weight, bias) in zip(net._linear(), agent.layers, strict=True):
            layer.load_state_dict({"weight": torch.tensor(weight), "bias": torch.tensor(bias)})
        if net.head is not None and agent.head is not None:
            net.head.load(agent.head)
        return net

    def forward(self, observations: Tensor, masks: Tensor | None = None) -> Tensor:
        """Return logits, [B, actions]; with masks, bool, the head reads legal actions alone."""
        x = observations[:, : self.bits]
        logits: Tensor
        if self.head is None:
            logits = self.last(self.body(x))
            return logits
        features = observations[:, self.bits :].reshape(-1, self.count, self.actions)
        hidden = self.body(torch.cat([x, features.amax(2), features.amin(2)], 1))
        logits, of_state = self.last(hidden), self.head.of_state(hidden)
        if masks is None:
            every: Tensor = self.head(features.transpose(1, 2), of_state.unsqueeze(1))
            return logits + every
        rows, actions = masks.nonzero(as_tuple=True)
        added = self.head(features[rows, :, actions], of_state[rows])
        return logits.index_put((rows, actions), added, accumulate=True)

    def as_agent(self, about: dict[str, Any], name: str) -> PolicyNetAgent:
        """Return an agent with a copy of the network; see `crib_agents.policy_net.header`."""
        layers = layers_of(self.body) + layers_of(self.last)
        head = None if self.head is None else self.head.weights()
        return PolicyNetAgent(layers, about, name=name, head=head)

    def _linear(self) -> list[nn.Linear]:
        return [layer for layer in self.body if isinstance(layer, nn.Linear)] + [self.last]


class SB3Net(nn.Module):
    """A policy of Stable-Baselines3."""

    def __init__(self, score: SB3Score) -> None:
        super().__init__()
        self.policy = score.policy
        self.score = score

    def forward(self, observations: Tensor, masks: Tensor | None = None) -> Tensor:
        """Return logits or values, [B, actions]."""
        scores: Tensor = self.score.scores(
            {key: masks if key in MASKS else observations for key in self.score.keys}
            or observations
        )
        return scores
