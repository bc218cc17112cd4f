"""The tensors of networks and optimizers by name, as a checkpoint holds them."""

from __future__ import annotations

from collections.abc import Mapping

import torch


def tensors_of(module: torch.nn.Module | torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    """Return the tensors of a network, or of an optimizer, by name."""
    if isinstance(module, torch.nn.Module):
        return dict(module.state_dict())
    state = module.state_dict()["state"]
    return {
        f"{i}.{key}": value.reshape(-1) if value.ndim == 0 else value
        for i, values in state.items()
        for key, value in values.items()
    }


def fill(
    module: torch.nn.Module | torch.optim.Optimizer, tensors: Mapping[str, torch.Tensor]
) -> None:
    """Give a network or an optimizer what `tensors_of` returned."""
    if isinstance(module, torch.nn.Module):
        module.load_state_dict(dict(tensors))
        return
    state: dict[int, dict[str, torch.Tensor]] = {}
    for name, value in tensors.items():
        i, key = name.split(".")
        state.setdefault(int(i), {})[key] = value[0] if key == "step" else value
    groups = module.state_dict()["param_groups"]
    module.load_state_dict({"state": state, "param_groups": groups})
