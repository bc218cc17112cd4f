"""Measure the solver by its CPU time, and draw the picture of `docs/solving.md`.

    python -m research.make_solving --out runs/solving

Solves five cards with more and more iterations and measures each solution with
`crib exploit`. A run or a point that ``--out`` has is not made again. Writes
`docs/numbers/solving.json` and `docs/pictures/solving.png`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from crib_agents.files import read_header, write_whole
from crib_training.command_line import start
from crib_training.exploit import exploitability
from crib_training.provenance import versions

from crib_env.settings import Count, NewFolder, checked_dataclass
from research.solve.__main__ import CHECKPOINT, REFINED, STARTERS, STRATEGY, solve
from research.solve.__main__ import Settings as Solving

DOCS = Path(__file__).parents[1] / "docs"
NUMBERS, PICTURE = DOCS / "numbers" / "solving.json", DOCS / "pictures" / "solving.png"
BASIC, REFINED_AFTER = (10, 21, 45), 45
REFINED_BY = (10,)
HANDS, SEED = 400, 1
COLOURS = {"basic": "#2a6fb0", "refined": "#c4541c"}


def seconds(checkpoint: Path) -> float:
    """Return the CPU seconds that a run took."""
    return float(read_header(checkpoint)[0]["cpu_seconds"])


def basic(out: Path, iterations: int, before: Path | None) -> tuple[Path, float]:
    """Return a basic strategy after a number of iterations, and its cost."""
    folder = out / f"basic_{iterations}"
    if not (folder / CHECKPOINT).exists():
        solve(Solving(iterations=iterations, eval_interval=0, out=folder, resume=before))
    return folder / STRATEGY, seconds(folder / CHECKPOINT)


def refined(out: Path, iterations: int) -> tuple[Path, float]:
    """Return a strategy refined by a number of iterations, and the cost in all."""
    folder, begin = out / f"refined_{iterations}", out / f"basic_{REFINED_AFTER}"
    if not (folder / REFINED).exists():
        going_on = folder if (folder / CHECKPOINT).exists() else begin
        solve(Solving(iterations=REFINED_AFTER, eval_interval=0, refine=iterations, out=folder, resume=going_on))
    return folder / REFINED, seconds(begin / CHECKPOINT) + seconds(folder / STARTERS)


def measure(strategy: Path, abstraction: int) -> dict[str, Any]:
    """Return the gain of a best response to a strategy."""
    result = exploitability(strategy, hands=HANDS, seed=SEED, abstraction=abstraction).as_dict()
    return {"gain": result["gain"]["both"]["all"], "agreement": result["agreement"]}


def draw(points: list[dict[str, Any]], path: Path) -> None:
    """Draw the points, exploitability against CPU seconds."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import NullFormatter

    figure, axes = plt.subplots(figsize=(7, 4.2))
    for kind, colour in COLOURS.items():
        of_kind = sorted((p for p in points if p["kind"] == kind), key=lambda p: p["cpu_seconds"])
        axes.errorbar(
            [p["cpu_seconds"] for p in of_kind],
            [p["gain"]["mean"] for p in of_kind],
            [p["gain"]["ci95"] for p in of_kind],
            color=colour,
            marker="o",
            markersize=4,
            capsize=3,
            label=kind,
        )
        for point in of_kind:
            axes.annotate(
                str(point["iterations"]),
                (point["cpu_seconds"], point["gain"]["mean"]),
                textcoords="offset points",
                xytext=(7, 5),
                fontsize=8,
                color=colour,
            )
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:.0f}")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_ylim(bottom=0.0)
    axes.set_xlabel("CPU seconds")
    axes.set_ylabel("a best response gains, points per deal")
    axes.set_title("Five cards, by iterations")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)


@checked_dataclass(frozen=True, kw_only=True)
class Settings:
    """Measure how far `python -m research.solve` comes with its time, and draw it.

    Attributes:
        out: where runs are.
        refined: iterations of the refined strategies.
        basic: iterations of the basic ones.
    """

    out: NewFolder = Path("runs/solving")
    refined: tuple[Count, ...] = REFINED_BY
    basic: tuple[Count, ...] = BASIC


def run(chosen: Settings) -> None:
    """Make the points, the file and the picture."""
    chosen.out.mkdir(parents=True, exist_ok=True)
    stored = chosen.out / "points.json"
    points = json.loads(stored.read_text()) if stored.exists() else []
    known = {(point["kind"], point["iterations"]) for point in points}
    before = None
    for kind, iterations in (
        *(("basic", n) for n in sorted(chosen.basic)),
        *(("refined", n) for n in sorted(chosen.refined)),
    ):
        if kind == "basic":
            strategy, took = basic(chosen.out, iterations, before)
            before = strategy.parent
        else:
            strategy, took = refined(chosen.out, iterations)
        if (kind, iterations) in known:
            continue
        found = measure(strategy, abstraction=int(kind == "basic"))  # whose play knows no pairs
        points.append({"kind": kind, "iterations": iterations, "cpu_seconds": took, "hands": HANDS, **found})
        write_whole(stored, (json.dumps(points, indent=2) + "\n").encode())
        print(points[-1], flush=True)
    data = {
        "command": f"python -m research.make_solving --out {chosen.out}",
        "seed": SEED,
        "versions": versions(),
        "points": points,
    }
    NUMBERS.write_text(json.dumps(data, indent=2) + "\n")
    draw(points, PICTURE)


if __name__ == "__main__":
    start(Settings, run)
