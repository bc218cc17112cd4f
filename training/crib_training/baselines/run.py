"""The run of a method: its folder, its checkpoints, and exploitability as its learning curve."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from crib_agents.files import write_whole

from crib_training.baselines.learner import Learner, SavedAgent
from crib_training.baselines.settings import RunSettings
from crib_training.exploit import exploitability
from crib_training.interrupts import Stopped, interruptions
from crib_training.learn.deep_monte_carlo.checkpoint import Checkpoint
from crib_training.learn.deep_monte_carlo.settings import diff_settings, fixed
from crib_training.learn.learner import diverged, is_finite, module_tensors, restore_module
from crib_training.learn.training_progress import EVENTS
from crib_training.outputs import CHECKPOINT, csv_table, run_folder, wrote
from crib_training.progress import Progress

POLICY = "policy.safetensors"
MEASURED_POLICY = "policy_{decisions}.safetensors"  # one per measurement
CURVE = "exploitability.csv"
HANDS_SEED = 101  # of the hands of every curve, so that curves compare hand by hand


@dataclass(frozen=True)
class Row:
    """A measurement.

    Attributes:
        decisions: decisions learned from. cpu_seconds: CPU time of learning, without measurements.
        exploitability, ci95: a best response's gain in points per deal, and half its interval.
        pone, dealer: the same in one seat. discard, pegging: by that phase alone.
    """

    decisions: int
    cpu_seconds: float
    exploitability: float
    ci95: float
    pone: float
    dealer: float
    discard: float
    pegging: float


class BaselineRun:
    """A method's run in its folder.

    Args:
        learner: the method itself.
    """

    def __init__(self, learner: Learner) -> None:
        self.learner = learner
        self.settings: RunSettings = learner.settings
        self.curve: list[Row] = []
        self.cpu_seconds = 0.0

    def go(self) -> SavedAgent:
        """Learn to the end with measurements, and write everything to the folder."""
        from torch.utils.tensorboard import SummaryWriter

        settings, learner = self.settings, self.learner
        torch.set_num_threads(1)
        with run_folder(settings.out, settings.resume):
            if settings.resume:
                self._load(settings.resume)
            purge = learner.decisions or None  # of what a run noted after it was saved
            with (
                closing(SummaryWriter(settings.out / EVENTS, purge_step=purge)) as events,
                Progress("decisions", settings.decisions, learner.decisions,
                         shown=settings.progress) as progress,
                interruptions(note_first=True) as interrupted,
            ):  # fmt: skip
                saved = time.monotonic()
                while True:
                    over = learner.decisions >= settings.decisions
                    if (
                        over
                        or interrupted
                        or self._eval_is_due()
                        or (time.monotonic() - saved > settings.save_seconds)
                    ):
                        self._save()
                        saved = time.monotonic()
                    if interrupted and not over:
                        raise self._stopped()
                    if self._eval_is_due():
                        with interrupted.at_once(self._stopped()):
                            row = self._measure()
                        progress.say(
                            f"{row.decisions:>11,} decisions {row.cpu_seconds:8.0f} CPU s  "
                            f"exploitability {row.exploitability:.3f} ± {row.ci95:.3f} "
                            f"(discard {row.discard:.3f}, pegging {row.pegging:.3f})"
                        )
                        events.add_scalar("exploitability", row.exploitability, row.decisions)
                        self._save()
                    if over:
                        break
                    began = time.process_time()
                    figures = self._learn()
                    self.cpu_seconds += time.process_time() - began
                    for key, value in figures.items():
                        events.add_scalar(key, value, learner.decisions)
                    rate = learner.decisions / max(self.cpu_seconds, 1e-9)
                    progress.move_to(learner.decisions, f"{rate:,.0f} decisions per CPU second")
        return learner.agent()

    def _stopped(self) -> Stopped:
        return Stopped(
            f"the run is saved after {self.learner.decisions:,} decisions; to resume, add "
            f"--resume {self.settings.out} to the same command"
        )

    def _learn(self) -> dict[str, float]:
        """Learn from one batch."""
        try:
            figures = self.learner.iterate()
            modules = self.learner.modules.values()
            networks = [one for one in modules if isinstance(one, torch.nn.Module)]
            finite = is_finite(figures["loss"], *networks)
        except FloatingPointError:
            finite = False
        if not finite:
            last = self.settings.out / CHECKPOINT
            raise diverged(last if last.exists() else None, "the last one written")
        return figures

    def _eval_is_due(self) -> bool:
        """Return whether a measurement should have been made since the last one."""
        done, last = self.learner.decisions, self.curve[-1].decisions if self.curve else 0
        evals, total = self.settings.num_evals, self.settings.decisions
        return done * evals // total > last * evals // total

    def _measure(self) -> Row:
        agent = self.learner.agent()
        settings = self.settings
        ranks = settings.suits == "ranks"
        found = exploitability(agent, env=settings.env, hands=settings.eval_hands,
                               seed=HANDS_SEED, suits="ranks" if ranks else None,
                               abstraction=0 if ranks else 1)  # fmt: skip
        gain = found.gain
        row = Row(
            self.learner.decisions, round(self.cpu_seconds, 1), found.points_per_deal, found.ci95,
            gain["pone"]["all"].mean, gain["dealer"]["all"].mean,
            gain["both"]["discard"].mean, gain["both"]["pegging"].mean,
        )  # fmt: skip
        agent.save(settings.out / MEASURED_POLICY.format(decisions=row.decisions))
        self.curve.append(row)
        return row

    def _save(self) -> None:
        out = self.settings.out
        about = {
            "method": self.settings.method,
            "settings": fixed(self.settings),
            "decisions": self.learner.decisions,
            "cpu_seconds": self.cpu_seconds,
            "curve": [asdict(row) for row in self.curve],
        }
        tensors = dict(self.learner.state())
        for name, module in self.learner.modules.items():
            tensors |= module_tensors(f"{name}:", module)
        Checkpoint(about, tensors).save(out)
        self.learner.agent().save(out / POLICY)
        if self.curve:
            write_whole(out / CURVE, csv_table(Row, self.curve))

    def _load(self, folder: Path) -> None:
        """Restore the checkpoint of a folder."""
        found = Checkpoint.load(folder)
        if found.about.get("method") != self.settings.method:
            raise ValueError(f"{folder} holds a run of {found.about.get('method')}, not "
                             f"of {self.settings.method}")  # fmt: skip
        before = found.about.get("settings")  # the first runs were saved without them
        if before is not None:
            before = {"suits": "canonical", **before}  # that of runs which were saved without
        if before is not None and (changed := diff_settings(before, self.settings)):
            raise ValueError(f"the run in {folder} is another: {'; '.join(changed)}")
        self.learner.decisions = found.about["decisions"]
        self.cpu_seconds = found.about["cpu_seconds"]
        self.curve = [Row(**row) for row in found.about["curve"]]
        try:
            for name, module in self.learner.modules.items():
                restore_module(f"{name}:", module, found.tensors)
            self.learner.restore(found.tensors)
        except (KeyError, ValueError) as error:
            raise ValueError(f"the run in {folder} has other settings: {error}") from None


def learn(learner: Learner) -> None:
    """Run a method to its end, and print where its results are."""
    BaselineRun(learner).go()
    print(wrote(learner.settings.out, POLICY, CURVE))
