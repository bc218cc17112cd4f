"""An agent in its own process: it can be stopped when it hangs, and it cannot see the game.

`ProcessAgent("package.module:Class")` plays like the agent with that name. Its child process starts
from scratch (``spawn``), so it shares no memory with the caller. Views go to it over a pipe and
actions come back, as JSON, since unpickling could run the sender's code. On command lines write
``process:NAME``.

The child leads a process group. The whole group ends with the child, on a time-out, and when the
caller ends, however it ends. Calls have numbers, and only the child answers: a forked copy of it
ends when it tries to answer. The agent's output goes to stderr.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from multiprocessing.util import Finalize
from threading import Thread
from typing import NoReturn

import numpy as np

from crib_env.policy import Actions, Agent, Views, find_agent, one_or_many
from crib_env.rules import Rules
from crib_env.supported_rules import refuse_rules

AT_ONCE = 64
START_SECONDS = 60.0  # for a child to import and make its agent; for its first call, to compile
WARM = 3.0  # limit of a later child's first call, in multiples of the first child's
LOOK_EVERY = 0.1  # seconds between two looks at whether a child that does not answer has died

_SPAWN = multiprocessing.get_context("spawn")


class ProcessAgent:
    """Plays what another agent plays, in a child process.

    A child that does not answer in time or dies is killed with all that it started; the next call
    starts another.

    Args:
        agent: a name that ``load`` takes.
        move_seconds: the longest a decision may take; None to wait for ever. The limit of a call
            is this times its views. A child's first call has an allowance, since its kernels may
            have to be compiled: ``START_SECONDS``, half as much after each such call that hung,
            and once one was answered ``WARM`` times what that took.
        at_once: views per message, so that a hanging child is noticed after
            ``at_once * move_seconds``. After a first time-out it is 1: there may be more.
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
        self._child: BaseProcess | None = None
        self._calls = 0
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

    def refuse_rules(self, rules: Rules, episode: str | None = None) -> None:
        """Raise a ValueError unless the child's agent plays by these rules."""
        if self._child is None:
            self._start()
        self._calls += 1
        with contextlib.suppress(ConnectionError):  # a dead child is noticed at the answer
            self._pipe.send((self._calls, (rules, episode), 0))
        kind, answer = self._answer(START_SECONDS)
        if kind == "raised":
            raise ValueError(answer)

    def close(self) -> None:
        """End the child and all that it started."""
        if self._child is not None:
            self._end()
            self._pipe.close()
            self._child = None

    def _start(self) -> str:
        """Start a child and return the name of its agent."""
        self._pipe, theirs = _SPAWN.Pipe()
        self._child = _SPAWN.Process(
            target=serve, args=(theirs, self.agent, self._load), daemon=True
        )
        self._child.start()
        theirs.close()
        # Also by garbage collection and at this process's end, of a worker as of a command.
        self._end = Finalize(self, end_process, (self._child,), exitpriority=1)
        self._fresh = True
        self._calls = 0
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
        self._calls += 1
        with contextlib.suppress(ConnectionError):  # a dead child is noticed at the answer
            self._pipe.send((self._calls, np.ascontiguousarray(views), seed))
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
        """Return the child's answer to the last call, or its first message.

        Raises:
            TimeoutError: none came within ``limit`` seconds.
            RuntimeError: the child died, or did not write a message. It is killed in each case.
        """
        child = self._child
        assert child is not None
        end = None if limit is None else time.monotonic() + limit
        try:
            while True:
                # A copy of the child may hold the pipe open: its end is no sign of a death.
                left = LOOK_EVERY if end is None else end - time.monotonic()
                if self._pipe.poll(max(0.0, min(left, LOOK_EVERY))):
                    number, kind, answer = json.loads(self._pipe.recv_bytes())
                    if number == self._calls:
                        return str(kind), answer
                elif child.exitcode is not None and not self._pipe.poll():
                    raise EOFError
                elif left <= 0:
                    self.close()
                    raise TimeoutError(
                        f"no answer within {limit:.2g} s, and its process was killed"
                    )
        except (EOFError, ConnectionError):
            child.join(LOOK_EVERY)
            code = child.exitcode
            self.close()
            why = "closed its pipe" if code is None else f"died with exit code {code}"
            raise RuntimeError(f"its process {why}") from None
        except ValueError as error:
            self.close()
            raise RuntimeError(f"its process did not write a message: {error}") from None


def end_process(child: BaseProcess) -> None:
    """Kill a process and, if it leads a group, all that it started."""
    if hasattr(os, "killpg") and child.pid is not None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
    child.kill()
    child.join()


def serve(pipe: Connection, name: str, load: Callable[[str], Agent]) -> None:
    """Answer views with an agent's actions until the pipe is closed: the child's side."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, who ends us
    me = os.getpid()
    if hasattr(os, "setsid"):
        os.setsid()
    Thread(target=_end_with_parent, daemon=True).start()
    os.dup2(2, 1)

    def say(number: int, kind: str, answer: object) -> None:
        if os.getpid() != me:
            os._exit(0)  # a copy, forked by the agent
        pipe.send_bytes(json.dumps([number, kind, answer]).encode())

    try:
        agent = load(name)
        called = agent.name
    except BaseException as error:  # it may call sys.exit
        say(0, "refused", f"{type(error).__name__}: {error}")
        return
    say(0, "ready", called)
    while True:
        try:
            number, call, seed = pipe.recv()
        except (EOFError, ConnectionError):
            _end_group()  # here too: the process may end before its watching thread has a turn
        try:
            if isinstance(call, tuple):
                refuse_rules(agent, *call)
                say(number, "plays", None)
                continue
            actions = agent.act(call, np.random.default_rng(seed))
            say(number, "actions", np.asarray(actions).tolist())
        except BaseException as error:
            say(number, "raised", f"{type(error).__name__}: {error}")


def _end_with_parent() -> None:
    """End this process and all that it started once its parent is gone, even by a kill."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    _end_group()


def _end_group() -> NoReturn:
    """End this process, which leads its group, and all that it started."""
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)
    os._exit(1)
