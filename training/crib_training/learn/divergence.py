"""Diverging runs: detected before they save anything."""

from __future__ import annotations

import math
from pathlib import Path

import torch
from torch import nn


class DivergedError(RuntimeError):
    """What a run learns is no longer finite; what it saved before is whole."""


def is_finite(loss: float, *modules: nn.Module) -> bool:
    """Return whether a loss and all parameters of modules are finite."""
    parameters = (parameter for module in modules for parameter in module.parameters())
    return math.isfinite(loss) and all(bool(torch.isfinite(one).all()) for one in parameters)


def diverged(saved: Path | None, after: str) -> DivergedError:
    """Return the error of a run whose loss or weights are not finite.

    Args:
        saved: the last good checkpoint, if there is one. after: how far the run was then, in words.
    """
    last = f"the last good checkpoint is {saved}, {after}" if saved else "nothing was saved"
    return DivergedError(f"the run has diverged: its loss or its weights are not finite; {last}. A "
                         f"lower --learning-rate helps")  # fmt: skip
