"""A run of any method: its folder and lock, checkpoints, resuming, Ctrl-C and SIGTERM, its curve.

A method is a `Learner`. `Run` saves it before it starts, every ``save_seconds``, before and after
each measurement, at the end, and on Ctrl-C or SIGTERM. A resumed run has the same result as one
that was never stopped.
"""

from __future__ import annotations

import copy
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeVar

import numpy as np
import torch
from crib_agents.files import check_format, reading, to_bytes, write_whole
from crib_agents.torch_nets import to_array
from torch import Tensor, nn
from torch.optim import Optimizer

from crib_env.arrays import Array
from crib_env.policy import Agent
from crib_env.settings import Folder, NewFolder, NotNegative, Seed, checked_dataclass
from crib_training.interrupts import Stopped, interruptions
from crib_training.outputs import CHECKPOINT, command, resume_option, run_folder, wrote
from crib_training.progress import Progress
from crib_training.provenance import differences

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

POLICY = "policy.safetensors"
EVENTS = "tb"  # the folder of TensorBoard's events
FORMAT = "crib_env run"
FORMAT_VERSION = 2
# Settings that do not change the result.
FREE = (
    "out", "resume", "progress", "save_seconds", "ray_address", "replay", "num_evals",
    "eval_hands", "eval_pairs", "final_eval_pairs", "eval_opponents", "baselines",
)  # fmt: skip

State = Mapping[str, Array]
D = TypeVar("D", bound="DataclassInstance")


@checked_dataclass(frozen=True, kw_only=True)
class RunSettings:
    """Settings of every run.

    Attributes:
        seed: seed of the deals, the networks, the choices and the batches.
        save_seconds: seconds between checkpoints: the most that a killed run can lose.
        out: the folder for results.
        resume: the folder of a stopped run to continue.
        progress: show progress.
    """

    method: ClassVar[str] = ""

    seed: Seed = 1
    save_seconds: NotNegative = 30.0
    out: NewFolder = Path("runs/mine")
    resume: Folder | None = None
    progress: bool = True


class SavedAgent(Agent, Protocol):
    """An agent that a run can write to its folder."""

    def save(self, path: str | Path) -> None:
        """Write it to a file that `load_agent` reads."""


@dataclass(frozen=True)
class Measured:
    """A measurement, for the screen and TensorBoard."""

    text: str
    scalars: dict[str, float]
    note: str = ""  # to show beside the progress from now on


class Curve:
    """The strength of a run over time; this base class measures nothing."""

    file = "curve.csv"

    def due(self, learner: Learner) -> bool:
        """Return whether a measurement is due."""
        return False

    def measure(self, learner: Learner) -> list[Measured]:
        """Measure the agent so far."""
        return []

    def finish(self) -> None:
        """Measure the references of the finished run."""

    def write(self, folder: Path) -> None:
        """Write the table."""

    def draw(self, folder: Path) -> None:
        """Write the picture."""

    def state(self) -> Any:
        """Return the measurements, ready for JSON."""

    def restore(self, state: Any) -> None:
        """Restore what `state` returned."""


class Learner(ABC):
    """A method that learns batch by batch, in a ``with`` block that starts and ends its workers.

    Attributes:
        curve: its strength over time.
        decisions: number of decisions learned from so far.
        cpu_seconds: CPU seconds of playing and learning.
        rng: the generator of all NumPy draws.
    """

    # the unit of progress: the name of the setting with the total, and of the attribute that counts
    unit: ClassVar[str] = "decisions"
    # the attributes that count; a checkpoint holds them
    counts: ClassVar[tuple[str, ...]] = ("decisions",)
    # networks and optimizers by name; a checkpoint holds them
    modules: dict[str, nn.Module | Optimizer]

    def __init__(self, settings: Any) -> None:
        self.settings: Any = settings
        torch.set_num_threads(getattr(settings, "threads", 1))
        torch.manual_seed(settings.seed)
        self.rng = np.random.default_rng(settings.seed)
        self.curve = Curve()
        self.decisions, self.cpu_seconds = 0, 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:  # noqa: B027 - most start nothing
        """Stop the processes of the run."""

    @property
    def done(self) -> int:
        """The amount learned so far, in the run's unit."""
        return int(getattr(self, self.unit))

    @property
    def total(self) -> int:
        """The amount to learn in all, in the run's unit."""
        return int(getattr(self.settings, self.unit))

    @property
    def left(self) -> float:
        """The share of the run that is left."""
        return max(0.0, 1 - self.done / float(self.total))

    def annealed(self, first: float, final: float) -> float:
        """Return a value on its way from ``first`` to ``final``, linearly over the run."""
        return final + (first - final) * self.left

    @abstractmethod
    def iterate(self) -> dict[str, float]:
        """Learn from one batch, and return figures for TensorBoard; ``loss`` is one of them."""

    @abstractmethod
    def agent(self) -> SavedAgent:
        """Return the policy learned so far."""

    def finish(self) -> None:  # noqa: B027 - most have nothing to do
        """Called once after training; its effects are not checkpointed."""

    def state(self) -> dict[str, Array]:
        """Return a checkpoint's arrays beside counts, modules and ``rng``, such as deals."""
        return {}

    def restore(self, state: State) -> None:  # noqa: B027 - most have no more
        """Restore what `state` returned."""


