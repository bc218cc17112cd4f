"""An agent in every seat of many episodes: the results of equal play.

`duplicate` compares two agents; this describes one. Episodes are independent, so intervals are
over episodes.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from crib_env.arrays import Array
from crib_env.batch import GameBatch
from crib_env.engine.record import NONE
from crib_env.policy import Agent
from crib_env.rules import Rules

PHASES = ("pegging", "hand", "crib")
AT_ONCE = 2048  # games: more gain no speed, fewer leave the agent's batches small


@dataclass(frozen=True)
class Episodes:
    """The results of E episodes. A side is a seat, or the seats of two partners."""

    first_dealer: Array  # int64[E], the side that dealt first
    winner: Array  # int64[E], the side that won, -1 where a deal was drawn
    scores: Array  # int64[E, sides], at the end
    deals: Array  # int64[E], deals or rounds played
    points: Array  # int64[E, sides, 3], made by side and phase
    states: Array  # [E], the final states


def from_dealer(values: Array, dealer: Array) -> Array:
    """Return values by side, [E, sides, ...], from the dealer's side to the left."""
    sides = values.shape[1]
    order = (dealer[:, None] + np.arange(sides)) % sides
    turned: Array = values[np.arange(len(values))[:, None], order]
    return turned


@dataclass(frozen=True)
class Run:
    """The agent in every seat, and how many episodes it plays; see `__main__.Settings`."""

    agent: Agent
    deals: int
    games: int
    cribs: int
    seed: int
    workers: int

    def play(self, rules: Rules, episode: str, episodes: int, players: int = 2, **begun: Any) -> Episodes:
        """Play episodes of one kind; ``begun`` are arguments of `GameBatch.reset`.

        The number of workers changes no figure.
        """

        def chunk(k: int) -> Episodes:
            deals, chance = np.random.SeedSequence(self.seed, spawn_key=(k,)).spawn(2)
            n = min(AT_ONCE, episodes - k * AT_ONCE)
            games = GameBatch(rules, n, players=players, episode=episode, seed=deals)
            games.reset(**begun)
            return _played(games, self.agent, np.random.default_rng(chance))

        with ThreadPoolExecutor(self.workers) as pool:
            played = list(pool.map(chunk, range(math.ceil(episodes / AT_ONCE))))
        return Episodes(*(np.concatenate([getattr(c, field.name) for c in played]) for field in fields(Episodes)))


def _played(games: GameBatch, agent: Agent, rng: np.random.Generator) -> Episodes:
    states = games.states
    dealt = games.sides[states["dealer"]]
    for _ in games.play(agent, rng):
        pass
    counted = "deals" if "deals" in (states.dtype.names or ()) else "rounds"
    returns = games.returns()
    winner = np.where(returns.any(axis=1), games.sides[returns.argmax(axis=1)], NONE)
    return Episodes(dealt, winner, states["scores"], states[counted], games.tally, states)
