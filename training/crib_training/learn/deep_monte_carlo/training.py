"""A run of deep Monte Carlo: the algorithm with workers, evaluations and checkpoints."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from crib_agents.files import write_whole
from crib_agents.learned import MonteCarloAgent

from crib_training.learn.curve import Curve, Point
from crib_training.learn.deep_monte_carlo.actors import Actors, RolloutResult, joined, split_round
from crib_training.learn.deep_monte_carlo.algorithm import DeepMonteCarlo, Samples, find_self_play
from crib_training.learn.deep_monte_carlo.checkpoint import FILE, Checkpoint
from crib_training.learn.deep_monte_carlo.settings import Settings, diff_settings, fixed, origin
from crib_training.learn.learner import NETS, diverged, module_tensors

BEHAVIOUR = "acting."  # the prefix of the nets that play the round after this


class Training(DeepMonteCarlo):
    """A run.

    Args:
        settings: settings of the run. ``resume`` continues from that folder's checkpoint.

    Raises:
        ValueError: settings that are not possible, an unknown game, or another run than the one to
            go on with; the message says what differs.

    Attributes:
        curve: strength so far.
        actors: who plays, None for this process.
        behaviour_nets: the nets that the next round is played by, if others play it.
        saved: how many deals the last checkpoint in the folder has, None if there is none.
    """

    def __init__(self, settings: Settings) -> None:
        if settings.device == "cuda" and not torch.cuda.is_available():
            raise ValueError(
                "device cuda needs an NVIDIA card and a PyTorch built for it: here is none"
            )
        saved = Checkpoint.load(settings.resume) if settings.resume else None
        if saved is not None and (changed := diff_settings(saved.about["settings"], settings)):
            raise ValueError(f"the run in {settings.resume} is another: {'; '.join(changed)}")
        torch.set_num_threads(settings.threads)
        maker, self_play = find_self_play(settings)
        super().__init__(self_play, settings)
        self.actors: Actors | None = None
        self.behaviour_nets = self._nets() if settings.workers > 1 else {}
        self.saved: int | None = None
        self.curve = Curve(
            maker, self_play.rules, self_play.players, f"deep Monte Carlo, seed {settings.seed}",
            settings.eval_opponents, settings.baselines,
        )  # fmt: skip
        if saved is not None:
            self._restore(saved)

    @property
    def agent(self) -> MonteCarloAgent:
        """What has been learned so far, as an agent."""
        weights = self.self_play.weights(self.learner.mean_nets, origin(self.settings))
        return MonteCarloAgent([weights], "learning")

    def collect(self, deals: int, progress: float) -> tuple[Samples | None, int]:
        """Return what self-play brought here or elsewhere; None if all workers' parts were lost."""
        if self.actors is None:
            return super().collect(deals, progress)
        parts = self._collect_remote(self.actors, deals, progress)
        self.cpu_seconds += sum(part.cpu_seconds for part in parts)
        return (joined(parts) if parts else None), sum(part.deals for part in parts)

    def _collect_remote(self, actors: Actors, n: int, progress: float) -> list[RolloutResult]:
        """Return a round of ``n`` deals played by `behaviour_nets`, and begin the next one."""
        total, workers = self.settings.deals, self.settings.workers
        if not actors.waiting:
            actors.begin(split_round(self.rounds, n, progress, workers), self.behaviour_nets)
        nets, then = self._nets(), self.deals + n
        if then < total:
            following = self.batch_of_deals(then)
            actors.begin(split_round(self.rounds + 1, following, then / total, workers), nets)
        played = actors.finish()
        self.behaviour_nets = nets
        return played

    def _nets(self) -> dict[str, np.ndarray[Any, Any]]:
        """Return the nets as they are now."""
        return module_tensors(NETS, self.self_play.nets)

    def fit(self, samples: Samples, progress: float) -> None:
        """Learn from every sample once."""
        super().fit(samples, progress)
        if not self.learner.is_finite(self.loss):
            saved = None if self.saved is None else self.settings.out / FILE
            raise diverged(saved, f"after {self.saved or 0:,} deals")

    def measure(self, pairs: int) -> list[Point]:
        """Measure the strength of the average against each reference opponent."""
        return self.curve.measure(self.agent, self.deals, self.decisions, self.cpu_seconds, pairs)

    def save(self) -> None:
        """Write weights, curve and checkpoint, in this order, each as a whole."""
        out = self.settings.out
        write_whole(out / "policy.safetensors", self.agent.sets[0].to_bytes())
        self.curve.write(out)
        behaviour = {BEHAVIOUR + name: array for name, array in self.behaviour_nets.items()}
        about = {
            "settings": fixed(self.settings),
            "deals": self.deals,
            "rounds": self.rounds,
            "decisions": self.decisions,
            "cpu_seconds": self.cpu_seconds,
            "generator": self.rng.bit_generator.state,
            "curve": self.curve.state(),
        }
        Checkpoint(about, {**self.learner.tensors(), **behaviour}).save(out)
        self.saved = self.deals

    def _restore(self, saved: Checkpoint) -> None:
        about = saved.about
        self.learner.restore(saved.tensors)
        self.behaviour_nets = {
            name.removeprefix(BEHAVIOUR): array.copy()
            for name, array in saved.tensors.items()
            if name.startswith(BEHAVIOUR)
        }
        self.deals, self.decisions = about["deals"], about["decisions"]
        self.rounds, self.cpu_seconds = about["rounds"], about["cpu_seconds"]
        self.rng.bit_generator.state = about["generator"]
        self.curve.restore(about["curve"])
