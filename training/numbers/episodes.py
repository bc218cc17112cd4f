"""An agent in every seat of many episodes: what comes out of equal play.

`training.duplicate` compares two agents; this describes one. Episodes are independent, so
intervals are over episodes.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
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
AT_ONCE = 2048  # lanes side by side: more win nothing, fewer leave the agent's batches short


@dataclass(frozen=True)
class Episodes:
    """What came of E episodes. A side is a seat, or two partners at Table Top.

    Attributes:
        first_dealer: int64[E], the side that dealt first.
        result: int64[E], 1 where side 0 won, -1 where side 1 did, 0 where a deal was drawn.
        scores: int64[E, 2], final scores by side.
        deals: int64[E], deals or rounds played.
        points: int64[E, 2, 3], points made by side and phase (the family's ``phases``).
        states: the final states, records [E] of the family's state.
    """

    first_dealer: Array
    result: Array
    scores: Array
    deals: Array
    points: Array
    states: Array


def self_play(
    family: Family,
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
    """Play episodes with one agent in every seat.

    Args:
        family: the engine of the game.
        rules: the rules.
        episode: an episode of the family, such as ``"deal"`` or ``"game"``.
        agent: who plays; it sees its views and nothing else.
        episodes: how many, at least 1.
        seed: fixes the deals and the agent's own chance, whatever the workers.
        players: seats.
        workers: threads.
        first_dealer: the seat that deals first; None to cut for it.
        scores: what sides 0 and 1 start with; None for the game's own start.

    Raises:
        ValueError: no episodes asked for.
        IllegalActionError: the agent chose an illegal action; the message names it.
    """
    if episodes < 1:
        raise ValueError(f"episodes must be at least 1, got {episodes!r}")
    record = family.rules_record(rules, episode, players)

    def chunk(k: int) -> Episodes:
        n = min(AT_ONCE, episodes - k * AT_ONCE)
        entropy = np.random.SeedSequence(seed, spawn_key=(k,))
        return _play(family, record, agent, n, entropy, first_dealer, scores)

    chunks = range(math.ceil(episodes / AT_ONCE))
    with ThreadPoolExecutor(workers) as pool:
        played = list(pool.map(chunk, chunks))
    return Episodes(
        *(np.concatenate([getattr(c, field.name) for c in played]) for field in fields(Episodes))
    )


def _play(
    family: Family,
    record: Array,
    agent: Agent,
    n: int,
    entropy: np.random.SeedSequence,
    first_dealer: int | None,
    scores: tuple[int, int] | None,
) -> Episodes:
    batch = family.batch
    deals, chance = entropy.spawn(2)
    rng = np.random.default_rng(chance)
    states = np.zeros(n, dtype=family.state)
    seed_states(states, deals)
    table = show_table()
    log = np.zeros(family.log_size, dtype=np.int64)
    tally = np.zeros((n, 2, batch.TALLY), dtype=np.int64)
    dealers = np.full(n, NONE if first_dealer is None else first_dealer)
    batch.start_lanes(states, record, NO_DECKS, np.arange(n), dealers, log)
    if scores is not None:
        states["scores"] = scores
        states["start"] = scores
    dealt = states["dealer"] % 2
    running = np.arange(n)
    while len(running):
        views = np.zeros(len(running), dtype=family.view)
        batch.view_lanes(states, record, running, states["to_move"][running], views)
        actions = np.asarray(agent.act(views, rng), dtype=np.int64)
        bad = batch.step_lanes(states, record, NO_DECKS, table, running, actions, log, tally)
        if bad != NONE:
            why = family.why_illegal(views[bad], int(actions[bad]))
            raise IllegalActionError(f"{agent.name} erred: {why}")
        running = running[states["over"][running] == 0]
    counted = "deals" if "deals" in (states.dtype.names or ()) else "rounds"
    return Episodes(
        dealt, batch.outcomes(states, record), states["scores"], states[counted], tally, states
    )
