"""The report of a benchmark: ratios first, then what each script found."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.timing import Findings, Row, Settings
from crib_env import __version__

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


def table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table, its first column left-aligned and the others right-aligned."""
    rule = ["---"] + ["---:"] * (len(header) - 1)
    return "\n".join(f"| {' | '.join(line)} |" for line in [header, rule, *lines])


def spread(row: Row) -> str:
    """Return the least and the greatest value and how many were taken."""
    if len(row.values) == 1:
        return "one value"
    return f"{quantity(row.high, row.unit, row.low)}, n={len(row.values)}"


def plain_table(rows: Sequence[Row]) -> str:
    """Return rows as a table of what, median and spread."""
    lines = [[row.name, quantity(row.median, row.unit), spread(row)] for row in rows]
    return table(["what", "median", "least – greatest"], lines)


def section(found: Findings, level: str = "##") -> str:
    """Return everything a script found."""
    parts = [f"{level} {found.title}", plain_table(found.rows)]
    if found.ratios:
        parts.append(plain_table(found.ratios))
    parts += [f"![{found.title}]({picture})" for picture in found.pictures]
    if found.notes:
        parts.append("\n".join(f"- {note}" for note in found.notes))
    return "\n\n".join(parts)


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


def document(
    findings: Sequence[Findings], settings: Settings, command: str, setting: Sequence[str]
) -> str:
    """Return the whole of ``RESULTS.md``."""
    ratios = [row for found in findings for row in found.ratios]
    how = (
        f"Medians of n values: {settings.repeats} repeats of {settings.seconds:g} s unless noted, "
        "in which contenders take turns. A ratio is taken within each repeat."
    )
    parts = ["# Results", f"Written by `{command}`; not edited by hand. {how}"]
    if settings.quick:
        parts.append("A quick run, to see that everything runs: the figures mean nothing.")
    parts += [
        "## Ratios",
        plain_table(ratios),
        *(section(found) for found in findings),
        "## Machine",
        "\n".join(f"- {line}" for line in [*setting, f"Command: `{command}`"]),
    ]
    return "\n\n".join(parts) + "\n"
