"""Progress of a training run on the screen: decisions per second, time left, strength.

TensorBoard shows the same, and the loss: ``tensorboard --logdir runs``.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from crib_training.learn.curve import Point
from crib_training.progress import Progress

EVENTS = "tb"  # the folder of what TensorBoard reads


class TrainingProgress(Progress):
    """Shows a run, used in a ``with`` block.

    Args:
        what: the unit of the run, such as deals.
        total: the number of them in the whole run.
        done: the number of them when the run resumed.
        decisions: how many decisions the run had learned from by then.
        folder: of the run, for TensorBoard.
        shown: False shows nothing, but for TensorBoard.
    """

    def __init__(
        self, what: str, total: int, done: int, decisions: int, folder: Path, shown: bool
    ) -> None:
        from torch.utils.tensorboard import SummaryWriter

        super().__init__(what, total, done, shown=shown)
        purge = decisions or None  # of what a run noted after it was saved
        self.events = SummaryWriter(folder / EVENTS, purge_step=purge)
        self.since, self.decisions = time.monotonic(), decisions
        self.strength = ""

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self.events.close()

    def learned(self, done: int, decisions: int, loss: float | None = None) -> None:
        """Show the progress of the run and the decisions learned from."""
        now = time.monotonic()
        rate = (decisions - self.decisions) / max(now - self.since, 1e-9)
        self.since, self.decisions = now, decisions
        self.move_to(done, f"{rate:,.0f} decisions/s{self.strength}")
        self.events.add_scalar("decisions_per_second", rate, decisions)
        if loss is not None:
            self.events.add_scalar("loss", loss, decisions)

    def measured(self, points: Sequence[Point]) -> None:
        """Show the strength against each opponent."""
        for p in points:
            won = f"{100 * p.won:.1f} ± {100 * p.won_interval:.1f} % against {p.opponent}"
            self.strength = f", {won}"
            self.say(
                f"{p.deals:>10,} deals {p.decisions:>11,} decisions {p.cpu_seconds:7.1f} CPU s  "
                f"{p.points:+.2f} ± {p.points_interval:.2f} points per deal, {won}"
            )
            self.events.add_scalar(f"games_won/{p.opponent}", p.won, p.decisions)
            self.events.add_scalar(f"points_per_deal/{p.opponent}", p.points, p.decisions)
        self.since = time.monotonic()
