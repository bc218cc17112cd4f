"""`CommandAgent`: a program that speaks the bot protocol, as an agent.

The program leads its own process group. The group ends with the agent, on a time-out, after
a wrong answer, and when the caller ends. Everything that a program writes is data: it is read as
JSON of limited length, and shown escaped. Its stderr goes to the log ``crib_agents.bot``.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import logging
import os
import select
import shlex
import signal
import subprocess
import sys
import time
import weakref
from collections import deque
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict
from threading import Lock, Thread
from typing import IO, Any

import numpy as np

from crib_agents.bot.messages import (
    GAMES,
    PROTOCOL,
    Message,
    decisions,
    event_messages,
    game_of,
    preset_of,
    read_action,
)
from crib_agents.files import shown
from crib_agents.honours import fields_of
from crib_env.batch import GameBatch
from crib_env.engine.family import family_of
from crib_env.errors import NoResultError
from crib_env.events import Event
from crib_env.policy import Actions, SecondDiscards, Views, one_or_many
from crib_env.rules import Rules

START_SECONDS = 60.0  # to answer the greeting, and extra for the first decision, which may compile
LOOK_EVERY = 0.2  # seconds between checks whether a silent program has died
QUIT_SECONDS = 1.0  # to end after "quit", before it is killed
IN_FLIGHT = 64  # most decisions that wait for an answer
GROUP = 16  # decisions written at a time
MOST_BYTES = 1 << 20  # longest line of a program
LAST_LINES = 3  # of stderr, shown when a program dies

logger = logging.getLogger("crib_agents.bot")
_running: weakref.WeakSet[Program] = weakref.WeakSet()


class BotError(RuntimeError):
    """A program that died, or did not answer as the protocol says."""


class Program:
    """A running program, with lines in and lines out; a ValueError if it cannot be started."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str] | None) -> None:
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
                env=environment,
            )
        except OSError as error:
            raise ValueError(f"{shlex.join(command)} cannot be started: {error.strerror}") from None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)
        self._buffer = b""
        self._untold: list[str] = []  # lines without an answer, sent before the next decision
        self._said: deque[str] = deque(maxlen=LAST_LINES)
        self._reader = Thread(target=_log_lines, args=(self._process.stderr, command[0], self._said), daemon=True)
        self._reader.start()
        self.end = weakref.finalize(self, _end, self._process)
        _running.add(self)

    def exchange(
        self, messages: Sequence[Message], seconds: float, extra: float = 0.0, in_flight: int = IN_FLIGHT
    ) -> list[object]:
        """Send messages and return the JSON value that answers each.

        Args:
            messages: each is sent as a line; more are written while the program answers.
            seconds: the limit per line; ``extra`` is added once.
            in_flight: most lines that wait for an answer.

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
                raise TimeoutError(f"no answer within {seconds:.3g} s a decision, and the program was killed")
            ready = dict(poll.poll(min(left, LOOK_EVERY) * 1000))
            if not ready and self._process.poll() is not None:  # a fork may hold the pipe open
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
                if len(answers) > before:  # a new limit for the lines that still wait
                    self.answered = min(len(answers), len(messages) - 1)
                    deadline = time.monotonic() + seconds * (sent - len(answers))
        if len(answers) > len(messages):
            raise BotError(f"it answered {len(answers)} lines to {len(messages)} decisions")
        return answers

    def tell(self, message: Message) -> None:
        """Queue a message without an answer, to be sent before the next one with an answer."""
        self._untold.append(line_of(message))

    def quit(self) -> None:
        """Send "quit", wait up to `QUIT_SECONDS`, then kill the program's remaining processes."""
        data = "".join(f"{line}\n" for line in [*self._untold, '{"type": "quit"}']).encode()
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            os.write(self._in, data)
            self._process.wait(QUIT_SECONDS)
        self.end()

    def _read(self) -> list[object]:
        """Return the answers whose lines have arrived completely."""
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
        """Return an error that says how the program ended, with its last lines of stderr."""
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


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a program and all that it started, and free its pipes."""
    if hasattr(os, "killpg"):  # it leads a group
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    process.wait()


def end_programs() -> None:
    """End all programs of this process, before an exit by ``os._exit``."""
    for program in list(_running):
        program.end()


# --- the agent ------------------------------------------------------------------------------------

# Extra time for the first decision of a program that is started again, in multiples of the time
# that the first program took for its first.
WARM = 3.0
MOVE_SECONDS = 60.0  # default limit of a decision
MOST_NAME = 60


def words_of(command: str | Sequence[str]) -> list[str]:
    """Return a program and its arguments as words."""
    try:
        words = shlex.split(command) if isinstance(command, str) else list(command)
    except ValueError as error:
        raise ValueError(f"command:{command} cannot be read as a shell reads it: {error}") from None
    if not words:
        raise ValueError("command: names no program: write command:./mybot --level 3")
    return words


def start(command: Sequence[str], environment: Mapping[str, str] | None) -> tuple[Program, object]:
    """Start a program and return it with its greeting."""
    program = Program(command, environment)
    hello = {"type": "hello", "protocol": PROTOCOL, "games": list(GAMES)}
    try:
        (greeting,) = program.exchange([hello], START_SECONDS)
    except (BotError, TimeoutError, ValueError) as error:
        program.end()
        raise ValueError(f"{shlex.join(command)} is no bot: {error}") from None
    return program, greeting


class CommandAgent:
    """Plays the answers of a program over the bot protocol, ``docs/protocol.md``.

    A program that does not answer in time, dies, or writes anything but lines of JSON is killed
    with all that it started. The next decision starts it again.

    Args:
        command: the program with its arguments, as a shell would split them, or a list of words.
        move_seconds: the limit of a decision, in seconds; None for a minute.
        environment: the program's environment; None for the caller's.
        started: the program and its greeting, as `start` returns them.

    Attributes:
        name: the program's name, by its greeting.
        author: the program's author, by its greeting.
        games_at_once: the most games that it follows at a time.
        plays: the names of the games that it plays.
        more: further fields of every decision, which the program must ignore.

    Raises:
        ValueError: it cannot be started, or does not greet as the protocol says.
    """

    def __init__(
        self,
        command: str | Sequence[str],
        move_seconds: float | None = None,
        environment: Mapping[str, str] | None = None,
        *,
        started: tuple[Program, object] | None = None,
    ) -> None:
        self.command = words_of(command)
        self.move_seconds = MOVE_SECONDS if move_seconds is None else move_seconds
        self._environment = None if environment is None else dict(environment)
        self._program: Program | None = None
        self._numbers = itertools.count(1)
        self._numbered: dict[Hashable, int] = {}
        self._told: set[int] = set()  # games that the running program knows
        self._followed: tuple[Sequence[Hashable], Sequence[Sequence[Event]], GameBatch] | None = None
        self._seconds = SecondDiscards()
        self.more: Message = {}  # further fields of every decision
        self._allowance = START_SECONDS
        self._answered = False
        self._in_flight = IN_FLIGHT
        self._lock = Lock()
        self.name = self.command[0]
        with self._lock:
            self._start(started)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({shlex.join(self.command)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.command, self.move_seconds, self._environment)

    @one_or_many
    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return one action for each view, int64[B].

        Each line has a seed drawn from ``rng``, for programs that draw their choices.

        Raises:
            TimeoutError: no answer in time.
            BotError: the program died, or an answer does not follow the protocol.
            ValueError: an answer is no legal action.
            NoResultError: a Python agent in its own process raised one.
        """
        if not len(views):
            return np.zeros(0, dtype=np.int64)
        followed, self._followed = self._followed, None
        messages = decisions(views)
        seeds = rng.integers(1 << 32, size=len(messages)).tolist()
        actions = np.zeros(len(messages), dtype=np.int64)
        asked = []
        with self._lock:
            if followed is not None:
                self._introduce(messages, *followed)
            for i, (message, seed) in enumerate(zip(messages, seeds, strict=True)):
                second = self._seconds.take(views[i], message.get("id"))
                if second is not None:
                    actions[i] = second
                    continue
                message["seed"] = seed
                message.update(self.more)
                asked.append(i)
            answers = self._ask([messages[i] for i in asked])
            for i, answer in zip(asked, answers, strict=True):
                actions[i], *others = self._legal(answer, messages[i])
                for other in others:
                    self._seconds.put(views[i], int(actions[i]), other, messages[i].get("id"))
        return actions

    def follow(self, keys: Sequence[Hashable], events: Sequence[Sequence[Event]], games: GameBatch) -> None:
        """Name the games of the next `act`'s views, with the points pegged in each.

        Args:
            keys: identifiers of the game and seat of each view.
            events: the points pegged since that seat's last decision.
            games: the batch that they are played in.
        """
        self._followed = keys, events, games

    def game_over(self, key: Hashable, scores: Sequence[int], won: bool | None) -> None:
        """Tell the program that a followed game has ended: the scores by side, and if it won."""
        number = self._numbered.pop(key, None)
        with self._lock:
            if number in self._told and self._program is not None:
                self._told.discard(number)
                self._program.tell({"type": "game_over", "id": number, "scores": list(scores), "won": won})

    def refuse_rules(self, rules: Rules, episode: str | None = None) -> None:
        """Raise a ValueError unless the program plays by these rules."""
        game = game_of(rules)
        if game not in self.plays:
            raise ValueError(f"{self.name} does not play {rules.name}: it says that it plays {', '.join(self.plays)}")
        if self._accepts == "any":
            return
        names = rules.decisive_fields(episode)
        preset = preset_of(game)
        changed = [one for one in names if getattr(rules, one) != getattr(preset, one)]
        if self._accepts == "presets" and changed:
            what = ", ".join(f"{one} is {getattr(rules, one)}" for one in changed)
            raise ValueError(f"{self.name} does not play {game} where {what}: it says that it plays by the presets")
        if self._accepts == "ask":
            question = {"type": "accepts", "game": game, "episode": episode, "rules": asdict(rules)}
            with self._lock:
                (answer,) = self._ask([question], decisions=False)
            if not isinstance(answer, dict) or answer.get("accepts") is not True:
                why = answer.get("why") if isinstance(answer, dict) else answer
                raise ValueError(str(why) if isinstance(why, str) else shown(answer))

    def close(self) -> None:
        """End the program; see `Program.quit`."""
        with self._lock:
            if self._program is not None:
                self._program.quit()
                self._program = None

    # --- the program ------------------------------------------------------------------------------

    def _start(self, started: tuple[Program, object] | None = None) -> None:
        """Start the program, or take a started one, and read its greeting."""
        self._program, answer = started or start(self.command, self._environment)
        self._told.clear()
        self._fresh = True
        try:
            self._greet(answer)
        except ValueError as error:
            self._stop()
            raise ValueError(f"{shlex.join(self.command)} is no bot: {error}") from None

    def _greet(self, answer: object) -> None:
        """Read the program's greeting."""
        if not isinstance(answer, dict) or not isinstance(answer.get("name"), str):
            raise ValueError(f'its greeting must have a "name", got {shown(answer)}')
        if answer.get("refused"):
            raise ValueError(str(answer["name"]))
        self.name = "".join(c for c in answer["name"] if c.isprintable())[:MOST_NAME] or "bot"
        author = answer.get("author", "")
        self.author = "".join(c for c in str(author) if c.isprintable())[:MOST_NAME]
        games, accepts = answer.get("games", 1), answer.get("rules", "presets")
        plays = answer.get("plays", ["six_card"])
        if not isinstance(games, int) or games < 1:
            raise ValueError(f'"games" must be a whole number from 1, got {shown(games)}')
        if not isinstance(plays, list) or not plays or not all(one in GAMES for one in plays):
            raise ValueError(f'"plays" must name some of {", ".join(GAMES)}, got {shown(plays)}')
        if accepts not in ("presets", "any", "ask"):
            raise ValueError(f'"rules" must be "presets", "any" or "ask", got {shown(accepts)}')
        self.games_at_once, self.plays, self._accepts = int(games), tuple(plays), accepts

    def _ask(self, messages: Sequence[Message], decisions: bool = True) -> list[object]:
        """Return the program's answers; end it if it fails. Decisions use its start allowance."""
        if not messages:
            return []
        if self._program is None:
            self._start()
        assert self._program is not None
        extra = (self._allowance if decisions else START_SECONDS) if self._fresh else 0.0
        began = time.monotonic()
        try:
            answers = self._program.exchange(messages, self.move_seconds, extra, self._in_flight)
        except BaseException as error:  # also Ctrl-C: answers may be on their way
            if isinstance(error, (TimeoutError, BotError)):
                error.add_note(f"the message was {line_of(messages[self._program.answered])}")
            if isinstance(error, TimeoutError):
                self._in_flight = 1  # so that the next hang is noticed sooner
                if decisions and self._fresh and not self._answered:
                    self._allowance /= 2
            self._stop()
            raise
        if decisions:
            if not self._answered:
                self._answered, self._allowance = True, WARM * (time.monotonic() - began)
            self._fresh = False
        return answers

    def _legal(self, answer: object, message: Message) -> list[int]:
        """Return the actions of an answer; raise a BotError if it reports an error."""
        try:
            if isinstance(answer, dict) and isinstance(answer.get("error"), str):
                raise BotError(f"the program says {shown(answer['error'])}")
            return read_action(answer, message)
        except (ValueError, BotError) as error:
            error.add_note(f"the message was {line_of(message)}")
            raise

    def _stop(self) -> None:
        if self._program is not None:
            self._program.end()
            self._program = None

    # --- games that the caller follows ---

    def _introduce(
        self, messages: Sequence[Message], keys: Sequence[Hashable], events: Sequence[Sequence[Event]], games: GameBatch
    ) -> None:
        """Number the games of decisions, add their events, and announce those that are new."""
        if self._program is None:
            self._start()
        assert self._program is not None
        for message, key, since in zip(messages, keys, events, strict=True):
            number = self._numbered.get(key) or self._numbered.setdefault(key, next(self._numbers))
            message["id"] = number
            message["events"] = event_messages(since)
            if number not in self._told:
                self._told.add(number)
                start = {
                    "type": "new_game",
                    "id": number,
                    "game": message["game"],
                    "episode": message["episode"],
                    "players": message["players"],
                    "seat": message["seat"],
                    "rules": fields_of(games.rules),
                }
                self._program.tell(start)


