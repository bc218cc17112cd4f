"""Small runs of self-play with workers, played in this process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from crib_training.learn.run import Checkpoint, Run
from crib_training.methods.deep_monte_carlo import (
    Actor,
    Actors,
    Arrays,
    Learner,
    RolloutJob,
    RolloutResult,
    Settings,
)


class Here(Actors):
    """Actors that play in this process, when their round is asked for."""

    def __init__(self, settings: Settings) -> None:
        self.actor = Actor(settings)
        self.rounds: list[tuple[list[RolloutJob], Arrays]] = []

    @property
    def waiting(self) -> bool:
        return bool(self.rounds)

    def begin(self, parts: Sequence[RolloutJob], nets: Arrays) -> None:
        self.rounds.append((list(parts), nets))

    def finish(self) -> list[RolloutResult]:
        parts, nets = self.rounds.pop(0)
        return [self.actor.play(part, nets) for part in parts]


def small(out: Path, **changes: Any) -> Settings:
    few = Settings(
        out=out, deals=400, num_envs=50, batch_size=64, hidden_sizes=(16, 8), eval_pairs=0,
        save_seconds=0.0, progress=False, workers=2,
    )  # fmt: skip
    return replace(few, **changes)


def tensors_of(folder: Path) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in Checkpoint.load(folder).tensors.items()}


def begun(settings: Settings) -> Run:
    """Return a run that is about to start or to go on."""
    run = Run(Learner(settings))
    if settings.resume is not None:
        run.load(settings.resume)
    return run


def played_here(settings: Settings, updates: int | None = None) -> Learner:
    """Return a run of so many rounds, or all, played in this process and saved."""
    run = begun(settings)
    learner = run.learner
    assert isinstance(learner, Learner)
    learner.actors = Here(settings)
    while learner.deals < settings.deals and learner.rounds != updates:
        learner.iterate()
    run.save()
    return learner
