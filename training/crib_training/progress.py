"""A command's progress: a bar with the total and the time left in a terminal, lines elsewhere.

Both go to stderr. The bar disappears when its task is done; without a terminal a line is printed
every half minute. The time left is estimated from the work after the first result, since kernels
compile before it. Results are printed on stdout, above the bar.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, Self, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

LINE_SECONDS = 30.0  # between two lines where stderr is no terminal

T = TypeVar("T")
Finished = Callable[[float], None]
"""A callback that receives the games played since the last call; running games count in part."""


def ignore_progress(games: float) -> None:
    """Do nothing."""


def steps(items: Collection[T], what: str) -> Iterator[T]:
    """Yield items, and show how many of them are done."""
    with Progress(what, len(items)) as progress:
        for item in items:
            yield item
            progress.advance(1)


class Progress:
    """Shows how much of a task is done, in a ``with`` block: ``done`` of ``total`` at its start."""

    def __init__(self, what: str, total: int, done: float = 0, *, shown: bool = True) -> None:
        self.what = what
        self.total = total
        self.done = done
        self.shown = shown
        self._first: tuple[float, float] | None = None  # time of the first result, and amount done
        self._began = self._last_line = time.monotonic()
        self._bars: Bars | None = None

    def __enter__(self) -> Self:
        self._bars = bars(self) if self.shown else None
        if self._bars is not None:
            self._task = self._bars.add_task(self.what, total=self.total, completed=int(self.done), note="")
            self._bars.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._bars is not None:
            self._bars.stop()

    def advance(self, by: float) -> None:
        """Add to the amount done."""
        self.move_to(self.done + by)

    def move_to(self, done: float, note: str = "") -> None:
        """Set the amount done, and show a note beside it."""
        now = time.monotonic()
        if self._first is None and done > self.done:
            self._first = now, done
        self.done = done
        if self._bars is not None:
            self._bars.update(self._task, completed=done, note=note)
        elif self.shown and now - self._last_line >= LINE_SECONDS:
            self._last_line = now
            print(self.line() + f", {note}" * bool(note), file=sys.stderr, flush=True)

    def say(self, text: str) -> None:
        """Print a line on stdout."""
        if self._bars is not None and sys.stdout.isatty():
            self._bars.console.print(text, soft_wrap=True, markup=False, highlight=False)
        elif self.shown:
            print(text, flush=True)

    def line(self) -> str:
        """Return the progress as a line of text."""
        left = self.left()
        rest = f", {left} left" if left else ""
        spent = clock(time.monotonic() - self._began)
        return f"{self.what}: {self.done:,.0f} of {self.total:,} in {spent}{rest}"

    def left(self) -> str:
        """Return the time left as text, empty while it is unknown."""
        if self._first is None or self.done < self._first[1] + 1:
            return ""
        since, before = self._first
        rest = max(0, self.total - self.done)  # the last batch may go beyond the total
        return clock((time.monotonic() - since) * rest / (self.done - before))


def bars(progress: Progress) -> Bars | None:
    """Return rich's progress bars, or None without a terminal or without rich."""
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, Task, TextColumn
        from rich.progress import Progress as Bars
        from rich.text import Text
    except ModuleNotFoundError:
        return None

    class Left(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(progress.left() or "-:--")

    console = Console(stderr=True)
    if not console.is_terminal:
        return None
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        Left(),
        TextColumn("{task.fields[note]}"),
    )
    return Bars(*columns, console=console, transient=True, redirect_stdout=sys.stdout.isatty())


def clock(seconds: float) -> str:
    """Return a time as hours, minutes and seconds, such as ``1:02:03``, or ``4:05``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
