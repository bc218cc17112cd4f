"""Calls an agent for its actions, so that a failure costs only the agent's own games.

An agent of the bot protocol (`crib_agents.bot.CommandAgent`) follows single games: a `Chronicle`
gives it the game of each view, the points pegged since its last decision there, and the result of
the game. Other agents see views alone.

An agent fails if it raises, returns anything but one integer per view, or takes too long. Only a
`NoResultError`, such as a language model's server raises, is no failure: it ends the match. One
call covers many games. If it fails, the referee calls the agent again for each view alone, so that
only the failing games are lost.
"""

from __future__ import annotations

import itertools
import os
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from crib_env.arrays import Array
from crib_env.batch import GameBatch
from crib_env.errors import NoResultError, printable
from crib_env.events import Event, read_log
from crib_env.policy import Actions, Agent, Views, check_actions
from crib_env.rules import Rules
from crib_env.supported_rules import refuse_rules
from crib_training.interrupts import interruptions

RAISED = "raised"
ILLEGAL = "illegal action"
ANSWER = "wrong answer"
TIME = "over time"

# After this many late answers in a row, the remaining views of the call count as late too.
PATIENCE = 3
LONGEST = 300  # characters shown of a reason

_serial = itertools.count()


def follower_of(agent: Any) -> Any:
    """Return the agent inside wrappers that has a method ``follow``, or None."""
    while not hasattr(agent, "follow"):
        agent = getattr(agent, "agent", None)
        if agent is None:
            return None
    return agent


class Chronicle:
    """The events of each game of a batch since each seat's last decision.

    It makes the batch step its games one by one, which costs some microseconds each.
    """

    def __init__(self, games: GameBatch) -> None:
        self.games = games
        self.number = next(_serial)
        self._since: list[list[list[Event]]] = [[[] for _ in range(games.players)] for _ in range(games.n)]
        games.on_step = self._note

    def tell(self, follower: Any, lanes: Array) -> None:
        """Tell a follower the games of the views that it receives next, and their events."""
        seats = self.games.movers(lanes)
        keys = [self.key(lane, seat) for lane, seat in zip(lanes, seats, strict=True)]
        events = [self._since[lane][seat] for lane, seat in zip(lanes, seats, strict=True)]
        follower.follow(keys, events, self.games)

    def end(self, follower: Any, lane: int, seats: Array, won: bool | None) -> None:
        """Tell a follower that a game of its seats is over; for ``won`` None the returns decide."""
        board = self.games.states["match_score" if self.games.episode == "match" else "scores"]
        scores = board[lane, : self.games.tally.shape[1]].tolist()
        returns = self.games.returns()[lane]
        for seat in seats:
            share = None if returns[seat] == 0 else bool(returns[seat] > 0)
            follower.game_over(self.key(lane, seat), scores, share if won is None else won)

    def key(self, lane: int | np.integer[Any], seat: int | np.integer[Any]) -> tuple[int, int, int]:
        """Return a key for a seat of a game, unique in this process."""
        return self.number, int(lane), int(seat)

    def _note(self, lane: int, seat: int, log: Array) -> None:
        """Record the events of a step by ``seat``, for all seats."""
        self._since[lane][seat] = []
        events = read_log(log)
        for pending in self._since[lane]:
            pending.extend(events)


@dataclass(frozen=True)
class Failure:
    """Why an agent forfeited a game."""

    agent: str
    kind: str  # one of the four above
    why: str


