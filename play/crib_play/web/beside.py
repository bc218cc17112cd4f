"""Work beside the server, in processes of their own: compile, and analyse finished games."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import os
import signal
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from crib_agents.loading import load_agent
from numba.core import config

from crib_env.engine.cache import cache_folder
from crib_play.preferences import Preferences
from crib_play.replay import replay_page
from crib_play.table import GAMES, Session, TableGame, review, table_game, why_unjudged
from crib_play.table.advice import choices
from crib_play.table.seats import plays, refusal
from crib_play.web.guard import BusyError
from crib_play.web.messages import review_payload
from crib_play.web.store import StoredTable
from crib_play.web.tables import wake

LONGEST = 300.0  # seconds for a task; the longest there is compiles an agent on a slow machine
POLITE = 3  # how much the server goes before its helpers


class WorkError(RuntimeError):
    """A task that was not done; it says why."""


class Beside:
    """A process that does one task at a time. The first task starts it, or the next if it died.

    Args:
        longest: seconds after which a task's process ends.
    """

    def __init__(self, longest: float = LONGEST) -> None:
        self._longest = longest
        self._pool: ProcessPoolExecutor | None = None
        self._life: Connection[Any, Any] | None = None
        self._closed = False
        self._lock = threading.Lock()

    def submit(self, task: Callable[..., Any], *given: Any) -> Future[Any]:
        """Return the future answer to a task."""
        with self._lock:
            if self._closed:
                raise WorkError("the server is closing")
            try:
                return self._running().submit(_do, self._longest, task, *given)
            except BrokenExecutor:
                self._end()
                return self._running().submit(_do, self._longest, task, *given)

    def rest(self) -> None:
        """End the process now; the next task starts another."""
        with self._lock:
            self._end()

    def close(self) -> None:
        """End the process now, and start none."""
        self._closed = True
        self.rest()

    def _running(self) -> ProcessPoolExecutor:
        if self._pool is None:
            context = get_context("spawn")
            there, self._life = context.Pipe(duplex=False)
            self._pool = ProcessPoolExecutor(1, context, _begin, (there,))
        return self._pool

    def _end(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None and self._life is not None:
            self._life.close()
            pool.shutdown(wait=False, cancel_futures=True)


def _begin(life: Connection[Any, Any]) -> None:
    """Make a process ready, which ends when the other end of ``life`` closes or the server dies."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends us
    if hasattr(os, "nice"):
        os.nice(POLITE)

    def end() -> None:
        with contextlib.suppress(EOFError, OSError):
            life.recv()
        os._exit(1)

    threading.Thread(target=end, daemon=True).start()


def _do(longest: float, task: Callable[..., Any], *given: Any) -> Any:
    """Do a task in time; whatever it raises can be read where nothing of its kind is known."""
    late = threading.Timer(longest, os._exit, (1,))
    late.daemon = True
    late.start()
    try:
        return task(*given)
    except Exception as error:
        raise WorkError(f"{type(error).__name__}: {error}") from None
    finally:
        late.cancel()


# --- tasks ----------------------------------------------------------------------------------------


def prepare_rules(games: Sequence[str]) -> None:
    """Compile what plays these games."""
    for game in games:
        kind = table_game(game)
        session = Session.begin(kind, [None] * kind.players, seed=0)
        session.sight(session.seat)
        session.act(session.seat, session.game.legal_actions[: session.to_choose])


def prepare_advice(games: Sequence[str]) -> None:
    """Compile what judges every choice in these games."""
    for game in games:
        kind = table_game(game)
        session = Session.begin(kind, [None] * kind.players, seed=0)
        if why_unjudged(session):
            continue
        for _ in range(kind.players + 1):
            choices(session.game.view(session.seat))
            session.act(session.seat, session.game.legal_actions[: session.to_choose])


def prepare_agent(agent: str, games: Sequence[str]) -> dict[str, str]:
    """Compile what an agent needs for these games; return why it plays some of them not."""
    try:
        loaded = load_agent(agent)
        found = {game: refusal(loaded, GAMES[game]) for game in games}
    except Exception as error:  # whatever an agent's own code raises
        return dict.fromkeys(games, f"{agent} cannot play: {type(error).__name__}: {error}")
    return {game: why for game, why in found.items() if why is not None}


def _session(stored: StoredTable) -> Session:
    return wake(stored, [None if name is None else load_agent(name) for name in stored.seats])


def replay(stored: StoredTable) -> str:
    """Return the page of a game that is over."""
    return replay_page(_session(stored), table_game(stored.game).title)


def look_back(stored: StoredTable, seat: int) -> str:
    """Return the review of a seat's decisions, as JSON."""
    return json.dumps(review_payload(review(_session(stored), seat)))


# --- before a game --------------------------------------------------------------------------------

RULES, ADVICE = "the rules", "the advice"  # no names of agents
PATIENCE = 30.0  # seconds that a question waits for what it needs; then the page asks again
Step = tuple[str, str]
"""A family of games, and what is prepared for it: `RULES`, `ADVICE` or an agent's name."""


class PreparingError(Exception):
    """A game that is not ready yet."""


