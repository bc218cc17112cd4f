"""How far a command is: a bar with the total and the time left in a terminal, lines elsewhere.

Shown on stderr. A bar goes when its task is done; lines come once a task has taken a while.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

SAID_EVERY = 30.0  # seconds between two lines where stderr is no terminal

T = TypeVar("T")


def steps(items: Collection[T], what: str) -> Iterator[T]:
    """Yield items, and show how many of them are done."""
    with Progress(what, len(items)) as progress:
        for item in items:
            yield item
            progress.advance(1)


class Progress:
    """Shows how much of a task is done, used in a ``with`` block.

    Args:
        what: the task, in a few words.
        total: how much there is to do.
        done: how much of it was done before.
    """

    def __init__(self, what: str, total: int, done: int = 0) -> None:
        self.what = what
        self.total = total
        self.done: float = done
        self._before = done
        self._began = self._said = time.monotonic()
        self._bars: Bars | None = None

    def __enter__(self) -> Progress:
        self._bars = bars()
        if self._bars is not None:
            self._task = self._bars.add_task(self.what, total=self.total, completed=self._before)
            self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bars is not None:
            self._bars.stop()

    def advance(self, by: float) -> None:
        """Note that so much more is done."""
        self.move_to(self.done + by)

    def move_to(self, done: float) -> None:
        """Note how much is done by now."""
        self.done = done
        now = time.monotonic()
        if self._bars is not None:
            self._bars.update(self._task, completed=done)
        elif now - self._said >= SAID_EVERY:
            self._said = now
            print(self.line(now - self._began), file=sys.stderr, flush=True)

    def line(self, seconds: float) -> str:
        """Return how far the task is after so many seconds, as a line."""
        new = self.done - self._before
        left = f", {clock(seconds * (self.total - self.done) / new)} left" if new > 0 else ""
        return f"{self.what}: {self.done:,.0f} of {self.total:,} in {clock(seconds)}{left}"


def bars() -> Bars | None:
    """Return what shows a bar, or None where there is no terminal, or no rich to draw on it."""
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bars
    except ModuleNotFoundError:
        return None
    console = Console(stderr=True)
    if not console.is_terminal:
        return None
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
    )  # fmt: skip
    return Bars(*columns, console=console, transient=True)


def clock(seconds: float) -> str:
    """Return a time as hours, minutes and seconds, such as ``1:02:03``, or ``4:05``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
