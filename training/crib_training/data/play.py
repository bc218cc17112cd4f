"""Plays the games of one shard and returns them as the bytes of a Parquet file.

A shard depends only on its set-up and number, so any process on any machine may play it.
"""

from __future__ import annotations

import json
from dataclasses import KW_ONLY, dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from crib_agents.analyze import action_values
from crib_agents.loading import load_agent

import crib_env
from crib_env.arrays import Array, Doubles
from crib_env.batch import GameBatch, ahead_of_others
from crib_env.encoding import encode
from crib_env.engine.hands.records import DISCARD
from crib_env.errors import IllegalActionError, NoProbabilitiesError, check_choice
from crib_env.notation import format_rules, format_state
from crib_env.policy import Agent, StochasticPolicy, Views, ask_agent
from crib_env.settings import AgentNames, Count, Seed, checked_dataclass
from crib_env.supported_rules import refuse_rules
from crib_training.data.reading import FORMAT, KEY, VERSION, arrow, chosen_columns, shard_name
from crib_training.loading import NamesGame, in_phase, players_of
from crib_training.progress import Finished, ignore_progress
from crib_training.provenance import code_digest, file_digests
from crib_training.workers import Record

PHASES = ("discarding", "pegging", "placing")


@dataclass(frozen=True)
class Shard:
    """One file of a data set: ``games`` episodes from number ``first``."""

    index: int
    first: int
    games: int

    def __str__(self) -> str:
        return f"shard {self.index} was played"

    @property
    def name(self) -> str:
        """The name of its file."""
        return shard_name(self.index)


@checked_dataclass(frozen=True)
class Setup(NamesGame):
    """Everything that determines the bytes of a data set.

    Seat s of game g is played by agent (g + s) modulo the number of agents.

    Attributes:
        agents: the players, as in crib tournament; several take the seats in turn.
        episode: game, deal or match; by default the environment's own.
        games: how many episodes.
        shard: episodes per file.
        columns: the columns to write, or all; by default all but position, and but probabilities
            where no agent draws.
        values: expert adds the expert's value of every action, and the regret of the one taken;
            own adds the values that the agents themselves give, as networks do.
        seed: fixes all random numbers.
    """

    agents: AgentNames = ("rule_based",)
    _: KW_ONLY
    episode: str | None = None
    games: Count = 1000
    shard: Count = 1000
    columns: tuple[str, ...] = ()
    values: Literal["expert", "own"] | None = None
    seed: Seed = 1

    def __post_init__(self) -> None:
        if not self.agents:
            raise ValueError("name one agent or more")
        if len({*self.agents}) < len(self.agents):
            raise ValueError(f"an agent is named twice: {', '.join(self.agents)}")
        maker, rules = self.game
        episode = self.episode or next(iter(maker.episodes))
        check_choice("episode", episode, maker.episodes)
        object.__setattr__(self, "episode", episode)
        object.__setattr__(self, "players", players_of(rules, self.players))
        agents = [load_agent(given) for given in self.agents]
        draws = any(isinstance(agent, StochasticPolicy) for agent in agents)
        object.__setattr__(self, "columns", chosen_columns(self.columns, self.values, draws))
        if self.values == "own" and not any(hasattr(agent, "action_values") for agent in agents):
            raise ValueError(f"--values own: {', '.join(self.agents)} give no values of actions; networks do")
        for agent in agents:
            refuse_rules(in_phase(maker, agent), rules, maker.episodes[episode])

    def shards(self) -> list[Shard]:
        """Return all shards of the data set."""
        return [
            Shard(index, first, min(self.shard, self.games - first))
            for index, first in enumerate(range(0, self.games, self.shard))
        ]

    def identity(self) -> dict[str, Any]:
        """Return the identity that shards of one data set share, ready for JSON."""
        return {
            **json.loads(json.dumps({one.name: getattr(self, one.name) for one in fields(Setup)})),
            "files": file_digests(self.agents),
            "code": code_digest(*sorted(Path(__file__).parent.glob("*.py"))),
            "pyarrow": arrow().__version__,
        }

    def size(self, shard: Shard) -> int:
        """Return the number of games in a shard."""
        return shard.games

    def play(self, shard: Shard, finished: Finished = ignore_progress) -> Record:
        """Play a shard; return it with the bytes of its file and the number of rows."""
        data, rows = _file(self, shard)
        finished(shard.games)
        return {"shard": shard, "bytes": data, "rows": rows}


@lru_cache(maxsize=8)
def _agents(setup: Setup) -> list[Agent]:
    maker, _ = setup.game
    return [in_phase(maker, load_agent(given)) for given in setup.agents]


