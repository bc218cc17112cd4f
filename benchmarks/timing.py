"""How all benchmarks are timed.

Contenders take turns: in every repeat each runs for the same time, forwards in one repeat and
backwards in the next, so a slow spell of the machine affects all of them. The result is the median
over the repeats, with the least and the greatest value.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

Rate = Callable[[float], float]
"""Runs for about so many seconds and returns how many units of work it did a second."""


@dataclass(frozen=True)
class Settings:
    """How long to measure.

    Attributes:
        seconds: what a contender gets in a repeat.
        repeats: how often each runs.
        peers: measure other people's environments too.
        quick: the smallest sizes: to see that everything runs, not to learn how fast.
    """

    seconds: float = 0.5
    repeats: int = 5
    peers: bool = True
    quick: bool = False


FULL = Settings()
QUICK = Settings(seconds=0.01, repeats=2, quick=True)


@dataclass(frozen=True)
class Contender:
    """Something to measure.

    Attributes:
        name: what tables call it.
        rate: measures it.
        peer: it is somebody else's.
    """

    name: str
    rate: Rate
    peer: bool = False


@dataclass(frozen=True)
class Row:
    """A measured figure.

    Attributes:
        name: what it is.
        unit: ``"decisions/s"``, ``"s"``, ``"B"``, ...
        values: one a repeat, in the order measured.
        peer: as in `Contender`.
    """

    name: str
    unit: str
    values: tuple[float, ...]
    peer: bool = False

    @property
    def median(self) -> float:
        """The median over the repeats."""
        return statistics.median(self.values)

    @property
    def low(self) -> float:
        """The least value."""
        return min(self.values)

    @property
    def high(self) -> float:
        """The greatest value."""
        return max(self.values)


@dataclass(frozen=True)
class Findings:
    """What a script found.

    Attributes:
        title: the question, as a heading.
        rows: absolute figures.
        ratios: figures without a unit, one row over another of the same run.
        notes: what was left out and why, and whatever a reader must know.
    """

    title: str
    rows: list[Row]
    ratios: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def rate_of(piece: Callable[[], int]) -> Rate:
    """Return the rate of a piece of work: it is done over and over until the time is up."""

    def rate(seconds: float) -> float:
        done = 0
        began = time.perf_counter()
        while True:
            done += piece()
            spent = time.perf_counter() - began
            if spent >= seconds:
                return done / spent

    return rate


def race(contenders: Sequence[Contender], unit: str, settings: Settings) -> list[Row]:
    """Measure contenders in turn, after a first run of each that does not count."""
    for contender in contenders:
        contender.rate(settings.seconds / 5)  # long enough to compile what is compiled late
    values: list[list[float]] = [[] for _ in contenders]
    for repeat in range(settings.repeats):
        order = range(len(contenders)) if repeat % 2 == 0 else reversed(range(len(contenders)))
        for i in order:
            values[i].append(contenders[i].rate(settings.seconds))
    return [
        Row(contender.name, unit, tuple(measured), contender.peer)
        for contender, measured in zip(contenders, values, strict=True)
    ]


def ratio(name: str, above: Row, below: Row) -> Row:
    """Return one row over another, repeat by repeat."""
    values = tuple(a / b for a, b in zip(above.values, below.values, strict=True))
    return Row(name, "times", values)


def over_peers(ours: Row, rows: Sequence[Row]) -> list[Row]:
    """Return our row over every peer's in ``rows``."""
    return [ratio(f"{ours.name} / {row.name}", ours, row) for row in rows if row.peer]
