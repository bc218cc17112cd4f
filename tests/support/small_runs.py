"""Small runs of every method; those with workers are played in this process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from crib_training.learn import run
from crib_training.learn.run import Checkpoint, Run
from crib_training.methods import METHODS, ppo
from crib_training.methods.deep_monte_carlo import Actor, Actors, Arrays, Learner, RolloutJob, RolloutResult, Settings

# The methods that measure their exploitability.
BASELINES = tuple(name for name in METHODS if name not in ("deep_monte_carlo", "ppo"))
# `deep_cfr` follows all decisions of a deal, so one game suffices; regrets take many steps.
FEWER = {"nfsp": {"updates": 8}, "escher": {"updates": 8}, "deep_cfr": {"num_envs": 1, "updates": 8}}


def made(method: str, steps: int, **settings: Any) -> Any:
    """Return a baseline's learner without measurements or progress output."""
    module = import_module(METHODS[method])
    known = module.Settings.__dataclass_fields__
    if "steps" in known:
        settings["steps"] = steps
    quiet = {"num_evals": 0, "progress": False, **({"features": False} if "features" in known else {})}
    return module.Learner(module.Settings(**{**quiet, **settings}))


def baseline(method: str, **changes: Any) -> Any:
    """Return the learner of a small run of a baseline."""
    few = {"decisions": 768, "num_envs": 32, "hidden_sizes": (16, 16), "batch_size": 64}
    return made(method, **{"steps": 8, **few, **FEWER.get(method, {}), **changes})


def learner_of(method: str, **changes: Any) -> run.Learner:
    """Return the learner of a small run of a method other than PPO."""
    if method == "deep_monte_carlo":
        return Learner(small(**{"workers": 1, **changes}))
    learner: run.Learner = baseline(method, **changes)
    return learner


def small_ppo(out: Path, **changes: Any) -> ppo.Settings:
    return ppo.Settings(**{
        "num_envs": 16, "steps": 8, "batch_size": 64, "epochs": 1, "hidden_sizes": (16, 16),
        "timesteps": 128, "progress": False, "opponent": "random", "eval_pairs": 0, "out": out,
        **changes,
    })  # fmt: skip


class Here(Actors):
    """Actors that play in this process, when their round is collected."""

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
        out=out,
        deals=400,
        num_envs=50,
        batch_size=64,
        hidden_sizes=(16, 8),
        eval_pairs=0,
        save_seconds=0.0,
        progress=False,
        workers=2,
    )
    return replace(few, **changes)


def tensors_of(folder: Path) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in Checkpoint.load(folder).tensors.items()}


def begun(settings: Settings) -> Run:
    """Return a run before its start or before it resumes."""
    run = Run(Learner(settings))
    if settings.resume is not None:
        run.load(settings.resume)
    return run


def played_here(settings: Settings, updates: int | None = None) -> Learner:
    """Return a run of ``updates`` rounds, or all, played in this process and saved."""
    run = begun(settings)
    learner = run.learner
    assert isinstance(learner, Learner)
    learner.actors = Here(settings)
    while learner.deals < settings.deals and learner.rounds != updates:
        learner.iterate()
    run.save()
    return learner
