"""A run's distance from equilibrium, iteration by iteration, and its picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from crib_training.outputs import as_png


@dataclass(frozen=True)
class SolvePoint:
    """The average strategy after ``iterations``; gains in points per deal."""

    iterations: int
    cpu_seconds: float
    pone_gains: float
    dealer_gains: float
    value: float


def picture(curve: Sequence[SolvePoint], title: str) -> bytes:
    """Return the curve as PNG."""
    figure = Figure(figsize=(7, 4.2), layout="tight")
    axes = figure.subplots()
    seconds = [point.cpu_seconds for point in curve]
    for seat in ("pone", "dealer"):
        gains = [getattr(point, f"{seat}_gains") for point in curve]
        axes.plot(seconds, gains, marker="o", markersize=3, label=f"as {seat}")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("CPU seconds of iterations")
    axes.set_ylabel("the best response gains, points per deal")
    axes.set_title(title)
    axes.legend()
    return as_png(figure)
