"""Reading a safetensors file: eight bytes that say how long its JSON is, the JSON, the numbers.

So few lines that agents need no library beyond the engine's; files are written by safetensors.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

HEADER = "crib_env"  # where the file's metadata hold our header
LENGTH = 8  # bytes
DTYPES = {"U8": np.uint8, "F16": np.float16, "F32": np.float32, "F64": np.float64, "I64": np.int64}


def read_header(path: str | Path) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """Return our header and the tensors of a safetensors file.

    Raises:
        ValueError: it is no such file, holds tensors of other types than `DTYPES`, or has no header
            that is a JSON object.
    """
    try:
        metadata, tensors = _read(Path(path).read_bytes())
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        why = f"{type(error).__name__}: {error}"
        raise ValueError(f"{path} is not a safetensors file of ours: {why}") from error
    text = metadata.get(HEADER, "{}")
    try:
        about = json.loads(text)
    except ValueError as error:
        raise ValueError(f"{path}: its header is not JSON: {error}") from error
    if not isinstance(about, dict):
        raise ValueError(f"{path}: its header is not a JSON object: {text}")
    return about, tensors


def check_format(about: Mapping[str, Any], expected: str, version: int) -> None:
    """Raise a ValueError unless a header says that its file is of this format and version."""
    found = about.get("format"), about.get("version")
    if found != (expected, version):
        raise ValueError(f"expected the format {expected!r} version {version}, found "
                         f"{found[0]!r} version {found[1]!r}")  # fmt: skip


def _read(data: bytes) -> tuple[dict[str, str], dict[str, npt.NDArray[Any]]]:
    begin = LENGTH + int.from_bytes(data[:LENGTH], "little")
    if not LENGTH < begin <= len(data):
        raise ValueError("it is too short for its own header")
    described = json.loads(data[LENGTH:begin])
    metadata = described.pop("__metadata__", {})
    tensors = {}
    for name, tensor in described.items():
        dtype, shape = np.dtype(DTYPES[tensor["dtype"]]), tuple(tensor["shape"])
        first, last = tensor["data_offsets"]
        if not 0 <= first <= last <= len(data) - begin:
            raise ValueError(f"the tensor {name!r} lies outside of it")
        numbers = np.frombuffer(data[begin + first : begin + last], dtype=dtype)
        tensors[name] = numbers.reshape(shape)
    return metadata, tensors
