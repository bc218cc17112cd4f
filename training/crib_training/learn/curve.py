"""Strength during training by deep Monte Carlo or PPO, measured on duplicate deals.

Both write ``curve.csv``, with the same columns, the picture ``curve.png``, and ``curve.json`` with
the texts of the picture. `crib curves` draws several runs into one picture. The benchmark's methods
measure exploitability instead (`deal_learners`).
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from crib_agents.files import write_whole
from crib_agents.loading import load_agent
from matplotlib.figure import Figure

from crib_env.arrays import Doubles
from crib_env.envs.makers import EnvMaker
from crib_env.policy import Agent
from crib_env.rules import Rules
from crib_env.settings import NewFile, checked_dataclass
from crib_training.evaluation.duplicate import estimate, play_pairs
from crib_training.learn.run import Curve, Learner, Measured
from crib_training.loading import in_phase, shortest_episode, sides_of
from crib_training.outputs import as_png, csv_table, write_json

What = Literal["won", "points"]
LABELS: dict[What, str] = {"won": "games won, %", "points": "points per deal more than the opponent"}
SCALES: dict[What, float] = {"won": 100.0, "points": 1.0}
STEPS = 200  # points of the mean of several runs


@dataclass(frozen=True)
class Line:
    """A line with a band, over CPU seconds."""

    label: str  # its name
    seconds: Doubles  # float64[K], CPU seconds
    mean: Doubles  # float64[K], the line
    low: Doubles  # float64[K], the band's lower edge
    high: Doubles  # float64[K], the band's upper edge
    dots: bool  # whether each point is marked
    band: str  # the band's meaning, in words


def of_run(label: str, points: Sequence[Mapping[str, Any]], opponent: str, what: What = "won") -> Line:
    """Return the line of one run against an opponent, with the 95 % interval of each point."""
    chosen = [point for point in points if point["opponent"] == opponent]
    seconds, mean, half = (
        np.array([point[name] for point in chosen], dtype=np.float64)
        for name in ("cpu_seconds", what, f"{what}_interval")
    )
    mean, half = SCALES[what] * mean, SCALES[what] * half
    return Line(label, seconds, mean, mean - half, mean + half, True, "95 % interval")


def of_runs(label: str, runs: Sequence[Line]) -> Line:
    """Return the mean of runs over the seconds that all cover; the band is from least to most."""
    if len(runs) == 1:
        return replace(runs[0], label=label)
    first, last = max(run.seconds[0] for run in runs), min(run.seconds[-1] for run in runs)
    seconds = np.linspace(first, last, STEPS)
    values = np.array([np.interp(seconds, run.seconds, run.mean) for run in runs])
    band = f"least to most of {len(runs)} runs"
    return Line(label, seconds, values.mean(axis=0), values.min(axis=0), values.max(axis=0), False, band)


def draw(lines: Sequence[Line], levels: Mapping[str, float], title: str, what: What = "won") -> bytes:
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
            name,
            (1.0, height),
            xytext=(-3, 2),
            textcoords="offset points",
            xycoords=("axes fraction", "data"),
            ha="right",
            va="bottom",
            color="dimgrey",
        )
    bands = " / ".join(dict.fromkeys(line.band for line in lines))
    axes.set_xlabel("CPU seconds of playing and learning")
    axes.set_ylabel(LABELS[what])
    axes.set_title(title, fontsize="medium")
    axes.legend(loc="lower right", title=f"band: {bands}", title_fontsize="small")
    return as_png(figure)


SEED = 2_000_000  # of the deals of every measurement
TABLE, WORDS, PICTURE = "curve.csv", "curve.json", "curve.png"


@dataclass(frozen=True)
class Point:
    """The strength of the agent at one point of its training, against one opponent."""

    deals: int  # learned from so far
    decisions: int  # learned from so far
    cpu_seconds: float  # of playing and learning
    opponent: str  # the opponent of the measurement
    points: float  # points per deal more than the opponent
    points_interval: float  # half its 95 % interval
    won: float  # the share of games won
    won_interval: float  # half its 95 % interval

    def measured(self) -> Measured:
        """Return the measurement for the screen and TensorBoard."""
        won = f"{100 * self.won:.1f} ± {100 * self.won_interval:.1f} % against {self.opponent}"
        text = (
            f"{self.deals:>10,} deals {self.decisions:>11,} decisions "
            f"{self.cpu_seconds:7.1f} CPU s  {self.points:+.2f} ± {self.points_interval:.2f} "
            f"points per deal, {won}"
        )
        scalars = {f"games_won/{self.opponent}": self.won, f"points_per_deal/{self.opponent}": self.points}
        return Measured(text, scalars, f", {won}")


class Strength(Curve):
    """The strength of a run's agent against reference opponents.

    The settings name the opponents, the baselines, and how often and on how many pairs to measure.
    Without ``eval_opponents`` their ``opponent`` is the only one. ``shares`` holds the share of
    games that each baseline won.
    """

    def __init__(self, maker: EnvMaker, rules: Rules, players: int, method: str, settings: Any) -> None:
        self.maker, self.rules, self.players, self.settings = maker, rules, players, settings
        if settings.eval_opponents is None:  # one name, which may hold a comma
            opponents = [settings.trusted(settings.opponent)]
        else:
            opponents = settings.eval_opponents.split(",")
        self.opponents, self.baselines = (
            {name: load_agent(name) for name in filter(None, names)}
            for names in (opponents, settings.baselines.split(","))
        )
        if not self.opponents:
            raise ValueError("strength is measured against one opponent at least: --eval-opponents NAME")
        game = maker.name.rpartition("_v")[0].replace("_", " ").capitalize()
        variant = "" if rules.name == maker.rules else f" by the rules {rules.name}"
        self.title = f"{game}{variant} for {players}, learned by {method}"
        self.points: list[Point] = []
        self.shares: dict[str, float] = {}

    def due(self, learner: Learner) -> bool:
        """Return whether a measurement is due; the first is before the learning."""
        if not self.settings.eval_pairs or not self.points:
            return bool(self.settings.eval_pairs)
        total, last, evals = learner.total, self.points[-1].deals, int(self.settings.num_evals)
        return learner.done * evals // total > last * evals // total

    def measure(self, learner: Learner) -> list[Measured]:
        """Measure the agent so far."""
        over = learner.done >= learner.total
        pairs = self.settings.final_eval_pairs if over else self.settings.eval_pairs
        return self.measure_agent(learner.agent(), learner.done, learner.decisions, learner.cpu_seconds, pairs)

    def measure_agent(self, agent: Agent, deals: int, decisions: int, cpu_seconds: float, pairs: int) -> list[Measured]:
        """Measure an agent against each opponent; see `strength` and `Point`."""
        spent = round(cpu_seconds, 2)
        measured = [
            Point(deals, decisions, spent, name, **self._strength(agent, opponent, pairs))
            for name, opponent in self.opponents.items()
        ]
        self.points += measured
        return [point.measured() for point in measured]

    def finish(self) -> None:
        """Measure the baselines."""
        if not self.settings.eval_pairs:
            return
        first, opponent = next(iter(self.opponents.items()))
        self.shares = {first: 1 / sides_of(self.rules, self.players)}
        for name, agent in self.baselines.items():
            self.shares[name] = self._strength(agent, opponent, self.settings.eval_pairs)["won"]

    def _strength(self, agent: Agent, opponent: Agent, pairs: int) -> dict[str, float]:
        ours, theirs = in_phase(self.maker, agent), in_phase(self.maker, opponent)
        episode = shortest_episode(self.maker)
        return strength(ours, theirs, self.rules, episode, self.players, pairs)

    def write(self, folder: Path) -> None:
        """Write the table and the texts of the picture."""
        write_whole(folder / TABLE, csv_table(Point, self.points))
        words = {"title": self.title, "baselines": self.shares}
        write_json(folder / WORDS, words)

    def draw(self, folder: Path) -> None:
        """Write the picture, if anything was measured."""
        if self.points:
            known = [of_run(f"against {name}", [asdict(p) for p in self.points], name) for name in self.opponents]
            write_whole(folder / PICTURE, draw(known, self.shares, self.title))

    def state(self) -> dict[str, Any]:
        """Return the measurements, ready for JSON."""
        return {"points": [asdict(point) for point in self.points], "baselines": self.shares}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore what `state` returned."""
        self.points = [Point(**point) for point in state["points"]]
        self.shares = dict(state["baselines"])


