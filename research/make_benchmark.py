"""Make the benchmark: the runs that its ledger lacks, and the page with its picture.

    python -m research.make_benchmark --runs runs/benchmark             # the whole protocol
    python -m research.make_benchmark --search 4 --seeds 3 --decisions 1000000
    python -m research.make_benchmark --page-only

Every finished run adds a row to `docs/numbers/benchmark.jsonl`; a run with a row is not made again,
and a stopped training resumes from its folder. The page and the picture show the rows there are.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
from crib_agents.files import write_whole
from crib_agents.loading import load_agent
from crib_training.command_line import start
from crib_training.evaluation.duplicate import estimate
from crib_training.exploit import Estimate
from crib_training.exploit.measure import how_exact
from crib_training.interrupts import Stopped
from crib_training.outputs import as_png, table
from crib_training.rate import APPROXIMATELY
from pydantic import Field
from scipy.stats import t as students_t  # type: ignore[import-untyped]

from crib_env.arrays import Array
from crib_env.batch import GameBatch
from crib_env.rules import PRESETS
from crib_env.settings import NewFolder, Whole, checked_dataclass
from docs.pages import render, write_changed
from research import benchmark_runs as runs

DOCS = Path(__file__).parents[1] / "docs"
PAGE, PICTURE = DOCS / "benchmark.md", DOCS / "pictures" / "benchmark.png"
SUBMISSIONS = DOCS / "benchmark_submissions"
SEARCH, FINAL, SECONDS = runs.SEARCH, runs.FINAL, runs.SECONDS
DEALS = 100_000
MARKERS = "osD^vP*X"


@checked_dataclass(frozen=True, kw_only=True)
class Settings:
    """Make the runs of the benchmark that its ledger lacks, then its page.

    Attributes:
        lines: the lines to run, such as raw/mmd; by default all of the protocol.
        search: settings to try of each line; 0 uses the best in the ledger.
        search_decisions: of a training of the search.
        seeds: how many final runs of each line, from the protocol's first seed on.
        decisions: of a final run.
        runs: the folder of the trainings.
        page_only: make no run.
    """

    lines: tuple[str, ...] = ()
    search: Annotated[Whole, Field(ge=0, le=SEARCH["settings"])] = SEARCH["settings"]
    search_decisions: Annotated[Whole, Field(ge=1, le=SEARCH["decisions"])] = SEARCH["decisions"]
    seeds: Annotated[Whole, Field(ge=0, le=FINAL["seeds"])] = FINAL["seeds"]
    decisions: Annotated[Whole, Field(ge=1, le=FINAL["decisions"])] = FINAL["decisions"]
    runs: NewFolder = Path("runs/benchmark")
    page_only: bool = False


def interval(values: list[float]) -> float:
    """Return half the 95 % t-interval of a mean; NaN of one value."""
    if len(values) < 2:
        return float("nan")
    width = students_t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / len(values) ** 0.5
    return float(width)


def best_group(rows: list[runs.Row], line: runs.Line, decisions: int) -> list[runs.Row]:
    """Return a line's final runs of a length, with the settings chosen now, or else last."""
    mine = [row for row in runs.rows_of(rows, "final", line) if row["decisions"] == decisions]
    choice, _ = runs.chosen(rows, line)
    best = max(mine, key=lambda row: (row["settings_number"] == choice, row["searched"]), default=None)
    return [row for row in mine if best and row["settings_number"] == best["settings_number"]]


def longest_group(rows: list[runs.Row], line: runs.Line) -> list[runs.Row]:
    """Return the longest final runs of a line; nothing without any."""
    decisions = max((row["decisions"] for row in runs.rows_of(rows, "final", line)), default=0)
    return best_group(rows, line, decisions)


def figures_of(group: list[runs.Row]) -> dict[str, Any]:
    """Return the page's figures of runs that differ in their seeds alone."""
    of_seeds = [row["gain"]["both"]["all"][0] for row in group]
    by_hand = np.array([row["by_hand"] for row in group])  # [seeds, hands]
    return {
        "rows": group,
        "of_seeds": of_seeds,
        "mean": float(np.mean(of_seeds)),
        "of_hands": estimate(by_hand.mean(axis=0)).ci95,
        "by_hand": by_hand,
        "exact": all(row["exact"] for row in group),
    }


