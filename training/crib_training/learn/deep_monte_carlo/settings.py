"""Settings of deep Monte Carlo; their documentation is the help of the command line."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from crib_agents.learned.network import WIDEST

from crib_env.settings import (
    Between,
    Count,
    Folder,
    NewFolder,
    NotNegative,
    Pairs,
    Portion,
    Positive,
    Seed,
    Share,
    Threads,
    Workers,
    check_settings,
)
from crib_training import command_line

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

PROGRAM = "crib train --method deep_monte_carlo"
# What changes nothing about what is learned.
FREE = ("out", "resume", "progress", "save_seconds", "ray_address", "replay")


HiddenSize = Annotated[int, Between(1, WIDEST)]


@dataclass(frozen=True)
class Settings:
    """Train an agent by deep Monte Carlo: self-play, and regression on what followed each choice.

    Attributes:
        env: the environment whose game is learned.
        rules: other than the environment's own: a preset, or one with changes, such as
            hoyle[target=91,for_last=3].
        players: 2, or 4 in Table Top; by default the fewest the game has.
        deals: how many deals (in Table Top rounds) are played in all.
        seed: of the deals, the nets, the choices and the batches.
        num_envs: deals played side by side between updates; by default what the game does well
            with.
        batch_size: decisions an update learns from; with 2048 the same strength takes ten times the
            deals.
        learning_rate: of Adam, by default the game's; falls linearly to ``last_learning_rate`` of
            it.
        last_learning_rate: the share of it that is left at the end.
        ema_rate: how far the average of the weights moves at an update, by default the game's; it
            is what plays when strength is measured, and what is saved.
        temperature: of the softmax over the values of choices, in points; by default the game's.
        last_temperature: the same at the end.
        epsilon: the share of decisions drawn evenly among all choices; falls to 0.
        hidden_sizes: of the two hidden layers; by default the game's.
        eval_opponents: the reference opponents, built-in names joined by commas.
        baselines: built-in agents whose own strength against the first of those the picture shows
            as lines, joined by commas.
        num_evals: how often strength is measured.
        eval_pairs: pairs of duplicate deals at each, and half as many pairs of games; 0 measures
            nothing.
        final_eval_pairs: the same after the last deal.
        save_seconds: the longest that a killed run can lose.
        workers: processes that play, beside this one, which learns meanwhile; with 1 this process
            does both in turn. A run repeats from its seed and its number of workers.
        ray_address: have so many actors on this Ray cluster play instead; auto on one of its nodes.
        device: where the nets learn, cpu or cuda; play is on the CPU always.
        threads: of PyTorch. With one a run is the same to the last bit whenever it is made again.
        out: the folder for results.
        resume: the folder of a run that was stopped, to go on with it.
        progress: show how it goes.
        replay: write a game of what was learned against the first opponent, as a page to look at.
    """

    env: str = "six_card_v0"
    rules: str | None = None
    players: int | None = None
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
        check_settings(self)
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
        """Return these, or what the settings say instead."""
        given = {f.name: getattr(settings, f.name) for f in fields(self)}
        return replace(self, **{name: value for name, value in given.items() if value is not None})


def command(settings: Settings, leave_out: Collection[str] = (), **changes: Any) -> str:
    """Return the command line of settings with changes; what has its default is left out."""
    return command_line.command(PROGRAM, replace(settings, **changes), leave_out, ())


def diff_settings(before: Mapping[str, Any], settings: DataclassInstance) -> list[str]:
    """Return what settings change of those of a run, each as words."""
    now = fixed(settings)
    return [
        f"{name} was {before.get(name)}, not {now.get(name)}"
        for name in {**before, **now}
        if before.get(name) != now.get(name)
    ]


def origin(settings: Settings) -> str:
    """Return the command that repeats a run, in whatever folder."""
    return command(settings, FREE)


def fixed(settings: DataclassInstance) -> dict[str, Any]:
    """Return the settings that a run which goes on must not change, as JSON holds them."""
    held = {name: value for name, value in asdict(settings).items() if name not in FREE}
    return {name: list(v) if isinstance(v, tuple) else v for name, v in held.items()}
