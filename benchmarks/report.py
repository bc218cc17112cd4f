"""The report of a benchmark: its figures as JSON, and the page made of them."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.timing import Findings
from crib_env import __version__
from docs.pages import number_table, render

PACKAGES = (
    "numpy", "numba", "gymnasium", "pettingzoo", "torch", "stable-baselines3", "sb3-contrib",
    "open-spiel", "rlcard", "pgx", "jax",
)  # fmt: skip
_SCALES = ((1e9, "G "), (1e6, "M "), (1e3, "k "))


def number(value: float, unit: str, scale: float = 1.0) -> str:
    """Return a value, in units of ``scale``, with three significant digits."""
    if unit == "B" or value >= 1000 * scale:
        return f"{value / scale:,.0f}"
    return f"{value / scale:#.3g}".rstrip(".")


def quantity(value: float, unit: str, low: float | None = None) -> str:
    """Return a value with its unit; a range from ``low``, if that is given."""
    scale, prefix = 1.0, ""
    if unit.endswith("/s"):
        scale, prefix = next((s for s in _SCALES if value >= s[0]), (1.0, ""))
    shown = number(value, unit, scale)
    if low is not None:
        shown = f"{number(low, unit, scale)} – {shown}"
    return shown if unit == "times" else f"{shown} {prefix}{unit}"


def spread(row: Mapping[str, Any]) -> str:
    """Return the least and the greatest value and how many were taken."""
    if row["n"] == 1:
        return "one value"
    return f"{quantity(row['greatest'], row['unit'], row['least'])}, n={row['n']}"


def as_json(found: Findings) -> dict[str, Any]:
    """Return what a script found, as ``docs/numbers/speed.json`` has it."""
    rows, ratios = (
        [{"name": row.name, "unit": row.unit, "median": row.median, "least": row.low,
          "greatest": row.high, "n": len(row.values)} for row in some]
        for some in (found.rows, found.ratios)
    )  # fmt: skip
    return {"title": found.title, "rows": rows, "ratios": ratios, "notes": found.notes}


def cpu_model() -> str:
    """Return the processor's name."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def machine() -> list[str]:
    """Return the machine, the versions and the load as lines of text."""
    found = [f"crib-env {__version__}"]
    for package in PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    lines = [
        f"Processor: {cpu_model()}, {os.cpu_count()} cores; {platform.system()} "
        f"{platform.machine()}",
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
