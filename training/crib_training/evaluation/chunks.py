"""The parts of a tournament, each fixed by its key alone.

A chunk is some hundred duplicate pairs of two of the agents: whole games, and as many single deals.
Among three sides or more it is as many sets of games, in which one agent meets copies of the other.
Its random numbers depend only on a seed and the chunk's number, so any process may play it at any
time, with any other agents in the field. All pairings have the same deals, so two agents that met
the same third agent can be compared pair by pair.
"""

from __future__ import annotations

import time
from dataclasses import KW_ONLY, asdict, dataclass, fields
from functools import lru_cache
from itertools import combinations, permutations
from typing import Any, Literal

import numpy as np
from crib_agents.loading import COMMAND, IN_PROCESS, load_agent

from crib_env import settings as types
from crib_env.policy import Agent
from crib_env.settings import checked_dataclass
from crib_env.supported_rules import refuse_rules
from crib_training import loading
from crib_training.evaluation.aivat import Adjust, chosen_reference
from crib_training.evaluation.duplicate import CORRECTIONS, Pairs, Sides, play_chunk
from crib_training.evaluation.referee import Failure, Referee
from crib_training.progress import Finished, ignore_progress
from crib_training.provenance import code_digest, file_digests
from crib_training.workers import Record

KINDS = ("games", "deals")
Episode = Literal["game", "match"]
PASSING = ("seed", "gauntlet", "strict")  # settings outside the identity; a chunk has its own seed
CORRECTION_PLACES = 5  # decimal places that are written
INSTANCES = 32  # agents that a process keeps: those of a few pairings, played one after the other


@dataclass(frozen=True, order=True)
class Chunk:
    """The key of a chunk: the ``index``-th chunk of two agents, with ``pairs`` pairs."""

    index: int  # counts a pairing's chunks from 0
    first: str  # one agent, as written in the field
    second: str  # later in the alphabet; among three sides or more, the agent of all other sides
    pairs: int  # of games, and of single deals
    seed: int

    def __str__(self) -> str:
        return f"{self.first} met {self.second}"


@checked_dataclass(frozen=True)
class Setup(loading.NamesGame):
    """Everything that determines the results of a tournament's chunks.

    Attributes:
        agents: names, .safetensors, .zip (Stable-Baselines3) or .onnx files, package.module:Class;
            two names joined by a slash make one agent, the first discards and the second pegs;
            "process:" before a name plays that agent in its own process.
        episode: game or match.
        gauntlet: the first agent meets every other; the others do not meet each other.
        seed: fixes all random numbers; several seeds, such as --seed 1 2 3, pool their pairs.
        chunk: pairs per chunk of work.
        move_seconds: time limit per decision, in seconds. With one, results may depend on how fast
            the machine is.
        adjust: reduce variance with AIVAT (six and five cards); auto does so unless both agents are
            compiled, since those can play more games in the same time.
        strict: stop at an agent's first failure and show its traceback.

    Raises:
        ValueError: an impossible set-up; the message says why.
    """

    agents: types.AgentNames
    _: KW_ONLY
    episode: Episode = "game"
    gauntlet: bool = False
    seed: tuple[types.Seed, ...] = (1,)
    chunk: types.Count = 250
    move_seconds: types.MoveSeconds | None = None
    adjust: Adjust = "auto"
    strict: bool = False

    def __post_init__(self) -> None:
        if len(set(self.seed)) < max(1, len(self.seed)):
            raise ValueError(f"seed must be one or more, each once, got {self.seed!r}")
        maker, rules = self.game
        if self.adjust == "always":
            chosen_reference(rules, (), self.adjust)
            if self.episode == "match":
                raise ValueError("luck is not known of matches: leave out --adjust always")
        if self.episode == "match" and "match" not in maker.episodes:
            raise ValueError(f"{self.env} has no matches: episode must be game")
        if (why := rules.why_refused(self.episode)) is not None:
            raise ValueError(why)
        players = loading.players_of(rules, self.players)
        object.__setattr__(self, "players", players)  # what None stands for is part of the identity
        if len(self.agents) < 2:
            raise ValueError(f"a tournament needs two agents or more, got {len(self.agents)}")
        for name in self.agents:
            if self.agents.count(name) > 1:
                raise ValueError(f"{name!r} is in the field twice")

    @property
    def sides(self) -> int:
        """How many sides a game has."""
        return loading.sides_of(self.game[1], self.players)

    @property
    def games_each(self) -> int:
        """How many games and deals a pair, or a set, consists of."""
        return len(KINDS) * self.sides

    @property
    def pairings(self) -> list[tuple[int, int]]:
        """The places in the field of each two agents that meet; in a gauntlet, one is the first.

        Among three sides or more, order counts: the first is alone against copies of the second.
        """
        every = combinations if self.sides == 2 else permutations
        places = every(range(len(self.agents)), 2)
        return [(i, j) for i, j in places if i == 0 or not self.gauntlet]

    def meeting(self, first: int, second: int) -> tuple[str, str]:
        """Return the agents in two places, in the order of their chunks."""
        both = self.agents[first], self.agents[second]
        return both if self.sides > 2 or both[0] < both[1] else both[::-1]

    def chunks(self, first: int, second: int, pairs: int) -> list[Chunk]:
        """Return the chunks that make up ``pairs`` pairs of the agents in two places, per seed."""
        one, other = self.meeting(first, second)
        return [
            Chunk(index, one, other, min(self.chunk, pairs - at), seed)
            for index, at in enumerate(range(0, pairs, self.chunk))
            for seed in self.seed
        ]

    def identity(self) -> dict[str, Any]:
        """Return the identity that chunks of one tournament share, ready for JSON.

        This is the set-up without `PASSING`, its agents sorted; digests of weights files and of the
        modules of agents' classes; and a digest of the code that plays (`provenance.sources`). It
        does not cover other code of third-party agents.
        """
        own = (one.name for one in fields(Setup))
        return {
            **{name: getattr(self, name) for name in own if name not in PASSING},
            "agents": sorted(self.agents),
            "rules": self.rules or loading.find_env(self.env).rules,
            "files": file_digests(self.agents),
            "code": code_digest(),
        }

    def played(self, pairing: tuple[int, int], records: list[Record]) -> tuple[Pairs, Pairs]:
        """Return the games and deals of chunks, with the pairing's first agent as ``first``."""
        games, deals = (read_pairs(*(record[kind] for record in records)) for kind in KINDS)
        if self.meeting(*pairing)[0] == self.agents[pairing[0]]:
            return games, deals
        return games.swapped(), deals.swapped()

    def size(self, chunk: Chunk) -> int:
        """Return the number of games and deals in a chunk."""
        return self.games_each * chunk.pairs

    def play(self, chunk: Chunk, finished: Finished = ignore_progress) -> Record:
        """Play one chunk and return its outcome, ready for JSON; see `read_pairs`.

        An agent's failure costs it the game; see `evaluation.referee`.
        """
        began = time.perf_counter()
        maker, rules = self.game
        # Each game of a pair has its own instance of each agent (of a program, its own process):
        # one plays only the first games of pairs, another the same deals from the other side. Each
        # pairing has its own too, on the same deals. So no instance meets cards it has seen.
        both = chunk.first, chunk.second
        agents: list[Sides] = [
            (_referee(self, *both, game, 0), _referee(self, *both[::-1], game, 1)) for game in range(self.sides)
        ]
        players = [field_agent(*pair, self.move_seconds, 0, place) for place, pair in enumerate((both, both[::-1]))]
        reference = chosen_reference(rules, [loading.in_phase(maker, one) for one in players], self.adjust)
        played = {}
        for number, episode in enumerate((self.episode, loading.shortest_episode(maker))):
            seed_seq = np.random.SeedSequence(chunk.seed, spawn_key=(chunk.index, number))
            pairs = play_chunk(
                rules, episode, agents, chunk.pairs, seed_seq, self.players, reference=reference, finished=finished
            )
            played[KINDS[number]] = written(pairs)
        return {**asdict(chunk), "seconds": round(time.perf_counter() - began, 3), **played}


