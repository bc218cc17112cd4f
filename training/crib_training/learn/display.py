"""What people watch while anything learns: decisions a second, time left, strength as it grows.

In a terminal a line moves; every measure of strength is a line that stays. TensorBoard shows the
same, and the loss: ``tensorboard --logdir runs``.
"""

from __future__ import annotations

import time
from pathlib import Path
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from crib_training.learn.curve import Point

EVENTS = "tb"  # the folder of what TensorBoard reads


class Display:
    """Shows a run, used in a ``with`` block.

    Args:
        what: it is counted in, such as deals. total: how many there are.
        done: how many there were when the run was taken up again. decisions: likewise.
        folder: of the run, for TensorBoard.
        shown: False shows nothing, but for TensorBoard.
    """

    def __init__(
        self, what: str, total: int, done: int, decisions: int, folder: Path, shown: bool
    ) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self.console = Console(quiet=not shown, highlight=False)
        self.progress = Progress(
            TextColumn(f"{{task.completed:,.0f}} {what}"),
            BarColumn(),
            TextColumn("{task.percentage:3.0f} %"),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[strength]}"),
            console=self.console,
            disable=not (shown and self.console.is_terminal),
        )
        self.task = self.progress.add_task("", total=total, completed=done, rate="", strength="")
        purge = decisions or None  # of what a run noted after it was saved
        self.events = SummaryWriter(folder / EVENTS, purge_step=purge)
        self.since, self.decisions = time.monotonic(), decisions

    def __enter__(self) -> Display:
        self.progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.progress.stop()
        self.events.close()

    def moved(self, done: int, decisions: int, loss: float | None = None) -> None:
        """Show how far the run is: so much done, and so many decisions learned from."""
        now = time.monotonic()
        rate = (decisions - self.decisions) / max(now - self.since, 1e-9)
        self.since, self.decisions = now, decisions
        self.progress.update(self.task, completed=done, rate=f"{rate:,.0f} decisions/s")
        self._note("decisions_a_second", rate, decisions)
        if loss is not None:
            self._note("loss", loss, decisions)

    def measured(self, point: Point) -> None:
        """Show a measure of strength."""
        won = f"{100 * point.won:.1f} ± {100 * point.won_interval:.1f} % against {point.opponent}"
        self.progress.update(self.task, strength=won)
        self.say(
            f"{point.deals:>10,} deals {point.decisions:>11,} decisions {point.cpu_seconds:7.1f} "
            f"CPU s  {point.points:+.2f} ± {point.points_interval:.2f} points a deal, {won}"
        )
        self._note(f"games_won/{point.opponent}", point.won, point.decisions)
        self._note(f"points_a_deal/{point.opponent}", point.points, point.decisions)
        self.since = time.monotonic()

    def say(self, text: str) -> None:
        """Print a line."""
        self.console.print(text, soft_wrap=True)

    def _note(self, name: str, value: float, decisions: int) -> None:
        self.events.add_scalar(name, value, decisions)
