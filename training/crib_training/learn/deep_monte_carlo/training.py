"""A run of deep Monte Carlo: its state, one step of it, its strength, and how it is kept."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from crib_agents.files import write_whole
from crib_agents.learned import MonteCarloAgent

from crib_training.learn.curve import Curve, Point
from crib_training.learn.deep_monte_carlo.actors import (
    NETS,
    Actors,
    RolloutResult,
    joined,
    split_round,
)
from crib_training.learn.deep_monte_carlo.checkpoint import (
    FILE,
    Checkpoint,
    adam_tensors,
    module_tensors,
    restore_adam,
    restore_module,
)
from crib_training.learn.deep_monte_carlo.settings import Settings, diff_settings, fixed, origin
from crib_training.learn.deep_monte_carlo.task import Samples
from crib_training.learn.deep_monte_carlo.tasks import find_task
from crib_training.learn.divergence import diverged, is_finite

ACTING = "acting."  # the prefix of the nets that play the round after this


class Training:
    """A run.

    Args:
        settings: those of the run. With ``resume`` it goes on from that folder's checkpoint.

    Raises:
        ValueError: settings that are not possible, an unknown game, or another run than the one to
            go on with; the message says what differs.

    Attributes:
        task: the game. average: the average of its nets' weights.
        deals, decisions: of self-play so far. cpu_seconds: of self-play and learning.
        rounds: played so far. actors: who plays them, None for this process.
        saved: how many deals the last checkpoint in the folder has, None if there is none.
        acting: the nets that the next round is played by, if others play it.
        loss: the mean over the updates of the last round. curve: strength so far.
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
        self.settings = settings
        self.maker, self.rules, self.players, self.task = find_task(settings)
        self.chosen = self.task.defaults.under(settings)
        self.task.nets.to(settings.device)
        self.mean_nets = copy.deepcopy(self.task.nets)
        self.optimizer = torch.optim.Adam(
            self.task.nets.parameters(), self.chosen.learning_rate, fused=True
        )
        self.rng = np.random.default_rng(settings.seed)
        self.deals, self.decisions, self.cpu_seconds, self.rounds = 0, 0, 0.0, 0
        self.actors: Actors | None = None
        self.behaviour_nets = self._nets() if settings.workers > 1 else {}
        self.loss = 0.0
        self.saved: int | None = None
        self.curve = Curve(
            self.maker, self.rules, self.players, f"deep Monte Carlo, seed {settings.seed}",
            settings.eval_opponents, settings.baselines,
        )  # fmt: skip
        if saved is not None:
            self._restore(saved)

    @property
    def agent(self) -> MonteCarloAgent:
        """What has been learned so far, as an agent."""
        return MonteCarloAgent(
            [self.task.weights(self.mean_nets, origin(self.settings))], "learning"
        )

    def iterate(self) -> None:
        """Play one batch of deals and learn from it.

        Raises:
            DivergedError: the loss or the weights are not finite; the message names what was saved.
        """
        began = time.process_time()
        progress = self.deals / self.settings.deals
        n = min(self.task.num_envs, self.settings.deals - self.deals)
        if self.actors is None:
            samples = self.task.play(n, progress, self.rng)
        else:
            parts = self._collect_remote(self.actors, n)
            if not parts:  # all were lost: the next round makes up for it
                self.rounds += 1
                return
            samples, n = joined(parts), sum(part.deals for part in parts)
            self.cpu_seconds += sum(part.cpu_seconds for part in parts)
        self._fit(samples, progress)
        self.deals += n
        self.rounds += 1
        self.decisions += samples.decisions
        self.cpu_seconds += time.process_time() - began

    def _collect_remote(self, actors: Actors, n: int) -> list[RolloutResult]:
        """Return a round of ``n`` deals played by `behaviour_nets`, and begin the next one."""
        total, workers = self.settings.deals, self.settings.workers
        if not actors.waiting:
            progress = self.deals / total
            actors.begin(split_round(self.rounds, n, progress, workers), self.behaviour_nets)
        nets, then = self._nets(), self.deals + n
        if then < total:
            rest = min(self.task.num_envs, total - then)
            actors.begin(split_round(self.rounds + 1, rest, then / total, workers), nets)
        played = actors.finish()
        self.behaviour_nets = nets
        return played

    def _nets(self) -> dict[str, np.ndarray[Any, Any]]:
        """Return the nets as they are now."""
        return {k: v.copy() for k, v in module_tensors(NETS, self.task.nets).items()}

    def _fit(self, samples: Samples, progress: float) -> None:
        settings = self.settings
        share = max(settings.last_learning_rate, 1.0 - progress)
        for group in self.optimizer.param_groups:
            group["lr"] = self.chosen.learning_rate * share
        nets: list[torch.Tensor] = list(self.task.nets.parameters())
        mean_nets: list[torch.Tensor] = list(self.mean_nets.parameters())
        samples = samples.to(settings.device)
        losses = []
        for rows in batches(samples, settings.batch_size, self.rng):
            loss = self.task.loss(samples, rows)
            self.optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            self.optimizer.step()
            losses.append(loss.detach())
            with torch.no_grad():
                torch._foreach_lerp_(mean_nets, nets, self.chosen.ema_rate)
        self.loss = torch.stack(losses).mean().item()
        if not is_finite(self.loss, self.task.nets, self.mean_nets):
            saved = None if self.saved is None else settings.out / FILE
            raise diverged(saved, f"after {self.saved or 0:,} deals")

    def measure(self, pairs: int) -> list[Point]:
        """Measure the strength of the average against each reference opponent."""
        return self.curve.measure(self.agent, self.deals, self.decisions, self.cpu_seconds, pairs)

    # --- what is kept ---------------------------------------------------------------------------

    def save(self) -> None:
        """Write weights, curve and checkpoint, in this order, each as a whole.

        Raises:
            OSError: one of them cannot be written; those written before are still there.
        """
        out = self.settings.out
        write_whole(out / "policy.safetensors", self.agent.sets[0].to_bytes())
        self.curve.write(out)
        tensors = {
            **module_tensors(NETS, self.task.nets),
            **module_tensors("average", self.mean_nets),
            **{ACTING + name: array for name, array in self.behaviour_nets.items()},
            **adam_tensors(self.optimizer),
        }
        about = {
            "settings": fixed(self.settings),
            "deals": self.deals,
            "rounds": self.rounds,
            "decisions": self.decisions,
            "cpu_seconds": self.cpu_seconds,
            "generator": self.rng.bit_generator.state,
            "curve": self.curve.state(),
        }
        Checkpoint(about, tensors).save(out)
        self.saved = self.deals

    def _restore(self, saved: Checkpoint) -> None:
        about = saved.about
        restore_module(NETS, self.task.nets, saved.tensors)
        restore_module("average", self.mean_nets, saved.tensors)
        restore_adam(self.optimizer, saved.tensors)
        self.deals, self.decisions = about["deals"], about["decisions"]
        self.rounds = about["rounds"]
        self.behaviour_nets = {
            name.removeprefix(ACTING): array.copy()
            for name, array in saved.tensors.items()
            if name.startswith(ACTING)
        }
        self.cpu_seconds = about["cpu_seconds"]
        self.rng.bit_generator.state = about["generator"]
        self.curve.restore(about["curve"])


def batches(
    samples: Samples, size: int, rng: np.random.Generator
) -> Iterator[Mapping[str, torch.Tensor]]:
    """Yield the rows of each update: every sample once, those of all groups spread evenly.

    Args:
        size: how many an update takes of the largest group.
    """
    lengths = {name: len(next(iter(group.values()))) for name, group in samples.groups.items()}
    lengths = {name: length for name, length in lengths.items() if length}
    n = max(1, min(max(lengths.values()) // size, *lengths.values()))
    parts = {name: np.array_split(rng.permutation(k), n) for name, k in lengths.items()}
    for i in range(n):
        yield {name: torch.from_numpy(rows[i]) for name, rows in parts.items()}
