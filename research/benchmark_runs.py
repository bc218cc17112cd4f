"""The runs of the benchmark: a protocol as data, and a ledger with a row for each finished run.

`numbers/benchmark.toml` names tracks, methods and ranges of settings. A run trains one policy and
measures it exactly. Its row in `numbers/benchmark.jsonl` holds all that the page needs, so another
machine can continue from it. A row counts for its settings and hands alone: if those of the
protocol change, the run is due again.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import time
import tomllib
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numba
import numpy as np
import torch
from crib_training.exploit import Exploitability, exploitability
from crib_training.learn.run import POLICY, Checkpoint, Curve, DivergedError, Learner, Measured, Run
from crib_training.methods import METHODS
from crib_training.outputs import CHECKPOINT

ROOT = Path(__file__).parents[1]
NUMBERS = ROOT / "docs" / "numbers"
LEDGER = NUMBERS / "benchmark.jsonl"
PROTOCOL: dict[str, Any] = tomllib.loads((NUMBERS / "benchmark.toml").read_text())
SEARCH, FINAL, SECONDS = PROTOCOL["search"], PROTOCOL["final"], PROTOCOL["seconds"]
STAGES = ("search", "final", "seconds")  # of runs
# the table of the protocol with the hands of a row's stage
HANDS_OF = {"search": "search", "final": "final", "seconds": "final", "level": "final"}
NEAR = 1.3  # final runs of 1 / 1.3 to 1.3 times a budget stand for it
CODE = ("crib_env", "agents", "training", "research")  # the code of a run
Row = dict[str, Any]


@dataclass(frozen=True)
class Line:
    """A method in a track, a line of the page."""

    track: str
    name: str

    @property
    def about(self) -> dict[str, Any]:
        """Its entry in the protocol."""
        about: dict[str, Any] = PROTOCOL["tracks"][self.track]["methods"][self.name]
        return about

    @property
    def method(self) -> str:
        """The method of `crib train`."""
        return str(self.about.get("method", self.name))

    def settings(self, number: int) -> dict[str, Any]:
        """Return the settings of a number: 0 are the defaults with ``base``, others are drawn."""
        fixed = {**PROTOCOL["tracks"][self.track]["fixed"], **self.about.get("fixed", {})}
        if number == 0:
            return {**fixed, **self.about.get("base", {})}
        rng = np.random.default_rng((number, zlib.crc32(f"{self.track}/{self.name}".encode())))
        drawn = {}
        for group in self.about["ranges"]:
            for key, range_ in PROTOCOL["ranges"][group].items():
                if "of" in range_:
                    drawn[key] = range_["of"][rng.integers(len(range_["of"]))]
                else:
                    low, high = np.log(range_["log"])
                    drawn[key] = float(f"{np.exp(rng.uniform(low, high)):.2g}")
        return {**fixed, **drawn}


@dataclass(frozen=True)
class Job:
    """A run: a training and its measurement."""

    line: Line
    stage: str
    number: int  # of the settings
    seed: int
    decisions: int
    searched: int = 0  # how many settings these were chosen from
    budget: int = 0  # CPU seconds that ``decisions`` aims at; 0 for none

    @property
    def about(self) -> Row:
        """The part of its row that identifies the run."""
        line = self.line
        return {
            "stage": self.stage,
            "track": line.track,
            "line": line.name,
            "method": line.method,
            "settings_number": self.number,
            "settings": line.settings(self.number),
            "searched": self.searched,
            "seed": self.seed,
            "decisions": self.decisions,
            **({"budget": self.budget} if self.budget else {}),
        }

    @property
    def key(self) -> tuple[Any, ...]:
        """The key of its row in the ledger."""
        return key_of(self.about)


def digest(settings: Mapping[str, Any]) -> str:
    """Return a short digest of settings."""
    return f"{zlib.crc32(json.dumps(settings, sort_keys=True).encode()):08x}"


def lines() -> list[Line]:
    """Return all lines of the page."""
    return [Line(track, name) for track, about in PROTOCOL["tracks"].items() for name in about["methods"]]


def read_ledger() -> list[Row]:
    """Return the rows of the protocol's runs and of the built-in agents, each run once.

    Raises:
        ValueError: a line of the ledger is not valid JSON; the message has its number.
    """
    rows: dict[tuple[Any, ...], Row] = {}
    for number, text in enumerate(LEDGER.read_text().splitlines() if LEDGER.exists() else [], 1):
        try:
            row = json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(f"{LEDGER}, line {number} is not valid JSON ({error}): delete the line") from error
        if is_current(row):  # two processes may have made the same run: the last row counts
            rows[key_of(row) if row["stage"] in STAGES else (row["stage"], row["line"])] = row
    return list(rows.values())


def is_current(row: Row) -> bool:
    """Return whether a row is of the protocol.

    Every row needs the protocol's hands; a row of a run also its line, settings, suits and a seed,
    and in a search or a final run at most its decisions.
    """
    if row["stage"] not in HANDS_OF:
        return False
    about = PROTOCOL[HANDS_OF[row["stage"]]]
    if (row["hands"], row["hands_seed"]) != (about["hands"], about["hands_seed"]):
        return False
    if row["stage"] not in STAGES:
        return True
    line = Line(row["track"], row["line"])
    if line not in lines() or row["settings"] != line.settings(row["settings_number"]):
        return False
    search = row["stage"] == "search"
    seeds = [SEARCH["seed"]] if search else range(FINAL["first_seed"], FINAL["first_seed"] + FINAL["seeds"])
    fits = row["stage"] == "seconds" or row["decisions"] <= (SEARCH if search else FINAL)["decisions"]
    return fits and row["seed"] in seeds and row.get("suits", PROTOCOL["suits"]) == PROTOCOL["suits"]


def rows_of(rows: list[Row], stage: str, line: Line) -> list[Row]:
    """Return a line's rows of a stage, without those of runs that diverged."""
    mine = [row for row in rows if row["stage"] == stage and (row["track"], row["line"]) == (line.track, line.name)]
    return [row for row in mine if "diverged" not in row]


