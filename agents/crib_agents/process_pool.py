"""A pool of processes on this machine that always end with this one.

`crib web`, tournaments, data sets and deep Monte Carlo use it. `bot.program` runs agents that
are programs, and a Ray cluster runs its own tasks.
"""

from __future__ import annotations

import os
import pickle
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnContext, SpawnProcess
from multiprocessing.queues import SimpleQueue
from threading import RLock, Thread
from typing import Any, TypeVar

from crib_agents.bot.program import end_programs
from crib_env.errors import printable

# One thread per process: more would compete for the cores, and their number can change the order in
# which a matrix product is summed, and so its last bit.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
PATIENCE = 2.0  # seconds until processes that do not end are killed

T = TypeVar("T")


class Child(SpawnProcess):
    """A process of a pool; ``place`` is its index, from 0."""

    place: int

    def terminate(self) -> None:
        """Do nothing: `ProcessPool.end` ends the process and its agents' programs."""


class Context(SpawnContext):
    """Spawns the processes of a pool, keeps them, and ends them all once one has died."""

    def __init__(self) -> None:
        self.children: list[Child] = []
        # Processes wait for EOF on ``watched``: ``_life`` closes in `end`, or if this process ends.
        self.watched, self._life = self.Pipe(duplex=False)
        self.starting, self._ending = RLock(), RLock()
        self.over = False

    def SimpleQueue(self) -> SimpleQueue[Any]:
        """Create the queue of results, and keep it for `start_no_more`."""
        self._results: Any = super().SimpleQueue()
        return self._results

    def Process(self, *args: Any, **kwargs: Any) -> SpawnProcess:  # type: ignore[override]
        """Return a new process, not yet started."""
        child = Child(*args, **kwargs)
        child.place = len(self.children)
        self.children.append(child)
        return child

    def start_no_more(self) -> None:
        """Start no more; close our end of the results: a result cut short by a death hits EOF."""
        with self.starting:
            self.over = True
            self._results._writer.close()

    def end(self) -> None:
        """Tell the processes and their agents' programs to end, and start no more."""
        self._end_all()
        self.start_no_more()

    def watch(self, child: Child) -> None:
        """End the others once one has ended: they may wait for its lock, and we for its result."""
        wait([child.sentinel])
        if not self.over:
            self._end_all()
        self.kill_late()
        self.start_no_more()  # last: a `submit` that holds ``starting`` may wait until the others end

    def kill_late(self) -> list[Child]:
        """Kill the processes that run on after `PATIENCE`; return all that were started."""
        until = time.monotonic() + PATIENCE
        started = [child for child in self.children if child.pid is not None]
        for child in started:
            if not wait([child.sentinel], max(0.0, until - time.monotonic())):
                child.kill()
        return started

    def _end_all(self) -> None:
        with self._ending:  # two threads must not close a pipe at the same time
            self._life.close()


class ProcessPool(ProcessPoolExecutor):
    """Processes that always end with this one, and at the end of a ``with`` block."""

    lost: tuple[type[Exception], ...] = (BrokenProcessPool,)

    def __init__(self, count: int, begin: Callable[..., None] | None = None, *args: Any) -> None:
        self._context = Context()
        super().__init__(count, self._context, _start, (self._context.watched, begin, args))

    def share(self, given: Any) -> Any:
        """Return an argument for several calls of `submit`; here it stays as it is."""
        return given

    def submit(self, function: Callable[..., T], /, *args: Any) -> Future[T]:  # type: ignore[override]
        """Run a function in a process of the pool; the future fails if the pool has ended."""
        context = self._context
        try:
            with context.starting, _single_threaded(), _deaf_children():  # `submit` may start a process
                if context.over:
                    raise BrokenProcessPool("the processes of the pool have ended")
                before = len(context.children)
                answer = super().submit(_call, function, args)
                for child in context.children[before:]:
                    Thread(target=context.watch, args=(child,), daemon=True).start()
                return answer
        except BrokenProcessPool as error:
            failed = Future[T]()
            failed.set_exception(error)
            return failed

    def end(self) -> None:
        """End the processes and their agents' programs, without waiting for them."""
        self._context.end()
        self.shutdown(wait=False, cancel_futures=True)

    def __exit__(self, *error: object) -> None:
        if error[0] is None:
            self._context.start_no_more()
            self.shutdown(wait=False)
        else:  # a running call may hang: do not wait for it
            self._context.end()
        for child in self._context.kill_late():
            child.join()
        self.shutdown(cancel_futures=True)


def _start(watched: Connection[Any, Any], begin: Callable[..., None] | None, args: tuple[Any, ...]) -> None:
    """Set up a process: end it once ``watched`` closes, ignore Ctrl-C, and call ``begin``."""

    def watch() -> None:
        with suppress(EOFError, OSError):
            watched.recv()
        end_programs()
        os._exit(1)

    Thread(target=watch, daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C and ends us
    if begin is not None:
        begin(*args)


def _call(function: Callable[..., T], args: tuple[Any, ...]) -> T:
    me = os.getpid()
    try:
        answer = function(*args)
    except BaseException as error:
        if travels(error):
            raise
        raise RuntimeError(printable(f"{type(error).__name__}: {error}")) from error
    if os.getpid() != me:
        os._exit(0)  # a fork made by the called code
    return answer


def travels(error: BaseException) -> bool:
    """Return whether an exception survives pickling, as a pool sends it."""
    try:
        return type(pickle.loads(pickle.dumps(error))) is type(error)
    except Exception:
        return False


@contextmanager
def _single_threaded() -> Iterator[None]:
    """Limit processes that start in the block to one thread each."""
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
    """Block SIGINT and SIGTERM in processes that start in the block: the parent handles them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # now: its start, which a child's start may cause, unblocks SIGINT
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