def _file(setup: Setup, shard: Shard) -> tuple[bytes, int]:
    """Play a shard; return its Parquet file and the number of rows."""
    pa = arrow()
    maker, rules = setup.game
    agents, family = _agents(setup), maker.family
    deals, draws = np.random.SeedSequence(setup.seed, spawn_key=(shard.index,)).spawn(2)
    games = GameBatch(
        rules,
        shard.games,
        players=setup.players,
        episode=maker.episodes[setup.episode or ""],
        seed=deals,
        family=family,
    )
    rows, points = _play(setup, shard, games, agents, np.random.default_rng(draws))
    order = np.argsort(rows["lane"], kind="stable")
    rows = {name: column[order] for name, column in rows.items()}
    lanes, seats = rows.pop("lane"), rows["seat"]
    rows["episode"] = lanes + shard.first
    rows["step"] = np.arange(len(lanes)) - np.searchsorted(lanes, lanes)
    rows["agent"] = _player(setup, shard, lanes, seats)
    rows["return"] = games.returns()[lanes, seats]
    rows["reward"] = _rewards(rows.pop("points"), points, lanes, games.sides[seats], seats)
    names = [agent.name for agent in agents]
    if len({*names}) < len(names):
        names = list(setup.agents)
    about = {
        "format": FORMAT,
        "version": VERSION,
        "environment": setup.env,
        "rules": format_rules(rules),
        "episode": setup.episode,
        "players": setup.players,
        "agents": names,
        "given": setup.agents,
        "seed": setup.seed,
        "games": setup.games,
        "shard": setup.shard,
        "observation_bits": family.obs_size,
        "actions": family.actions,
        "columns": setup.columns,
        "values": setup.values,
        "versions": {"crib-env": crib_env.__version__, "numpy": np.__version__, "pyarrow": pa.__version__},
        "figures": _figures(setup, rows, len(agents)),
    }
    table = pa.table({name: _column(pa, name, rows[name], names) for name in setup.columns}).replace_schema_metadata(
        {KEY: json.dumps(about).encode()}
    )
    sink = pa.BufferOutputStream()
    pa.parquet.write_table(table, sink, compression="zstd", use_dictionary=["agent", "phase"], write_page_checksum=True)
    return sink.getvalue().to_pybytes(), len(lanes)


def _player(setup: Setup, shard: Shard, lanes: Array, seats: Array) -> Array:
    """Return the index of the agent that plays ``seats[i]`` of the shard's game ``lanes[i]``."""
    return (lanes + shard.first + seats) % len(setup.agents)


def _play(
    setup: Setup, shard: Shard, games: GameBatch, agents: list[Agent], rng: np.random.Generator
) -> tuple[dict[str, Array], Array]:
    """Play a shard; return its rows in the order of play, and the points of each side at the end.

    Shapes: the points float64[N, sides], each side's less the mean of the others'.
    """
    maker, _ = setup.game
    skipped = None if maker.phase is None else maker.phase.phase
    wanted, family = {*setup.columns}, games.family
    rounds: list[dict[str, Array]] = []
    games.reset()
    lanes = games.running()
    while len(lanes):
        seats, views = games.movers(lanes), games.views(lanes)
        players = _player(setup, shard, lanes, seats)
        actions = np.empty(len(lanes), dtype=np.int64)
        shape = len(lanes), family.actions
        probabilities = np.full(shape, np.nan) if "probabilities" in wanted else None
        for number, agent in enumerate(agents):
            at = np.flatnonzero(players == number)
            actions[at] = ask_agent(agent, views[at], rng)
            if probabilities is not None and len(at):
                probabilities[at] = _mixture(agent, views[at], actions[at], probabilities.shape[1])
        phases = phases_of(views)
        there = np.flatnonzero(phases != skipped) if skipped is not None else np.arange(len(lanes))
        if len(there):
            seen, s = views[there], games.states[lanes[there]]
            row = {
                "lane": lanes[there],
                "deal": s["deals"],
                "seat": seats[there],
                "phase": phases[there],
                "action": actions[there],
                "points": ahead_of_others(games.tally.sum(axis=2))[lanes[there]],
            }
            row |= _bits(seen)
            if probabilities is not None:
                row["probabilities"] = probabilities[there].astype(np.float32)
            if "position" in wanted:
                row["position"] = np.array(
                    [format_state(s[k : k + 1], games.rules, games.episode, check=False) for k in range(len(s))]
                )
            if setup.values == "expert":
                values = action_values(seen)
                taken = values[np.arange(len(values)), row["action"]]
                row["values"] = values.astype(np.float32)
                row["regret"] = np.maximum(0.0, np.nanmax(values, axis=1) - taken)
            elif setup.values:
                row["values"] = _own_values(agents, players[there], seen, family.actions)
            rounds.append(row)
        bad = games.step(lanes, actions)
        if bad is not None:
            why = games.why_illegal(int(lanes[bad]), int(actions[bad]))
            raise IllegalActionError(f"{agents[players[bad]].name!r} failed: {why}")
        lanes = games.running(lanes)
    rows = {name: np.concatenate([r[name] for r in rounds]) for name in rounds[0]}
    return rows, ahead_of_others(games.tally.sum(axis=2))


