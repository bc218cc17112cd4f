"""Processes of this machine that work for a command, and end with it whatever ends it.

Each has a pipe of its own and shares nothing with the others, no queue and no lock: one that is
killed at any moment leaves nobody waiting.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context, parent_process
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from queue import SimpleQueue
from threading import Thread
from traceback import format_exc
from typing import Any, TypeVar

from crib_agents.adapters.process import end_process

# One thread for each process: several would fight for the cores, and the order in which a matrix
# product is summed, so its last bit, may depend on their number.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

SPAWN = get_context("spawn")
PATIENCE = 2.0  # seconds for a process to end by itself
# What ends a process: SIGTERM may come from outside to all of a command's processes, like Ctrl-C.
END = getattr(signal, "SIGUSR1", signal.SIGTERM)

T = TypeVar("T")


class ProcessDiedError(RuntimeError):
    """A process died while it worked, or before."""


class ProcessPool:
    """Processes that each do one thing at a time, used in a ``with`` block.

    Args:
        count: how many.
        begin: called in each as it starts, with the others.
    """

    def __init__(self, count: int, begin: Callable[..., None] | None = None, *args: Any) -> None:
        self._count, self._begin, self._args = count, begin, args
        self._threads = ThreadPoolExecutor(count)  # one waits for each process that works
        self._children: list[BaseProcess] = []
        self._pipes: list[Connection] = []
        self._free: SimpleQueue[Connection] = SimpleQueue()

    def __enter__(self) -> ProcessPool:
        with _single_threaded(), _deaf_children():
            for _ in range(self._count):
                ours, theirs = SPAWN.Pipe()
                child = SPAWN.Process(target=_work, args=(theirs, self._begin, self._args))
                child.start()
                theirs.close()
                self._children.append(child)
                self._pipes.append(ours)
                self._free.put(ours)
        return self

    def __exit__(self, *error: object) -> None:
        if error[0] is None:
            self._threads.shutdown()
            for pipe in self._pipes:
                pipe.close()
        else:  # what runs may hang: it is not waited for
            self._threads.shutdown(wait=False, cancel_futures=True)
            for child in self._children:
                if child.is_alive() and child.pid is not None:
                    os.kill(child.pid, END)
        for child in self._children:
            child.join(PATIENCE)
            child.kill()
            child.join()

    def submit(self, function: Callable[..., T], *args: Any) -> Future[T]:
        """Have a function called; the result raises what it raised, or `ProcessDiedError`."""
        return self._threads.submit(self._call, function, args)

    def _call(self, function: Callable[..., T], args: tuple[Any, ...]) -> T:
        pipe = self._free.get()
        try:
            pipe.send((function, args))
            error, answer = pipe.recv()
        except (EOFError, OSError):
            raise ProcessDiedError("a process died") from None
        finally:
            self._free.put(pipe)  # a dead one too: who takes it gets the error
        if error is not None:
            raise error
        return answer  # type: ignore[no-any-return]


def _work(pipe: Connection, begin: Callable[..., None] | None, begin_args: tuple[Any, ...]) -> None:
    """Do in a process what comes through its pipe, until it is closed."""
    me = os.getpid()
    _end_with_parent()
    if begin is not None:
        begin(*begin_args)
    while True:
        try:
            function, args = pipe.recv()
        except EOFError:
            return
        answer: tuple[Exception | None, Any]
        try:
            answer = None, function(*args)
        except Exception as error:
            error.add_note(format_exc())  # where it comes from does not travel otherwise
            answer = error, None
        if os.getpid() != me:
            os._exit(0)  # a copy, forked by what was called
        pipe.send(answer)


@contextmanager
def _single_threaded() -> Iterator[None]:
    """Have processes that start in the block use one thread each."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _deaf_children() -> Iterator[None]:
    """Let processes that start in the block hear neither Ctrl-C nor SIGTERM: their parent does."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # a child's start would start it, and it lets Ctrl-C through
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_with_parent() -> None:
    """Let a process end when its parent says so or dies, and with it its agents' processes."""

    def end(*_: object) -> None:
        for child in active_children():
            end_process(child)
        os._exit(1)

    def watch() -> None:
        parent = parent_process()
        assert parent is not None
        parent.join()
        end()

    Thread(target=watch, daemon=True).start()
    signal.signal(END, end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, who ends us