def searched(rows: list[Row], line: Line) -> list[Row]:
    """Return the rows of a line's search, those of the longest trainings."""
    mine = rows_of(rows, "search", line)
    most = max((row["decisions"] for row in mine), default=0)
    return [row for row in mine if row["decisions"] == most]


def chosen(rows: list[Row], line: Line) -> tuple[int, int]:
    """Return the number of the best settings found so far, and how many were tried."""
    tried = searched(rows, line)
    best = min(tried, key=lambda row: row["gain"]["both"]["all"][0], default={"settings_number": 0})
    return best["settings_number"], len(tried)


def jobs(
    rows: list[Row], of: list[Line], search: int, search_decisions: int, seeds: int, decisions: int
) -> Iterator[Job]:
    """Yield every run: each line's search and final runs, then all runs for CPU seconds.

    Settings are chosen when a final run is due, from the rows at that time. If ``decisions`` is
    less than the protocol's, there are no runs for CPU seconds.
    """
    for line in of:
        for number in range(search):
            yield Job(line, "search", number, SEARCH["seed"], search_decisions)
        number, tried = chosen(rows, line)
        for seed in range(FINAL["first_seed"], FINAL["first_seed"] + seeds):
            yield Job(line, "final", number, seed, decisions, tried)
    for budget in SECONDS["budgets"] if decisions >= FINAL["decisions"] else ():
        for line in of:
            yield from by_seconds(rows, line, budget, min(seeds, SECONDS["seeds"]))


def first_final(rows: list[Row], line: Line) -> Row | None:
    """Return a line's full-length final run with the first seed and the settings chosen now."""
    number, _ = chosen(rows, line)
    for row in rows_of(rows, "final", line):
        whole = row["decisions"] >= FINAL["decisions"]
        if whole and (row["seed"], row["settings_number"]) == (FINAL["first_seed"], number):
            return row
    return None


def is_near(seconds: float, budget: int) -> bool:
    """Return whether final runs that took ``seconds`` stand for a budget."""
    return budget / NEAR <= seconds <= budget * NEAR


def timed(rows: list[Row], line: Line, budget: int) -> list[Row]:
    """Return a line's own runs for a budget of CPU seconds, of the settings chosen now."""
    number, _ = chosen(rows, line)
    mine = rows_of(rows, "seconds", line)
    return [row for row in mine if (row["settings_number"], row["budget"]) == (number, budget)]


def by_seconds(rows: list[Row], line: Line, budget: int, seeds: int) -> Iterator[Job]:
    """Yield a line's runs for a budget of CPU seconds, once `first_final` gives its rate."""
    number, tried = chosen(rows, line)
    first = first_final(rows, line)
    if first is None:
        return
    if timed(rows, line, budget) or not is_near(first["cpu_seconds"], budget):  # complete begun runs
        decisions = int(float(f"{first['decisions'] * budget / first['cpu_seconds']:.2g}"))
        for seed in range(FINAL["first_seed"], FINAL["first_seed"] + seeds):
            yield Job(line, "seconds", number, seed, decisions, tried, budget)


def key_of(row: Row) -> tuple[Any, ...]:
    """Return the `Job.key` of a row."""
    names = ("stage", "track", "line", "settings_number", "seed", "decisions")
    return (*(row[name] for name in names), digest(row["settings"]))


def exploited(agent: Any, about: Mapping[str, int], hands: str = "hands") -> Exploitability:
    """Return the exploitability of an agent on hands of the protocol."""
    env, suits = PROTOCOL["env"], PROTOCOL["suits"]
    return exploitability(agent, env=env, suits=suits, hands=about[hands], seed=about["hands_seed"])


