"""Checkpoints: all that a run needs to go on, in one safetensors file that replaces the last whole.

Nothing in it can run: numbers, and a JSON header. Its checksum tells a damaged one; see
`crib_agents.files`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from crib_agents.files import check_format, read_header, to_bytes, write_whole
from torch import nn

from crib_training.outputs import CHECKPOINT

FILE = CHECKPOINT
FORMAT = "crib_env run"
FORMAT_VERSION = 1


@dataclass(frozen=True)
class Checkpoint:
    """A run as it stood between two updates.

    Attributes:
        about: what is no array: settings, counters, the state of the generator, the curve.
        tensors: float32 or int64 arrays by name.
    """

    about: Mapping[str, Any]
    tensors: Mapping[str, np.ndarray[Any, Any]]

    def save(self, folder: Path) -> None:
        """Write it into the folder of the run.

        Raises:
            OSError: it cannot be written; one written before is still there.
        """
        about = {"format": FORMAT, "version": FORMAT_VERSION, **self.about}
        write_whole(folder / FILE, to_bytes(about, self.tensors))

    @classmethod
    def load(cls, folder: Path) -> Checkpoint:
        """Read that of a run.

        Raises:
            ValueError: there is none, it is of another version, or it is not as it was written.
        """
        path = folder / FILE
        if not path.exists():
            raise ValueError(f"there is no run to go on with in {folder}: it has no {FILE}")
        about, tensors = read_header(path, sealed=True)
        try:
            check_format(about, FORMAT, FORMAT_VERSION)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
        return cls(about, tensors)


def module_tensors(prefix: str, module: nn.Module) -> dict[str, Any]:
    """Return a module's parameters as arrays, by name behind a prefix."""
    return {f"{prefix}.{k}": v.detach().cpu().numpy() for k, v in module.state_dict().items()}


def restore_module(
    prefix: str, module: nn.Module, tensors: Mapping[str, np.ndarray[Any, Any]]
) -> None:
    """Give a module the parameters that `module_tensors` took.

    Raises:
        ValueError: they are of other shapes.
    """
    state = {
        name[len(prefix) + 1 :]: torch.from_numpy(array.copy())
        for name, array in tensors.items()
        if name.startswith(f"{prefix}.")
    }
    try:
        module.load_state_dict(state)
    except RuntimeError as error:
        raise ValueError(f"the nets of the checkpoint do not fit: {error}") from None


def adam_tensors(optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    """Return what Adam keeps of each parameter."""
    return {
        f"adam.{i}.{name}": np.atleast_1d(value.detach().cpu().numpy())
        for i, kept in optimizer.state_dict()["state"].items()
        for name, value in kept.items()
    }


def restore_adam(
    optimizer: torch.optim.Optimizer, tensors: Mapping[str, np.ndarray[Any, Any]]
) -> None:
    """Give Adam what `adam_tensors` took."""
    state: dict[int, dict[str, torch.Tensor]] = {}
    for name, array in tensors.items():
        if name.startswith("adam."):
            _, i, what = name.split(".")
            value = torch.from_numpy(array.copy())
            state.setdefault(int(i), {})[what] = value[0] if what == "step" else value
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": state, "param_groups": groups})
