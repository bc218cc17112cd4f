"""Make the results of the benchmark: runs, their measurements, and the page with its picture.

    python -m docs.make_benchmark --runs runs/benchmark --seeds 3

A run lies in ``RUNS/METHOD/SEED``. A run that is missing is made; a stopped one resumes. Results
that `docs/numbers/benchmark.json` has are not made again, so the page can be made in parts, on
several machines; ``--measure-only`` makes no run. Writes that file, `docs/numbers/benchmark.md` and
`docs/pictures/benchmark.png`.
"""

from __future__ import annotations

import csv
import json
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from crib_agents.files import write_whole
from crib_agents.loading import load_agent
from crib_training.baselines.run import CURVE, POLICY
from crib_training.command_line import start
from crib_training.evaluation.evaluate import evaluate
from crib_training.evaluation.markdown import table
from crib_training.exploit import exploitability
from crib_training.learn.train import METHODS
from crib_training.loading import find_game
from crib_training.outputs import CHECKPOINT, as_png

from crib_env.settings import Count, NewFolder, checked_dataclass
from docs.pages import render

DOCS = Path(__file__).parent
NUMBERS, PAGE = DOCS / "numbers" / "benchmark.json", DOCS / "numbers" / "benchmark.md"
PICTURE = DOCS / "pictures" / "benchmark.png"
ENV = "five_card_v0"
LINES: dict[str, tuple[str, dict[str, Any]]] = {  # a method with other settings, by its line's name
    "mmd_ema": ("mmd", {"magnet": "ema"}),
    "monte_carlo_mixed": ("monte_carlo", {"temperature": 0.08}),
}
MEASURED = "measured.json"
OPPONENTS = ("expert", "equilibrium")
HANDS, ABSTRACTION, PAIRS = 400, 6, 4000
STAGES = 1, 3, 10  # millions of decisions
TICKS = [0.01, 0.03, 0.1, 0.3, 1, 3]
LEVELS = {"rule_based": 0.2277, "expert": 0.1009, "equilibrium": 0.0113}  # numbers/exploitability


@checked_dataclass(frozen=True, kw_only=True)
class Settings:
    """Make the page of the benchmark.

    Attributes:
        methods: the lines of the page: methods of `crib train`, mmd_ema or monte_carlo_mixed.
        runs: the folder of the runs.
        seeds: 1 to this.
        decisions: of each run.
        measure_only: make no run.
    """

    methods: tuple[str, ...] = ("selfplay_ppo", "mmd", "mmd_ema", "mmd_tree", "vrpo", "nfsp",
                               "escher", "monte_carlo", "monte_carlo_mixed")  # fmt: skip
    runs: NewFolder = Path("runs/benchmark")
    seeds: Count = 3
    decisions: Count = 10_000_000
    measure_only: bool = False


def learn(line: str, seed: int, decisions: int, folder: Path) -> None:
    """Make a run, or go on with it."""
    method, given = LINES.get(line, (line, {}))
    module = import_module(METHODS[method])
    resume = folder if (folder / CHECKPOINT).exists() else None
    module.run(module.Settings(env=ENV, seed=seed, decisions=decisions, out=folder, resume=resume,
                               **given))  # fmt: skip


def curve_of(folder: Path) -> list[dict[str, float]]:
    """Return the measurements of a run, a row each."""
    with (folder / CURVE).open() as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def measure(line: str, folder: Path) -> dict[str, Any]:
    """Return the final figures of a run, measured once: exploitability and points per deal."""
    stored = folder / MEASURED
    if not stored.exists():
        agent = load_agent(str(folder / POLICY))
        found = exploitability(agent, env=ENV, hands=HANDS, abstraction=ABSTRACTION,
                               progress=print)  # fmt: skip
        maker, rules = find_game(ENV, None)
        against = {
            name: evaluate(maker, rules, agent, load_agent(name), PAIRS, 1, games=False)[
                "margin_per_deal"
            ]
            for name in OPPONENTS
        }
        write_whole(stored, json.dumps({**found.as_dict(), "against": against}, indent=2).encode())
    measured: dict[str, Any] = json.loads(stored.read_text())
    return measured


def mean_curve(curves: list[list[dict[str, float]]]) -> list[dict[str, float]]:
    """Return the mean of curves of equal length, with the least and the most of them."""
    rows = []
    for points in zip(*curves, strict=True):
        values = [point["exploitability"] for point in points]
        intervals = [point["ci95"] for point in points]
        rows.append({"decisions": points[0]["decisions"], "mean": float(np.mean(values)),
                     "ci95": float(np.mean(intervals)), "least": min(values),
                     "most": max(values)})  # fmt: skip
    return rows


