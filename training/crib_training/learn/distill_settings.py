"""The settings of `crib distill`; their documentation is the help of the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from crib_env.settings import (
    MANY,
    Count,
    CountOrNone,
    File,
    Folder,
    NewFolder,
    NotNegative,
    Pairs,
    Portion,
    Positive,
    Seed,
    Share,
    Threads,
    Whole,
    checked_dataclass,
)

FREE = ("out", "resume", "eval_opponents", "pairs")  # change nothing about what is learned


@checked_dataclass(frozen=True, kw_only=True)
class Settings:
    """Distil the expert's values of every choice into a learned agent of a two-hand game.

    Attributes:
        env: the environment whose game to learn.
        rules: a preset other than the environment's own.
        student: initial weights, a file of `crib train --method deep_monte_carlo`; by default those
            of the package.
        rounds: rounds in which the student plays and `expert` labels its decisions.
        deals: deals that the student plays per round; a six-card deal brings about nine labels.
        labels_from: the folder of an earlier run whose labels to learn from as well.
        discard: distil discarding too, not only pegging.
        seed: seed of the deals, the choices and the batches.
        batch_size: views per update.
        learning_rate: learning rate of Adam; after the rounds it falls to 0.02 of this.
        ema_rate: step of the average of the weights at each update; saved files hold the average.
        epochs: passes of each round, over as many labels as it brought.
        last_epochs: passes over all labels after the rounds.
        scale: weight of the points themselves, beside the differences between choices.
        temperature: temperature of the softmax by which the student pegs, in points.
        epsilon: the share of the student's cards drawn uniformly.
        threads: threads of PyTorch.
        eval_opponents: opponents of the measurement at the end, joined by commas.
        pairs: pairs of duplicate games for that measurement; 0 measures nothing.
        out: the folder for results.
        resume: the folder of a stopped run to continue.
    """

    env: str = "six_card_v0"
    rules: str | None = None
    student: File | None = None
    rounds: CountOrNone = 20
    deals: Count = 2048
    labels_from: Folder | None = None
    discard: bool = False
    seed: Seed = 1
    batch_size: Annotated[Whole, Field(ge=4, le=MANY)] = 256
    learning_rate: Positive = 5e-4
    ema_rate: Portion = 0.005
    epochs: NotNegative = 2.0
    last_epochs: NotNegative = 5.0
    scale: NotNegative = 0.05
    temperature: Positive = 0.1
    epsilon: Share = 0.05
    threads: Threads = 1
    eval_opponents: str = "rule_based"
    pairs: Pairs = 1000
    out: NewFolder = Path("runs/distilled")
    resume: Folder | None = None

    def __post_init__(self) -> None:
        if self.rounds == 0 and self.labels_from is None:
            raise ValueError("rounds must be 1 or more, or labels_from name a run with labels")
