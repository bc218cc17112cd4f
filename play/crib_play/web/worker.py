"""A process beside the server, so that long work blocks nobody: see `crib_play.web.work`."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

LONGEST = 300.0  # seconds for a task; the longest there is compiles an agent on a slow machine
POLITE = 3  # how much the server goes before its helpers
START = (
    f"import json, os, sys; hasattr(os, 'nice') and os.nice({POLITE}); "
    "sys.path[:] = json.loads(sys.argv[1]); "
    "from crib_play.web.work import main; main()"
)


class WorkerError(RuntimeError):
    """A task that was not done; it says why."""


class Worker:
    """Does one task at a time; its process starts with the first.

    Args:
        longest: seconds after which a task's process is ended.
    """

    def __init__(self, longest: float = LONGEST) -> None:
        self._longest = longest
        self._child: subprocess.Popen[str] | None = None
        self._closed = False
        self._one_by_one = ThreadPoolExecutor(1, thread_name_prefix="crib-worker")

    def submit(self, task: str, **given: Any) -> Future[Any]:
        """Return the future answer to a task of `crib_play.web.work`."""
        return self._one_by_one.submit(self._ask, task, given)

    def rest(self) -> None:
        """End the process after the tasks that wait; the next task starts another."""
        self._one_by_one.submit(self._end)

    def close(self) -> None:
        """End the process now."""
        self._closed = True
        self._end()
        self._one_by_one.shutdown(wait=False, cancel_futures=True)

    def __del__(self) -> None:
        self.close()

    def _ask(self, task: str, given: dict[str, Any]) -> Any:
        child = self._child or self._start()
        assert child.stdin is not None
        assert child.stdout is not None
        stop = threading.Timer(self._longest, child.kill)
        stop.daemon = True
        stop.start()
        line = ""
        try:
            with contextlib.suppress(OSError):  # a process that died is noticed at the answer
                child.stdin.write(json.dumps({"task": task, "given": given}) + "\n")
                child.stdin.flush()
                line = child.stdout.readline()
        finally:
            stop.cancel()
        if not line:
            self._end()
            raise WorkerError(f"the process that does {task!r} ended before it answered")
        found = json.loads(line)
        if "error" in found:
            raise WorkerError(found["error"])
        return found["answer"]

    def _start(self) -> subprocess.Popen[str]:
        child: subprocess.Popen[str] | None = None
        if not self._closed:
            child = self._child = subprocess.Popen(
                [sys.executable, "-c", START, json.dumps(sys.path)], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, text=True, encoding="utf-8",
            )  # fmt: skip
        if child is None or self._closed:  # closed meanwhile: nobody else would end it
            self._end()
            raise WorkerError("the server is closing")
        return child

    def _end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.wait()
            for pipe in (child.stdin, child.stdout):
                with contextlib.suppress(OSError, ValueError):
                    assert pipe is not None
                    pipe.close()