def over_seeds(values: list[float]) -> str:
    """Return the interval over seeds as text."""
    return "one seed" if len(values) < 2 else f"± {interval(values):.3f}"


def mark(exact: bool) -> str:
    """Return the sign before a figure that is an approximation, else nothing."""
    return "" if exact else f"{APPROXIMATELY} "


def whole(found: Mapping[str, Any]) -> str:
    """Return a line's mean and interval, `hypot` of those of its seeds and of its hands."""
    half = np.hypot(interval(found["of_seeds"]), found["of_hands"])
    return f"{mark(found['exact'])}**{found['mean']:.3f}**" + ("" if np.isnan(half) else f" ± {half:.3f}")


def behind(one: dict[str, Any], first: dict[str, Any]) -> str:
    """Return how far a line is behind the first, with Welch's 95 % t-interval.

    The variances are those of each line's seeds, and of the hands' differences between the lines.
    """
    if one is first:
        return ""
    if min(len(one["rows"]), len(first["rows"])) < 2:
        return "one seed"
    by_hand = one["by_hand"].mean(axis=0) - first["by_hand"].mean(axis=0)
    samples = (one["of_seeds"], first["of_seeds"], by_hand)
    parts = np.array([np.var(sample, ddof=1) / len(sample) for sample in samples])
    freedom = parts.sum() ** 2 / sum(part**2 / (len(sample) - 1) for part, sample in zip(parts, samples, strict=True))
    half = students_t.ppf(0.975, freedom) * parts.sum() ** 0.5
    mean = one["mean"] - first["mean"]
    return f"{mean:.3f} ({mean - half:.3f} to {mean + half:.3f})"


def track_table(found: list[dict[str, Any]], random: float) -> str:
    """Return the table of a track's lines, which come in its order."""
    shown = []
    firsts: dict[int, dict[str, Any]] = {}  # by decisions
    for one in found:
        rows = one["rows"]
        first = firsts.setdefault(rows[0]["decisions"], one)
        parts = [np.mean([row["gain"]["both"][part][0] for row in rows]) for part in ("discard", "pegging")]
        shown.append(
            [
                f"{rows[0]['decisions'] / 1e6:g} M",
                f"`{one['line'].name}`",
                whole(one),
                over_seeds(one["of_seeds"]),
                f"± {one['of_hands']:.3f}",
                f"{100 * one['mean'] / random:.1f} %",
                behind(one, first),
                *(f"{part:.3f}" for part in parts),
                f"{len(rows)} of {FINAL['seeds']}",
                f"{np.mean([row['cpu_seconds'] for row in rows]):.0f}",
            ]
        )
    head = ["decisions", "method", "NashConv / 2", "seeds", "hands", "of random", "behind the first",
            "discards alone", "pegging alone", "runs", "training CPU s"]  # fmt: skip
    return table(head, shown)


def options_of(row: runs.Row) -> str:
    """Return the settings of a run as options of `crib train`."""
    given = {"suits": runs.PROTOCOL["suits"], **row["settings"]}
    named = {f"--{key.replace('_', '-')}": value for key, value in given.items()}
    options = " ".join(name if value is True else f"{name} {value}" for name, value in named.items())
    return f"`{row['method']} {options.replace('--features none', '--no-features')}`"


def settings_table(rows: list[runs.Row]) -> str:
    """Return the settings of the runs shown, as options of `crib train`, and their search."""
    shown = []
    for line in runs.lines():
        if group := longest_group(rows, line):
            values = [row["gain"]["both"]["all"][0] for row in runs.searched(rows, line)]
            span = f"{min(values):.3f} to {max(values):.3f}" if values else ""
            tried = f"{max(row['searched'] for row in group)} of {SEARCH['settings']}"
            shown.append([f"{line.track}/{line.name}", options_of(group[0]), tried, span])
    return table(["line", "`crib train`", "chosen from", "NashConv / 2 in the search"], shown)


def levels_table(rows: list[runs.Row]) -> str:
    """Return the table of the built-in agents in the same game, on the same hands."""
    shown = []
    for name, row in runs.levels_of(rows).items():
        mean, half = row["gain"]["both"]["all"]
        shown.append([f"`{name}`", f"{mark(row['exact'])}{mean:.4f} ± {half:.4f}", f"{row['measured_in']:.0f}"])
    return table(["agent", "NashConv / 2 ± hands", "measured in, CPU s"], shown)


