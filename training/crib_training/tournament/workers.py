"""Who plays a tournament's chunks: this process, several on this machine, or a Ray cluster.

All three take chunks and return their records in the order in which they finish. The result of a
chunk does not depend on who played it; `chunks` ensures that.
"""

from __future__ import annotations

import platform
from collections import deque
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any, Protocol

from crib_training.evaluation.duplicate import Finished, ignore_progress
from crib_training.processes import SPAWN, ProcessDiedError, ProcessPool
from crib_training.tournament.chunks import Record

LOOK_EVERY = 0.5  # seconds between two looks at how far the workers are


class Setup(Protocol):
    """What chunks belong to: a tournament's set-up, or that of a data set."""

    def play(self, chunk: Any, finished: Finished = ...) -> Record:
        """Play a chunk."""

    def size(self, chunk: Any) -> int:
        """Return how many games a chunk has."""

    def identity(self) -> dict[str, Any]:
        """Return what must be the same wherever chunks are played."""


class Workers(Protocol):
    """Players of chunks, used in a ``with`` block."""

    def submit(self, setup: Setup, chunk: Any) -> None:
        """Have a chunk played."""

    def next_record(self, finished: Finished = ignore_progress) -> Record | None:
        """Return the record of a chunk that is finished, None once all are."""

    def __enter__(self) -> Workers: ...

    def __exit__(self, *error: object) -> None: ...


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


_counter: Any = None  # of a worker's process: what all of them have played, shared


def _begin(counter: Any) -> None:
    """Let a worker count what it plays."""
    global _counter
    _counter = counter


def _count(games: float) -> None:
    with _counter.get_lock():
        _counter.value += games


def _play(setup: Setup, chunk: Any) -> Record:
    return setup.play(chunk, _count)


class Processes:
    """Plays in processes of this machine.

    Kernels release the interpreter's lock, so threads would be enough for them. But agents in
    plain Python need processes, and an agent that crashes its process does not end the tournament.
    """

    def __init__(self, count: int) -> None:
        self._counter = SPAWN.Value("d", 0.0)
        self._counted = 0.0
        self._pool = ProcessPool(count, _begin, self._counter)
        self._running: dict[Future[Record], Any] = {}

    def __enter__(self) -> Processes:
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
            ended = wait(self._running, LOOK_EVERY, FIRST_COMPLETED).done
            now = self._counter.value
            finished(now - self._counted)
            self._counted = now
        done = next(iter(ended))
        chunk = self._running.pop(done)
        try:
            return done.result()
        except ProcessDiedError as error:
            raise RuntimeError(
                f"a worker's process died as {chunk}, because of an agent "
                "or out of memory; finished chunks are saved. Written process:NAME, an "
                "agent has a process of its own and only loses its game"
            ) from error


class Ray:
    """Plays on a Ray cluster, each chunk one task on one core.

    Every node needs this package and the agents' own, in the same versions, and weights files
    under the same path. If a node dies, Ray plays its chunks again.

    Args:
        address: of the cluster: ``"auto"`` on one of its nodes, ``"ray://..."`` from elsewhere.

    Raises:
        ValueError: Ray is not installed.
    """

    def __init__(self, address: str) -> None:
        try:
            import ray
        except ModuleNotFoundError as error:
            raise ValueError('Ray is not installed: pip install "crib-env[cluster]"') from error
        self._ray = ray
        self._address = address
        self._running: dict[Any, int] = {}  # tasks, with the games and deals of each

    def __enter__(self) -> Ray:
        self._ray.init(address=self._address, ignore_reinit_error=True, log_to_driver=False)
        self._task = self._ray.remote(play_alike)
        return self

    def __exit__(self, *error: object) -> None:
        for task in self._running:
            self._ray.cancel(task)
        self._ray.shutdown()

    def submit(self, setup: Setup, chunk: Any) -> None:
        """Have a chunk played."""
        task = self._task.remote(setup, chunk, setup.identity())
        self._running[task] = setup.size(chunk)

    def next_record(self, finished: Finished = ignore_progress) -> Record | None:
        """Return the record of a chunk that is finished, None once all are."""
        if not self._running:
            return None
        (done, *_), _ = self._ray.wait(list(self._running), num_returns=1)
        record: Record = self._ray.get(done)
        finished(self._running.pop(done))
        return record


def play_alike(setup: Setup, chunk: Any, identity: dict[str, Any]) -> Record:
    """Play a chunk if this node has the same code and weights as the tournament's own."""
    if setup.identity() != identity:
        raise RuntimeError(
            f"node {platform.node()} has other code or weights files than the tournament's own: "
            "install the same version on every node"
        )
    return setup.play(chunk)