def draw(lines: dict[str, list[dict[str, float]]]) -> bytes:
    """Return the picture as PNG: exploitability over decisions, a line for each method."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib import ticker

    figure, axes = plt.subplots(figsize=(7.5, 4.8))
    for name, rows in lines.items():
        x = [row["decisions"] / 1e6 for row in rows]
        (drawn,) = axes.plot(x, [row["mean"] for row in rows], marker="o", ms=3, label=name)
        low = [min(row["least"], row["mean"] - row["ci95"]) for row in rows]
        high = [max(row["most"], row["mean"] + row["ci95"]) for row in rows]
        axes.fill_between(x, low, high, alpha=0.15, color=drawn.get_color(), lw=0)
    for name, level in LEVELS.items():
        axes.axhline(level, color="grey", lw=0.8, ls="--")
        axes.annotate(name, (0.995, level), xycoords=("axes fraction", "data"), fontsize=8,
                      color="grey", ha="right", va="bottom")  # fmt: skip
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(ticker.FixedLocator(TICKS))
    axes.yaxis.set_major_formatter(ticker.FormatStrFormatter("%g"))
    axes.set_xlabel("decisions, millions")
    axes.set_ylabel("exploitability, points per deal")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.tight_layout()
    image = as_png(figure)
    plt.close(figure)
    return image


def cell(value: dict[str, float], places: int = 3) -> str:
    """Return a mean with its interval."""
    return f"{value['mean']:.{places}f} ± {value['ci95']:.{places}f}"


def stages(lines: dict[str, list[dict[str, Any]]]) -> str:
    """Return the table of curves: a row for each method, a column for each of `STAGES`."""
    rows = []
    for name, runs in lines.items():
        row = [name, str(len(runs))]
        for stage in STAGES:
            points = [next((p for p in run["curve"] if p["decisions"] >= stage * 1e6), None)
                      for run in runs]  # fmt: skip
            values = [point["exploitability"] for point in points if point is not None]
            seconds = [point["cpu_seconds"] for point in points if point is not None]
            whole = len(values) == len(runs)
            row += [f"{np.mean(values):.3f}", f"{np.mean(seconds):.0f}"] if whole else ["", ""]
        rows.append(row)
    head = ["method", "seeds"]
    for stage in STAGES:
        head += [f"after {stage} M", "CPU seconds"]
    return table(head, rows)


def page(lines: dict[str, list[dict[str, Any]]], settings: Settings) -> str:
    """Return the page of results."""
    rows = []
    for name, runs in lines.items():
        for run in runs:
            gain = run["gain"]
            last = run["curve"][-1]
            rows.append([
                name, run["seed"], f"{last['decisions'] / 1e6:.1f}", f"{last['cpu_seconds']:.0f}",
                cell(gain["both"]["all"]), cell(gain["both"]["discard"]),
                cell(gain["both"]["pegging"]), cell(gain["pone"]["all"]),
                cell(gain["dealer"]["all"]),
                *(cell(run["against"][other], 2) for other in OPPONENTS),
            ])  # fmt: skip
    head = ["method", "seed", "decisions, millions", "CPU seconds", "exploitability",
            "by discarding alone", "by pegging alone", "answered as pone", "answered as dealer",
            *(f"points per deal against {other}" for other in OPPONENTS)]  # fmt: skip
    return render(
        "benchmark", stages=stages(lines), runs=table(head, rows), hands=HANDS,
        abstraction=ABSTRACTION, pairs=PAIRS, seeds=settings.seeds, decisions=settings.decisions,
    )  # fmt: skip


def result(line: str, seed: int, settings: Settings, stored: list[dict[str, Any]]) -> Any:
    """Return the result of a run, made or stored; None if there is none and none is to be made."""
    folder = settings.runs / line / str(seed)
    for one in stored:
        if one["seed"] == seed and one["curve"][-1]["decisions"] >= settings.decisions:
            return one
    done = (folder / CURVE).exists() and curve_of(folder)[-1]["decisions"] >= settings.decisions
    if settings.measure_only and not done:
        return None
    if not done:
        learn(line, seed, settings.decisions, folder)
    return {**measure(line, folder), "seed": seed, "curve": curve_of(folder)}


def run(settings: Settings) -> None:
    """Make what is missing, and write the page."""
    stored = json.loads(NUMBERS.read_text()) if NUMBERS.exists() else {}
    lines: dict[str, list[dict[str, Any]]] = {}
    for line in settings.methods:
        for seed in range(1, settings.seeds + 1):
            found = result(line, seed, settings, stored.get(line, []))
            if found is not None:
                lines.setdefault(line, []).append(found)
    if not lines:
        raise ValueError(f"there is no finished run in {settings.runs}: leave out --measure-only")
    NUMBERS.write_text(json.dumps(lines, indent=2) + "\n")
    PICTURE.write_bytes(
        draw({name: mean_curve([one["curve"] for one in runs]) for name, runs in lines.items()})
    )
    PAGE.write_text(page(lines, settings))
    print(f"wrote {PAGE}, {NUMBERS} and {PICTURE}")


if __name__ == "__main__":
    start(Settings, run)