class LostError(RuntimeError):
    """All self-play workers died; the last checkpoint is intact."""


class DivergedError(RuntimeError):
    """The weights are no longer finite; the last checkpoint is intact."""


def is_finite(loss: float, *modules: nn.Module) -> bool:
    """Return whether a loss and all parameters of modules are finite."""
    parameters = (parameter for module in modules for parameter in module.parameters())
    return math.isfinite(loss) and all(bool(torch.isfinite(one).all()) for one in parameters)


def divergence_error(saved: Path | None, after: str) -> DivergedError:
    """Return the error of a run whose loss or weights are not finite."""
    last = f"the last good checkpoint is {saved}, {after}" if saved else "nothing was saved"
    return DivergedError(
        f"the run has diverged: its loss or its weights are not finite; {last}. A lower --learning-rate helps"
    )


def kept_settings(settings: DataclassInstance) -> dict[str, Any]:
    """Return the settings that a resumed run must not change, in JSON form."""
    held = {name: value for name, value in asdict(settings).items() if name not in FREE}
    return {name: list(v) if isinstance(v, tuple) else str(v) if isinstance(v, Path) else v for name, v in held.items()}


def resolve(defaults: D, settings: Any) -> D:
    """Return a game's defaults, overridden by the settings that are not None."""
    given = {one.name: getattr(settings, one.name) for one in fields(defaults)}
    return replace(defaults, **{name: value for name, value in given.items() if value is not None})


@dataclass
class Checkpoint:
    """A run as it stood between two batches: numbers and a JSON header, no code to run."""

    # all but the arrays: settings, counts, the state of the generator, the curve
    about: dict[str, Any]
    tensors: Mapping[str, Array] = field(default_factory=dict)  # arrays by name

    def save(self, folder: Path) -> None:
        """Write it to the folder of the run, as a whole or not at all."""
        about = {"format": FORMAT, "version": FORMAT_VERSION, **self.about}
        write_whole(folder / CHECKPOINT, to_bytes(about, self.tensors))

    @classmethod
    def load(cls, folder: Path) -> Checkpoint:
        """Read the checkpoint of a run; a checksum detects damage."""
        path = folder / CHECKPOINT
        if not path.exists():
            raise ValueError(f"there is no run to resume in {folder}: it has no {CHECKPOINT}")
        with reading(path, sealed=True) as (about, tensors):
            check_format(about, FORMAT, FORMAT_VERSION)
            return cls(about, tensors)


def module_tensors(prefix: str, module: nn.Module | Optimizer) -> dict[str, Any]:
    """Return copies of a network's or an optimizer's arrays, by name behind a prefix."""
    held = module.state_dict()
    if isinstance(module, nn.Module):
        return {f"{prefix}{name}": to_array(value) for name, value in held.items()}
    return {
        f"{prefix}{i}.{name}": np.atleast_1d(to_array(value))
        for i, state in held["state"].items()
        for name, value in state.items()
    }


def restore_module(prefix: str, module: nn.Module | Optimizer, tensors: State) -> None:
    """Load into a network or an optimizer what `module_tensors` returned."""
    held = {
        name.removeprefix(prefix): torch.from_numpy(array.copy())
        for name, array in tensors.items()
        if name.startswith(prefix)
    }
    if isinstance(module, Optimizer):
        state: dict[int, dict[str, Tensor]] = {}
        for name, value in held.items():
            i, key = name.split(".")
            state.setdefault(int(i), {})[key] = value[0] if key == "step" else value
        groups = module.state_dict()["param_groups"]
        module.load_state_dict({"state": state, "param_groups": groups})
        return
    try:
        module.load_state_dict(held)
    except RuntimeError as error:
        raise ValueError(f"the networks of the checkpoint do not fit: {error}") from None


