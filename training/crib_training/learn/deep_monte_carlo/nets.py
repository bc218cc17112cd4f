"""Nets of two hidden layers, from PyTorch to the arrays that the learned agent reads."""

from __future__ import annotations

from itertools import pairwise

from crib_agents.learned.network import Layers
from torch import Tensor, nn


def mlp(inputs: int, width: int, narrow: int, outputs: int) -> nn.Sequential:
    """Return a net ``inputs - width - narrow - outputs`` with ReLUs."""
    sizes = (inputs, width, narrow, outputs)
    layers: list[nn.Module] = []
    for m, n in pairwise(sizes):
        layers += [nn.Linear(m, n), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def layers_of(net: nn.Module) -> Layers:
    """Return weight and bias of each layer of a net made by `mlp`, float32."""
    linear = [layer for layer in net.modules() if isinstance(layer, nn.Linear)]
    return [(_array(layer.weight), _array(layer.bias)) for layer in linear]


def _array(tensor: Tensor):  # type: ignore[no-untyped-def]
    return tensor.detach().cpu().numpy().copy()
