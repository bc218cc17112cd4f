"""Solve a deal of a two-hand game: near-perfect play for points.

    crib solve --env five_card_v0 --out runs/five_card

Writes to ``--out``: ``strategy.safetensors``, an agent wherever one is named; ``curve.csv`` and
``curve.png``; and ``checkpoint.safetensors``, with which ``--resume`` goes on.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from crib_agents.equilibrium.classes import hand_classes
from crib_agents.equilibrium.files import Solved
from crib_agents.equilibrium.tree import PAIRS, multisets, public_tree
from crib_agents.files import HEADER, read_header
from crib_agents.learned.weights import fields_of
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from crib_env.rules import TwoHandRules
from crib_training.command_line import command, start
from crib_training.learn.deep_monte_carlo.checkpoint import write_whole
from crib_training.learn.deep_monte_carlo.loop import Stopped, asked_to_stop
from crib_training.loading import find_game
from crib_training.outputs import check_folder, csv_table
from crib_training.solve.curve import Point, picture
from crib_training.solve.solver import Gap, Solver

STRATEGY, CHECKPOINT = "strategy.safetensors", "checkpoint.safetensors"
CURVE, PICTURE = "curve.csv", "curve.png"
FORMAT = "crib_env solve"
FREE = ("out", "resume", "progress", "save_seconds")  # what changes nothing about the strategy


@dataclass(frozen=True)
class Settings:
    """Solve a deal of a two-hand game: near-perfect play for points.

    Attributes:
        env: the environment whose game is solved.
        rules: other than the environment's own: a preset, or one with changes, such as
            five_card[flush_size=4].
        iterations: how many in all.
        out: the folder for results.
        resume: the folder of a run to go on with.
        measures: after so many iterations it is measured what the best answer gains, as far as the
            solver sees; 0 for at the end alone.
        save_seconds: how often a checkpoint is written.
        progress: whether it is shown how far the work is.
    """

    env: str = "five_card_v0"
    rules: str | None = None
    iterations: int = 60
    out: Path = Path("runs/solve")
    resume: Path | None = None
    measures: int = 20
    save_seconds: float = 300.0
    progress: bool = True


def memory(rules: TwoHandRules, by_starter: bool) -> int:
    """Return about how many bytes a run takes, without doing any of it."""
    kept = rules.dealt - 2
    tree = public_tree(kept, rules.single_count)
    starters = 13 if by_starter else 1
    chooses = tree.left > 1
    sizes = np.array([multisets(left) * left for left in range(kept + 1)])
    play = 4 * starters * (tree.size + 2 * int(sizes[tree.left[chooses]].sum()))
    classes = hand_classes(rules.dealt)
    splits = len(classes.codes) * len(classes.splits)
    hands = {5: 6_175, 6: 18_395}[rules.dealt]
    ranges = hands * (2 * hands + 2 * 4 * (multisets(kept) + PAIRS))
    return play + 10 * 4 * splits + ranges + 4 * 8 * multisets(kept) ** 2 + 250_000_000


def _unset(settings: Settings) -> list[str]:
    """Return the settings that are left to the environment."""
    return [name for name, value in asdict(settings).items() if value is None]


def check(settings: Settings) -> TwoHandRules:
    """Return the rules to solve.

    Raises:
        ValueError: settings that cannot be, or a game that the solver does not know.
    """
    if settings.iterations < 1:
        raise ValueError(f"iterations must be a number from 1 up, got {settings.iterations}")
    _, rules = find_game(settings.env, settings.rules)
    if not isinstance(rules, TwoHandRules):
        raise ValueError(f"crib solve solves games in which two cards are laid away, not "
                         f"{settings.env}: choose five_card_v0 or six_card_v0")  # fmt: skip
    return rules


class Run:
    """A run of the solver: its state on disk, and the curve."""

    def __init__(self, settings: Settings, rules: TwoHandRules) -> None:
        self.settings = settings
        self.rules = rules
        self.curve: list[Point] = []
        self.cpu_seconds = 0.0
        # With four cards kept a node for each starter would take too much memory.
        self.solver = Solver(rules, by_starter=rules.dealt == 5)
        if settings.resume is not None:
            self._load(settings.resume)

    def iterate(self) -> None:
        """Do an iteration; only that counts as time."""
        began = time.process_time()
        self.solver.iterate()
        self.cpu_seconds += time.process_time() - began

    def measure(self) -> Gap:
        """Add a point to the curve."""
        gap = self.solver.gap()
        self.curve.append(
            Point(self.solver.iteration, self.cpu_seconds, gap.pone, gap.dealer, gap.value)
        )
        return gap

    def save(self) -> None:
        """Write the checkpoint.

        Raises:
            OSError: it cannot be written; one written before is still there.
        """
        from safetensors.numpy import save

        about = {
            "format": FORMAT,
            "rules_fields": fields_of(self.rules),
            "iteration": self.solver.iteration,
            "cpu_seconds": self.cpu_seconds,
            "curve": [asdict(point) for point in self.curve],
        }
        data = save(self.solver.tensors(), metadata={HEADER: json.dumps(about)})
        write_whole(self.settings.out / CHECKPOINT, data)

    def write(self) -> None:
        """Write the strategy and the curve."""
        last = asdict(self.curve[-1]) if self.curve else {}
        made_by = command("crib solve", self.settings, leave_out=(*FREE, *_unset(self.settings)))
        solved = Solved(
            self.rules.name, fields_of(self.rules), self.solver.strategy(),
            {"iterations": self.solver.iteration, "measured": last}, made_by,
        )  # fmt: skip
        write_whole(self.settings.out / STRATEGY, solved.to_bytes())
        write_whole(self.settings.out / CURVE, csv_table(Point, self.curve))
        write_whole(self.settings.out / PICTURE, picture(self.curve, f"{self.rules.name}, solved"))

    def _load(self, folder: Path) -> None:
        path = folder / CHECKPOINT
        about, tensors = read_header(path)
        if about.get("format") != FORMAT or about.get("rules_fields") != fields_of(self.rules):
            raise ValueError(f"{path} is no run of these rules: it is of "
                             f"{about.get('rules_fields')}")  # fmt: skip
        self.solver.restore(int(about["iteration"]), tensors)
        self.cpu_seconds = float(about["cpu_seconds"])
        self.curve = [Point(**point) for point in about["curve"]]


def solve(settings: Settings) -> Run:
    """Solve as the settings say, and write everything to ``out``.

    Raises:
        Stopped: Ctrl-C was pressed; the run is saved.
        ValueError, OSError: see `check`, `Run`.
    """
    rules = check(settings)
    check_folder(settings.out)
    if settings.resume is None and (settings.out / CHECKPOINT).exists():
        raise ValueError(f"{settings.out} holds a run: go on with it by --resume {settings.out}, "
                         f"or choose another --out")  # fmt: skip
    if settings.resume is not None and not (settings.resume / CHECKPOINT).exists():
        raise ValueError(f"there is no run to go on with in {settings.resume}: it has no "
                         f"{CHECKPOINT}")  # fmt: skip
    settings.out.mkdir(parents=True, exist_ok=True)
    console = Console(quiet=not settings.progress, highlight=False)
    say: Any = lambda text: console.print(text, soft_wrap=True)  # noqa: E731
    need = memory(rules, rules.dealt == 5)
    say(f"{rules.name}: {settings.iterations} iterations, about {need / 1e9:.1f} GB of memory")
    run = Run(settings, rules)
    solver = run.solver
    saved = time.monotonic()
    bars = Progress(
        TextColumn("iteration {task.completed}"), BarColumn(), TextColumn("{task.fields[regret]}"),
        TimeRemainingColumn(), console=console, disable=not console.is_terminal,
    )  # fmt: skip
    with bars, asked_to_stop() as asked:
        task = bars.add_task("", total=settings.iterations, completed=solver.iteration, regret="")
        while solver.iteration < settings.iterations:
            run.iterate()
            regret = sum(solver.missed) / 2
            bars.update(
                task, completed=solver.iteration, regret=f"regret {regret:.5f} in laying away"
            )
            done = solver.iteration >= settings.iterations
            if done or (settings.measures and solver.iteration % settings.measures == 0):
                gap = run.measure()
                say(
                    f"{solver.iteration:>6} iterations {run.cpu_seconds:8.0f} CPU s  the best "
                    f"answer gains {gap.mean:.4f} points a deal at least ({gap.pone:.4f} as pone, "
                    f"{gap.dealer:.4f} as dealer); regret {regret:.5f}"
                )
            if done or asked or time.monotonic() - saved > settings.save_seconds:
                run.save()
                saved = time.monotonic()
            if asked and not done:
                run.write()
                going_on = command("crib solve", settings, ("resume", *_unset(settings)))
                raise Stopped(f"the run is saved after {solver.iteration} iterations; go on by "
                              f"{going_on} --resume {settings.out}")  # fmt: skip
    run.write()
    return run


def run(settings: Settings) -> None:
    """Solve, and say where the results are."""
    solve(settings)
    print(f"wrote {settings.out}/{STRATEGY}, {CURVE}, {PICTURE}, {CHECKPOINT}")


if __name__ == "__main__":
    start(Settings, run)
