"""Networks of two hidden layers that learn by Adam, and the moving average of their weights."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from crib_agents.learned.network import Layers
from crib_agents.torch_nets import to_array
from torch import Tensor, nn
from torch.optim import Optimizer

NETS, AVERAGE, ADAM = "nets.", "average.", "adam."  # prefixes of tensors

Tensors = Mapping[str, np.ndarray[Any, Any]]


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


class Learner:
    """Nets, their optimizer, and the moving average of their weights, which plays and is saved.

    Args:
        nets: what learns, on the device where it learns.
        learning_rate: of Adam.
        ema_rate: how far the average moves towards the nets at each step.
    """

    def __init__(self, nets: nn.Module, learning_rate: float, ema_rate: float) -> None:
        self.nets = nets
        self.mean_nets = copy.deepcopy(nets)
        self.optimizer = torch.optim.Adam(nets.parameters(), learning_rate, fused=True)
        self.learning_rate, self.ema_rate = learning_rate, ema_rate
        self._weights: list[Tensor] = list(self.nets.parameters())
        self._mean_weights: list[Tensor] = list(self.mean_nets.parameters())

    def step(self, loss: Tensor, share: float = 1.0) -> None:
        """Take a step of gradient descent by a share of the learning rate."""
        for group in self.optimizer.param_groups:
            group["lr"] = self.learning_rate * share
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        with torch.no_grad():
            torch._foreach_lerp_(self._mean_weights, self._weights, self.ema_rate)

    def is_finite(self, loss: float) -> bool:
        """Return whether a loss and all weights are finite."""
        return is_finite(loss, self.nets, self.mean_nets)

    def tensors(self) -> dict[str, Any]:
        """Return nets, average and what Adam knows of each weight as arrays, for a checkpoint."""
        return {
            **module_tensors(NETS, self.nets),
            **module_tensors(AVERAGE, self.mean_nets),
            **module_tensors(ADAM, self.optimizer),
        }

    def restore(self, tensors: Tensors) -> None:
        """Take over what `tensors` returned."""
        restore_module(NETS, self.nets, tensors)
        restore_module(AVERAGE, self.mean_nets, tensors)
        restore_module(ADAM, self.optimizer, tensors)


def module_tensors(prefix: str, module: nn.Module | Optimizer) -> dict[str, Any]:
    """Return copies of what a network or an optimizer holds, as arrays by name behind a prefix."""
    held = module.state_dict()
    if isinstance(module, nn.Module):
        return {f"{prefix}{name}": to_array(value) for name, value in held.items()}
    return {
        f"{prefix}{i}.{name}": np.atleast_1d(to_array(value))
        for i, state in held["state"].items()
        for name, value in state.items()
    }


def restore_module(prefix: str, module: nn.Module | Optimizer, tensors: Tensors) -> None:
    """Give a network or an optimizer what `module_tensors` returned."""
    held = {
        name.removeprefix(prefix): torch.from_numpy(array.copy())
        for name, array in tensors.items()
        if name.startswith(prefix)
    }
    if isinstance(module, Optimizer):
        state: dict[int, dict[str, Tensor]] = {}
        for name, value in held.items():
            i, key = name.split(".")
            state.setdefault(int(i), {})[key] = value[0] if key == "step" else value
        groups = module.state_dict()["param_groups"]
        module.load_state_dict({"state": state, "param_groups": groups})
        return
    try:
        module.load_state_dict(held)
    except RuntimeError as error:
        raise ValueError(f"the nets of the checkpoint do not fit: {error}") from None


class DivergedError(RuntimeError):
    """What a run learns is no longer finite; what it saved before is whole."""


def is_finite(loss: float, *modules: nn.Module) -> bool:
    """Return whether a loss and all parameters of modules are finite."""
    parameters = (parameter for module in modules for parameter in module.parameters())
    return math.isfinite(loss) and all(bool(torch.isfinite(one).all()) for one in parameters)


def diverged(saved: Path | None, after: str) -> DivergedError:
    """Return the error of a run whose loss or weights are not finite."""
    last = f"the last good checkpoint is {saved}, {after}" if saved else "nothing was saved"
    return DivergedError(f"the run has diverged: its loss or its weights are not finite; {last}. A "
                         f"lower --learning-rate helps")  # fmt: skip
