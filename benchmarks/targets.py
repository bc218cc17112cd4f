"""The targets of the benchmarks. A row names its key here as ``target``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["aim met", "floor met", "missed"]


@dataclass(frozen=True)
class Target:
    """A floor that must be reached and an aim.

    Attributes:
        floor: the least that will do; the most, where less is better.
        aim: what is hoped for.
        less_is_better: for seconds and bytes.
    """

    floor: float
    aim: float
    less_is_better: bool = False

    def verdict(self, value: float) -> Verdict:
        """Return how ``value`` compares."""
        sign = -1 if self.less_is_better else 1
        if sign * value >= sign * self.aim:
            return "aim met"
        return "floor met" if sign * value >= sign * self.floor else "missed"


TARGETS: dict[str, Target] = {
    "batch": Target(8e6, 12e6),
    "batch_other": Target(6e6, 10e6),
    "two_threads": Target(1.7, 1.9),
    "aec_raw": Target(200e3, 300e3),
    "aec_env": Target(150e3, 250e3),
    "gym_single": Target(100e3, 200e3),
    "make_vec": Target(5e6, 8e6),
    "over_open_spiel": Target(15, 20),
    "sb3": Target(0.85, 0.95),
    "trainer": Target(5.0, 10.0),
    "baselines": Target(4.0, 8.0),
    "strength": Target(60.0, 45.0, less_is_better=True),
    "frames": Target(20, 40),
    "hands": Target(80e6, 150e6),
    "rule_based": Target(2000, 5000),
    "cold": Target(10.0, 6.0, less_is_better=True),
    "warm": Target(1.2, 0.7, less_is_better=True),
    "import": Target(0.3, 0.3, less_is_better=True),
    "memory": Target(1024, 512, less_is_better=True),
}
