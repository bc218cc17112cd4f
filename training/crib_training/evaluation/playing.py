"""Plays games between agents to their end, for whoever compares the agents."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from crib_env.arrays import Array
from crib_env.batch import GameBatch
from crib_env.policy import Agent
from crib_training.evaluation.aivat.deals import DealLog
from crib_training.evaluation.referee import Failure, Referee

Sides = tuple[Agent | Referee, Agent | Referee]
Finished = Callable[[float], None]
"""A callback: how many more games are over; of those going on, the share that is played counts."""


def ignore_progress(games: float) -> None:
    """Do nothing."""


def played(games: GameBatch, running: Array) -> float:
    """Return the number of games played: finished ones, and parts of the others by their scores."""
    over = games.n - len(running)
    if games.episode != "game":
        return over
    return over + float(games.states["scores"][running].max(axis=1).sum()) / games.rules.target


def play_out(
    games: GameBatch,
    agents: Sides,
    rngs: Sequence[np.random.Generator],
    owners: Array,
    log: DealLog | None,
    finished: Finished,
) -> tuple[Array, list[Failure]]:
    """Play games that have begun to their end.

    Returns bool[games, 2], whether (first, second) failed, and the failures. Shapes: owners
    int64[sides].
    """
    forfeits = np.zeros((games.n, 2), dtype=bool)
    failures: list[Failure] = []
    reported = 0.0
    running = games.running()
    while len(running):
        mover = owners[games.sides[games.movers(running)]]
        for player, agent in enumerate(agents):
            lanes = running[mover == player]
            if not len(lanes):
                continue
            if not isinstance(agent, Referee):
                games.ask(agent, lanes, rngs[player])
                continue
            for lane, failure in agent.move(games, lanes, rngs[player]).items():
                failures.append(failure)
                forfeits[lane, player] = True
        if log is not None:
            log.note(games, running)
        running = games.running(running)
        if failures:
            running = running[~forfeits[running].any(axis=1)]
        now = played(games, running)
        finished(now - reported)
        reported = now
    return forfeits, failures
