"""How does the cost grow with the number of games, on one thread and on two?

Random play as in `benchmarks.batch`, N from 1 to 65,536; also drawn, in ``docs/pictures``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.lanes import Lanes
from benchmarks.timing import FULL, Contender, Findings, Row, Settings, race, rate_of, ratio

SIZES = tuple(4**k for k in range(9))
PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "scaling.png"


def measure(settings: Settings = FULL) -> Findings:
    """Measure every N on one thread and, from 4 games on, on two."""
    sizes = SIZES[:3] if settings.quick else SIZES
    settings = replace(settings, seconds=settings.seconds / 2)
    rows: list[Row] = []
    ratios: list[Row] = []
    for n in sizes:  # one size at a time: the largest takes tens of megabytes
        contenders = [
            Contender(f"N={n}, {threads} thread{'s' * (threads > 1)}", rate_of(lanes.play))
            for threads in (1, 2)[: 2 if n > 1 else 1]
            for lanes in [Lanes("hoyle", n, threads=threads)]
        ]
        found = race(contenders, "decisions/s", settings)
        rows += found
        if len(found) == 2:
            ratios.append(ratio(f"N={n}: 2 threads / 1 thread", found[1], found[0]))
    notes = [f"{settings.seconds:g} s a repeat here"]
    return Findings("Batch size", rows, ratios, notes)


def draw(rows: Sequence[Row], to: Path = PICTURE) -> list[str]:
    """Draw the rows; return the picture's name, or nothing where matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return []
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for ending in ("1 thread", "2 threads"):
        line = [row for row in rows if row.name.endswith(ending)]
        sizes = [int(row.name.removeprefix("N=").split(",")[0]) for row in line]
        axes.plot(sizes, [row.median / 1e6 for row in line], marker="o", label=ending)
        axes.fill_between(
            sizes, [row.low / 1e6 for row in line], [row.high / 1e6 for row in line], alpha=0.2
        )
    axes.set_xscale("log", base=4)
    axes.set_xticks(SIZES, [f"{n:,}" for n in SIZES])
    axes.minorticks_off()
    axes.set_ylim(bottom=0)
    axes.set_xlabel("games side by side, N")
    axes.set_ylabel("million decisions per second")
    axes.legend()
    figure.savefig(to, dpi=120)
    return [to.name]
