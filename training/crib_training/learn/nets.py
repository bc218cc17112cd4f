"""Networks of linear layers that learn by Adam, and the moving average of their weights."""

from __future__ import annotations

import copy
from itertools import pairwise

import torch
from crib_agents.learned.network import Layers
from crib_agents.torch_nets import to_array
from torch import Tensor, nn
from torch.optim import Optimizer


def mlp(*sizes: int) -> nn.Sequential:
    """Return linear layers with a ReLU between any two."""
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(sizes):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def layers_of(net: nn.Module) -> Layers:
    """Return weight and bias of each layer of a net made by `mlp`, float32."""
    linear = [layer for layer in net.modules() if isinstance(layer, nn.Linear)]
    return [(to_array(layer.weight), to_array(layer.bias)) for layer in linear]


class AveragedNets:
    """Nets, their optimizer, and the moving average of their weights, which plays and is saved."""

    def __init__(self, nets: nn.Module, learning_rate: float, ema_rate: float) -> None:
        self.nets, self.average = nets, copy.deepcopy(nets)
        self.optimizer = torch.optim.Adam(nets.parameters(), learning_rate, fused=True)
        self.learning_rate, self.ema_rate = learning_rate, ema_rate
        self._weights: list[Tensor] = list(nets.parameters())
        self._averages: list[Tensor] = list(self.average.parameters())
        self.modules: dict[str, nn.Module | Optimizer] = {
            "nets": nets, "average": self.average, "adam": self.optimizer,
        }  # fmt: skip

    def step(self, loss: Tensor, share: float = 1.0) -> None:
        """Take a step of gradient descent by a share of the learning rate."""
        for group in self.optimizer.param_groups:
            group["lr"] = self.learning_rate * share
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        with torch.no_grad():
            torch._foreach_lerp_(self._averages, self._weights, self.ema_rate)