def step_optimizer(optimizer: Optimizer) -> None:
    """Take a step of an optimizer, with numbers below 1e-38 (denormals) as 0.

    Adam's means for inputs that few decisions set become denormal, which makes a step several times
    slower. The weights stay the same: such numbers are too small to move them.
    """
    torch.set_flush_denormal(True)
    try:
        optimizer.step()
    finally:
        torch.set_flush_denormal(False)


def descend(optimizer: Optimizer, loss: Tensor, clip: float | None = None) -> Tensor:
    """Take a step of gradient descent, with gradients of norm ``clip`` at most; return the loss."""
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    if clip is not None:
        nn.utils.clip_grad_norm_([one for group in optimizer.param_groups for one in group["params"]], clip)
    step_optimizer(optimizer)
    return loss.detach()


@torch.no_grad()
def follow(average: nn.Module, net: nn.Module, rate: float) -> None:
    """Move each weight of an average towards a network's by a share of the difference."""
    torch._foreach_lerp_(list(average.parameters()), list(net.parameters()), rate)


class AveragedNets:
    """Nets that learn and play, their optimizer, and the moving average that runs save."""

    def __init__(self, nets: nn.Module, learning_rate: float, ema_rate: float) -> None:
        self.nets, self.average = nets, copy.deepcopy(nets)
        self.optimizer = torch.optim.Adam(nets.parameters(), learning_rate, fused=True)
        self.learning_rate, self.ema_rate = learning_rate, ema_rate
        self.modules: dict[str, nn.Module | Optimizer] = {"nets": nets, "average": self.average, "adam": self.optimizer}

    def step(self, loss: Tensor, share: float = 1.0) -> Tensor:
        """Take a step of gradient descent by a share of the learning rate; return the loss."""
        for group in self.optimizer.param_groups:
            group["lr"] = self.learning_rate * share
        loss = descend(self.optimizer, loss)
        follow(self.average, self.nets, self.ema_rate)
        return loss


class Screen(Progress):
    """Shows a run on the screen and in TensorBoard: ``tensorboard --logdir runs``.

    ``done`` and ``decisions`` are the run's when it starts or resumes. Without ``shown`` only
    TensorBoard gets its values.
    """

    def __init__(self, what: str, total: int, done: int, decisions: int, folder: Path, shown: bool) -> None:
        from torch.utils.tensorboard import SummaryWriter

        super().__init__(what, total, done, shown=shown)
        purge = decisions or None  # of values that a run logged after its checkpoint
        self.events = SummaryWriter(folder / EVENTS, purge_step=purge)
        self.since, self.decisions = time.monotonic(), decisions
        self.strength = ""

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self.events.close()

    def learned(self, done: int, decisions: int, figures: Mapping[str, float]) -> None:
        """Show the progress of the run and its speed, and log the figures."""
        now = time.monotonic()
        rate = (decisions - self.decisions) / max(now - self.since, 1e-9)
        self.since, self.decisions = now, decisions
        self.move_to(done, f"{rate:,.0f} decisions/s{self.strength}")
        for name, value in {"decisions_per_second": rate, **figures}.items():
            self.events.add_scalar(name, value, decisions)

    def measured(self, found: list[Measured], decisions: int) -> None:
        """Show measurements, and log their scalars."""
        for one in found:
            self.strength = one.note
            self.say(one.text)
            for name, value in one.scalars.items():
                self.events.add_scalar(name, value, decisions)
        self.since = time.monotonic()


