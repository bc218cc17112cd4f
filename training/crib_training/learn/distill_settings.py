"""The settings of `crib distill`; their documentation is the help of the command line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from crib_env.settings import (
    MANY,
    Between,
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
    check_settings,
)

FREE = ("out", "resume", "eval_opponents", "pairs")  # change nothing about what is learned


@dataclass(frozen=True)
class Settings:
    """Distil what the expert expects of every choice into a learned agent of a two-hand game.

    Attributes:
        env: the environment whose game is learned.
        rules: a preset of rules other than the environment's own.
        student: weights to begin with, a file of `crib train --method deep_monte_carlo`; by default
            those that come with the package.
        rounds: how often the student plays and a teacher labels its decisions.
        deals: that it plays in a round; six-card brings about nine labels a deal.
        labels_from: the folder of an earlier run, whose labels are learned from as well.
        teacher: who labels the play: ``expert``, or ``search``, a step of search with nets at its
            leaves.
        leaves: weights of those nets, of self-play; by default the student's as they are at first.
        discard: distil discarding too, not only the play.
        seed: of the deals, the choices and the batches.
        batch_size: views an update learns from.
        learning_rate: of Adam; after the rounds it falls to 0.02 of that.
        ema_rate: how far the average of the weights moves at an update; it is what is saved.
        epochs: how often a round learns from as many labels as it brought.
        last_epochs: how often, after the rounds, all labels are learned from.
        scale: weight of the points themselves, beside the differences between choices.
        temperature: of the softmax by which the student plays cards, in points.
        epsilon: the share of its cards drawn evenly.
        threads: of PyTorch.
        eval_opponents: opponents on whom strength is measured at the end, joined by commas.
        pairs: pairs of duplicate games for that; 0 measures nothing.
        out: the folder for results.
        resume: the folder of a run that was stopped, to go on with it.
    """

    env: str = "six_card_v0"
    rules: str | None = None
    student: File | None = None
    rounds: CountOrNone = 20
    deals: Count = 2048
    labels_from: Folder | None = None
    teacher: Literal["expert", "search"] = "expert"
    leaves: File | None = None
    discard: bool = False
    seed: Seed = 1
    batch_size: Annotated[int, Between(4, MANY)] = 256
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
        check_settings(self)
        if self.rounds == 0 and self.labels_from is None:
            raise ValueError("rounds must be 1 or more, or labels_from name a run with labels")
