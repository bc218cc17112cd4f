"""A network in the ONNX format, written by hand: one layer, scores = observations @ weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

FLOAT = 1


def field(number: int, value: bytes | str | int) -> bytes:
    """Return a field of a protocol buffer: a number, or bytes with their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def varint(value: int) -> bytes:
    """Return a whole number, seven bits a byte."""
    more = value >> 7
    return bytes([value & 127 | 128]) + varint(more) if more else bytes([value])


def tensor_type(name: str, batch: int | None, width: int) -> bytes:
    """Return the type of an input or output: float[batch, width], any batch if None."""
    first = field(2, "batch") if batch is None else field(1, batch)
    shape = field(1, first) + field(1, field(1, width))
    return field(1, name) + field(2, field(1, field(1, FLOAT) + field(2, shape)))


def write_layer(path: Path, weights: Any, batch: int | None = None, about: str | None = None) -> None:
    """Write a network of one layer, float32[size, actions]; ``about`` is the project's metadata."""
    size, actions = weights.shape
    node = field(1, "observations") + field(1, "weights") + field(2, "scores") + field(4, "MatMul")
    held = field(1, size) + field(1, actions) + field(2, FLOAT) + field(8, "weights")
    graph = (
        field(1, node)
        + field(2, "layer")
        + field(5, held + field(9, np.asarray(weights, dtype=np.float32).tobytes()))
        + field(11, tensor_type("observations", batch, size))
        + field(12, tensor_type("scores", batch, actions))
    )
    noted = b"" if about is None else field(14, field(1, "crib_env") + field(2, about))
    path.write_bytes(field(1, 8) + field(7, graph) + field(8, field(2, 13)) + noted)