class Marks(Curve):
    """The exploitability of a final run as it learns, always on the same few hands."""

    def __init__(self, marks: list[int]) -> None:
        self.marks = marks
        self.points: list[dict[str, float]] = []

    def due(self, learner: Learner) -> bool:
        """Return whether a mark was passed since the last measurement."""
        last = self.points[-1]["decisions"] if self.points else 0
        return any(last < mark <= learner.decisions for mark in self.marks)

    def measure(self, learner: Learner) -> list[Measured]:
        """Measure the current policy."""
        found = exploited(learner.agent(), FINAL, "mark_hands")
        point = {
            "decisions": learner.decisions,
            "cpu_seconds": round(learner.cpu_seconds, 1),
            "mean": round(found.points_per_deal, 6),
            "ci95": round(found.ci95, 6),
        }
        self.points.append(point)
        return [Measured(str(point), {"exploitability": point["mean"]})]

    def state(self) -> list[dict[str, float]]:
        """Return the measured points, ready for JSON."""
        return self.points

    def restore(self, state: list[dict[str, float]]) -> None:
        """Restore what `state` returned."""
        self.points = state


def train(job: Job, folder: Path) -> Row:
    """Make or resume a run; return its CPU seconds, and the curve of a final run."""
    module = import_module(METHODS[job.line.method])
    given = job.line.settings(job.number)
    if "features" in given:  # the protocol names features as earlier versions did
        given["features"] = given["features"] != "none"
    made = module.Settings(
        env=PROTOCOL["env"],
        suits=PROTOCOL["suits"],
        seed=job.seed,
        decisions=job.decisions,
        hidden_sizes=tuple(PROTOCOL["hidden_sizes"]),
        num_evals=0,
        progress=False,
        out=folder,
        resume=folder if (folder / CHECKPOINT).exists() else None,
        **given,
    )
    learner = module.Learner(made)
    learner.curve = Marks(FINAL["marks"] if job.stage == "final" else [])
    Run(learner).go()
    about = Checkpoint.load(folder).about
    curve = {"curve": about["curve"]} if about["curve"] else {}
    return {"cpu_seconds": round(float(about["cpu_seconds"]), 1), **curve}


def measured(agent: str | Path, stage: str) -> Row:
    """Return the part of a row with an agent's figure, on the hands of its stage."""
    about, began = PROTOCOL[HANDS_OF[stage]], time.process_time()
    found = exploited(agent, about)
    return {
        "measured_in": round(time.process_time() - began, 1), "hands": found.hands,
        "hands_seed": found.seed, "suits": found.suits,
        "exact": found.exact == ("discard", "pegging"), "met": found.met,
        "otherwise": found.otherwise, "queries": found.queries,
        "gain": {seat: {part: [round(one.mean, 6), round(one.ci95, 6)]
                        for part, one in by_part.items()}
                 for seat, by_part in found.gain.items()},
        "by_hand": [round(float(one), 3) for one in found.by_hand],
    }  # fmt: skip


def git(*words: str) -> str:
    """Return what git prints in this repository; nothing outside one or without git."""
    try:
        found = subprocess.run(["git", *words], cwd=ROOT, text=True, capture_output=True, check=False)
    except FileNotFoundError:
        return ""
    return found.stdout.strip()


@cache
def made_with() -> Row:
    """Return the code, the versions and the processor's instructions of this process.

    The trees of `CODE` stay the same in a rebase, which changes the commit. All methods are
    imported first: the code may change on the disk while this process runs.
    """
    for name in METHODS.values():
        import_module(name)
    commit = git("rev-parse", "--short", "HEAD")
    return {
        "commit": commit,
        "trees": {name: git("rev-parse", "--short", f"HEAD:{name}") for name in CODE},
        "uncommitted": bool(git("status", "--porcelain", "--", *CODE)) if commit else None,
        "numpy": np.__version__,
        "numba": numba.__version__,
        "torch": torch.__version__,
        "instructions": torch.backends.cpu.get_cpu_capability(),
    }


def add(row: Row) -> Row:
    """Add a row to the ledger, and return it."""
    with LEDGER.open("a") as ledger:
        ledger.write(json.dumps(row) + "\n")
    return row


def make(job: Job, runs: Path) -> Row:
    """Train and measure a policy, and add its row to the ledger, also if the training diverges."""
    made = made_with()
    folder = runs / "_".join(map(str, (*job.key, digest(made["trees"]))))  # other code begins another run
    about = {**job.about, "made_with": made}
    began = time.process_time()
    try:
        learned = train(job, folder)
    except DivergedError as error:
        hands = {name: PROTOCOL[HANDS_OF[job.stage]][name] for name in ("hands", "hands_seed")}
        return add({**about, **hands, "cpu_seconds": round(time.process_time() - began, 1), "diverged": str(error)})
    policy = hashlib.sha256((folder / POLICY).read_bytes()).hexdigest()[:16]
    return add({**about, **learned, **measured(folder / POLICY, job.stage), "policy": policy})


def levels_of(rows: list[Row]) -> dict[str, Row]:
    """Return the rows of the built-in agents by name."""
    return {row["line"]: row for row in rows if row["stage"] == "level"}


def make_level(name: str) -> Row:
    """Measure a built-in agent in the game of the benchmark, and add its row to the ledger."""
    return add({"stage": "level", "line": name, "made_with": made_with(), **measured(name, "level")})