class Run:
    """A method's run in its folder; ``saved`` is the progress of its checkpoint, or None."""

    def __init__(self, learner: Learner) -> None:
        self.learner, self.settings = learner, learner.settings
        self.saved: int | None = None

    def go(self) -> SavedAgent:
        """Learn to the end, write everything to the folder, and return the agent."""
        settings, learner = self.settings, self.learner
        with run_folder(settings.out, settings.resume):
            if settings.resume is not None:
                self.load(settings.resume)
            self.save()  # fails before the work starts if the folder cannot be written
            with (
                Screen(
                    learner.unit, learner.total, learner.done, learner.decisions, settings.out, settings.progress
                ) as screen,
                interruptions(note_first=True) as interrupted,
                learner,
            ):
                saved = time.monotonic()
                while True:
                    over, due = learner.done >= learner.total, learner.curve.due(learner)
                    late = time.monotonic() - saved > settings.save_seconds
                    if over or due or late or interrupted:
                        self.save()
                        saved = time.monotonic()
                    if interrupted and not over:
                        learner.curve.draw(settings.out)
                        raise Stopped(self.where())
                    if due:
                        with interrupted.at_once(Stopped(self.where())):
                            screen.measured(learner.curve.measure(learner), learner.decisions)
                        self.save()
                    if over:
                        break
                    figures = self.learn_batch()
                    screen.learned(learner.done, learner.decisions, figures)
                with interrupted.at_once(Stopped(self.where())):
                    learner.finish()
                    learner.curve.finish()
                self.write()
                learner.curve.draw(settings.out)
                rate = learner.decisions / max(learner.cpu_seconds, 1e-9)
                screen.say(
                    f"{learner.decisions:,} decisions in {learner.cpu_seconds:.0f} CPU s, {rate:,.0f} per CPU second"
                )
        return learner.agent()

    def learn_batch(self) -> dict[str, float]:
        """Learn from one batch; save if the workers died, refuse weights that are not finite."""
        learner = self.learner
        began = time.process_time()
        try:
            figures = learner.iterate()
        except FloatingPointError:
            figures = {"loss": math.nan}
        except LostError as lost:
            self.save()
            raise LostError(f"{lost}; {self.where()}") from lost
        networks = [one for one in learner.modules.values() if isinstance(one, nn.Module)]
        if not is_finite(figures["loss"], *networks):
            path = None if self.saved is None else self.settings.out / CHECKPOINT
            raise divergence_error(path, f"after {self.saved or 0:,} {learner.unit}")
        learner.cpu_seconds += time.process_time() - began
        return figures

    def where(self) -> str:
        """Return the state of the run, and the command that continues it."""
        learner, settings = self.learner, self.settings
        words = command(f"crib train {settings.method}", settings, ("resume",), ("env",))
        return (
            f"the run is saved after {learner.done:,} {learner.unit}; resume with {words} {resume_option(settings.out)}"
        )

    def write(self) -> None:
        """Write the policy and the curve, each as a whole."""
        self.learner.agent().save(self.settings.out / POLICY)
        self.learner.curve.write(self.settings.out)

    def save(self) -> None:
        """Write policy, curve and checkpoint, in this order."""
        self.settings.out.mkdir(parents=True, exist_ok=True)
        self.write()
        learner = self.learner
        about = {
            "method": self.settings.method,
            "settings": kept_settings(self.settings),
            **{name: getattr(learner, name) for name in learner.counts},
            "cpu_seconds": learner.cpu_seconds,
            "generator": learner.rng.bit_generator.state,
            "curve": learner.curve.state(),
        }
        tensors = dict(learner.state())
        for name, module in learner.modules.items():
            tensors |= module_tensors(f"{name}:", module)
        Checkpoint(about, tensors).save(self.settings.out)
        self.saved = learner.done

    def load(self, folder: Path) -> None:
        """Restore the checkpoint of a folder."""
        learner, settings = self.learner, self.settings
        found = Checkpoint.load(folder)
        about, method = found.about, settings.method
        if about.get("method") != method:
            raise ValueError(f"{folder} holds a run of {about.get('method')}, not of {method}")
        if changed := differences(about["settings"], kept_settings(settings)):
            raise ValueError(f"the run in {folder} is another: {changed}")
        for name in learner.counts:
            setattr(learner, name, about[name])
        learner.cpu_seconds = about["cpu_seconds"]
        learner.rng.bit_generator.state = about["generator"]
        learner.curve.restore(about["curve"])
        try:
            for name, module in learner.modules.items():
                restore_module(f"{name}:", module, found.tensors)
            learner.restore(found.tensors)
        except (KeyError, ValueError) as error:
            raise ValueError(f"the run in {folder} has other settings: {error}") from None


def learn(learner: Learner) -> SavedAgent:
    """Run a method to its end, and print where its results are."""
    agent = Run(learner).go()
    pictures = Path(learner.curve.file).with_suffix(".png").name
    print(wrote(learner.settings.out, POLICY, learner.curve.file, pictures))
    return agent