def curve_of(rows: list[runs.Row]) -> Array:
    """Return decisions, CPU seconds, mean, least and most NashConv / 2 of a line, [M, 5].

    A point needs a value of every run. All use the same hands, the first of a final figure's.
    """
    points: dict[int, list[tuple[float, float]]] = {}
    for row in rows:
        for point in row.get("curve", []):
            if point["decisions"] < row["decisions"]:
                mark = int(float(f"{point['decisions']:.1g}"))  # a run passes the mark within a batch
                points.setdefault(mark, []).append((point["cpu_seconds"], point["mean"]))
        last = row["cpu_seconds"], float(np.mean(row["by_hand"][: FINAL["mark_hands"]]))
        points.setdefault(row["decisions"], []).append(last)
    found = []
    for mark, each in sorted(points.items()):
        seconds, values = zip(*each, strict=True)
        if len(each) == len(rows):
            found.append([mark, np.mean(seconds), np.mean(values), min(values), max(values)])
    return np.array(found)


def draw(found: list[dict[str, Any]], levels: Mapping[str, float]) -> bytes:
    """Return the picture as PNG: curves over decisions and over CPU seconds, bands over seeds."""
    from matplotlib import colormaps, ticker
    from matplotlib.figure import Figure

    ordered = sorted(found, key=lambda one: (one["line"].track == "open", one["mean"]))
    figure = Figure(figsize=(5.2, 9.4), layout="constrained")
    both = figure.subplots(2, 1)
    names = list(dict.fromkeys(one["line"].name for one in ordered))
    colors = {name: colormaps["tab20"](2 * i % 20 + i // 10 % 2) for i, name in enumerate(names)}
    for number, one in enumerate(ordered):
        line, curve = one["line"], curve_of(one["rows"])
        style = MARKERS[number % len(MARKERS)] + {"raw": "-", "open": "--"}[line.track]
        for axes, x in zip(both, curve[:, :2].T, strict=True):
            color = colors[line.name]
            label = f"{line.track}/{line.name} ({len(one['rows'])})"
            axes.plot(x, curve[:, 2], style, color=color, ms=5, lw=1.2, alpha=0.8, label=label)
            axes.fill_between(x, curve[:, 3], curve[:, 4], color=color, alpha=0.2, lw=0)
    shown = (("decisions, millions", [3e5, 1e6, 3e6, 1e7], 1e6), ("CPU seconds", [30.0, 1e2, 3e2, 1e3, 3e3], 1.0))
    for axes, (label, ticks, unit) in zip(both, shown, strict=True):
        for name, at in levels.items():
            axes.axhline(at, color="grey", lw=0.8, ls=":")
            axes.annotate(
                name, (1.0, at), xycoords=("axes fraction", "data"), fontsize=9, color="grey", ha="right", va="bottom"
            )
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(ticker.FixedLocator([0.01, 0.03, 0.1, 0.3, 1, 3]))
        axes.yaxis.set_major_formatter(ticker.FormatStrFormatter("%g"))
        axes.yaxis.set_minor_formatter(ticker.NullFormatter())
        axes.xaxis.set_major_locator(ticker.FixedLocator(ticks))
        axes.xaxis.set_major_formatter(lambda x, _, unit=unit: f"{x / unit:g}")
        axes.xaxis.set_minor_formatter(ticker.NullFormatter())
        axes.set_xlabel(label)
        axes.grid(alpha=0.3)
        axes.set_ylabel("NashConv / 2, points per deal")
    handles = both[0].get_legend_handles_labels()
    figure.legend(*handles, fontsize=9, ncols=2, loc="outside lower center")
    return as_png(figure)


def budget_runs(rows: list[runs.Row], line: runs.Line, budget: int) -> list[runs.Row]:
    """Return a line's runs for a budget: its own, else final runs of about that length."""
    own = runs.timed(rows, line, budget)
    if own:  # the rate may have changed since the first of them
        return [row for row in own if row["decisions"] == own[-1]["decisions"]]
    first = runs.first_final(rows, line)
    if first is None or not runs.is_near(first["cpu_seconds"], budget):
        return []
    return best_group(rows, line, first["decisions"])


def budget_table(rows: list[runs.Row]) -> str:
    """Return the table of the runs by CPU seconds, a row for each line that has some."""
    shown, budgets = [], SECONDS["budgets"]
    head = ["line"]
    for budget in budgets:
        head += [f"budget {budget}: NashConv / 2", "seeds, hands", "runs", "decisions", "CPU s"]
    for line in runs.lines():
        found = [budget_runs(rows, line, budget) for budget in budgets]
        if any(found):
            shown.append([f"`{line.track}/{line.name}`", *(cell for mine in found for cell in budget_cells(mine))])
    return table(head, shown) if shown else ""


def budget_cells(mine: list[runs.Row]) -> list[str]:
    """Return the cells of a line's runs for a budget; empty ones without any."""
    if not mine:
        return [""] * 5
    found = figures_of(mine)
    seconds = [row["cpu_seconds"] for row in mine]
    planned = SECONDS["seeds"] if mine[0]["stage"] == "seconds" else FINAL["seeds"]
    return [
        whole(found),
        f"{over_seeds(found['of_seeds'])}, ± {found['of_hands']:.3f}",
        f"{len(mine)} of {planned}",
        f"{mine[0]['decisions'] / 1e6:g} M",
        f"{np.mean(seconds):.0f} ({min(seconds):.0f} to {max(seconds):.0f})",
    ]


def submissions() -> str:
    """Return the table of submitted policies, best first."""
    known = [json.loads(file.read_text("utf-8")) for file in SUBMISSIONS.glob("*.json")]
    known.sort(key=lambda one: float(one["gain"]["both"]["all"]["mean"]))
    shown = []
    for one in known:
        gain = {part: Estimate(**found) for part, found in one["gain"]["both"].items()}
        figures = [f"{mark(how_exact(one) == 'exact')}{gain['all']}"]
        figures += [f"{gain[part].mean:.3f}" for part in ("discard", "pegging")]
        shown.append([one["about"].replace("|", "\\|"), *figures, f"`{one['policy']}`"])
    return table(["policy", "NashConv / 2", "discards alone", "pegging alone", "digest"], shown)


def payoffs() -> dict[str, float]:
    """Return mean, deviation and range of pone's lead in points per deal, by `equilibrium`."""
    games = GameBatch(PRESETS["five_card"], DEALS, episode="deal", seed=1)
    games.reset(dealer=0)
    agent, rng = load_agent("equilibrium"), np.random.default_rng(1)
    for _ in games.play(agent, rng):
        pass
    points = (games.tally[:, 1] - games.tally[:, 0]).sum(axis=1)
    spread = {"least": int(points.min()), "most": int(points.max())}
    return {"mean": float(points.mean()), "deviation": float(points.std()), **spread}


def hours_left(rows: list[runs.Row]) -> float:
    """Return the CPU hours of the missing runs.

    A line without runs has the rate of the slowest line of its track.
    """
    ended = [row for row in rows if row["stage"] in runs.STAGES]
    made = {runs.key_of(row) for row in ended}
    trained = [row for row in ended if "diverged" not in row]
    measuring = float(np.mean([row["measured_in"] for row in trained]))
    sizes = SEARCH["settings"], SEARCH["decisions"], FINAL["seeds"], FINAL["decisions"]
    rates = {}  # CPU seconds a decision
    for line in runs.lines():
        own = [row for stage in runs.STAGES for row in runs.rows_of(rows, stage, line)]
        if own:
            rates[line] = sum(row["cpu_seconds"] for row in own) / sum(row["decisions"] for row in own)
    seconds = 0.0
    for line in runs.lines():
        of_track = [rate for other, rate in rates.items() if other.track == line.track] or rates.values()
        a_decision = rates.get(line, max(of_track))
        jobs = list(runs.jobs(rows, [line], *sizes))
        left = [job for job in jobs if job.key not in made]
        seconds += sum((job.budget or job.decisions * a_decision) + measuring for job in left)
        seconds += measuring * len(FINAL["marks"]) * sum(job.stage == "final" for job in left)
        if any(job.stage == "final" and job.seed == FINAL["first_seed"] for job in left):  # sets their decisions
            expected = FINAL["decisions"] * a_decision
            budgets = [budget for budget in SECONDS["budgets"] if not runs.is_near(expected, budget)]
            seconds += SECONDS["seeds"] * sum(budget + measuring for budget in budgets)
    return seconds / 3600


def is_unclear(rows: list[runs.Row], line: runs.Line) -> bool:
    """Return whether the hands of a search leave open which of its two best settings is better."""
    ordered = sorted(runs.searched(rows, line), key=lambda row: float(row["gain"]["both"]["all"][0]))
    if len(ordered) < 2:
        return False
    gap = estimate(np.subtract(ordered[1]["by_hand"], ordered[0]["by_hand"]))
    return gap.mean < gap.ci95


def better_before(rows: list[runs.Row], line: runs.Line) -> str | None:
    """Return how a line's shorter runs of the same settings end below its whole ones, if any do."""
    whole = best_group(rows, line, FINAL["decisions"])
    shorter = [best_group(rows, line, SEARCH["decisions"])]
    shorter += [budget_runs(rows, line, budget) for budget in SECONDS["budgets"]]
    if not whole:
        return None
    same = [
        group
        for group in shorter
        if group
        and group[0]["decisions"] < whole[0]["decisions"]
        and group[0]["settings_number"] == whole[0]["settings_number"]
    ]
    mean, best = min(((figures_of(group)["mean"], group) for group in [whole, *same]), key=lambda one: float(one[0]))
    if best is whole:
        return None
    return f"{line.track}/{line.name} ({mean:.3f} after {best[0]['decisions'] / 1e6:g} M)"


def progress(rows: list[runs.Row]) -> dict[str, Any]:
    """Return how much of the protocol is done, for the page; searches that diverged are done."""
    lines = runs.lines()
    longest = {line: longest_group(rows, line) for line in lines}
    shown = [row for group in longest.values() for row in group]
    length = SEARCH["decisions"]
    whole = sum(row["decisions"] == FINAL["decisions"] for row in shown)
    searches = [row for row in rows if row["stage"] == "search" and row["decisions"] == length]
    tried = Counter((row["track"], row["line"]) for row in searches)
    complete = [line for line in lines if tried[line.track, line.name] == SEARCH["settings"]]
    made = {runs.key_of(row) for row in rows if row["stage"] == "seconds"}
    budgets = [(line, budget) for line in lines for budget in SECONDS["budgets"]]
    due = [job for one in budgets for job in runs.by_seconds(rows, *one, SECONDS["seeds"])]
    unknown = [line for line, _ in budgets if runs.first_final(rows, line) is None]
    diverged = [row for row in rows if "diverged" in row]
    planned = [row for row in rows if row["stage"] == "final" and row["decisions"] == FINAL["decisions"]]
    planned += searches + [row for row in rows if row["stage"] == "seconds"]
    spent = sum(row["cpu_seconds"] + row.get("measured_in", 0.0) for row in planned)
    return {
        "whole": whole,
        "shorter": len(shown) - whole,
        "planned": len(lines) * FINAL["seeds"],
        "searched": len(searches),
        "to_search": len(lines) * SEARCH["settings"],
        "by_seconds": sum(job.key in made for job in due),
        "to_spend": len(due) + len(unknown) * SECONDS["seeds"],
        "missing": [f"{line.track}/{line.name}" for line, group in longest.items() if not group],
        "complete": len(complete),
        "unclear": sum(is_unclear(rows, line) for line in complete),
        "undrawn": [f"{line.track}/{line.name}" for line in complete if runs.chosen(rows, line)[0] == 0],
        "better_before": list(filter(None, (better_before(rows, line) for line in lines))),
        "diverged": [f"{row['track']}/{row['line']} seed {row['seed']}" for row in diverged],
        "without_trees": [sum("trees" not in row.get("made_with", {}) for row in some) for some in (shown, searches)],
        "without_commit": sum("made_with" not in row for row in searches),
        "hours": spent / 3600,
        "left": hours_left(rows),
    }


def write_page(rows: list[runs.Row]) -> None:
    """Write the page and the picture of the ledger's rows."""
    levels = runs.levels_of(rows)
    random = levels["random"]["gain"]["both"]["all"][0]
    groups = {line: longest_group(rows, line) for line in runs.lines()}
    longest = {line: {"line": line, **figures_of(group)} for line, group in groups.items() if group}
    ordered = sorted(longest.values(), key=lambda one: (-one["rows"][0]["decisions"], float(one["mean"])))
    by_track = {track: [one for one in ordered if one["line"].track == track] for track in runs.PROTOCOL["tracks"]}
    ends = [abs(curve_of(one["rows"])[-1, 2] / one["mean"] - 1) for one in longest.values()]
    used = [row["cpu_seconds"] / row["budget"] for row in rows if row["stage"] == "seconds" and "diverged" not in row]
    search = [row for row in rows if row["stage"] == "search" and "diverged" not in row]
    widths = [row["gain"]["both"]["all"][1] for row in search]
    measured = [row["measured_in"] for group in groups.values() for row in group]
    ledger = runs.LEDGER.read_bytes()
    first = FINAL["mark_hands"]  # the hands of the curves
    write_whole(
        PICTURE,
        draw(list(longest.values()), {name: float(np.mean(row["by_hand"][:first])) for name, row in levels.items()}),
    )
    page = render(
        "benchmark",
        protocol=runs.PROTOCOL,
        tracks={track: track_table(found, random) for track, found in by_track.items()},
        uses=[(line.name, line.about["uses"]) for line in runs.lines() if line in longest and "uses" in line.about],
        settings=settings_table(rows),
        done=progress(rows),
        firsts={track: found[0] for track, found in by_track.items() if found},
        random=random,
        equilibrium=levels["equilibrium"]["gain"]["both"]["all"][0],
        payoffs=payoffs(),
        measured=float(np.mean(measured)),
        widths=(min(widths, default=0.0), max(widths, default=0.0)),
        ledger=(len(ledger.splitlines()), hashlib.sha256(ledger).hexdigest()[:16]),
        levels=levels_table(rows),
        deals=DEALS,
        budgets=budget_table(rows),
        near=runs.NEAR,
        used=(min(used, default=1.0), max(used, default=1.0)),
        ends=max(ends),
        submissions=submissions(),
    )
    write_changed(PAGE, page)
    print(f"wrote {PAGE} and {PICTURE}")


def print_row(name: str, row: runs.Row) -> None:
    """Print the figure of a new row."""
    if "diverged" in row:
        print(f"{name}: {row['diverged']}", flush=True)
        return
    mean, half = row["gain"]["both"]["all"]
    print(f"{name}: {mean:.4f} ± {half:.4f}", flush=True)


def run(settings: Settings) -> None:
    """Make the missing runs, and write the page."""
    torch.set_num_threads(1)
    rows = runs.read_ledger()
    known = {f"{line.track}/{line.name}": line for line in runs.lines()}
    if unknown := [name for name in settings.lines if name not in known]:
        raise ValueError(f"lines: there is no {', '.join(unknown)}; they are {', '.join(known)}")
    some = [known[name] for name in settings.lines or known]
    if not settings.page_only:
        runs.made_with()  # of the code as it is now
        for name in runs.PROTOCOL["levels"]["agents"]:
            if name not in runs.levels_of(rows):
                print_row(name, runs.make_level(name))
        for job in runs.jobs(
            rows, some, settings.search, settings.search_decisions, settings.seeds, settings.decisions
        ):
            if job.key not in (runs.key_of(row) for row in rows if row["stage"] in runs.STAGES):
                try:
                    row = runs.make(job, settings.runs)
                except Stopped:
                    raise Stopped("the run is saved; the same command continues it") from None
                print_row(" ".join(map(str, job.key)), row)
            rows[:] = runs.read_ledger()  # with those that another process has made since
        rows = runs.read_ledger()
    agents = runs.PROTOCOL["levels"]["agents"]
    if not all(name in runs.levels_of(rows) for name in agents) or not any(
        longest_group(rows, line) for line in runs.lines()
    ):
        raise ValueError(
            f"{runs.LEDGER} lacks final runs or {', '.join(agents)}: leave out --page-only, or give --seeds 1"
        )
    write_page(rows)


if __name__ == "__main__":
    start(Settings, run)
