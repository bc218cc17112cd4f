"""The timing of all benchmarks, and their output: JSON, and the page made of it.

Contenders take turns: in every repeat each runs for the same time, forwards in one repeat and
backwards in the next, so a slow spell of the machine affects all of them. The result is the median
over the repeats, with the least and the greatest value.
"""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from crib_env import __version__
from docs.pages import number_table, render

Piece = Callable[[], "int | tuple[int, float]"]
"""Does some work. Returns its units, and the seconds that they took if not all seconds count."""

PACKAGES = (
    "numpy",
    "numba",
    "gymnasium",
    "pettingzoo",
    "torch",
    "stable-baselines3",
    "sb3-contrib",
    "open-spiel",
    "rlcard",
)
SCALES = ((1e9, "G "), (1e6, "M "), (1e3, "k "))


@dataclass(frozen=True)
class Settings:
    """How long to measure.

    Attributes:
        seconds: the time of a contender in a repeat.
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
class Row:
    """A measured figure: one value a repeat, in the order measured."""

    name: str
    unit: str  # "decisions/s", "s", "B", ...
    values: tuple[float, ...]
    peer: bool = False  # another project's environment

    def as_json(self) -> dict[str, Any]:
        """Return the row as ``docs/numbers/speed.json`` has it."""
        return {
            "name": self.name,
            "unit": self.unit,
            "median": statistics.median(self.values),
            "least": min(self.values),
            "greatest": max(self.values),
            "n": len(self.values),
        }


@dataclass(frozen=True)
class Findings:
    """The results of a script: absolute figures, ratios, and notes for the reader."""

    title: str
    rows: Collection[Row]
    ratios: Sequence[Row] = ()
    notes: Sequence[str] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the findings as ``docs/numbers/speed.json`` has them."""
        rows, ratios = ([row.as_json() for row in some] for some in (self.rows, self.ratios))
        return {"title": self.title, "rows": rows, "ratios": ratios, "notes": [*self.notes]}


def rate_of(piece: Piece, seconds: float) -> float:
    """Do a piece of work over and over until the time is up; return its units per second."""
    done, spent = 0, 0.0
    while not done or spent < seconds:
        began = time.perf_counter()
        units = piece()
        took = time.perf_counter() - began
        if isinstance(units, tuple):
            units, took = units
        done, spent = done + units, spent + took
    return done / spent


def race(
    contenders: Mapping[str, Piece], unit: str, settings: Settings, peers: Mapping[str, Piece] | None = None
) -> dict[str, Row]:
    """Measure contenders in turn, after a first run of each that does not count."""
    pieces = {**contenders, **(peers or {})}
    for piece in pieces.values():
        rate_of(piece, settings.seconds / 5)  # long enough to compile late functions too
    values: dict[str, list[float]] = {name: [] for name in pieces}
    for repeat in range(settings.repeats):
        for name in pieces if repeat % 2 == 0 else reversed(pieces):
            values[name].append(rate_of(pieces[name], settings.seconds))
    return {name: Row(name, unit, tuple(measured), name not in contenders) for name, measured in values.items()}


def ratio(name: str, above: Row, below: Row) -> Row:
    """Return one row over another, repeat by repeat."""
    values = tuple(a / b for a, b in zip(above.values, below.values, strict=True))
    return Row(name, "times", values)


def over_peers(ours: Row, rows: Iterable[Row]) -> list[Row]:
    """Return our row over every peer's in ``rows``."""
    return [ratio(f"{ours.name} / {row.name}", ours, row) for row in rows if row.peer]


def number(value: float, unit: str, scale: float = 1.0) -> str:
    """Return a value, in units of ``scale``, with three significant digits."""
    if unit == "B" or value >= 1000 * scale:
        return f"{value / scale:,.0f}"
    return f"{value / scale:#.3g}".rstrip(".")


def quantity(value: float, unit: str, low: float | None = None) -> str:
    """Return a value with its unit; a range from ``low``, if that is given."""
    scale, prefix = 1.0, ""
    if unit.endswith("/s"):
        scale, prefix = next((s for s in SCALES if value >= s[0]), (1.0, ""))
    shown = number(value, unit, scale)
    if low is not None:
        shown = f"{number(low, unit, scale)} – {shown}"
    return shown if unit == "times" else f"{shown} {prefix}{unit}"


def spread(row: Mapping[str, Any]) -> str:
    """Return the least and the greatest value and how many were taken."""
    if row["n"] == 1:
        return "one value"
    return f"{quantity(row['greatest'], row['unit'], row['least'])}, n={row['n']}"


def machine() -> list[str]:
    """Return the machine, the versions and the load as lines of text."""
    processor, found = platform.processor() or platform.machine(), [f"crib-env {__version__}"]
    if (about := Path("/proc/cpuinfo")).exists():
        models = [line for line in about.read_text().splitlines() if line.startswith("model name")]
        processor = models[0].split(":", 1)[1].strip() if models else processor
    for package in PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    lines = [
        f"Processor: {processor}, {os.cpu_count()} cores; {platform.system()} {platform.machine()}",
        f"Python {platform.python_version()}; {', '.join(found)}",
    ]
    if hasattr(os, "getloadavg"):
        load = ", ".join(f"{value:.2f}" for value in os.getloadavg())
        lines.append(f"Load average before measuring, over 1, 5 and 15 minutes: {load}")
    return lines


def page(data: Mapping[str, Any]) -> str:
    """Return the page of these results, ``benchmarks/RESULTS.md``."""

    def lines(rows: Sequence[Mapping[str, Any]]) -> str:
        cells = [[row["name"], quantity(row["median"], row["unit"]), spread(row)] for row in rows]
        return number_table(["what", "median", "least – greatest"], cells)

    return render("results", lines=lines, **data)
