"""A refinement as a run: starter by starter, each written to disk once it is solved."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
from crib_agents.equilibrium.strategy import Strategy
from crib_agents.equilibrium.tree import PAIRS
from crib_agents.files import inflate, read_header, to_bytes, write_whole

from crib_training.solve.refine import Refined, Refinement
from crib_training.solve.solver import SeatGains

FORMAT = "crib_env refinement"


class Starters:
    """The solved starters of a refinement.

    Args:
        refinement: the refinement. iterations: iterations per starter.
        path: the checkpoint.

    Attributes:
        cpu_seconds: CPU time so far.
    """

    def __init__(self, refinement: Refinement, iterations: int, path: Path) -> None:
        self.refinement = refinement
        self.iterations = iterations
        self.path = path
        self.cpu_seconds = 0.0
        self.packed: dict[int, bytes] = {}
        self.gains: dict[int, tuple[float, float, float]] = {}

    def about(self) -> dict[str, object]:
        """Return the settings that a checkpoint must match."""
        solver = self.refinement.solver
        return {
            "format": FORMAT,
            "rules": solver.rules.name,
            "solved": zlib.crc32(self.refinement.strategy.play.tobytes()),
            "iterations": self.iterations,
        }

    @property
    def left(self) -> list[int]:
        """The ranks of the starters still to be solved."""
        return [starter for starter in self.refinement.starters if starter not in self.packed]

    def solve(self, starter: int, done: Callable[[int], None]) -> Refined:
        """Solve a starter and save all solved ones; see `Refinement.solve`."""
        began = time.process_time()
        refined = self.refinement.solve(starter, self.iterations, done)
        self.packed[starter] = zlib.compress(refined.play.tobytes())
        self.gains[starter] = (*refined.gains, refined.weight)
        self.cpu_seconds += time.process_time() - began
        self.save()
        return refined

    def save(self) -> None:
        """Write the checkpoint."""
        gains = {str(starter): gain for starter, gain in self.gains.items()}
        about = {**self.about(), "cpu_seconds": self.cpu_seconds, "gains": gains}
        tensors = {str(i): np.frombuffer(row, dtype=np.uint8) for i, row in self.packed.items()}
        write_whole(self.path, to_bytes(about, tensors))

    def load(self, path: Path) -> None:
        """Read a checkpoint."""
        about, tensors = read_header(path, sealed=True)
        for name, value in self.about().items():
            if about.get(name) != value:
                raise ValueError(f"{path} is of another refinement: {name!r} is {about.get(name)!r}"
                                 f" there, not {value!r}; choose another --out")  # fmt: skip
        self.packed = {int(name): row.tobytes() for name, row in tensors.items()}
        self.gains = {int(name): tuple(gain) for name, gain in about["gains"].items()}
        self.cpu_seconds = float(about["cpu_seconds"])

    def gain(self) -> SeatGains:
        """Return the best gain against the solved starters, within the abstraction."""
        pone, dealer, weight = np.array([self.gains[starter] for starter in sorted(self.gains)]).T
        share = weight / weight.sum()
        return SeatGains(float(share @ pone), float(share @ dealer))

    def strategy(self) -> Strategy:
        """Return the refined strategy."""
        size = self.refinement.solver.tree.size * PAIRS
        return self.refinement.strategy_of(
            {i: np.frombuffer(inflate(row, size), np.uint8) for i, row in self.packed.items()}
        )
