"""Replays and reviews of finished games: made once each, in another process, and stored."""

from __future__ import annotations

import asyncio
import gzip
import threading
from collections import OrderedDict
from concurrent.futures import Future
from typing import Any

from crib_play.web.guard import BusyError
from crib_play.web.worker import Worker

MOST_BYTES = 32 << 20  # stored, compressed: a replay has 50 to 400 KB
MOST_WAITING = 32  # that are being made or wait for it


class Finished:
    """What is made of games that are over. Such a game does not change, so it is made once.

    Args:
        worker: makes them.
        most_bytes: how much it holds; what was not read for longest goes first.
    """

    def __init__(self, worker: Worker, most_bytes: int = MOST_BYTES) -> None:
        self._worker = worker
        self._most_bytes = most_bytes
        self._made: OrderedDict[str, bytes] = OrderedDict()
        self._making: dict[str, Future[Any]] = {}
        self._lock = threading.Lock()

    async def get(self, task: str, key: str, **given: Any) -> bytes:
        """Return what a task makes, compressed by gzip; concurrent callers share one run."""
        key = f"{task} {key}"
        with self._lock:
            if key in self._made:
                self._made.move_to_end(key)
                return self._made[key]
            making = self._making.get(key)
            if making is None:
                if len(self._making) >= MOST_WAITING:
                    raise BusyError("many reviews are being made: try again in a moment")
                making = self._making[key] = self._worker.submit(task, **given)
                making.add_done_callback(lambda made: self._keep(key, made))
        text: str = await asyncio.shield(asyncio.wrap_future(making))
        with self._lock:
            if key in self._made:
                return self._made[key]
        return gzip.compress(text.encode(), 5)  # larger than all that may be stored

    def _keep(self, key: str, made: Future[Any]) -> None:
        """Keep what was made, if it was, and let go of the oldest."""
        packed = None
        if not made.cancelled() and made.exception() is None:
            packed = gzip.compress(made.result().encode(), 5)
        with self._lock:
            self._making.pop(key, None)
            if packed is not None:
                self._made[key] = packed
                while sum(map(len, self._made.values())) > self._most_bytes:
                    self._made.popitem(last=False)

    def close(self) -> None:
        """Stop making anything."""
        self._worker.close()
