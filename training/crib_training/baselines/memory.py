"""Memories of decisions, the newest or a uniform sample of all, and learners with such a memory."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from crib_training.baselines.learner import GamesLearner, State
from crib_training.baselines.settings import RunSettings


class Memory:
    """A buffer of rows from which to draw batches; the first `add` allocates its arrays.

    Args:
        size: number of rows it can hold.
        reservoir: hold a uniform sample of all rows (Vitter's algorithm R); otherwise the newest.
        chance: the random generator.
    """

    def __init__(self, size: int, reservoir: bool, chance: np.random.Generator) -> None:
        self.size, self.reservoir, self.chance = size, reservoir, chance
        self.columns: dict[str, np.ndarray[Any, Any]] = {}
        self.added = 0

    def __len__(self) -> int:
        """Return how many rows it holds."""
        return min(self.added, self.size)

    def add(self, **columns: Tensor) -> None:
        """Add rows."""
        arrays = {name: _compact(column.numpy()) for name, column in columns.items()}
        count = len(next(iter(arrays.values())))
        if not count:
            return
        if not self.columns:
            self.columns = {name: np.zeros((self.size, *array.shape[1:]), array.dtype)
                            for name, array in arrays.items()}  # fmt: skip
        order = self.added + np.arange(count)
        places = order % self.size
        if self.reservoir:
            drawn = self.chance.integers(0, order + 1)
            places = np.where(order < self.size, order, drawn)
        taken = places < self.size
        for name, array in arrays.items():
            self.columns[name][places[taken]] = array[taken]
        self.added += count

    def draw(self, count: int) -> dict[str, Tensor]:
        """Return ``count`` rows drawn with replacement, floats in 32 bits."""
        rows = self.chance.integers(0, len(self), count)
        drawn = {name: torch.from_numpy(array[rows]) for name, array in self.columns.items()}
        return {name: one.float() if one.is_floating_point() else one
                for name, one in drawn.items()}  # fmt: skip

    def state(self, name: str) -> dict[str, np.ndarray[Any, Any]]:
        """Return its rows and how many were added, for a checkpoint."""
        held = {f"{name}.{key}": array[: len(self)]
                for key, array in self.columns.items()}  # fmt: skip
        return held | {f"{name}.added": np.array([self.added])}

    def restore(self, name: str, state: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Restore what `state` returned."""
        rows = {key.removeprefix(f"{name}."): array for key, array in state.items()
                if key.startswith(f"{name}.")}  # fmt: skip
        added = int(rows.pop("added")[0])
        if any(len(array) != min(added, self.size) for array in rows.values()):
            raise ValueError(f"{name} is of another size than {self.size:,}")
        self.added = added
        self.columns = {}
        for key, array in rows.items():
            self.columns[key] = np.zeros((self.size, *array.shape[1:]), array.dtype)
            self.columns[key][: len(array)] = array


def _compact(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    smaller = {"float32": np.float16, "bool": np.uint8}.get(str(array.dtype))
    return array if smaller is None else array.astype(smaller)


class MemoryLearner(GamesLearner):
    """A method that draws its batches from memories; arguments as those of `Learner`.

    Attributes:
        rng: draws the batches, and whatever else is drawn with NumPy.
        memories: the memories by name.
    """

    def __init__(self, settings: RunSettings) -> None:
        super().__init__(settings)
        self.rng = np.random.default_rng(settings.seed)
        self.memories: dict[str, Memory] = {}

    def state(self) -> dict[str, np.ndarray[Any, Any]]:
        """Return deals, generator and memories."""
        rng = np.frombuffer(json.dumps(self.rng.bit_generator.state).encode(), np.uint8)
        state = super().state() | {"rng": rng}
        for name, memory in self.memories.items():
            state |= memory.state(name)
        return state

    def restore(self, state: State) -> None:
        """Restore what `state` returned."""
        super().restore(state)
        self.rng.bit_generator.state = json.loads(state["rng"].tobytes())
        for name, memory in self.memories.items():
            memory.restore(name, state)
