"""Processes of this machine that work for a command, and end with it whatever ends it."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context, parent_process
from threading import Thread
from typing import Any, TypeVar

# One thread for each process: several would fight for the cores, and the order in which a matrix
# product is summed, so its last bit, may depend on their number.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

SPAWN = get_context("spawn")
PATIENCE = 2.0  # seconds for a process to end by itself

T = TypeVar("T")


class ProcessPool:
    """Processes that each run one thing at a time, used in a ``with`` block.

    Args:
        count: how many.
        begin: called in each as it starts, with the others.
    """

    def __init__(self, count: int, begin: Callable[..., None] | None = None, *args: Any) -> None:
        self._pool = ProcessPoolExecutor(count, SPAWN, _begin, (begin, args))
        self._threads: dict[str, str | None] = {}

    def __enter__(self) -> ProcessPool:
        # Read when a child starts, which is at a later submit.
        self._threads = {name: os.environ.get(name) for name in THREADS}
        os.environ.update(dict.fromkeys(THREADS, "1"))
        return self

    def __exit__(self, *error: object) -> None:
        for name, value in self._threads.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
        children = list((self._pool._processes or {}).values())  # a shutdown forgets them
        if error[0] is None:
            self._pool.shutdown()
            return
        # What runs may hang: it is not waited for.
        self._pool.shutdown(wait=False, cancel_futures=True)
        for child in children:
            child.terminate()
        for child in children:
            child.join(PATIENCE)
            child.kill()

    def submit(self, function: Callable[..., T], *args: Any) -> Future[T]:
        """Have a function called; the result raises BrokenProcessPool if a process died."""
        with _deaf_children():
            return self._pool.submit(function, *args)


@contextmanager
def _deaf_children() -> Iterator[None]:
    """Let children that start in the block never hear Ctrl-C, which is for their parent."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # a child's start would start it, and it lets Ctrl-C through
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(begin: Callable[..., None] | None, args: tuple[Any, ...]) -> None:
    _end_with_parent()
    if begin is not None:
        begin(*args)


def _end_with_parent() -> None:
    """Let a process end when its parent says so or dies, and with it its agents' processes."""

    def end(*_: object) -> None:
        for child in active_children():
            child.kill()
            child.join()
        os._exit(1)

    def watch() -> None:
        parent = parent_process()
        assert parent is not None
        parent.join()
        end()

    Thread(target=watch, daemon=True).start()
    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, who ends us
