"""What watches MaskablePPO learn: it shows how far the run is, and measures and saves it."""

from __future__ import annotations

import time
from collections.abc import Callable

from crib_agents.adapters.learned import PolicyNetAgent
from stable_baselines3.common.callbacks import BaseCallback

from crib_training.learn.curve import Curve
from crib_training.learn.display import Display


class Watch(BaseCallback):
    """Shows a run after every roll-out, and now and then measures and saves what it has learned.

    Args:
        display: shows it. curve: keeps what is measured; may begin with an earlier run's points.
        every: decisions between two measures. pairs: of duplicate deals at each, 0 for none.
        agent: returns what has been learned so far. save: writes it.
        check_finite: raises an error once that is not finite; called before every roll-out.

    Attributes:
        deals: learned from so far. cpu_seconds: of playing and learning, not of measuring.
    """

    def __init__(
        self,
        display: Display,
        curve: Curve,
        every: float,
        pairs: int,
        agent: Callable[[], PolicyNetAgent],
        save: Callable[[], None],
        check_finite: Callable[[], None],
    ) -> None:
        super().__init__()
        self.display, self.curve, self.every, self.pairs = display, curve, every, pairs
        self.agent, self.save, self.check_finite = agent, save, check_finite
        before = curve.points[-1:]
        self.deals = before[0].deals if before else 0
        self.cpu_seconds = before[0].cpu_seconds if before else 0.0
        self.next = display.decisions + every
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
        self.display.moved(self.num_timesteps, self.num_timesteps)

    def measure(self, decisions: int, pairs: int) -> None:
        """Save what has been learned from so many decisions, and measure it."""
        self.cpu_seconds += time.process_time() - self.since
        self.save()
        if pairs:
            for point in self.curve.measure(
                self.agent(), self.deals, decisions, self.cpu_seconds, pairs
            ):
                self.display.measured(point)
        self.since = time.process_time()
