"""A running program that speaks the bot protocol: lines in and lines out.

The program leads its own process group. The group ends with the agent, on a time-out, after
a wrong answer, and when the caller ends. Everything that a program writes is data: it is read as
JSON of limited length, and shown escaped. Its stderr goes to the log ``crib_agents.bot``.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import select
import shlex
import signal
import subprocess
import time
import weakref
from collections import deque
from collections.abc import Mapping, Sequence
from threading import Thread
from typing import IO

from crib_agents.bot.messages import Message
from crib_agents.files import shown

START_SECONDS = 60.0  # to answer the greeting, and more for the first decision, which may compile
LOOK_EVERY = 0.2  # seconds between two looks at whether a silent program has died
QUIT_SECONDS = 1.0  # to end after "quit", before it is killed
IN_FLIGHT = 64  # decisions that may wait for an answer
GROUP = 16  # of them are written at a time
MOST_BYTES = 1 << 20  # of a line that a program writes
LAST_LINES = 3  # of stderr, shown when a program dies

logger = logging.getLogger("crib_agents.bot")
_running: weakref.WeakSet[Program] = weakref.WeakSet()


class BotError(RuntimeError):
    """A program that died, or did not answer as the protocol says."""


class Program:
    """A running program, lines in and lines out.

    Args:
        command: the program and its arguments.

    Raises:
        ValueError: the program cannot be started.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str] | None) -> None:
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                bufsize=0, start_new_session=True, env=environment,
            )  # fmt: skip
        except OSError as error:
            raise ValueError(f"{shlex.join(command)} cannot be started: {error.strerror}") from None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)
        self._buffer = b""
        self._untold: list[str] = []  # lines that are not answered, sent before the next decision
        self._said: deque[str] = deque(maxlen=LAST_LINES)
        self._reader = Thread(
            target=_log_lines, args=(self._process.stderr, command[0], self._said), daemon=True
        )
        self._reader.start()
        self.end = weakref.finalize(self, _end, self._process)
        _running.add(self)

    def exchange(
        self,
        messages: Sequence[Message],
        seconds: float,
        extra: float = 0.0,
        in_flight: int = IN_FLIGHT,
    ) -> list[object]:
        """Send messages and return the JSON value that answers each.

        Args:
            messages: each is sent as a line; while the program answers some, more are written.
            seconds: the limit per line; ``extra`` is added once.
            in_flight: lines that may wait for an answer.

        Raises:
            TimeoutError: no answer in time.
            BotError: the program died, or did not write a line of JSON.
        """
        answers: list[object] = []
        self.answered = 0
        waiting = "".join(f"{line}\n" for line in self._untold).encode()
        self._untold.clear()
        sent = 0
        poll = select.poll()
        poll.register(self._out, select.POLLIN)
        deadline = time.monotonic() + extra
        while len(answers) < len(messages):
            group = min(GROUP, in_flight)
            if sent < len(messages) and sent - len(answers) <= in_flight - group:
                more = messages[sent : sent + group]
                waiting += "".join(f"{line_of(message)}\n" for message in more).encode()
                sent += len(more)
                deadline += seconds * len(more)
            if waiting:
                poll.register(self._in, select.POLLOUT)
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError(
                    f"no answer within {seconds:.3g} s a decision, and the program was killed"
                )
            ready = dict(poll.poll(min(left, LOOK_EVERY) * 1000))
            if not ready and self._process.poll() is not None:  # a copy may hold the pipe open
                raise self._death()
            if self._in in ready:
                try:
                    waiting = waiting[os.write(self._in, waiting) :]
                except BlockingIOError:
                    pass
                except OSError:  # it has closed its input: its output tells more
                    waiting = b""
                if not waiting:
                    poll.unregister(self._in)
            if self._out in ready:
                before = len(answers)
                answers += self._read()
                if len(answers) > before:  # the limit is of what still waits
                    self.answered = min(len(answers), len(messages) - 1)
                    deadline = time.monotonic() + seconds * (sent - len(answers))
        if len(answers) > len(messages):
            raise BotError(f"it answered {len(answers)} lines to {len(messages)} decisions")
        return answers

    def tell(self, message: Message) -> None:
        """Send a message that is not answered, before the next one that is."""
        self._untold.append(line_of(message))

    def quit(self) -> None:
        """Let the program end in order, then kill its remaining processes."""
        data = "".join(f"{line}\n" for line in [*self._untold, '{"type": "quit"}']).encode()
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            os.write(self._in, data)
            self._process.wait(QUIT_SECONDS)
        self.end()

    def _read(self) -> list[object]:
        """Return the answers that have arrived whole."""
        try:
            data = os.read(self._out, MOST_BYTES)
        except BlockingIOError:
            return []
        if not data:
            raise self._death()
        *whole, self._buffer = (self._buffer + data).split(b"\n")
        if len(self._buffer) > MOST_BYTES:
            raise BotError(f"it wrote a line of more than {MOST_BYTES:,} bytes")
        return [_parsed(line) for line in whole if line.strip()]

    def _death(self) -> BotError:
        """Return how the program ended, with the last that it said on stderr."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(QUIT_SECONDS)
        self._reader.join(LOOK_EVERY)
        code = self._process.returncode
        why = "closed its output" if code is None else f"died with exit code {code}"
        return BotError(f"the program {why}" + "".join(f"; it said {line}" for line in self._said))


def line_of(message: Message) -> str:
    """Return a message as its line of JSON."""
    return json.dumps(message, separators=(",", ":"))


def _parsed(line: bytes) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        raise BotError(f"it wrote no line of JSON: {shown(line)}") from None


def _log_lines(stream: IO[bytes], name: str, said: deque[str]) -> None:
    """Log a program's stderr, escaped."""
    with stream:
        while line := stream.readline(MOST_BYTES):
            text = shown(line.rstrip().decode("utf-8", "backslashreplace"))
            said.append(text)
            logger.info("%s: %s", name, text)


def kill_group(pid: int) -> None:
    """Kill a process that leads a group, with all that it started."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a program with all that it started, and free its pipes."""
    kill_group(process.pid)
    process.kill()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    process.wait()


def end_programs() -> None:
    """End all programs of this process, which is about to leave without Python's own end."""
    for program in list(_running):
        program.end()
