"""Ctrl-C and SIGTERM: recorded at once; the work ends at a point from which it can resume."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Any

TERMINATED = 128 + signal.SIGTERM  # the exit status of a command that SIGTERM has ended

SOON = 0.05  # seconds until a lost signal is sent again


class Stopped(KeyboardInterrupt):
    """A run was stopped and saved; the message names the command to continue."""


class Termination:
    """A handler of SIGTERM that raises what Ctrl-C raises."""

    came = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Raise a KeyboardInterrupt."""
        self.came = True
        raise KeyboardInterrupt


@contextmanager
def terminable() -> Iterator[None]:
    """Let SIGTERM, which clusters send, end a command as Ctrl-C does, with exit status 143.

    Nothing changes outside the main thread, or if SIGTERM already has a handler.
    """
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    end = Termination()
    try:
        with _handled_by(signal.SIGTERM, end), _never_lost(end):
            yield
    finally:
        if end.came:  # even if the command raised another error
            sys.exit(TERMINATED)


@contextmanager
def _never_lost(end: Termination) -> Iterator[None]:
    """Send a signal again if Python has discarded its exception.

    Python does so in finalizers and in callbacks from C, such as LLVM's while a kernel compiles.
    """
    before, again = sys.unraisablehook, list[threading.Timer]()

    def hook(lost: sys.UnraisableHookArgs) -> None:
        if not issubclass(lost.exc_type, KeyboardInterrupt):
            before(lost)
            return
        number = signal.SIGTERM if end.came else signal.SIGINT
        again.append(threading.Timer(SOON, os.kill, (os.getpid(), number)))
        again[-1].start()

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = before
        for timer in again:
            timer.cancel()


class Interruptions(list[int]):
    """The numbers of the signals received."""

    noted = 0  # this many, the first ones, raise nothing

    @contextmanager
    def at_once(self, stopped: KeyboardInterrupt) -> Iterator[None]:
        """Raise ``stopped`` at the next signal: for work that starts when everything is saved."""
        before, self.noted = self.noted, len(self)
        try:
            yield
        except KeyboardInterrupt:
            raise stopped from None
        finally:
            self.noted = before


@contextmanager
def interruptions(note_first: bool = False) -> Iterator[Interruptions]:
    """Yield a list to which every Ctrl-C, and every SIGTERM in `terminable`, adds its number.

    With ``note_first`` the first signal raises nothing, and only Python's and our own handlers are
    replaced. Outside the main thread, and for a signal without a handler, the list stays empty.
    """
    came = Interruptions()
    came.noted = int(note_first)
    with ExitStack() as handled:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                before = signal.getsignal(number)
                own = before is signal.default_int_handler or isinstance(before, Termination)
                if callable(before) and (own or not note_first):
                    handled.enter_context(_handled_by(number, _noting(came, before)))
        yield came


def _noting(came: Interruptions, before: Any) -> Any:
    """Return a handler that adds to ``came``, then calls ``before`` unless it only notes."""

    def note(number: int, frame: FrameType | None) -> None:
        came.append(number)
        if isinstance(before, Termination):
            before.came = True
        if len(came) > came.noted:
            before(number, frame)

    return note


@contextmanager
def _handled_by(number: int, handler: Any) -> Iterator[None]:
    before = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, before)
