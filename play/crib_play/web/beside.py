"""Work beside the server, in a process of its own: compile, and analyse finished games."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import os
import signal
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from numba.core import config

from crib_env.engine.cache import cache_folder
from crib_play.preferences import Preferences
from crib_play.replay import replay_page
from crib_play.table import GAMES, Session, TableGame, review, table_game, why_unjudged
from crib_play.table.advice import choices
from crib_play.table.levels import ERRING, load_player
from crib_play.table.seats import plays, refusal
from crib_play.web.messages import review_payload
from crib_play.web.store import StoredTable
from crib_play.web.tables import wake

LONGEST = 300.0  # seconds for a task; the longest there is compiles an agent on a slow machine
POLITE = 3  # how much the server goes before its helper


class BusyError(Exception):
    """More than is answered at once; it says when to try again."""


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
        loaded = load_player(agent)
        found = {game: refusal(loaded, GAMES[game]) for game in games}
    except Exception as error:  # whatever an agent's own code raises
        return dict.fromkeys(games, f"{agent} cannot play: {type(error).__name__}: {error}")
    return {game: why for game, why in found.items() if why is not None}


def replay(stored: StoredTable) -> str:
    """Return the page of a game that is over."""
    return replay_page(_session(stored), table_game(stored.game).title)


def look_back(stored: StoredTable, seat: int) -> str:
    """Return the review of a seat's decisions, as JSON."""
    session = _session(stored)
    return json.dumps(review_payload(session, seat, review(session, seat)))


def _session(stored: StoredTable) -> Session:
    return wake(stored, [None if name is None else load_player(name) for name in stored.seats])


# --- before a game --------------------------------------------------------------------------------

RULES, ADVICE = "the rules", "the advice"  # no names of agents
PATIENCE = 30.0  # seconds that a question waits for what it needs; then the page asks again
GUESS = 8.0  # seconds for a step, before one has been measured
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
        self._done: dict[Step, asyncio.Event] = {}
        self._waiting: list[Step] = []
        self._seconds: list[float] = []
        self._more = asyncio.Event()
        self._beside: Beside | None = None
        self._task: asyncio.Task[None] | None = None
        self._closed = False
        games = sorted(GAMES.values(), key=lambda game: game.name != preferences.game)
        first = [preferences.opponent] if preferences.opponent in agents else []
        for family in dict.fromkeys(game.family.name for game in games):
            for what in dict.fromkeys([RULES, *first, ADVICE, *agents]):
                self._add((family, what))

    def start(self) -> None:
        """Begin, in a loop that runs; nobody waits for what has not begun."""
        if not config.DISABLE_JIT:
            if cache_folder() is not None:  # else nothing is left for us on disk: compile here
                self._beside = Beside()
            self._task = asyncio.get_running_loop().create_task(self._prepare())

    def close(self) -> None:
        """Stop; who waits is told to try again."""
        self._closed = True
        for done in self._done.values():
            done.set()
        if self._task is not None:
            self._task.cancel()
        if self._beside is not None:
            self._beside.close()

    @property
    def progress(self) -> tuple[int, int]:
        """How many steps are done, and of how many."""
        done = [one.is_set() for one in self._done.values()]
        return (0, 0) if self._task is None else (sum(done), len(done))

    def seconds(self, game: str, agents: Sequence[str], advice: bool = False) -> float:
        """Return about how long it takes until a game is ready; it comes before all others now."""
        left = [
            step for step in self._wanted(game, agents, advice) if not self._done[step].is_set()
        ]
        measured = sum(self._seconds) / len(self._seconds) if self._seconds else GUESS
        return measured * len(left)

    def agents_for(self, game: TableGame, agents: Sequence[str]) -> list[str]:
        """Return those agents that play a game, as far as is known."""
        return [
            name for name in agents
            if plays("expert" if name in ERRING else name, game)
            and (name, game.name) not in self.refusals
        ]  # fmt: skip

    async def ready(self, game: str, agents: Sequence[str], advice: bool = False) -> None:
        """Wait until a game with these agents can be played; it is prepared before all others."""
        waits = [self._done[step].wait() for step in self._wanted(game, agents, advice)]
        try:
            await asyncio.wait_for(asyncio.gather(*waits), PATIENCE)
        except TimeoutError:
            raise self._later() from None
        if self._closed:
            raise self._later()
        for name in agents:
            if why := self.refusals.get((name, game)):
                raise ValueError(why)

    def _later(self) -> PreparingError:
        done, of = self.progress
        return PreparingError(f"preparing the game: {done} of {of}; try again in a moment")

    def _wanted(self, game: str, agents: Sequence[str], advice: bool) -> list[Step]:
        """Return what a game needs, which is done next."""
        kind = GAMES.get(game)
        if kind is None or self._task is None:  # that there is no such game the table says
            return []
        needed = [RULES, *agents, *([ADVICE] if advice or set(agents) & set(ERRING) else [])]
        wanted = [(kind.family.name, what) for what in dict.fromkeys(needed)]
        for step in reversed(wanted):
            self._add(step)
            if step in self._waiting:
                self._waiting.remove(step)
                self._waiting.insert(0, step)
        return wanted

    def _add(self, step: Step) -> None:
        if step not in self._done:
            self._done[step] = asyncio.Event()
            self._waiting.append(step)
            self._more.set()

    async def _prepare(self) -> None:
        """Do one step after the other, for as long as the server runs."""
        while True:
            if not self._waiting:
                if self._beside is not None:
                    self._beside.rest()
                self._more.clear()
                await self._more.wait()
            step = self._waiting.pop(0)
            began = time.monotonic()
            with contextlib.suppress(Exception):  # then the game itself compiles it, or says why
                await self._do(*step)
            self._seconds.append(time.monotonic() - began)
            self._done[step].set()

    async def _do(self, family: str, what: str) -> None:
        games = [name for name, game in GAMES.items() if game.family.name == family]
        if what in (RULES, ADVICE):
            await self._ask(prepare_rules if what == RULES else prepare_advice, games)
        else:
            refused = await self._ask(prepare_agent, what, games)
            self.refusals.update({(what, game): why for game, why in refused.items()})

    async def _ask(self, task: Callable[..., Any], *given: Any) -> Any:
        if self._beside is None:
            return await asyncio.to_thread(task, *given)
        return await asyncio.wrap_future(self._beside.submit(task, *given))


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
        self._making: dict[str, asyncio.Task[bytes]] = {}

    async def get(self, task: Callable[..., str], key: str, *given: Any) -> bytes:
        """Return what a task makes, compressed by gzip; concurrent callers share one run."""
        key = f"{task.__name__} {key}"
        if key in self._made:
            self._made.move_to_end(key)
            return self._made[key]
        if key not in self._making:
            if len(self._making) >= MOST_WAITING:
                raise BusyError("many reviews are being made: try again in a moment")
            made = self._beside.submit(task, *given)
            self._making[key] = asyncio.create_task(self._pack(key, made))
        return await asyncio.shield(self._making[key])

    async def _pack(self, key: str, made: Future[str]) -> bytes:
        try:
            text = await asyncio.wrap_future(made)
            packed = await asyncio.to_thread(gzip.compress, text.encode(), 5)
        except BrokenExecutor:
            raise WorkError("the process that makes it ended: try again in a moment") from None
        finally:
            del self._making[key]
        self._made[key] = packed
        while sum(map(len, self._made.values())) > self._most_bytes:
            self._made.popitem(last=False)
        return packed

    def close(self) -> None:
        """Stop making anything."""
        self._beside.close()
