"""The picture of learning: a line in a band for each run, or for several that differ by seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from matplotlib.figure import Figure

from crib_env.arrays import Doubles
from crib_training.outputs import as_png

What = Literal["won", "points"]
WORDS: dict[What, str] = {"won": "games won, %", "points": "points per deal more than the opponent"}
SCALES: dict[What, float] = {"won": 100.0, "points": 1.0}
STEPS = 200  # between the ends of several runs' mean


@dataclass(frozen=True)
class Line:
    """A line with a band, over CPU seconds.

    Attributes:
        label: what it is.
        seconds: float64[K], CPU seconds.
        mean: float64[K], the line.
        low: float64[K], the band's lower edge.
        high: float64[K], the band's upper edge.
        dots: whether each point is marked.
        band: what the band spans, in words.
    """

    label: str
    seconds: Doubles
    mean: Doubles
    low: Doubles
    high: Doubles
    dots: bool
    band: str


def of_run(
    label: str, points: Sequence[Mapping[str, Any]], opponent: str, what: What = "won"
) -> Line:
    """Return the line of one run against an opponent, with the 95 % interval of each point."""
    chosen = [point for point in points if point["opponent"] == opponent]
    seconds, mean, half = (
        np.array([point[name] for point in chosen], dtype=np.float64)
        for name in ("cpu_seconds", what, f"{what}_interval")
    )
    mean, half = SCALES[what] * mean, SCALES[what] * half
    return Line(label, seconds, mean, mean - half, mean + half, True, "95 % interval")


def of_runs(label: str, runs: Sequence[Line]) -> Line:
    """Return the mean of runs over the seconds that all of them had, from the least to the most."""
    if len(runs) == 1:
        (run,) = runs
        return Line(label, run.seconds, run.mean, run.low, run.high, run.dots, run.band)
    first, last = max(run.seconds[0] for run in runs), min(run.seconds[-1] for run in runs)
    seconds = np.linspace(first, last, STEPS)
    values = np.array([np.interp(seconds, run.seconds, run.mean) for run in runs])
    band = f"least to most of {len(runs)} runs"
    return Line(
        label, seconds, values.mean(axis=0), values.min(axis=0), values.max(axis=0), False, band
    )


def draw(
    lines: Sequence[Line], levels: Mapping[str, float], title: str, what: What = "won"
) -> bytes:
    """Return lines as PNG."""
    figure = Figure(figsize=(7, 4.2), layout="tight")
    axes = figure.subplots()
    for line in lines:
        marker = "o" if line.dots else None
        axes.plot(line.seconds, line.mean, marker=marker, markersize=3, label=line.label)
        axes.fill_between(line.seconds, line.low, line.high, alpha=0.25)
    for name, level in levels.items():
        height = SCALES[what] * level
        axes.axhline(height, color="grey", linewidth=0.8, linestyle="--", zorder=0)
        axes.annotate(
            name, (1.0, height), xytext=(-3, 2), textcoords="offset points",
            xycoords=("axes fraction", "data"), ha="right", va="bottom", color="dimgrey",
        )  # fmt: skip
    bands = " / ".join(dict.fromkeys(line.band for line in lines))
    axes.set_xlabel("CPU seconds of playing and learning")
    axes.set_ylabel(WORDS[what])
    axes.set_title(title, fontsize="medium")
    axes.legend(loc="lower right", title=f"band: {bands}", title_fontsize="small")
    return as_png(figure)
