"""A pool of processes of this machine that end with this one in any case.

`crib web`, tournaments, data sets and deep Monte Carlo use it. `bot.program` runs the programs of
others, and a Ray cluster has its own tasks.
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

# One thread for each process: several would fight for the cores, and the order in which a matrix
# product is summed, so its last bit, may depend on their number.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
PATIENCE = 2.0  # seconds for all processes to end in order

T = TypeVar("T")


class Child(SpawnProcess):
    """A process of a pool; its ``place`` counts from 0."""

    place: int

    def terminate(self) -> None:
        """Leave it to `ProcessPool.end`, by which agents' programs end too."""


class Context(SpawnContext):
    """Starts processes from scratch, holds them, and ends them all once one has died."""

    def __init__(self) -> None:
        self.children: list[Child] = []
        # Each process watches the one end: the other closes with this process, or in `end`.
        self.watched, self._life = self.Pipe(duplex=False)
        self.starting, self._ending = RLock(), RLock()
        self.over = False

    def SimpleQueue(self) -> SimpleQueue[Any]:
        """Return the queue of results."""
        self._results: Any = super().SimpleQueue()
        return self._results

    def Process(self, *args: Any, **kwargs: Any) -> SpawnProcess:  # type: ignore[override]
        """Return a process that is yet to be started."""
        child = Child(*args, **kwargs)
        child.place = len(self.children)
        self.children.append(child)
        return child

    def start_no_more(self) -> None:
        """Close our end for results: without it, one cut short by a death has no end to read."""
        with self.starting:
            self.over = True
            self._results._writer.close()

    def end(self) -> None:
        """Tell the processes to end, with their agents' programs, and start no more."""
        self._end_all()
        self.start_no_more()

    def watch(self, child: Child) -> None:
        """End the others once one has died: they may wait for its lock, and we for its result."""
        wait([child.sentinel])
        if not self.over:
            self._end_all()
        self.kill_late()
        self.start_no_more()  # last: what starts now may wait until the others have ended

    def kill_late(self) -> list[Child]:
        """Give the processes time to end, kill the others, and return all that were started."""
        until = time.monotonic() + PATIENCE
        started = [child for child in self.children if child.pid is not None]
        for child in started:
            if not wait([child.sentinel], max(0.0, until - time.monotonic())):
                child.kill()
        return started

    def _end_all(self) -> None:
        with self._ending:  # a pipe must not be closed by two threads at a time
            self._life.close()


class ProcessPool(ProcessPoolExecutor):
    """Processes that end with this one in any case, and at the end of a ``with`` block."""

    lost: tuple[type[Exception], ...] = (BrokenProcessPool,)

    def __init__(self, count: int, begin: Callable[..., None] | None = None, *args: Any) -> None:
        self._context = Context()
        super().__init__(count, self._context, _start, (self._context.watched, begin, args))

    def share(self, given: Any) -> Any:
        """Return what several calls are to be given, in the form to submit."""
        return given

    def submit(self, function: Callable[..., T], /, *args: Any) -> Future[T]:  # type: ignore[override]
        """Have a function called."""
        context = self._context
        try:
            with context.starting, _single_threaded(), _deaf_children():  # a process starts when there is work for it
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
        """End the processes, with their agents' programs, and wait for none."""
        self._context.end()
        self.shutdown(wait=False, cancel_futures=True)

    def __exit__(self, *error: object) -> None:
        if error[0] is None:
            self._context.start_no_more()
            self.shutdown(wait=False)
        else:  # what runs may hang: it is not waited for
            self._context.end()
        for child in self._context.kill_late():
            child.join()
        self.shutdown(cancel_futures=True)


def _start(watched: Connection[Any, Any], begin: Callable[..., None] | None, args: tuple[Any, ...]) -> None:
    """Make a process ready, which ends when its parent dies or wants it."""

    def watch() -> None:
        with suppress(EOFError, OSError):
            watched.recv()
        end_programs()
        os._exit(1)

    Thread(target=watch, daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, who ends us
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
        os._exit(0)  # a copy, forked by the called code
    return answer


def travels(error: BaseException) -> bool:
    """Return whether an exception can be pickled and read again, as a pool sends it."""
    try:
        return type(pickle.loads(pickle.dumps(error))) is type(error)
    except Exception:
        return False


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
