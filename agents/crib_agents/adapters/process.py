"""An agent in a process of its own: it can be stopped when it hangs, and it sees nothing of ours.

`ProcessAgent("package.module:Class")` plays like the agent it names. The child is started afresh
(``spawn``), so it shares no memory with the caller: views go to it over a pipe and actions come
back, as JSON, since unpickling runs what it is sent. On command lines ``process:NAME`` asks for
one.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import signal
import time
from collections.abc import Callable
from multiprocessing.connection import Connection

import numpy as np

from crib_env.answers import one_or_many
from crib_env.policy import Actions, Agent, Views, find_agent

AT_ONCE = 64
START_SECONDS = 60.0  # for a child to import and make its agent; for its first call, to compile
WARM = 3.0  # a later child's first call may take so many times what the first child's took

_SPAWN = multiprocessing.get_context("spawn")


class ProcessAgent:
    """Plays what another agent plays, in a child process.

    A child that does not answer in time or dies is killed; the next call starts another.

    Args:
        agent: a name that ``load`` takes.
        move_seconds: the longest a decision may take; None to wait for ever. The limit of a call
            is this times its views. A child's first call has an allowance, since its kernels may
            have to be compiled: ``START_SECONDS``, half as much after each such call that hung,
            and once one was answered ``WARM`` times what that took.
        at_once: how many views the child is sent at a time, so that one that hangs is noticed
            after ``at_once * move_seconds``. After a first time-out it is 1: there may be more.
        load: a function of a module, by which the child makes the agent of its name.

    Attributes:
        name: the agent's own name.

    Raises:
        ValueError: the child cannot make the agent; the message is the child's.
    """

    def __init__(
        self,
        agent: str,
        move_seconds: float | None = None,
        at_once: int = AT_ONCE,
        load: Callable[[str], Agent] = find_agent,
    ) -> None:
        self.agent = agent
        self.move_seconds = move_seconds
        self.at_once = at_once
        self._load = load
        self._child: multiprocessing.process.BaseProcess | None = None
        self._allowance = START_SECONDS
        self._answered = False
        self.name = self._start()

    @one_or_many
    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return one action for each view, int64[B].

        The child's chance is a generator of its own, seeded from ``rng`` at each call.

        Raises:
            TimeoutError: no answer in time.
            RuntimeError: the agent raised, or its process died.
        """
        if not len(views):
            return np.zeros(0, dtype=np.int64)
        parts = [
            self._ask(views[at : at + self.at_once], int(rng.integers(1 << 63)))
            for at in range(0, len(views), self.at_once)
        ]
        return np.concatenate(parts)

    def close(self) -> None:
        """End the child."""
        if self._child is not None:
            self._child.kill()
            self._child.join()
            self._pipe.close()
            self._child = None

    def __del__(self) -> None:
        with contextlib.suppress(Exception):  # at the interpreter's end
            self.close()

    def _start(self) -> str:
        """Start a child and return the name of its agent."""
        self._pipe, theirs = _SPAWN.Pipe()
        self._child = _SPAWN.Process(
            target=serve, args=(theirs, self.agent, self._load), daemon=True
        )
        self._child.start()
        theirs.close()
        self._fresh = True
        kind, name = self._answer(START_SECONDS)
        if kind != "ready":
            self.close()
            raise ValueError(f"no agent was made of {self.agent!r} in a child process: {name}")
        return str(name)

    def _ask(self, views: Views, seed: int) -> Actions:
        if self._child is None:
            self._start()
        limit = None
        if self.move_seconds is not None:
            limit = self.move_seconds * len(views) + (self._allowance if self._fresh else 0.0)
        began = time.perf_counter()
        with contextlib.suppress(BrokenPipeError):  # a dead child is noticed at the answer
            self._pipe.send((np.ascontiguousarray(views), seed))
        try:
            kind, answer = self._answer(limit)
        except TimeoutError:
            self.at_once = 1
            if self._fresh and not self._answered:
                self._allowance /= 2
            raise
        if not self._answered:
            self._answered = True
            self._allowance = WARM * (time.perf_counter() - began)
        self._fresh = False
        if kind == "raised":
            raise RuntimeError(answer)
        return np.asarray(answer)

    def _answer(self, limit: float | None) -> tuple[str, object]:
        """Return the child's next message; kill it if none comes within ``limit`` seconds."""
        child = self._child
        assert child is not None
        try:
            if not self._pipe.poll(limit):
                self.close()
                raise TimeoutError(f"no answer within {limit:.2g} s, and its process was killed")
            kind, answer = json.loads(self._pipe.recv_bytes())
        except (EOFError, ConnectionError):
            child.join()
            code = child.exitcode
            self.close()
            raise RuntimeError(f"its process died with exit code {code}") from None
        return kind, answer


def serve(pipe: Connection, name: str, load: Callable[[str], Agent]) -> None:
    """Answer views with an agent's actions until the pipe is closed: the child's side."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, who ends us
    try:
        agent = load(name)
    except Exception as error:
        _send(pipe, "refused", f"{type(error).__name__}: {error}")
        return
    _send(pipe, "ready", agent.name)
    while True:
        try:
            views, seed = pipe.recv()
        except (EOFError, ConnectionError):
            return
        try:
            actions = agent.act(views, np.random.default_rng(seed))
            _send(pipe, "actions", np.asarray(actions).tolist())
        except Exception as error:
            _send(pipe, "raised", f"{type(error).__name__}: {error}")


def _send(pipe: Connection, kind: str, answer: object) -> None:
    pipe.send_bytes(json.dumps([kind, answer]).encode())
