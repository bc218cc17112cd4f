"""Checkpoints: one safetensors file with everything that a run needs to continue.

A new checkpoint replaces the last one atomically. It holds numbers and a JSON header, and no code
to run. A checksum detects a damaged file; see `crib_agents.files`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from crib_agents.files import check_format, read_header, to_bytes, write_whole

from crib_training.outputs import CHECKPOINT

FILE = CHECKPOINT
FORMAT = "crib_env run"
FORMAT_VERSION = 1


@dataclass(frozen=True)
class Checkpoint:
    """A run as it stood between two updates.

    Attributes:
        about: what is no array: settings, counters, the state of the generator, the curve.
        tensors: arrays by name, of the types that `crib_agents.files.DTYPES` has.
    """

    about: Mapping[str, Any]
    tensors: Mapping[str, np.ndarray[Any, Any]]

    def save(self, folder: Path) -> None:
        """Write it into the folder of the run."""
        about = {"format": FORMAT, "version": FORMAT_VERSION, **self.about}
        write_whole(folder / FILE, to_bytes(about, self.tensors))

    @classmethod
    def load(cls, folder: Path) -> Checkpoint:
        """Read that of a run."""
        path = folder / FILE
        if not path.exists():
            raise ValueError(f"there is no run to resume in {folder}: it has no {FILE}")
        about, tensors = read_header(path, sealed=True)
        try:
            check_format(about, FORMAT, FORMAT_VERSION)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
        return cls(about, tensors)
