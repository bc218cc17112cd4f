"""Workers that play a command's chunks: this process, several here, or a Ray cluster.

All three take chunks and return their records in the order in which they finish. The result of a
chunk does not depend on the worker; set-ups ensure that.
"""

from __future__ import annotations

import platform
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from multiprocessing import RawArray, current_process
from typing import Any, Protocol, Self, TypeVar, cast

from crib_agents.process_pool import Child, ProcessPool

from crib_training.progress import Finished, ignore_progress

LOOK_EVERY = 0.5  # seconds between two checks of the workers' progress

Record = dict[str, Any]
T = TypeVar("T")


class Setup(Protocol):
    """The set-up to which chunks belong: a tournament's, or a data set's."""

    def play(self, chunk: Any, finished: Finished = ...) -> Record:
        """Play a chunk."""

    def size(self, chunk: Any) -> int:
        """Return the number of games in a chunk."""

    def identity(self) -> dict[str, Any]:
        """Return the settings, code and files that all workers must share."""


class RayPool:
    """Runs functions on a Ray cluster, each as a task on one core; used as a `ProcessPool` is.

    Every node needs this package and the agents' own, in the same versions, and weights files
    under the same path. If a node dies, Ray repeats its tasks. The address is ``"auto"`` on one of
    the cluster's nodes, ``"ray://..."`` from elsewhere.
    """

    def __init__(self, address: str) -> None:
        try:
            import ray
        except ModuleNotFoundError as error:
            raise ValueError('Ray is not installed: pip install "crib-env[cluster]"') from error
        self._ray, self._address = ray, address
        self._remote = cache(ray.remote)
        self._running: dict[Future[Any], Any] = {}  # each with Ray's reference to its task
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
        """Store an argument of several calls, once per node; return what to pass to `submit`."""
        return self._ray.put(given)

    def submit(self, function: Callable[..., T], /, *args: Any) -> Future[T]:
        """Run a function as a task of the cluster."""
        task = self._remote(function).remote(*args)
        answer: Future[T] = task.future()
        self._running[answer] = task
        answer.add_done_callback(lambda done: self._running.pop(done, None))
        return answer


class ThisProcess:
    """Plays in this process, chunk by chunk; for language models, a debugger and tests."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[Setup, Any]] = deque()

    def __enter__(self) -> ThisProcess:
        return self

    def __exit__(self, *error: object) -> None:
        self._waiting.clear()

    def submit(self, setup: Setup, chunk: Any) -> None:
        """Queue a chunk."""
        self._waiting.append((setup, chunk))

    def next_record(self, finished: Finished = ignore_progress) -> Record | None:
        """Play the next chunk and return its record, None once all are played."""
        if not self._waiting:
            return None
        setup, chunk = self._waiting.popleft()
        return setup.play(chunk, finished)


_counts: Any = None  # in a worker's process: the shared numbers of games played, by worker


def _begin(counts: Any) -> None:
    """Give a worker the shared numbers of games."""
    global _counts
    _counts = counts


def _count(games: float) -> None:
    """Add to this worker's own number, without a lock, which a killed worker would leave locked."""
    _counts[cast(Child, current_process()).place] += games


def _play(setup: Setup, chunk: Any) -> Record:
    return setup.play(chunk, _count)


class Processes:
    """Plays in processes of this machine.

    Kernels release the interpreter's lock, so threads would be enough for them. But agents in
    plain Python need processes, and an agent that crashes its process does not end the tournament.
    """

    def __init__(self, count: int) -> None:
        self._counts = RawArray("d", count)
        self._counted = 0.0
        self._pool: ProcessPool | RayPool = ProcessPool(count, _begin, self._counts)
        self._running: dict[Future[Record], Any] = {}

    def __enter__(self) -> Self:
        self._pool.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._pool.__exit__(*error)

    def submit(self, setup: Setup, chunk: Any) -> None:
        """Submit a chunk to the processes."""
        self._running[self._pool.submit(_play, setup, chunk)] = chunk

    def next_record(self, finished: Finished = ignore_progress) -> Record | None:
        """Wait for a chunk and return its record, None once all are returned."""
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
        self._running = {}  # each with its number of games

    def submit(self, setup: Setup, chunk: Any) -> None:
        """Submit a chunk to the cluster."""
        job = self._pool.submit(play_alike, setup, chunk, setup.identity())
        self._running[job] = setup.size(chunk)

    def next_record(self, finished: Finished = ignore_progress) -> Record | None:
        """Wait for a chunk and return its record, None once all are returned."""
        if not self._running:
            return None
        done = next(iter(wait(self._running, return_when=FIRST_COMPLETED).done))
        finished(self._running.pop(done))
        return done.result()


Workers = ThisProcess | Processes | Ray


def chosen_workers(count: int, ray_address: str | None) -> Workers:
    """Return the workers that a command's settings name; a ``count`` of 0 is this process."""
    if ray_address is not None:
        return Ray(ray_address)
    return Processes(count) if count else ThisProcess()


def play_alike(setup: Setup, chunk: Any, identity: dict[str, Any]) -> Record:
    """Play a chunk; raise an error unless this node has the command's code and weights files."""
    require_alike(setup.identity(), identity)
    return setup.play(chunk)


def require_alike(here: object, wanted: object) -> None:
    """Raise an error unless this node has the code and weights files of the command's node."""
    if here != wanted:
        raise RuntimeError(
            f"node {platform.node()} has other code or weights files than the command's own: "
            "install the same version on every node"
        )
