"""Duplicate deals: every sequence of deals is played twice, with the seats swapped.

The luck of the cards then falls on both agents alike, so a pair of games says more than two games.
Intervals are computed over pairs, never over games: the two games of a pair share their cards.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from crib_env.engine.families import Family
from crib_env.engine.records import NO_DECKS, NONE
from crib_env.engine.rng import seed_states
from crib_env.engine.tables import show_table
from crib_env.errors import IllegalActionError
from crib_env.opponents import Agent
from crib_env.rules import Rules

Array = npt.NDArray[Any]
PAIRS_AT_ONCE = 4096


@dataclass(frozen=True)
class Pairs:
    """The outcome of duplicate games between agents ``first`` and ``second``.

    In game 0 of a pair ``first`` has seat 0, in game 1 seat 1.

    Attributes:
        result: int64[pairs, 2], 1 where ``first`` won, -1 where it lost, 0 where a deal was drawn.
        margin: int64[pairs, 2], ``first``'s final score less ``second``'s.
        first_dealt: bool[pairs, 2], whether ``first`` dealt first.
        points: int64[pairs, 2, 2, 3], points pegged by (first, second) in play, hands, cribs.
    """

    result: Array
    margin: Array
    first_dealt: Array
    points: Array


@dataclass(frozen=True)
class Estimate:
    """A mean with its 95 % interval.

    Attributes:
        mean: the mean.
        half: half the interval's width; NaN from fewer than two pairs.
        n: the number of pairs it is computed over.
    """

    mean: float
    half: float
    n: int


def estimate(per_pair: Array) -> Estimate:
    """Return the mean of one value a pair, with its 95 % interval (normal approximation)."""
    values = np.asarray(per_pair, dtype=np.float64)
    n = len(values)
    half = 1.96 * float(values.std(ddof=1)) / math.sqrt(n) if n > 1 else math.nan
    return Estimate(float(values.mean()), half, n)


def play_pairs(
    family: Family,
    rules: Rules,
    episode: str,
    first: Agent,
    second: Agent,
    pairs: int,
    seed: int,
    *,
    players: int = 2,
) -> Pairs:
    """Play ``pairs`` duplicate pairs and return their outcome.

    Nothing but its views reaches an agent.

    Args:
        family: the engine of the game.
        rules: the rules.
        episode: what is played: an episode of the family.
        first: an agent.
        second: another, or the same.
        pairs: how many pairs, at least 1.
        seed: fixes the deals and the agents' own chance.
        players: seats in a game; of four each agent plays the two of one side.

    Raises:
        ValueError: no pairs asked for.
        IllegalActionError: an agent chose an illegal action; the message names it.
    """
    if pairs < 1:
        raise ValueError(f"pairs must be at least 1, got {pairs!r}")
    chunks = []
    for chunk in range(math.ceil(pairs / PAIRS_AT_ONCE)):
        n = min(PAIRS_AT_ONCE, pairs - chunk * PAIRS_AT_ONCE)
        entropy = np.random.SeedSequence(seed, spawn_key=(chunk,))
        chunks.append(_play_chunk(family, rules, episode, (first, second), n, entropy, players))
    return Pairs(
        *(np.concatenate([getattr(c, field) for c in chunks]) for field in Pairs.__annotations__)
    )


def _play_chunk(
    family: Family,
    rules: Rules,
    episode: str,
    agents: tuple[Agent, Agent],
    n: int,
    entropy: np.random.SeedSequence,
    players: int,
) -> Pairs:
    """Play n pairs side by side: lane k and lane n + k get the same deals."""
    batch = family.batch
    deals, chance = entropy.spawn(2)
    rng = np.random.default_rng(chance)
    states = np.zeros(2 * n, dtype=family.state)
    seed_states(states[:n], deals)
    states["rng"][n:] = states["rng"][:n]
    record = family.rules_record(rules, episode, players)
    table = show_table()
    log = np.zeros(family.log_size, dtype=np.int64)
    tally = np.zeros((2 * n, 2, batch.TALLY), dtype=np.int64)
    every = np.arange(2 * n)
    swapped = (every >= n).astype(np.int64)
    batch.start_lanes(states, record, NO_DECKS, every, np.full(2 * n, NONE), log)
    first_dealt = states["dealer"] % 2 == swapped
    running = every
    while len(running):
        mover = states["to_move"][running] % 2 ^ swapped[running]
        for player, agent in enumerate(agents):
            lanes = running[mover == player]
            if not len(lanes):
                continue
            views = np.zeros(len(lanes), dtype=family.view)
            batch.view_lanes(states, record, lanes, states["to_move"][lanes], views)
            actions = np.asarray(agent.act(views, rng), dtype=np.int64)
            bad = batch.step_lanes(states, record, NO_DECKS, table, lanes, actions, log, tally)
            if bad != NONE:
                why = family.why_illegal(views[bad], int(actions[bad]))
                raise IllegalActionError(f"{agent.name} erred: {why}")
        running = running[states["over"][running] == 0]
    result = batch.outcomes(states, record) * (1 - 2 * swapped)
    scores = states["scores"]
    margin = (scores[:, 0] - scores[:, 1]) * (1 - 2 * swapped)
    points = np.where(swapped[:, None, None] == 1, tally[:, ::-1], tally)

    def by_pair(values: Array) -> Array:
        return np.stack([values[:n], values[n:]], axis=1)

    return Pairs(by_pair(result), by_pair(margin), by_pair(first_dealt), by_pair(points))