def strength(agent: Agent, opponent: Agent, rules: Rules, episode: str, players: int, pairs: int) -> dict[str, float]:
    """Return an agent's strength against an opponent, as the fields of `Point` name it.

    Among three sides the agent meets two of the opponent.
    """
    deals = play_pairs(rules, episode, agent, opponent, pairs, SEED, players=players)
    points = estimate(deals.points_ahead.mean(axis=1))
    games = play_pairs(rules, "game", agent, opponent, max(2, pairs // 2), SEED, players=players)
    won = estimate(games.shares_won)
    return {"points": points.mean, "points_interval": points.ci95, "won": won.mean, "won_interval": won.ci95}


def read_points(folder: Path) -> list[Point]:
    """Return the points that a run has written."""
    path = folder / TABLE
    if (folder / "exploitability.csv").is_file():
        raise ValueError(f"{folder} is of a method that measures exploitability: crib curves draws games and points")
    if not path.is_file():
        raise ValueError(f"{folder} is not the folder of a run: it has no {TABLE}")
    kinds = {"deals": int, "decisions": int, "opponent": str}
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return [
                Point(**{key: kinds.get(key, float)(value) for key, value in row.items()})
                for row in csv.DictReader(file)
            ]
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path} is not the table of a run: {error}") from None


def read_words(folder: Path) -> dict[str, Any]:
    """Return the title of a run and the shares of its baselines."""
    path = folder / WORDS
    if not path.is_file():
        return {"title": folder.resolve().name, "baselines": {}}
    try:
        words: dict[str, Any] = json.loads(path.read_text("utf-8"))
        return words | {"title": str(words["title"]), "baselines": dict(words["baselines"])}
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} does not hold a run's title and baselines: {error}") from None


