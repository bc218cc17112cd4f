"""The part of a learned policy that reads the features of each action, in NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from crib_env.arrays import Array, Floats


@dataclass(frozen=True)
class ActionHead:
    """The part of a logit that comes from an action's features, with weights shared by all actions.

    That is ``skip @ f + out @ relu(features @ f + state @ hidden + bias)``: ``f`` are the action's
    K features, ``hidden`` is the last hidden layer of the network over the state.

    Attributes:
        features: float32[H, K]. state: float32[H, W]. bias, out: float32[H]. skip: float32[K].
    """

    features: Floats
    state: Floats
    bias: Floats
    out: Floats
    skip: Floats

    def logits(self, hidden: Floats, features: Floats, masks: npt.NDArray[np.int8]) -> Floats:
        """Return the terms to add to the logits, float32[B, actions]; 0 where illegal.

        Shapes: hidden float32[B, W]; features float32[B, K, actions]; masks int8[B, actions].
        """
        rows, actions = masks.nonzero()
        of_each = features[rows, :, actions]
        inner = of_each @ self.features.T + (hidden @ self.state.T + self.bias)[rows]
        added = np.zeros(masks.shape, dtype=np.float32)
        added[rows, actions] = np.maximum(inner, 0.0) @ self.out + of_each @ self.skip
        return added

    def tensors(self) -> dict[str, Floats]:
        """Return the weights by the names under which a file holds them."""
        return {f"head.{one.name}": np.ascontiguousarray(getattr(self, one.name))
                for one in fields(self)}  # fmt: skip

    @classmethod
    def names(cls) -> set[str]:
        """Return the names of the tensors."""
        return {f"head.{one.name}" for one in fields(cls)}

    @classmethod
    def of(cls, tensors: Mapping[str, Array]) -> ActionHead:
        """Return the head that the tensors of a file hold."""
        return cls(**{one.name: tensors[f"head.{one.name}"] for one in fields(cls)})

    def check(self, width: int, count: int) -> None:
        """Raise a ValueError unless it fits a hidden layer of ``width`` and ``count`` features."""
        inner = len(self.bias)
        shapes = {"features": (inner, count), "state": (inner, width), "bias": (inner,),
                  "out": (inner,), "skip": (count,)}  # fmt: skip
        for name, shape in shapes.items():
            found = getattr(self, name)
            if found.shape != shape:
                raise ValueError(f"head.{name} is of shape {found.shape}, expected {shape}")
            if not np.isfinite(found).all():
                raise ValueError(f"head.{name} holds numbers that are not finite")


def summary(features: Floats) -> Floats:
    """Return the highest and the lowest of each feature over all actions, float32[B, 2 * K].

    Shapes: features float32[B, K, actions].
    """
    return np.concatenate([features.max(axis=2), features.min(axis=2)], axis=1)
