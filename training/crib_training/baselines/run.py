"""The run of a method: its folder, its checkpoints, and exploitability as its learning curve."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol

import numpy as np
import numpy.typing as npt
import torch
from crib_agents.files import write_whole

from crib_env.policy import Agent
from crib_env.rules import TwoHandRules
from crib_env.settings import Between, Count, CountOrNone, Folder, NewFolder, Seed, check_settings
from crib_training.baselines.tensors import fill, tensors_of
from crib_training.exploit import exploitability
from crib_training.interrupts import Stopped, interruptions
from crib_training.learn.deep_monte_carlo.checkpoint import Checkpoint
from crib_training.learn.deep_monte_carlo.settings import diff_settings, fixed
from crib_training.learn.divergence import diverged, is_finite
from crib_training.learn.training_progress import EVENTS
from crib_training.loading import find_game
from crib_training.outputs import CHECKPOINT, csv_table, run_folder
from crib_training.progress import Progress

Modules = dict[str, torch.nn.Module | torch.optim.Optimizer]
POLICY = "policy.safetensors"
CURVE = "exploitability.csv"
HANDS_SEED = 101  # of the hands of every curve, so that curves compare hand by hand


@dataclass(frozen=True)
class RunSettings:
    """Settings that all methods share.

    Attributes:
        env: the environment, six_card_v0 or five_card_v0; each episode is one deal.
        decisions: decisions to learn from, of both seats; a decision without a choice does not
            count.
        seed: seed of the deals, the networks and the batches.
        num_envs: deals side by side.
        steps: decisions per lane between updates.
        hidden_sizes: sizes of the hidden layers of each network.
        features: per-action features beside the bits, as in the environments.
        num_evals: number of measurements of exploitability; 0 for none.
        eval_hands: hands per measurement, always the same.
        save_seconds: seconds between checkpoints.
        out: the folder for results.
        resume: the folder of a stopped run to continue.
        progress: show progress.
    """

    env: str = "five_card_v0"
    decisions: Count = 10_000_000
    seed: Seed = 1
    num_envs: Count = 256
    steps: Count = 32
    hidden_sizes: tuple[Annotated[int, Between(1, 4096)], ...] = (256, 256)
    features: Literal["lookahead", "reply"] | None = "lookahead"
    num_evals: CountOrNone = 10
    eval_hands: Annotated[int, Between(2, 10_000)] = 40
    save_seconds: Annotated[float, Between(1, 1e6)] = 300
    out: NewFolder = Path("runs/baseline")
    resume: Folder | None = None
    progress: bool = True

    def __post_init__(self) -> None:
        check_settings(self)
        if not self.hidden_sizes:
            raise ValueError("hidden_sizes must name a size at least, got ()")
        if self.num_envs * self.steps < 2:
            raise ValueError("num_envs times steps must be 2 or more: one decision has no variance")

    @property
    def rules(self) -> TwoHandRules:
        """The rules of the game.

        Raises:
            ValueError: there is no such environment, or it is not of whole deals of two hands.
        """
        maker, rules = find_game(self.env)
        if maker.phase is not None or not isinstance(rules, TwoHandRules):
            raise ValueError(f"this method learns whole deals of two hands, six_card_v0 or "
                             f"five_card_v0, not {self.env}")  # fmt: skip
        return rules


class SavedAgent(Agent, Protocol):
    """An agent that a run can write to its folder."""

    def save(self, path: str | Path) -> None:
        """Write it to a file that `load_agent` reads."""


class Learner(Protocol):
    """The interface of a method, which learns batch by batch.

    Attributes:
        decisions: decisions learned from so far.
        modules: networks and optimizers for the checkpoint, by name.
    """

    decisions: int
    modules: Modules

    def iterate(self) -> dict[str, float]:
        """Learn from one batch, and return figures for TensorBoard; ``loss`` is one of them."""

    def agent(self) -> SavedAgent:
        """Return the policy learned so far."""

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return the rest of a checkpoint: generators, games, buffers."""

    def restore(self, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restore what `state` returned."""


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


class Run:
    """A method's run in its folder.

    Args:
        name: name of the method.
        settings: settings of the run.
        learner: the method itself.
    """

    def __init__(self, name: str, settings: RunSettings, learner: Learner) -> None:
        self.name, self.settings, self.learner = name, settings, learner
        self.curve: list[Row] = []
        self.cpu_seconds = 0.0

    def go(self) -> SavedAgent:
        """Learn to the end with measurements, and write everything to the folder.

        Raises:
            KeyboardInterrupt: Ctrl-C was pressed; the run is saved.
            DivergedError: the weights are not finite; the message names the last checkpoint.
            ValueError, FolderInUseError, OSError: see `run_folder`.
        """
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
                while learner.decisions < settings.decisions:
                    began, before = time.process_time(), self._evals_due()
                    figures = self._learn()
                    self.cpu_seconds += time.process_time() - began
                    for key, value in figures.items():
                        events.add_scalar(key, value, learner.decisions)
                    rate = learner.decisions / max(self.cpu_seconds, 1e-9)
                    progress.move_to(learner.decisions, f"{rate:,.0f} decisions per CPU second")
                    if self._evals_due() > before:
                        row = self._measure()
                        progress.say(
                            f"{row.decisions:>11,} decisions {row.cpu_seconds:8.0f} CPU s  "
                            f"exploitability {row.exploitability:.3f} ± {row.ci95:.3f} "
                            f"(discard {row.discard:.3f}, pegging {row.pegging:.3f})"
                        )
                        events.add_scalar("exploitability", row.exploitability, row.decisions)
                    over = learner.decisions >= settings.decisions
                    if over or interrupted or time.monotonic() - saved > settings.save_seconds:
                        self._save()
                        saved = time.monotonic()
                    if interrupted and not over:
                        raise Stopped(f"{learner.decisions:,} decisions are learned from; go on by "
                                      f"the same command with --resume {settings.out}")  # fmt: skip
        return learner.agent()

    def _learn(self) -> dict[str, float]:
        """Learn from one batch.

        Raises:
            DivergedError: the loss, the weights or what they put out is not finite.
        """
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

    def _evals_due(self) -> int:
        return self.learner.decisions * self.settings.num_evals // self.settings.decisions

    def _measure(self) -> Row:
        agent = self.learner.agent()
        settings = self.settings
        found = exploitability(agent, env=settings.env, hands=settings.eval_hands,
                               seed=HANDS_SEED, abstraction=1)  # fmt: skip
        gain = found.gain
        row = Row(
            self.learner.decisions, round(self.cpu_seconds, 1), found.points_per_deal, found.ci95,
            gain["pone"]["all"].mean, gain["dealer"]["all"].mean,
            gain["both"]["discard"].mean, gain["both"]["pegging"].mean,
        )  # fmt: skip
        self.curve.append(row)
        write_whole(settings.out / CURVE, csv_table(Row, self.curve))
        return row

    def _save(self) -> None:
        out, modules = self.settings.out, self.learner.modules
        about = {
            "method": self.name,
            "settings": fixed(self.settings),
            "decisions": self.learner.decisions,
            "cpu_seconds": self.cpu_seconds,
            "curve": [asdict(row) for row in self.curve],
        }
        tensors = dict(self.learner.state())
        for name, module in modules.items():
            for key, value in tensors_of(module).items():
                tensors[f"{name}:{key}"] = value.detach().numpy().copy()
        Checkpoint(about, tensors).save(out)
        self.learner.agent().save(out / POLICY)

    def _load(self, folder: Path) -> None:
        """Restore the checkpoint of a folder.

        Raises:
            ValueError: no checkpoint, or it is damaged, of another method or of other settings.
        """
        found = Checkpoint.load(folder)
        if found.about.get("method") != self.name:
            raise ValueError(f"{folder} holds a run of {found.about.get('method')}, not "
                             f"of {self.name}")  # fmt: skip
        before = found.about.get("settings")  # the first runs were saved without them
        if before is not None and (changed := diff_settings(before, self.settings)):
            raise ValueError(f"the run in {folder} is another: {'; '.join(changed)}")
        self.learner.decisions = found.about["decisions"]
        self.cpu_seconds = found.about["cpu_seconds"]
        self.curve = [Row(**row) for row in found.about["curve"]]
        parts: dict[str, dict[str, torch.Tensor]] = {name: {} for name in self.learner.modules}
        rest = {}
        for key, array in found.tensors.items():
            name, _, inner = key.partition(":")
            if inner:
                parts[name][inner] = torch.from_numpy(np.array(array))
            else:
                rest[key] = array
        try:
            for name, module in self.learner.modules.items():
                fill(module, parts[name])
            self.learner.restore(rest)
        except (KeyError, RuntimeError, ValueError) as error:
            raise ValueError(f"the run in {folder} has other settings: {error}") from None


def learn(name: str, settings: RunSettings, learner: Learner) -> None:
    """Learn by a method, and print where the results are; see `Run.go`."""
    Run(name, settings, learner).go()
    files = [POLICY, CURVE] if settings.num_evals else [POLICY]
    print(f"wrote {settings.out}/{', '.join(files)}")