@checked_dataclass(frozen=True)
class Settings:
    """Draw the learning curves of several runs into one picture.

    Attributes:
        runs: folders of runs, all in one line of the picture; or several lines, each as
            NAME=FOLDER,FOLDER.
        what: the share of games won, or points per deal.
        eval_opponent: the opponent of the measurements; by default the first.
        title: the title of the picture; by default the runs' own, if they share one.
        out: the PNG file to write.
    """

    runs: tuple[str, ...]
    _: KW_ONLY
    what: What = "won"
    eval_opponent: str | None = None
    title: str | None = None
    out: NewFile = Path("curves.png")


def groups_of(runs: tuple[str, ...]) -> dict[str, list[Path]]:
    """Return the folders of each line by its name, "" if it has none."""
    named = [run for run in runs if "=" in run]
    if not all(runs or ("",)) or (named and len(named) < len(runs)):
        raise ValueError("name the folders of runs, or for each line NAME=FOLDER,FOLDER")
    if not named:
        return {"": [Path(run) for run in runs]}
    found: dict[str, list[Path]] = {}
    for run in runs:
        name, _, folders = run.partition("=")
        if not name or not all(folders.split(",")) or name in found:
            raise ValueError(f"{run} is not NAME=FOLDER,FOLDER with a name of its own")
        found[name] = [Path(folder) for folder in folders.split(",")]
    return found


def line_of(name: str, folders: list[Path], opponent: str, what: What) -> Line:
    """Return the line of one run, or of several runs' mean."""
    lines = []
    for folder in folders:
        points = [asdict(point) for point in read_points(folder)]
        lines.append(of_run("", points, opponent, what))
        if not len(lines[-1].seconds):
            raise ValueError(f"{folder} was not measured against {opponent!r}")
    label = f"mean of {len(folders)} runs" if len(folders) > 1 else folders[0].resolve().name
    return of_runs(name or label, lines)


def shared_baselines(shares: list[dict[str, float]]) -> dict[str, float]:
    """Return the baselines whose share is the same in all runs: it differs by game."""
    first, *others = shares
    return {k: v for k, v in first.items() if all(other.get(k) == v for other in others)}


def run(settings: Settings) -> None:
    """Draw, and print where the picture is."""
    groups = groups_of(settings.runs)
    first = next(iter(groups.values()))[0]
    opponent = settings.eval_opponent or next((p.opponent for p in read_points(first)), "")
    lines = [line_of(name, folders, opponent, settings.what) for name, folders in groups.items()]
    words = [read_words(folder) for folders in groups.values() for folder in folders]
    levels = {opponent: 0.0}
    if settings.what == "won":
        shared = shared_baselines([one["baselines"] for one in words])
        levels = shared if opponent in shared else {}
    titles = {one["title"] for one in words}
    title = settings.title or (titles.pop() if len(titles) == 1 else f"Learned against {opponent}")
    write_whole(settings.out, draw(lines, levels, title, settings.what))
    print(f"wrote {settings.out}")
