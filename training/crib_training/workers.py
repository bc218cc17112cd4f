"""Players of a command's chunks: this process, several on this machine, or a Ray cluster.

All three take chunks and return their records in the order in which they finish. The result of a
chunk does not depend on the worker; set-ups ensure that.
"""

from __future__ import annotations

import os
import pickle
import platform
import signal
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from functools import cache
from multiprocessing import current_process, parent_process
from multiprocessing.context import SpawnContext, SpawnProcess
from threading import Thread
from typing import Any, Protocol, Self, TypeVar, cast

from crib_agents.bot.program import end_programs

from crib_env.errors import printable
from crib_training.progress import Finished, ignore_progress

# One thread for each process: several would fight for the cores, and the order in which a matrix
# product is summed, so its last bit, may depend on their number.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

LOOK_EVERY = 0.5  # seconds between two looks at how far the workers are
PATIENCE = 2.0  # seconds for a process to end in order
# What ends a process: SIGTERM may come from outside to all of a command's processes, like Ctrl-C.
END = getattr(signal, "SIGUSR1", signal.SIGTERM)

Record = dict[str, Any]
T = TypeVar("T")


class Context(SpawnContext):
    """Starts processes from scratch, and holds them."""

    def __init__(self) -> None:
        self.children: list[Child] = []

    def Process(self, *args: Any, **kwargs: Any) -> SpawnProcess:  # type: ignore[override]
        """Return a process that is yet to be started."""
        child = Child(*args, **kwargs)
        child.place = len(self.children)
        self.children.append(child)
        return child


class Child(SpawnProcess):
    """A process of a pool; its ``place`` counts from 0."""

    place: int

    def terminate(self) -> None:
        """Have it end at once, and its agents' processes with it."""
        if self.pid is not None:
            with suppress(ProcessLookupError):  # already reaped
                os.kill(self.pid, END)


class ProcessPool(ProcessPoolExecutor):
    """Processes that end with the command in any case, used in a ``with`` block.

    ``begin`` is called in each as it starts, with ``args``. Submitted calls raise one of
    ``lost`` if a process died.
    """

    lost: tuple[type[Exception], ...] = (BrokenProcessPool,)

    def __init__(self, count: int, begin: Callable[..., None] | None = None, *args: Any) -> None:
        self._context = Context()
        super().__init__(count, self._context, _start, (begin, args))

    def share(self, given: Any) -> Any:
        """Return what several calls are to be given, in the form to submit."""
        return given

    def submit(self, function: Callable[..., T], /, *args: Any) -> Future[T]:  # type: ignore[override]
        """Have a function called."""
        try:
            with _single_threaded(), _deaf_children():  # a process starts when there is work for it
                return super().submit(_call, function, args)
        except BrokenProcessPool as error:
            failed = Future[T]()
            failed.set_exception(error)
            return failed

    def __exit__(self, *error: object) -> None:
        if error[0] is None:
            self.shutdown(wait=False)
        for child in self._context.children:
            if error[0] is not None:  # what runs may hang: it is not waited for
                child.terminate()
        for child in self._context.children:
            child.join(PATIENCE)
            child.kill()
            child.join()
        self.shutdown(cancel_futures=True)


def _start(begin: Callable[..., None] | None, args: tuple[Any, ...]) -> None:
    """End a process with its agents' programs on its parent's signal or death."""

    def end(*_: object) -> None:
        end_programs()
        os._exit(1)

    def watch() -> None:
        parent = parent_process()
        assert parent is not None
        parent.join()
        end()

    Thread(target=watch, daemon=True).start()
    signal.signal(END, end)
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


class Setup(Protocol):
    """What chunks belong to: a tournament's set-up, or that of a data set."""

    def play(self, chunk: Any, finished: Finished = ...) -> Record:
        """Play a chunk."""

    def size(self, chunk: Any) -> int:
        """Return how many games a chunk has."""

    def identity(self) -> dict[str, Any]:
        """Return the settings that all players of chunks must share."""


class RayPool:
    """Calls on a Ray cluster, each a task on one core, used in a ``with`` block as a `ProcessPool`.

    Every node needs this package and the agents' own, in the same versions, and weights files
    under the same path. If a node dies, Ray calls again what ran there. The address is ``"auto"``
    on one of the cluster's nodes, ``"ray://..."`` from elsewhere.
    """

    def __init__(self, address: str) -> None:
        try:
            import ray
        except ModuleNotFoundError as error:
            raise ValueError('Ray is not installed: pip install "crib-env[cluster]"') from error
        self._ray, self._address = ray, address
        self._remote = cache(ray.remote)
        self._running: dict[Future[Any], Any] = {}  # with the reference of each
        known = ray.exceptions  # raised once a task has been lost several times
        self.lost = known.WorkerCrashedError, known.NodeDiedError, known.OutOfMemoryError

    def __enter__(self) -> Self:
        self._ray.init(address=self._address, ignore_reinit_error=True, log_to_driver=False)
        return self

    def __exit__(self, *error: object) -> None:
        for task in [*self._running.values()]:
            self._ray.cancel(task)
        self._ray.shutdown()

    def share(self, given: Any) -> Any:
        """Return what several calls are to be given, in the form to submit: a node gets it once."""
        return self._ray.put(given)

    def submit(self, function: Callable[..., T], /, *args: Any) -> Future[T]:
        """Have a function called."""
        task = self._remote(function).remote(*args)
        answer: Future[T] = task.future()
        self._running[answer] = task
        answer.add_done_callback(lambda done: self._running.pop(done, None))
        return answer


