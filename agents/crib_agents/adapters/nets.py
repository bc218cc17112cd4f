"""Agents of networks: a function of PyTorch tensors, or a file in the ONNX format."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from crib_agents.adapters.scored import ScoredAgent
from crib_env.errors import comes_with

DTYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(uint8)": np.uint8,
          "tensor(int8)": np.int8, "tensor(int64)": np.int64, "tensor(bool)": np.bool_}  # fmt: skip


def from_torch(
    function: Callable[[Any, Any], Any],
    *,
    name: str | None = None,
    features: bool | str | None = None,
    sample: bool = False,
    device: str = "cpu",
) -> ScoredAgent:
    """Return the agent of a network in PyTorch.

    Args:
        function: of observations, float32[B, size], and masks, bool[B, actions], both tensors;
            returns logits or values, [B, actions]. A module is one too, and is asked in its
            evaluation mode. It need not apply the mask.
        name: what tables call it; by default the function's name.
        features: what is observed besides bits, as the environment was made with.
        sample: draw by the softmax of the logits instead of taking the highest.
        device: where the tensors are put.
    """
    with comes_with("train"):
        import torch

    if isinstance(function, torch.nn.Module):
        function.eval()

    def score(observations: npt.NDArray[Any], masks: npt.NDArray[np.int8]) -> npt.NDArray[Any]:
        with torch.no_grad():
            scores = function(
                torch.as_tensor(observations, dtype=torch.float32, device=device),
                torch.as_tensor(masks, dtype=torch.bool, device=device),
            )
        values: npt.NDArray[Any] = scores.cpu().numpy()
        return values

    called = getattr(function, "__name__", type(function).__name__)
    return ScoredAgent(score, name or called, features=features, sample=sample)


def from_onnx(path: str | Path, *, name: str | None = None, sample: bool = False) -> ScoredAgent:
    """Return the agent of a network in an ``.onnx`` file; it needs the extra ``onnx``.

    The first input takes observations [B, size], a second, if there is one, masks [B, actions]; the
    first output is logits or values, [B, actions]. A file made for one observation at a time (B is
    1) is asked for one after the other.

    Args:
        path: of the file.
        name: what tables call it; by default the file's name.
        sample: draw by the softmax of the logits instead of taking the highest.

    Raises:
        ValueError: no such file, or its network is none of this form.
    """
    with comes_with("onnx"):
        import onnxruntime

    if not Path(path).exists():
        raise ValueError(f"there is no file {str(path)!r}")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # networks of this size gain nothing from more
    try:
        session = onnxruntime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # onnxruntime's errors have no class in common
        raise ValueError(f"{path} is no network that can be run: {error}") from None
    inputs = session.get_inputs()
    if len(inputs) > 2 or any(one.type not in DTYPES or len(one.shape) != 2 for one in inputs):
        read = ", ".join(f"{one.name} {one.type}{one.shape}" for one in inputs)
        raise ValueError(
            f"{path} must read observations [B, size] and at most masks: it reads {read}"
        )
    size = inputs[0].shape[1]

    def score(observations: npt.NDArray[Any], masks: npt.NDArray[np.int8]) -> npt.NDArray[Any]:
        def run(rows: slice) -> npt.NDArray[Any]:
            given: dict[str, npt.NDArray[Any]] = {one.name: part[rows].astype(DTYPES[one.type])
                     for one, part in zip(inputs, (observations, masks), strict=False)}  # fmt: skip
            return np.asarray(session.run(None, given)[0])

        if inputs[0].shape[0] != 1:
            return run(slice(None))
        return np.concatenate([run(slice(k, k + 1)) for k in range(len(observations))])

    return ScoredAgent(
        score, name or Path(path).stem, size=size if isinstance(size, int) else None, sample=sample
    )
