"""The shards of `crib data` as a PyTorch data set that holds one shard at a time in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import IterableDataset, get_worker_info

from crib_training.data.reading import read_shard, shard_paths

TEXT = ("agent", "phase", "position")


class ShardDataset(IterableDataset[dict[str, Any]]):
    """Yields decisions in random order: shuffles the shards, and the decisions of each shard.

    Each pass has another order, also with `DataLoader` workers, which divide the shards.

    Args:
        path: the folder, or a file of it.
        columns: the columns to read, by default all.
        seed: fixes the orders; with workers together with ``torch.manual_seed``, from which a
            `DataLoader` draws a seed for each pass.
        env: the environment that the data must be of; None for any.
        shuffle: False keeps the stored order, in each worker of a ``DataLoader``.
    """

    def __init__(
        self,
        path: str | Path,
        columns: Sequence[str] | None = None,
        *,
        seed: int = 0,
        env: str | None = None,
        shuffle: bool = True,
    ) -> None:
        self.files = shard_paths(path)
        self.columns, self.seed, self.env, self.shuffle = columns, seed, env, shuffle
        self.passes = 0

    def __iter__(self) -> Iterator[dict[str, Any]]:
        worker = get_worker_info()
        # New workers count passes from 0; the loader's seed, equal in all of them, differs by pass.
        seeds = (self.seed, self.passes, worker.seed - worker.id if worker else 0)
        rng = np.random.default_rng(seeds)
        self.passes += 1
        order = rng.permutation(len(self.files)) if self.shuffle else np.arange(len(self.files))
        for k in order[worker.id :: worker.num_workers] if worker else order:
            arrays = read_shard(self.files[k], self.columns, self.env)
            size = len(next(iter(arrays.values())))
            within = np.random.default_rng((*seeds, int(k)))
            rows = within.permutation(size) if self.shuffle else np.arange(size)
            columns = {
                name: array if name in TEXT else torch.from_numpy(array.copy()) for name, array in arrays.items()
            }
            for row in rows.tolist():
                yield {name: column[row] for name, column in columns.items()}
