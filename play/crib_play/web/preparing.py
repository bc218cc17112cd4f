"""Compiling ahead: another process compiles the games while the page shows."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

from numba.core import config

from crib_env.engine.cache import cache_folder
from crib_play.preferences import Preferences
from crib_play.table import GAMES, TableGame
from crib_play.table.seats import plays
from crib_play.web import worker

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
        self._worker: worker.Worker | None = None
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
            self._worker = worker.Worker()
        threading.Thread(target=self._prepare, name="crib-prepare", daemon=True).start()

    def close(self) -> None:
        """Stop."""
        with self._lock:
            self._closed = True
            self._lock.notify()
        if self._worker is not None:
            self._worker.close()

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
            if late:
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
                    if self._worker is not None:
                        self._worker.rest()
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
                done.set_result(None)

    def _do(self, family: str, what: str) -> None:
        games = [name for name, game in GAMES.items() if game.family.name == family]
        if what in (RULES, ADVICE):
            self._ask("prepare_rules" if what == RULES else "prepare_advice", games=games)
        else:
            refused = self._ask("prepare_agent", agent=what, games=games)
            self.refusals.update({(what, game): why for game, why in refused.items()})

    def _ask(self, task: str, **given: Any) -> Any:
        if self._worker is not None:
            return self._worker.submit(task, **given).result()
        from crib_play.web.work import TASKS

        return TASKS[task](**given)