def _bits(views: Views) -> dict[str, Array]:
    """Return observations and action masks of views, packed eight bits to a byte."""
    observations, masks = encode(views)
    return {"observation": np.packbits(observations, axis=1), "action_mask": np.packbits(masks.view(np.uint8), axis=1)}


def phases_of(views: Views) -> Array:
    """Return the phase of views, as an index into `PHASES`."""
    if "phase" not in (views.dtype.names or ()):
        return np.full(len(views), PHASES.index("placing"))
    return np.where(views["phase"] == DISCARD, 0, 1)


def _rewards(before: Array, ends: Array, lanes: Array, sides: Array, seats: Array) -> Doubles:
    """Return the points that a seat gains from a decision to its next one, or the episode's end."""
    n = np.arange(len(lanes))
    order = np.lexsort((n, seats, lanes))
    same = (lanes[order][1:] == lanes[order][:-1]) & (seats[order][1:] == seats[order][:-1])
    now = before[n, sides][order]
    after = ends[lanes, sides][order]
    after[:-1] = np.where(same, now[1:], after[:-1])
    rewards = np.empty(len(lanes))
    rewards[order] = after - now
    return rewards


def _mixture(agent: Agent, views: Views, actions: Array, size: int) -> Doubles:
    """Return an agent's probabilities, float64[B, size]; NaN if it draws and does not give them."""
    if isinstance(agent, StochasticPolicy):
        try:
            return agent.action_probabilities(views)
        except NoProbabilitiesError:  # one part of a `PhasedAgent` draws and does not give them
            return np.full((len(views), size), np.nan)
    if getattr(agent, "draws", False):
        return np.full((len(views), size), np.nan)
    return np.eye(size)[actions]


def _own_values(agents: list[Agent], players: Array, views: Views, size: int) -> Array:
    """Return the agents' own values of actions, float32[B, size]; NaN for agents without values."""
    values = np.full((len(views), size), np.nan, dtype=np.float32)
    for number, agent in enumerate(agents):
        at = np.flatnonzero(players == number)
        if len(at) and hasattr(agent, "action_values"):
            values[at] = agent.action_values(views[at])
    return values


def _figures(setup: Setup, rows: dict[str, Array], agents: int) -> dict[str, Any]:
    """Return a shard's sums by phase and by agent, from which the data card is computed."""
    n = len(rows["seat"])
    result: dict[str, Any] = {"rows": n, "phases": np.bincount(rows["phase"], minlength=len(PHASES)).tolist()}
    last = np.lexsort((np.arange(n), rows["seat"], rows["episode"]))
    seat, episode = rows["seat"][last], rows["episode"][last]
    end = np.append((seat[1:] != seat[:-1]) | (episode[1:] != episode[:-1]), True)
    ends = last[end]
    for name, column, at in (
        ("decisions", None, slice(None)),
        ("seats", None, ends),
        ("returns", "return", ends),
        ("rewards", "reward", slice(None)),
        ("regrets", "regret", slice(None)),
    ):
        if column is None or column in rows:
            weights = None if column is None else rows[column][at]
            sums = np.bincount(rows["agent"][at], weights, minlength=agents)
            result[name] = sums.round(6).tolist()
    return result


KINDS = {
    "episode": np.int64,
    "step": np.int32,
    "deal": np.int32,
    "seat": np.int8,
    "action": np.int16,
    "reward": np.float32,
    "return": np.float32,
    "regret": np.float32,
}


def _column(pa: Any, name: str, values: Array, agents: list[str]) -> Any:
    """Return a column as an Arrow array."""
    if name in ("agent", "phase"):
        words = agents if name == "agent" else PHASES
        return pa.DictionaryArray.from_arrays(pa.array(values.astype(np.int32)), pa.array(words))
    if name == "position":
        return pa.array(values.tolist(), pa.string())
    if name in ("observation", "action_mask"):
        kind = pa.binary(values.shape[1])
        return pa.FixedSizeBinaryArray.from_buffers(
            kind, len(values), [None, pa.py_buffer(np.ascontiguousarray(values))]
        )
    if name in ("probabilities", "values"):
        return pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), values.shape[1])
    return pa.array(values.astype(KINDS[name]))
