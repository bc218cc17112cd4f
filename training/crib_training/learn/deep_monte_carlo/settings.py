"""Settings of deep Monte Carlo; their documentation is the help of the command line."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from crib_agents.learned.network import WIDEST
from pydantic import Field

from crib_env.settings import (
    Count,
    Folder,
    NewFolder,
    NotNegative,
    Pairs,
    Players,
    Portion,
    Positive,
    Seed,
    Share,
    Threads,
    Whole,
    Workers,
    checked_dataclass,
)
from crib_training import command_line

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

PROGRAM = "crib train --method deep_monte_carlo"
# What changes nothing about what is learned.
FREE = (
    "method", "out", "resume", "progress", "save_seconds", "ray_address", "replay",
    "num_evals", "eval_hands", "eval_pairs", "final_eval_pairs", "eval_opponents", "baselines",
)  # fmt: skip


HiddenSize = Annotated[Whole, Field(ge=1, le=WIDEST)]


@checked_dataclass(frozen=True, kw_only=True)
class Settings:
    """Train an agent by deep Monte Carlo: self-play, and regression on the return of each choice.

    Attributes:
        env: the environment whose game to learn.
        method: the method.
        rules: a preset other than the environment's own, or a preset with changes, such as
            hoyle[target=91,for_last=3].
        players: 2, or 4 in Table Top; by default the smallest number that the game allows.
        deals: deals (in Table Top rounds) to play in all.
        seed: seed of the deals, the networks, the choices and the batches.
        num_envs: deals side by side between updates; by default the game's.
        batch_size: decisions per update; with 2048, the same strength takes ten times the deals.
        learning_rate: learning rate of Adam, by default the game's; it falls linearly to the share
            ``last_learning_rate`` of this.
        last_learning_rate: the share of the learning rate at the end.
        ema_rate: step of the average of the weights at each update, by default the game's;
            measurements and saved files use the average.
        temperature: temperature of the softmax over the values of choices, in points; by default
            the game's.
        last_temperature: the temperature at the end.
        epsilon: the share of decisions drawn uniformly from all choices; falls to 0.
        hidden_sizes: sizes of the two hidden layers; by default the game's.
        eval_opponents: the reference opponents, built-in names joined by commas.
        baselines: built-in agents to draw as lines in the picture: their own strength against the
            first reference opponent; joined by commas.
        num_evals: number of measurements of strength.
        eval_pairs: pairs of duplicate deals per measurement, and half as many pairs of games; 0
            measures nothing.
        final_eval_pairs: the same for the measurement after the last deal.
        save_seconds: seconds between checkpoints: the most that a killed run can lose.
        workers: processes that play while this one learns; with 1, this process does both in turn.
            A run repeats exactly with the same seed and number of workers.
        ray_address: address of a Ray cluster where the workers play as actors; auto on one of its
            nodes.
        device: device of the networks' training, cpu or cuda; play always runs on the CPU.
        threads: threads of PyTorch; with 1, every run of the same settings is identical to the bit.
        out: the folder for results.
        resume: the folder of a stopped run to continue.
        progress: show progress.
        replay: write a page with one game of the trained agent against the first opponent.
    """

    env: str = "six_card_v0"
    method: Literal["deep_monte_carlo"] = "deep_monte_carlo"
    rules: str | None = None
    players: Players | None = None
    deals: Count = 400_000
    seed: Seed = 1
    num_envs: Count | None = None
    batch_size: Count = 256
    learning_rate: Positive | None = None
    last_learning_rate: Share = 0.05
    ema_rate: Portion | None = None
    temperature: Positive | None = None
    last_temperature: Positive | None = None
    epsilon: Share = 0.1
    hidden_sizes: tuple[HiddenSize, HiddenSize] | None = None
    eval_opponents: str = "rule_based"
    baselines: str = "greedy"
    num_evals: Count = 8
    eval_pairs: Pairs = 1000
    final_eval_pairs: Pairs = 4000
    save_seconds: NotNegative = 30.0
    workers: Workers = 1
    ray_address: str | None = None
    device: Literal["cpu", "cuda"] = "cpu"
    threads: Threads = 1
    out: NewFolder = Path("runs/deep_monte_carlo")
    resume: Folder | None = None
    progress: bool = True
    replay: bool = False

    def __post_init__(self) -> None:
        if self.ray_address is not None and self.workers < 2:
            raise ValueError(f"workers must be at least 2 on a cluster, got {self.workers}")


@dataclass(frozen=True)
class GameDefaults:
    """What a game does well with, where the settings leave it open."""

    num_envs: int
    learning_rate: float
    ema_rate: float
    temperature: float
    last_temperature: float
    hidden_sizes: tuple[int, int]

    def resolve(self, settings: Settings) -> GameDefaults:
        """Return these, or the values in the settings instead."""
        given = {f.name: getattr(settings, f.name) for f in fields(self)}
        return replace(self, **{name: value for name, value in given.items() if value is not None})


def command(settings: Settings, leave_out: Collection[str] = (), **changes: Any) -> str:
    """Return the command line of settings with changes; what has its default is left out."""
    return command_line.command(PROGRAM, replace(settings, **changes), leave_out, ())


def diff_settings(before: Mapping[str, Any], settings: DataclassInstance) -> list[str]:
    """Return the differences of settings from those of a run, each as words."""
    now = fixed(settings)
    return [
        f"{name} was {before.get(name)}, not {now.get(name)}"
        for name in {**before, **now}
        if name not in FREE and before.get(name) != now.get(name)
    ]


def origin(settings: Settings) -> str:
    """Return the command that repeats a run, in whatever folder."""
    return command(settings, FREE)


def fixed(settings: DataclassInstance) -> dict[str, Any]:
    """Return the settings that a resumed run must not change, in JSON form."""
    held = {name: value for name, value in asdict(settings).items() if name not in FREE}
    return {name: list(v) if isinstance(v, tuple) else v for name, v in held.items()}