def label_agents(setup: Setup) -> list[str]:
    """Return a label for each agent of the field: its name, or as given if names coincide."""
    maker, rules = setup.game
    agents = [load_agent(given, setup.move_seconds) for given in setup.agents]
    for agent in agents:
        refuse_rules(loading.in_phase(maker, agent), rules, setup.episode)
    names = [agent.name for agent in agents]
    return [name if names.count(name) == 1 else given for name, given in zip(names, setup.agents, strict=True)]


def written(played: Pairs) -> Record:
    """Return pairs as nested lists, of integers where all values are whole.

    Corrections are fractions, the terms summed.
    """
    lists: Record = {}
    for name in played.known():
        array = getattr(played, name)
        if name in CORRECTIONS:
            array = array.sum(axis=2, keepdims=True).round(CORRECTION_PLACES)
        elif (array == array.astype(np.int64)).all():
            array = array.astype(np.int64)
        lists[name] = array.tolist()
    return {**lists, "failures": [asdict(failure) for failure in played.failures]}


def read_pairs(*records: Record) -> Pairs:
    """Return the pairs of games, or of deals, of `written` records, joined."""
    kinds = {"forfeits": bool, "won": float}
    arrays: dict[str, Any] = {
        name: np.concatenate([np.array(one[name], dtype=kinds.get(name)) for one in records])
        for name in set(records[0]) - {"failures"}
    }
    failures = tuple(Failure(**failure) for one in records for failure in one["failures"])
    return Pairs(**arrays, failures=failures)


@lru_cache(maxsize=INSTANCES)
def field_agent(given: str, against: str, move_seconds: float | None, game: int, place: int) -> Agent:
    """Return an agent of the field: one instance per pairing, place in it and game of a pair."""
    return load_agent(given, move_seconds)


@lru_cache(maxsize=INSTANCES)
def _referee(setup: Setup, given: str, against: str, game: int, place: int) -> Referee:
    agent = field_agent(given, against, setup.move_seconds, game, place)
    # A program has its own clock, which leaves out its start.
    seconds = None if given.startswith((IN_PROCESS, COMMAND)) else setup.move_seconds
    maker = loading.find_env(setup.env)
    return Referee(loading.in_phase(maker, agent), seconds, given, setup.strict)
