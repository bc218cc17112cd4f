"""What people watch while a run learns: deals, decisions a second, time left, strength."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from crib_training.learn.curve import Point


class Display:
    """A line that moves in a terminal, and a line for each measure of strength.

    Args:
        total: how many deals the run has. done: how many it had when it was taken up again.
        shown: False shows nothing.
    """

    def __init__(self, total: int, done: int, shown: bool) -> None:
        self.console = Console(quiet=not shown, highlight=False)
        self.progress = Progress(
            TextColumn("{task.completed:,.0f} deals"),
            BarColumn(),
            TextColumn("{task.percentage:3.0f} %"),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[strength]}"),
            console=self.console,
            disable=not (shown and self.console.is_terminal),
        )
        self.task = self.progress.add_task("", total=total, completed=done, rate="", strength="")

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

    def moved(self, deals: int, rate: float) -> None:
        """Show how many deals are played, and how many decisions a CPU second so far."""
        self.progress.update(self.task, completed=deals, rate=f"{rate:,.0f} decisions/CPU s")

    def measured(self, point: Point) -> None:
        """Show a measure of strength."""
        won = f"{100 * point.won:.1f} ± {100 * point.won_interval:.1f} % against {point.opponent}"
        self.progress.update(self.task, strength=won)
        self.say(
            f"{point.deals:>10,} deals {point.cpu_seconds:8.1f} CPU s  "
            f"{point.points:+.2f} ± {point.points_interval:.2f} points a deal, {won}"
        )

    def say(self, text: str) -> None:
        """Print a line."""
        self.console.print(text, soft_wrap=True)
