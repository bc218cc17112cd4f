"""The progress of MaskablePPO: a callback that shows, measures and saves a run."""

from __future__ import annotations

import time
from collections.abc import Callable

from crib_agents.nets import PolicyNetAgent
from stable_baselines3.common.callbacks import BaseCallback

from crib_training.learn.curve import Strength
from crib_training.learn.run import Screen


class ProgressCallback(BaseCallback):
    """Shows a run after every rollout, and now and then measures and saves what it has learned.

    Args:
        progress: shows the run.
        curve: receives what is measured; may begin with an earlier run's points.
        every: decisions between two evaluations.
        pairs: pairs of duplicate deals at each, 0 for none.
        agent: returns what has been learned so far.
        save: writes what has been learned so far.
        check_finite: raises an error once the weights are not finite; called before every rollout.

    Attributes:
        deals: learned from so far.
        cpu_seconds: of playing and learning, not of measuring.
    """

    def __init__(
        self,
        progress: Screen,
        curve: Strength,
        every: float,
        pairs: int,
        agent: Callable[[], PolicyNetAgent],
        save: Callable[[], None],
        check_finite: Callable[[], None],
    ) -> None:
        super().__init__()
        self.progress, self.curve, self.every, self.pairs = progress, curve, every, pairs
        self.agent, self.save, self.check_finite = agent, save, check_finite
        before = curve.points[-1:]
        self.deals = before[0].deals if before else 0
        self.cpu_seconds = before[0].cpu_seconds if before else 0.0
        self.next = progress.decisions + every
        self.since = time.process_time()

    def _on_rollout_start(self) -> None:
        self.check_finite()
        if self.num_timesteps >= self.next:
            self.next += self.every
            self.measure(self.num_timesteps, self.pairs)

    def _on_step(self) -> bool:
        self.deals += int(self.locals["dones"].sum())
        return True

    def _on_rollout_end(self) -> None:
        self.progress.learned(self.num_timesteps, self.num_timesteps, {})

    def measure(self, decisions: int, pairs: int) -> None:
        """Save the agent after this many decisions, and measure it."""
        self.cpu_seconds += time.process_time() - self.since
        self.save()
        if pairs:
            found = self.curve.measure_agent(
                self.agent(), self.deals, decisions, self.cpu_seconds, pairs
            )
            self.progress.measured(found, decisions)
        self.since = time.process_time()
