"""Points pegged in the games of a batch, for agents that follow single games.

An agent of the bot protocol (`crib_agents.bot.CommandAgent`) gets the game of each view, the points
pegged since its last decision there, and the result of the game. Other agents see views alone.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from crib_env.arrays import Array
from crib_env.batch import GameBatch
from crib_env.events import Event, read_log

_serial = itertools.count()


def follower_of(agent: Any) -> Any:
    """Return the agent that follows games, inside wrappers that pass views on; None without one."""
    while not hasattr(agent, "follow"):
        agent = getattr(agent, "agent", None)
        if agent is None:
            return None
    return agent


class Chronicle:
    """The events of each game of a batch since each seat's last decision.

    It steps the games one by one, which costs some microseconds each; only games with a follower
    are played so.

    Args:
        games: the batch; from now on its steps are recorded.
    """

    def __init__(self, games: GameBatch) -> None:
        self.games = games
        self.number = next(_serial)
        self._since: list[list[list[Event]]] = [
            [[] for _ in range(games.players)] for _ in range(games.n)
        ]
        games.on_step = self._note

    def tell(self, follower: Any, lanes: Array) -> None:
        """Tell a follower of the games whose views it is given next."""
        seats = self.games.movers(lanes)
        keys = [self.key(lane, seat) for lane, seat in zip(lanes, seats, strict=True)]
        events = [self._since[lane][seat] for lane, seat in zip(lanes, seats, strict=True)]
        follower.follow(keys, events, self.games)

    def end(self, follower: Any, lane: int, seats: Array, won: bool | None) -> None:
        """Tell a follower that a game of its seats is over.

        Args:
            follower: the agent.
            lane: the game.
            seats: int64[K], those that it played.
            won: whether it won; None to go by the game's returns.
        """
        board = self.games.states["match_score" if self.games.episode == "match" else "scores"]
        scores = board[lane, : self.games.tally.shape[1]].tolist()
        returns = self.games.returns()[lane]
        for seat in seats:
            share = None if returns[seat] == 0 else bool(returns[seat] > 0)
            follower.game_over(self.key(lane, seat), scores, share if won is None else won)

    def key(self, lane: int | np.integer[Any], seat: int | np.integer[Any]) -> tuple[int, int, int]:
        """Return what identifies a seat of a game among all games of this process."""
        return self.number, int(lane), int(seat)

    def _note(self, lane: int, seat: int, log: Array) -> None:
        """Record the points of a step of ``seat``, for all seats."""
        self._since[lane][seat] = []
        events = read_log(log)
        for pending in self._since[lane]:
            pending.extend(events)
