"""Solve a deal of a two-hand game: near-perfect play for points.

    python -m research.solve --env five_card_v0 --out runs/five_card

Writes to ``--out``: ``strategy.safetensors``, which every command takes as an agent; ``curve.csv``
and ``curve.png``; and ``checkpoint.safetensors``, from which ``--resume`` continues. ``--refine``
adds ``refined.safetensors``, also an agent, and ``starters.safetensors``, its checkpoint.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from crib_agents.equilibrium.classes import hand_classes
from crib_agents.equilibrium.public_tree import PAIRS, public_tree
from crib_agents.equilibrium.strategy import Solved, Strategy
from crib_agents.files import read_header, to_bytes, write_whole
from crib_agents.honours import fields_of
from crib_training import outputs
from crib_training.command_line import start
from crib_training.interrupts import Stopped, interruptions
from crib_training.loading import find_game
from crib_training.outputs import as_png, command, csv_table, peak_memory, resume_option, run_folder
from crib_training.progress import Progress
from matplotlib.figure import Figure

from crib_env.cards import RANKS
from crib_env.engine.ranks import how_many
from crib_env.rules import TwoHandRules
from crib_env.settings import Count, CountOrNone, Folder, NewFolder, NotNegative, checked_dataclass
from research.solve.refine import Refinement, Starters
from research.solve.solver import ExploitabilityBound, Solver

FREE = ("out", "resume", "progress", "save_seconds")  # what changes nothing about the strategy


@checked_dataclass(frozen=True, kw_only=True)
class Settings:
    """Solve a deal of a two-hand game: near-perfect play for points.

    Attributes:
        env: the environment whose game to solve.
        rules: a preset other than the environment's own, or a preset with changes, such as
            five_card[flush_size=4].
        iterations: iterations in all.
        out: the folder for results.
        refine: iterations per rank of the starter that solve the pegging again, by the cards
            discarded; 0 for none.
        resume: the folder of a stopped run to continue.
        eval_interval: iterations between measurements of the best response's gain within the
            abstraction; 0 measures only at the end.
        save_seconds: seconds between checkpoints.
        progress: show progress.
    """

    env: str = "five_card_v0"
    rules: str | None = None
    iterations: Count = 60
    out: NewFolder = Path("runs/solve")
    refine: CountOrNone = 0
    resume: Folder | None = None
    eval_interval: CountOrNone = 20
    save_seconds: NotNegative = 300.0
    progress: bool = True


def memory(rules: TwoHandRules, by_starter: bool, refine: bool = False) -> int:
    """Return an estimate of a run's peak memory in bytes, without running it.

    The peak comes while it writes, since it copies the output twice.
    """
    cards = rules.dealt - 2
    tree = public_tree(cards, rules.single_count)
    starters = 13 if by_starter else 1
    chooses = tree.left > 1
    sizes = np.array([how_many(left) * left for left in range(cards + 1)])
    one = 4 * (tree.size + 2 * int(sizes[tree.left[chooses]].sum()))
    play = one * (3 * starters + PAIRS * refine)
    classes = hand_classes(rules.dealt)
    splits = len(classes.codes) * len(classes.splits)
    hands = {5: 6_175, 6: 18_395}[rules.dealt]
    ranges = hands * (2 * hands + 2 * 4 * (how_many(cards) + PAIRS))
    return play + 22 * 4 * splits + ranges + 4 * 8 * how_many(cards) ** 2 + 450_000_000


def unset(settings: Settings) -> list[str]:
    """Return the settings that the environment fixes."""
    return [name for name, value in asdict(settings).items() if value is None]


def check(settings: Settings) -> TwoHandRules:
    """Return the rules to solve."""
    _, rules = find_game(settings.env, settings.rules)
    if not isinstance(rules, TwoHandRules):
        raise ValueError(
            f"env must be five_card_v0 or six_card_v0, in which two cards are discarded, got {settings.env!r}"
        )
    if settings.refine and rules.dealt != 5:
        raise ValueError(
            f"refine must be 0 for games of more than five cards: there is no memory for it; got {settings.refine}"
        )
    return rules


STRATEGY, CHECKPOINT = "strategy.safetensors", outputs.CHECKPOINT
REFINED, STARTERS = "refined.safetensors", "starters.safetensors"
CURVE, PICTURE = "curve.csv", "curve.png"
FORMAT = "crib_env solve"


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


class SolveRun:
    """A run of the solver: its state on disk, and the curve."""

    def __init__(self, settings: Settings, rules: TwoHandRules) -> None:
        self.settings = settings
        self.rules = rules
        self.curve: list[SolvePoint] = []
        self.cpu_seconds = 0.0
        # With four kept cards, a node per starter would take too much memory.
        self.solver = Solver(rules, by_starter=rules.dealt == 5)
        if settings.resume is not None:
            self._load(settings.resume)

    def iterate(self) -> None:
        """Do an iteration; only that counts as time."""
        began = time.process_time()
        self.solver.iterate()
        self.cpu_seconds += time.process_time() - began

    def measurement_is_due(self) -> bool:
        """Return whether the strategy as it is now should be measured, and is not yet."""
        done, every = self.solver.iteration, self.settings.eval_interval
        if self.curve and self.curve[-1].iterations == done:
            return False
        return done >= self.settings.iterations or bool(every and done and done % every == 0)

    def measure(self) -> ExploitabilityBound:
        """Add a point to the curve."""
        gap = self.solver.gap()
        self.curve.append(SolvePoint(self.solver.iteration, self.cpu_seconds, gap.pone, gap.dealer, gap.value))
        return gap

    def save(self) -> None:
        """Write the checkpoint."""
        about = {
            "format": FORMAT,
            "rules_fields": fields_of(self.rules),
            "iteration": self.solver.iteration,
            "cpu_seconds": self.cpu_seconds,
            "curve": [asdict(point) for point in self.curve],
        }
        write_whole(self.settings.out / CHECKPOINT, to_bytes(about, self.solver.tensors()))

    def write(self) -> None:
        """Write the strategy and the curve."""
        last = asdict(self.curve[-1]) if self.curve else {}
        last.pop("cpu_seconds", None)  # so that the same run makes the same file
        about = {"iterations": self.solver.iteration, "measured": last}
        self.write_strategy(STRATEGY, self.solver.strategy(), about, "refine")
        write_whole(self.settings.out / CURVE, csv_table(SolvePoint, self.curve))
        if self.curve:  # a run stopped before its first measurement has no curve
            drawn = picture(self.curve, f"{self.rules.name}, solved")
            write_whole(self.settings.out / PICTURE, drawn)

    def write_strategy(self, name: str, strategy: Strategy, about: dict[str, Any], *leave_out: str) -> None:
        """Write a strategy, with the command that made it, less the settings to leave out."""
        free = *FREE, *unset(self.settings), *leave_out
        solved = Solved(
            self.rules.name,
            fields_of(self.rules),
            strategy,
            about,
            command("python -m research.solve", self.settings, leave_out=free),
        )
        write_whole(self.settings.out / name, solved.to_bytes())

    def stopped(self, where: str) -> Stopped:
        """Return the exception that ends a saved run, with the command to continue."""
        going_on = command("python -m research.solve", self.settings, ("resume", *unset(self.settings)))
        return Stopped(f"the run is saved {where}; resume with {going_on} {resume_option(self.settings.out)}")

    def _load(self, folder: Path) -> None:
        path = folder / CHECKPOINT
        about, tensors = read_header(path, sealed=True)
        if about.get("format") != FORMAT or about.get("rules_fields") != fields_of(self.rules):
            raise ValueError(f"{path} is not a run of these rules: it is of {about.get('rules_fields')}")
        self.solver.restore(int(about["iteration"]), tensors)
        self.cpu_seconds = float(about["cpu_seconds"])
        self.curve = [SolvePoint(**point) for point in about["curve"]]


def solve(settings: Settings) -> SolveRun:
    """Solve by the settings, and write everything to ``out``."""
    rules = check(settings)
    if settings.resume is not None and not (settings.resume / CHECKPOINT).exists():
        raise ValueError(f"there is no run to resume in {settings.resume}: it has no {CHECKPOINT}")
    with run_folder(settings.out, settings.resume):
        return _solve(settings, rules)


def _solve(settings: Settings, rules: TwoHandRules) -> SolveRun:
    if settings.progress:
        need = memory(rules, rules.dealt == 5, settings.refine > 0) / 1e9
        print(f"{rules.name}: {settings.iterations} iterations, about {need:.1f} GB of memory")
    run = SolveRun(settings, rules)
    solver = run.solver
    saved = time.monotonic()
    with (
        Progress("iterations", settings.iterations, solver.iteration, shown=settings.progress) as p,
        interruptions(note_first=True) as interrupted,
    ):
        while True:
            done = solver.iteration >= settings.iterations
            due = run.measurement_is_due()
            if due or done or interrupted or time.monotonic() - saved > settings.save_seconds:
                run.save()
                saved = time.monotonic()
            if interrupted and not done:
                run.write()
                raise run.stopped(f"after {solver.iteration} iterations")
            if due:
                with interrupted.at_once(run.stopped(f"after {solver.iteration} iterations")):
                    gap = run.measure()
                p.say(
                    f"{solver.iteration:>6} iterations {run.cpu_seconds:8.0f} CPU s  the best "
                    f"answer gains {gap.mean:.4f} points per deal at least ({gap.pone:.4f} as "
                    f"pone, {gap.dealer:.4f} as dealer)"
                )
                run.save()
            if done:
                break
            run.iterate()
            p.move_to(solver.iteration, f"regret {sum(solver.missed) / 2:.5f} in discarding")
    run.write()
    if settings.refine:
        refine(run)
    return run


def refine(run: SolveRun) -> Starters:
    """Solve the pegging of a finished run again, and write the refined strategy."""
    settings = run.settings
    starters = Starters(Refinement(run.solver), settings.refine, settings.out / STARTERS)
    if settings.resume is not None and (settings.resume / STARTERS).exists():
        starters.load(settings.resume / STARTERS)
        starters.save()
    many = len(starters.refinement.starters)
    total = many * settings.refine
    with (
        Progress("refining, iterations", total, shown=settings.progress) as progress,
        interruptions(note_first=True) as interrupted,
    ):

        def done(iteration: int) -> None:
            solved = many - len(starters.left)
            progress.move_to(solved * settings.refine + iteration)
            if interrupted:
                raise run.stopped(f"with {solved} of {many} starters refined")

        for starter in starters.left:
            starters.solve(starter, done)
            gain = starters.gain()
            progress.say(
                f"starter {RANKS[starter]} {starters.cpu_seconds:8.0f} CPU s  so far the "
                f"best play gains {gain.mean:.4f} points per deal at least ({gain.pone:.4f} as "
                f"pone, {gain.dealer:.4f} as dealer)"
            )
    about = {"iterations": run.solver.iteration, "refined": settings.refine, "gains": asdict(starters.gain())}
    run.write_strategy(REFINED, starters.strategy(), about)
    return starters


def run(settings: Settings) -> None:
    """Solve, and print where the results are."""
    solve(settings)
    refined = f"{REFINED}, {STARTERS}, " if settings.refine else ""
    print(f"wrote {settings.out}/{STRATEGY}, {refined}{CURVE}, {PICTURE}, {CHECKPOINT}; {peak_memory()}")


if __name__ == "__main__":
    start(Settings, run)