class Referee:
    """Calls one agent and measures its time.

    A decision may take ``move_seconds``, as the mean over the views of one call. The first call is
    not timed: kernels may have to be compiled for it. A call cannot be stopped here, only judged
    once it returns; a `CommandAgent` can. ``strict`` raises the first failure as a RuntimeError.
    """

    def __init__(
        self, agent: Agent, move_seconds: float | None = None, name: str | None = None, strict: bool = False
    ) -> None:
        self.agent = agent
        self.name = name or agent.name
        self.move_seconds = move_seconds
        self.strict = strict
        self.follower = follower_of(agent)
        self._warm = False
        self._chronicle: Chronicle | None = None

    def refuse_rules(self, rules: Rules, episode: str | None = None) -> None:
        """Raise a ValueError unless the agent plays by these rules."""
        refuse_rules(self.agent, rules, episode)

    def move(self, games: GameBatch, lanes: Array, rng: np.random.Generator) -> dict[int, Failure]:
        """Let the agent act for the seat to move in each game; return its failures by game.

        Games in which it failed are not stepped.
        """
        actions, failed = self.ask(games.views(lanes), rng, lanes)
        failures = {int(lanes[k]): failure for k, failure in failed.items()}
        if failed:
            answered = np.delete(np.arange(len(lanes)), list(failed))
            lanes, actions = lanes[answered], actions[answered]
        while (bad := games.step(lanes, actions)) is not None:
            lane = int(lanes[bad])
            why = games.why_illegal(lane, int(actions[bad]))
            failures[lane] = self._failure(ILLEGAL, why)
            lanes, actions = lanes[bad + 1 :], actions[bad + 1 :]
        return failures

    def follow(self, chronicle: Chronicle | None) -> None:
        """From now on tell the agent, if it follows games, the events of a chronicle."""
        self._chronicle = chronicle if self.follower is not None else None

    def ask(
        self, views: Views, rng: np.random.Generator, lanes: Array | None = None
    ) -> tuple[Actions, dict[int, Failure]]:
        """Return the agent's actions for views [B], int64[B], and its failures by index of view."""
        answer = self._call(views, rng, lanes)
        if not isinstance(answer, Failure):
            return answer, {}
        if len(views) == 1:
            return np.zeros(1, dtype=np.int64), {0: answer}
        actions = np.zeros(len(views), dtype=np.int64)
        failures = {}
        late = 0
        for i in range(len(views)):
            if late < PATIENCE:
                lane = None if lanes is None else lanes[i : i + 1]
                answer = self._call(views[i : i + 1], rng, lane)
            if isinstance(answer, Failure):
                failures[i] = answer
                late = late + 1 if answer.kind == TIME else 0
            else:
                actions[i] = answer[0]
                late = 0
        return actions, failures

    def _call(self, views: Views, rng: np.random.Generator, lanes: Array | None) -> Actions | Failure:
        """Return the actions of one call, int64[B], or the failure."""
        if self._chronicle is not None and lanes is not None:
            self._chronicle.tell(self.follower, lanes)
        began, me = time.perf_counter(), os.getpid()
        error: BaseException | None = None
        with interruptions() as ours:  # a KeyboardInterrupt without a signal is the agent's own
            try:
                answer = self.agent.act(views, rng)
            except BaseException as raised:  # SystemExit too, and panics of other languages
                error = raised
        if os.getpid() != me:
            os._exit(0)  # a copy of this process, forked by the agent
        if ours:
            raise KeyboardInterrupt from error
        if isinstance(error, NoResultError):
            raise error
        if isinstance(error, TimeoutError):
            return self._failure(TIME, str(error), error)
        if error is not None:
            return self._failure(RAISED, f"{type(error).__name__}: {error}", error)
        seconds = (time.perf_counter() - began) / len(views)
        timed, self._warm = self._warm, True
        if timed and self.move_seconds is not None and seconds > self.move_seconds:
            return self._failure(TIME, f"a decision took more than {self.move_seconds:g} s")
        try:
            return check_actions(answer, len(views))
        except ValueError as error:
            return self._failure(ANSWER, str(error))
        except Exception as error:  # it cannot become an array, such as a tensor on a GPU
            return self._failure(ANSWER, f"{type(error).__name__}: {error}")

    def _failure(self, kind: str, why: str, error: BaseException | None = None) -> Failure:
        words = printable(why)
        short = words if len(words) <= LONGEST else words[:LONGEST] + " ..."
        if self.strict:
            raise RuntimeError(f"{self.name} failed, {kind}: {short}") from error
        return Failure(self.name, kind, short)


def counted(failures: Iterable[Failure], label: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the number of each failure, ready for JSON, the most frequent first."""
    return [
        {"agent": label.get(f.agent, f.agent), "kind": f.kind, "why": f.why, "times": times}
        for f, times in Counter(failures).most_common()
    ]