class Preparation:
    """Has the machine code made that games need, by a process of its own, which leaves it on disk.

    Args:
        agents: who is sure to play; others are prepared when somebody chooses them.
        preferences: the game and the opponent that come first.

    Attributes:
        refusals: why an agent does not play a game, by both their names.
    """

    def __init__(self, agents: Sequence[str], preferences: Preferences) -> None:
        self.refusals: dict[tuple[str, str], str] = {}
        self._steps: dict[Step, Future[None]] = {}
        self._waiting: list[Step] = []
        self._lock = threading.Condition()
        self._beside: Beside | None = None
        self._started = self._closed = False
        families = [GAMES[preferences.game].family.name] if preferences.game in GAMES else []
        families += [game.family.name for game in GAMES.values()]
        first = [preferences.opponent] if preferences.opponent in agents else []
        for family in dict.fromkeys(families):
            for what in dict.fromkeys([RULES, *first, ADVICE, *agents]):
                self._add((family, what))

    def start(self) -> None:
        """Begin; nobody waits for what has not begun."""
        self._started = True
        if config.DISABLE_JIT:
            for done in self._steps.values():
                done.set_result(None)
            self._waiting.clear()
            return
        if cache_folder() is not None:  # else nothing is left for us on disk: compile here
            self._beside = Beside()
        threading.Thread(target=self._prepare, name="crib-prepare", daemon=True).start()

    def close(self) -> None:
        """Stop; who waits is told to try again."""
        with self._lock:
            self._closed = True
            for done in self._steps.values():
                self._finish(done)
            self._lock.notify()
        if self._beside is not None:
            self._beside.close()

    @property
    def progress(self) -> tuple[int, int]:
        """How many steps are done, and of how many."""
        if not self._started:
            return 0, 0
        with self._lock:
            return sum(done.done() for done in self._steps.values()), len(self._steps)

    def agents_for(self, game: TableGame, agents: Sequence[str]) -> list[str]:
        """Return those agents that play a game, as far as is known."""
        return [
            name for name in agents
            if plays(name, game) and (name, game.name) not in self.refusals
        ]  # fmt: skip

    async def ready(self, game: str, agents: Sequence[str | None], advice: bool = False) -> None:
        """Wait until a game with these agents can be played; it is prepared before all others."""
        kind = GAMES.get(game)
        if kind is None or not self._started:  # that there is no such game the table says
            return
        names = [name for name in dict.fromkeys(agents) if name is not None]
        needed = [RULES, *names, *([ADVICE] if advice else [])]
        wanted = [(kind.family.name, what) for what in needed]
        with self._lock:
            for step in reversed(wanted):
                self._add(step)
                if step in self._waiting:
                    self._waiting.remove(step)
                    self._waiting.insert(0, step)
            self._lock.notify()
            waits = [self._steps[step] for step in wanted if not self._steps[step].done()]
        if waits:
            _, late = await asyncio.wait(
                [asyncio.shield(asyncio.wrap_future(one)) for one in waits], timeout=PATIENCE
            )
            if late or self._closed:
                done, of = self.progress
                raise PreparingError(f"preparing the game: {done} of {of}; try again in a moment")
        for name in names:
            if why := self.refusals.get((name, game)):
                raise ValueError(why)

    def _add(self, step: Step) -> None:
        if step not in self._steps:
            self._steps[step] = Future()
            self._waiting.append(step)
            if config.DISABLE_JIT:
                self._steps[step].set_result(None)

    def _prepare(self) -> None:
        """Do one step after the other, for as long as the server runs."""
        while True:
            with self._lock:
                while not self._waiting and not self._closed:
                    if self._beside is not None:
                        self._beside.rest()
                    self._lock.wait()
                if self._closed:
                    return
                step = self._waiting.pop(0)
                done = self._steps[step]
            try:
                self._do(*step)
            except Exception:  # not prepared: then the game itself compiles it, or says what fails
                pass
            finally:
                with self._lock:
                    self._finish(done)

    @staticmethod
    def _finish(done: Future[None]) -> None:
        if not done.done():
            done.set_result(None)

    def _do(self, family: str, what: str) -> None:
        games = [name for name, game in GAMES.items() if game.family.name == family]
        if what in (RULES, ADVICE):
            self._ask(prepare_rules if what == RULES else prepare_advice, games)
        else:
            refused = self._ask(prepare_agent, what, games)
            self.refusals.update({(what, game): why for game, why in refused.items()})

    def _ask(self, task: Callable[..., Any], *given: Any) -> Any:
        return task(*given) if self._beside is None else self._beside.submit(task, *given).result()


# --- after a game ---------------------------------------------------------------------------------

MOST_BYTES = 32 << 20  # stored, compressed: a replay has 50 to 400 KB
MOST_WAITING = 32  # that are being made or wait for it


class Finished:
    """What is made of games that are over. Such a game does not change, so it is made once.

    Args:
        beside: makes them.
        most_bytes: how much it holds; what was not read for longest goes first.
    """

    def __init__(self, beside: Beside, most_bytes: int = MOST_BYTES) -> None:
        self._beside = beside
        self._most_bytes = most_bytes
        self._made: OrderedDict[str, bytes] = OrderedDict()
        self._making: dict[str, Future[Any]] = {}
        self._lock = threading.Lock()

    async def get(self, task: Callable[..., str], key: str, *given: Any) -> bytes:
        """Return what a task makes, compressed by gzip; concurrent callers share one run."""
        key = f"{task.__name__} {key}"
        with self._lock:
            if key in self._made:
                self._made.move_to_end(key)
                return self._made[key]
            making = self._making.get(key)
            if making is None:
                if len(self._making) >= MOST_WAITING:
                    raise BusyError("many reviews are being made: try again in a moment")
                making = self._making[key] = self._beside.submit(task, *given)
                making.add_done_callback(lambda made: self._keep(key, made))
        try:
            text: str = await asyncio.shield(asyncio.wrap_future(making))
        except BrokenExecutor:
            raise WorkError("the process that makes it ended: try again in a moment") from None
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
        self._beside.close()
