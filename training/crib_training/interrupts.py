"""Ctrl-C: noted at once; the work then ends at a point from which it can resume."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Stopped(KeyboardInterrupt):
    """A run was asked to stop, and is saved; its message says how to go on."""


@contextmanager
def interruptions(note_first: bool = False) -> Iterator[list[int]]:
    """Yield a list to which every Ctrl-C adds its signal's number.

    Outside the main thread, and where nobody handles Ctrl-C, the list stays empty.

    Args:
        note_first: the first Ctrl-C raises nothing, so that a run ends where it can go on; the
            handler of another program is left in place then. Otherwise each raises what it would.
    """
    came: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    main = threading.current_thread() is threading.main_thread()
    others = note_first and before is not signal.default_int_handler
    if not main or others or not callable(before):
        yield came
        return

    def hear(number: int, frame: FrameType | None) -> None:
        came.append(number)
        if len(came) > note_first:
            before(number, frame)

    signal.signal(signal.SIGINT, hear)
    try:
        yield came
    finally:
        signal.signal(signal.SIGINT, before)