class ProbableAgent(CommandAgent):
    """A program that also states its probability of each action."""

    @one_or_many
    def action_probabilities(self, views: Views) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return float64[B, actions], by action; a row sums to 1."""
        messages = decisions(views)
        with self._lock:
            answers = self._ask([message | {"type": "probabilities"} for message in messages])
        found = np.zeros((len(messages), family_of(views).actions))
        for row, answer, message in zip(found, answers, messages, strict=True):
            given: Any = answer.get("probabilities") if isinstance(answer, dict) else None
            numbers = isinstance(given, list) and all(isinstance(share, int | float) for share in given)
            if not numbers or len(given) != len(message["legal"]):
                raise ValueError(f'"probabilities" must be a number for each legal action, got {shown(answer)}')
            for place, share in zip(message["legal"], given, strict=True):
                (action,) = read_action({"action": place}, message)
                row[action] = float(share)
            if not np.isfinite(row).all() or row.min() < 0 or abs(row.sum() - 1) > 1e-6:
                raise ValueError(f'"probabilities" must sum to 1, got {shown(given)}')
        return found


def command_agent(command: str, move_seconds: float | None = None) -> CommandAgent:
    """Return the agent of ``command:PROGRAM``."""
    words = words_of(command)
    program, greeting = start(words, None)
    probable = isinstance(greeting, dict) and greeting.get("probabilities")
    kind = ProbableAgent if probable else CommandAgent
    return kind(words, move_seconds, started=(program, greeting))


class ProcessAgent(CommandAgent):
    """A Python agent in its own process; it can report a failure that costs no game."""

    def _legal(self, answer: object, message: Message) -> list[int]:
        """Return the actions of an answer; raise a NoResultError if the agent raised one."""
        if isinstance(answer, dict) and answer.get("no_result") is True:
            raise NoResultError(shown(answer.get("error")))
        return super()._legal(answer, message)


def process_agent(name: str, move_seconds: float | None = None) -> ProcessAgent:
    """Return the agent of ``process:NAME``: a Python agent in its own process."""
    path = os.pathsep.join(filter(None, sys.path))
    command = [sys.executable, "-m", "crib_agents.bot", name]
    return ProcessAgent(command, move_seconds, {**os.environ, "PYTHONPATH": path})