class ThisProcess:
    """Plays in this process, chunk by chunk: for a debugger, and for the tests."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[Setup, Any]] = deque()

    def __enter__(self) -> ThisProcess:
        return self

    def __exit__(self, *error: object) -> None:
        self._waiting.clear()

    def submit(self, setup: Setup, chunk: Any) -> None:
        """Have a chunk played."""
        self._waiting.append((setup, chunk))

    def next_record(self, finished: Finished = ignore_progress) -> Record | None:
        """Return the record of the next chunk."""
        if not self._waiting:
            return None
        setup, chunk = self._waiting.popleft()
        return setup.play(chunk, finished)


_counts: Any = None  # of a worker's process: the games of each, shared


def _begin(counts: Any) -> None:
    """Let a worker count its games."""
    global _counts
    _counts = counts


def _count(games: float) -> None:
    """Add to this worker's own number: a lock would stay locked if the worker were killed."""
    _counts[cast(Child, current_process()).place] += games


def _play(setup: Setup, chunk: Any) -> Record:
    return setup.play(chunk, _count)


class Processes:
    """Plays in processes of this machine.

    Kernels release the interpreter's lock, so threads would be enough for them. But agents in
    plain Python need processes, and an agent that crashes its process does not end the tournament.
    """

    def __init__(self, count: int) -> None:
        self._counts = SpawnContext().RawArray("d", count)
        self._counted = 0.0
        self._pool: ProcessPool | RayPool = ProcessPool(count, _begin, self._counts)
        self._running: dict[Future[Record], Any] = {}

    def __enter__(self) -> Self:
        self._pool.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._pool.__exit__(*error)

    def submit(self, setup: Setup, chunk: Any) -> None:
        """Have a chunk played."""
        self._running[self._pool.submit(_play, setup, chunk)] = chunk

    def next_record(self, finished: Finished = ignore_progress) -> Record | None:
        """Return the record of a chunk that is finished, None once all are."""
        if not self._running:
            return None
        ended: set[Future[Record]] = set()
        while not ended:
            under_way = {str(chunk): None for job, chunk in self._running.items() if job.running()}
            ended = wait(self._running, LOOK_EVERY, FIRST_COMPLETED).done
            now = sum(self._counts)
            finished(now - self._counted)
            self._counted = now
        done = next(iter(ended))
        chunk = self._running.pop(done)
        try:
            return done.result()
        except BrokenProcessPool as error:
            played = " or ".join(under_way) or chunk
            raise RuntimeError(
                f"a worker's process died as {played}, because of an agent or out of memory; "
                "finished chunks are saved. Written process:NAME, an agent has a process of its "
                "own and only loses its game"
            ) from error


class Ray(Processes):
    """Plays on a Ray cluster; see `RayPool`."""

    def __init__(self, address: str) -> None:
        self._pool = RayPool(address)
        self._running = {}  # with the games and deals of each

    def submit(self, setup: Setup, chunk: Any) -> None:
        """Have a chunk played."""
        job = self._pool.submit(play_alike, setup, chunk, setup.identity())
        self._running[job] = setup.size(chunk)

    def next_record(self, finished: Finished = ignore_progress) -> Record | None:
        """Return the record of a chunk that is finished, None once all are."""
        if not self._running:
            return None
        done = next(iter(wait(self._running, return_when=FIRST_COMPLETED).done))
        finished(self._running.pop(done))
        return done.result()


Workers = ThisProcess | Processes | Ray


def chosen_workers(count: int, ray_address: str | None) -> Workers:
    """Return the player of chunks by a command's settings; a ``count`` of 0 is this process."""
    if ray_address is not None:
        return Ray(ray_address)
    return Processes(count) if count else ThisProcess()


def play_alike(setup: Setup, chunk: Any, identity: dict[str, Any]) -> Record:
    """Play a chunk if this node has the same code and weights as the tournament's own."""
    if setup.identity() != identity:
        raise RuntimeError(
            f"node {platform.node()} has other code or weights files than the tournament's own: "
            "install the same version on every node"
        )
    return setup.play(chunk)
