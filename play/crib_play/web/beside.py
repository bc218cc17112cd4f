"""Work beside the server, in another process: compile, and analyse finished games."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Future
from typing import Any, NamedTuple

from crib_agents.process_pool import ProcessPool
from numba.core import config
from starlette.exceptions import HTTPException

from crib_env.engine.cache import cache_folder
from crib_play.replay import replay_page
from crib_play.table import GAMES, TableGame, review, table_game
from crib_play.table.advice import choices
from crib_play.table.seats import ERRING, first_turns, load_player, plays, refusal
from crib_play.user_files import Preferences
from crib_play.web.messages import review_payload
from crib_play.web.store import StoredTable
from crib_play.web.tables import wake

LONGEST = 300.0  # seconds for a task; the longest compiles an agent on a slow machine
POLITE = 3  # niceness of the process, so that the server goes first


class WorkError(RuntimeError):
    """A task failed; the message says why."""


class Beside:
    """A process that does one task at a time. A task starts it, and again if it died."""

    def __init__(self) -> None:
        self._pool: ProcessPool | None = None
        self._closed = False

    def submit(self, task: Callable[..., Any], *given: Any) -> Future[Any]:
        """Start a task; return the future of its result."""
        if self._closed:
            raise WorkError("the server is closing")
        answer = self._submit(task, *given)
        if answer.done() and isinstance(answer.exception(), BrokenExecutor):  # the process had died
            self.rest()
            answer = self._submit(task, *given)
        return answer

    async def do(self, task: Callable[..., Any], *given: Any) -> Any:
        """Run a task and return its result."""
        try:
            return await asyncio.wrap_future(self.submit(task, *given))
        except BrokenExecutor:
            raise WorkError("the process that makes it ended: try again in a moment") from None

    def rest(self) -> None:
        """End the process now; the next task starts another."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.end()

    def close(self) -> None:
        """End the process now, and refuse further tasks."""
        self._closed = True
        self.rest()

    def _submit(self, task: Callable[..., Any], *given: Any) -> Future[Any]:
        if self._pool is None:
            self._pool = ProcessPool(1, _let_pass)
        return self._pool.submit(_do, LONGEST, task, *given)


def _let_pass() -> None:
    """Lower the priority of this process below the server's."""
    if hasattr(os, "nice"):
        os.nice(POLITE)


def _do(longest: float, task: Callable[..., Any], *given: Any) -> Any:
    """Run a task within ``longest`` seconds; re-raise its error as one that can be unpickled."""
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

RULES, ADVICE = "the rules", "the advice"  # steps that are not an agent's name


class Prepared(NamedTuple):
    """The seconds that a step took to compile, and by game why it cannot be played."""

    seconds: float
    refusals: dict[str, str]


def prepare(what: str, games: Sequence[str]) -> Prepared:
    """Compile `RULES`, `ADVICE` or an agent for these games."""
    began = time.monotonic()
    refusals = {} if what in (RULES, ADVICE) else _refusals(what, games)
    for game in games if what in (RULES, ADVICE) else ():
        for session in first_turns(table_game(game)):
            session.sight(session.seat)
            if what == ADVICE:
                choices(session.game.view(session.seat))
    return Prepared(time.monotonic() - began, refusals)


def _refusals(agent: str, games: Sequence[str]) -> dict[str, str]:
    try:
        loaded = load_player(agent)
        found = {game: refusal(loaded, GAMES[game]) for game in games}
    except Exception as error:  # any error of an agent's code
        return dict.fromkeys(games, f"{agent} cannot play: {type(error).__name__}: {error}")
    return {game: why for game, why in found.items() if why is not None}


def replay(stored: StoredTable) -> bytes:
    """Return the page of a game that is over, compressed by gzip."""
    return _packed(replay_page(wake(stored, load_player), table_game(stored.game).title))


def look_back(stored: StoredTable, seat: int) -> bytes:
    """Return the review of a seat's decisions as JSON, compressed by gzip."""
    session = wake(stored, load_player)
    return _packed(json.dumps(review_payload(session, seat, review(session, seat))))


def _packed(text: str) -> bytes:
    return gzip.compress(text.encode(), 5)


# --- before a game --------------------------------------------------------------------------------

PATIENCE = 30.0  # seconds that a request waits for warm-up; then the page asks again
GUESS = 8.0  # seconds for a step, before one has been measured
Step = tuple[str, str]
"""A family of games, and what to compile for it: `RULES`, `ADVICE` or an agent's name."""


