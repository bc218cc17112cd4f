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
AT_ONCE = 2048  # lanes side by side: more win nothing, fewer leave the agent's batches short


@dataclass(frozen=True)
class Episodes:
    """What came of E episodes. A side is a seat, or the seats of two partners."""

    first_dealer: Array  # int64[E], the side that dealt first
    winner: Array  # int64[E], the side that won, -1 where a deal was drawn
    scores: Array  # int64[E, sides], at the end
    deals: Array  # int64[E], deals or rounds played
    points: Array  # int64[E, sides, 3], made by side and phase
    states: Array  # [E], the final states


def self_play(
    rules: Rules,
    episode: str,
    agent: Agent,
    episodes: int,
    seed: int,
    *,
    players: int = 2,
    workers: int = 1,
    first_dealer: int | None = None,
    scores: tuple[int, int] | None = None,
) -> Episodes:
    """Play episodes with one agent in every seat; the number of workers changes no figure.

    The seat ``first_dealer`` deals first, None to cut for it; sides 0 and 1 begin with ``scores``.
    """
    if episodes < 1:
        raise ValueError(f"episodes must be at least 1, got {episodes!r}")

    def chunk(k: int) -> Episodes:
        deals, chance = np.random.SeedSequence(seed, spawn_key=(k,)).spawn(2)
        n = min(AT_ONCE, episodes - k * AT_ONCE)
        games = GameBatch(rules, n, players=players, episode=episode, seed=deals)
        games.reset(dealer=first_dealer, scores=scores)
        return _played(games, agent, np.random.default_rng(chance))

    chunks = range(math.ceil(episodes / AT_ONCE))
    with ThreadPoolExecutor(workers) as pool:
        played = list(pool.map(chunk, chunks))
    return Episodes(*(np.concatenate([getattr(c, field.name) for c in played]) for field in fields(Episodes)))


def from_dealer(values: Array, dealer: Array) -> Array:
    """Return values by side, [E, sides, ...], from the dealer's side to the left."""
    sides = values.shape[1]
    order = (dealer[:, None] + np.arange(sides)) % sides
    turned: Array = values[np.arange(len(values))[:, None], order]
    return turned


@dataclass(frozen=True)
class Run:
    """The number of episodes, and the agent in every seat; see `__main__.Settings`."""

    agent: Agent
    deals: int
    games: int
    cribs: int
    seed: int
    workers: int

    def play(self, rules: Rules, episode: str, episodes: int, **begun: Any) -> Episodes:
        """Play episodes of one kind; see `self_play`."""
        return self_play(rules, episode, self.agent, episodes, self.seed, workers=self.workers, **begun)


def _played(games: GameBatch, agent: Agent, rng: np.random.Generator) -> Episodes:
    states = games.states
    dealt = games.sides[states["dealer"]]
    for _ in games.play(agent, rng):
        pass
    counted = "deals" if "deals" in (states.dtype.names or ()) else "rounds"
    returns = games.returns()
    winner = np.where(returns.any(axis=1), games.sides[returns.argmax(axis=1)], NONE)
    return Episodes(dealt, winner, states["scores"], states[counted], games.tally, states)