class Preparation:
    """Compiles the machine code of games in another process, which stores it on disk."""

    def __init__(self, agents: Sequence[str], preferences: Preferences) -> None:
        games = sorted(GAMES.values(), key=lambda game: game.name != preferences.game)
        first = [preferences.opponent] if preferences.opponent in agents else []
        self._first = [
            (family, what)
            for family in dict.fromkeys(game.family.name for game in games)
            for what in dict.fromkeys([RULES, *first, ADVICE, *agents])
        ]
        self._steps: dict[Step, asyncio.Task[Prepared]] = {}
        self._warming: asyncio.Task[None] | None = None
        # Without a cache folder this process must compile: another could not store the code.
        self._beside = None if cache_folder() is None else Beside()
        self._closed = False

    def start(self) -> None:
        """Start warming up (needs a running event loop)."""
        if not config.DISABLE_JIT:
            self._warming = asyncio.get_running_loop().create_task(self._warm_up())

    def close(self) -> None:
        """Stop; waiting requests get 503 and may be repeated."""
        self._closed = True
        if self._beside is not None:
            self._beside.close()

    async def _warm_up(self) -> None:
        """Run the steps one after the other, so that an awaited step ends before the next."""
        for step in self._first:
            if not self._closed:
                await asyncio.wait([self._want(step)])

    def _want(self, step: Step) -> asyncio.Task[Prepared]:
        if step not in self._steps:
            self._steps[step] = asyncio.create_task(self._do(*step))
            self._steps[step].add_done_callback(lambda _: self._rest_if_done())
        return self._steps[step]

    async def _do(self, family: str, what: str) -> Prepared:
        games = [name for name, game in GAMES.items() if game.family.name == family]
        with contextlib.suppress(Exception):  # then the game itself compiles, or reports the error
            if self._beside is None:
                return await asyncio.to_thread(prepare, what, games)
            made: Prepared = await self._beside.do(prepare, what, games)
            return made
        return Prepared(GUESS, {})

    def _rest_if_done(self) -> None:
        done, of = self.progress
        if done == of and self._beside is not None:
            self._beside.rest()

    @property
    def progress(self) -> tuple[int, int]:
        """How many steps are done, and of how many."""
        known = {*self._first, *self._steps}
        return sum(one.done() for one in self._steps.values()), len(known) if self._warming else 0

    def _wanted(self, game: str, agents: Sequence[str], advice: bool) -> list[asyncio.Task[Prepared]]:
        """Return the steps that a game needs, started if they were not."""
        if game not in GAMES or self._warming is None:  # the table reports an unknown game
            return []
        needed = [RULES, *agents, *([ADVICE] if advice or set(agents) & set(ERRING) else [])]
        return [self._want((GAMES[game].family.name, what)) for what in dict.fromkeys(needed)]

    def seconds(self, game: str, agents: Sequence[str], advice: bool = False) -> float:
        """Estimate the seconds until a game is ready; it is prepared before all others now."""
        left = sum(not one.done() for one in self._wanted(game, agents, advice))
        took = [one.result().seconds for one in self._steps.values() if one.done()]
        return left * (sum(took) / len(took) if took else GUESS)

    def agents_for(self, game: TableGame, agents: Sequence[str]) -> list[str]:
        """Return those agents that play a game, as far as known."""
        return [name for name in agents if (name in ERRING or plays(name, game)) and not self._refusal(name, game)]

    def _refusal(self, agent: str, game: TableGame) -> str:
        made = self._steps.get((game.family.name, agent))
        return made.result().refusals.get(game.name, "") if made and made.done() else ""

    async def ready(self, game: str, agents: Sequence[str], advice: bool = False) -> None:
        """Wait until a game with these agents can be played; it is prepared before all others."""
        if not (wanted := self._wanted(game, agents, advice)):
            return
        _, left = await asyncio.wait(wanted, timeout=PATIENCE)
        if left or self._closed:
            done, of = self.progress
            why = f"preparing the game: {done} of {of}; try again in a moment"
            raise HTTPException(503, why, {"Retry-After": "1"})
        for name in agents:
            if why := self._refusal(name, GAMES[game]):
                raise ValueError(why)


# --- after a game ---------------------------------------------------------------------------------

MOST_BYTES = 32 << 20  # in memory, compressed: a replay has 50 to 400 KB
MOST_WAITING = 32  # replays and reviews in progress or waiting


class Finished:
    """LRU cache of replays and reviews of finished games, each made once, up to `MOST_BYTES`."""

    def __init__(self, beside: Beside) -> None:
        self._beside = beside
        self._made: OrderedDict[str, asyncio.Task[bytes]] = OrderedDict()

    async def get(self, task: Callable[..., bytes], key: str, *given: Any) -> bytes:
        """Return the result of a task; concurrent callers share one run."""
        key = f"{task.__name__} {key}"
        if key not in self._made:
            if sum(not one.done() for one in self._made.values()) >= MOST_WAITING:
                raise HTTPException(429, "many reviews are being made: try again in a moment")
            self._made[key] = asyncio.create_task(self._make(key, task, *given))
        self._made.move_to_end(key)
        return await asyncio.shield(self._made[key])

    async def _make(self, key: str, task: Callable[..., bytes], *given: Any) -> bytes:
        try:
            made: bytes = await self._beside.do(task, *given)
        except BaseException:
            del self._made[key]
            raise
        sizes = {name: len(one.result()) for name, one in self._made.items() if one.done()}
        for name in list(sizes):
            if sum(sizes.values()) + len(made) > MOST_BYTES:
                del self._made[name], sizes[name]
        return made

    def close(self) -> None:
        """Stop making anything."""
        self._beside.close()
