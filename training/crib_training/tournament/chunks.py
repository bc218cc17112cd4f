"""The parts of a tournament, each fixed by its key alone.

A chunk is some hundred duplicate pairs of two of the agents: whole games, and as many single deals.
Its random numbers depend only on a seed and the chunk's number. So it does not matter who plays it,
where or when, nor who else is in the field. All pairings have the same deals, so two agents that
met the same third agent can be compared pair by pair.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from hashlib import sha256
from itertools import combinations
from pathlib import Path
from typing import Any

import crib_agents
import numpy as np
from crib_agents.loading import IN_PROCESS, agent_file, load_agent, of_two

import crib_env
from crib_env.arrays import Array
from crib_env.errors import nearest
from crib_env.options import check_seed
from crib_env.policy import Agent
from crib_training.evaluation.aivat.reference import chosen_reference
from crib_training.evaluation.duplicate import ARRAYS, CORRECTIONS, Pairs, play_chunk
from crib_training.evaluation.playing import Finished, ignore_progress
from crib_training.evaluation.referee import Failure, Referee
from crib_training.loading import find_env, find_game, in_phase, shortest_episode, two_sides

KINDS = ("games", "deals")
PLAYED = 2 * len(KINDS)  # games and deals for a pair
EPISODES = ("game", "match")
# The modules of this package that have a hand in how a chunk comes out.
PLAYING = (
    "evaluation/duplicate.py", "evaluation/playing.py", "evaluation/aivat",
    "evaluation/referee.py", "loading.py", "tournament/chunks.py",
)  # fmt: skip
INSTANCES = 32  # of agents that a process holds: of eight pairings, which come one after the other
CORRECTION_PLACES = 5  # decimal places that are written

Record = dict[str, Any]


@dataclass(frozen=True, order=True)
class Chunk:
    """Which pairs of a tournament: ``pairs`` of them, the ``index``-th of two agents' chunks.

    Attributes:
        index: counts a pairing's chunks from 0.
        first: one agent, as the field has it written.
        second: the other, later in the alphabet.
        pairs: how many pairs of games, and of single deals.
        seed: the seed they are played with.
    """

    index: int
    first: str
    second: str
    pairs: int
    seed: int


@dataclass(frozen=True)
class Setup:
    """Everything that determines the results of a tournament's chunks.

    Attributes:
        agents: the field, as `load_agent` takes them.
        environment: the module name of the game.
        rules: the name of a preset; None is the environment's own.
        episode: ``"game"`` or ``"match"``.
        players: seats in a game, by default the fewest the rules allow; with four, each agent
            plays both seats of a side.
        seeds: fix all random numbers; with several, the pairs of all are pooled.
        chunk: the pairs of a chunk.
        move_seconds: the longest an agent may take for a decision, None for no limit. With one,
            results may depend on how fast the machine is.
        adjusted: whether to use AIVAT; None where that is cheaper than more games.
        gauntlet: the first agent meets every other; the others do not meet each other.
        strict: an agent's first failure ends the tournament.

    Raises:
        ValueError: an impossible set-up; the message says why.
    """

    agents: tuple[str, ...]
    environment: str = "six_card_v0"
    rules: str | None = None
    episode: str = "game"
    players: int | None = None
    seeds: tuple[int, ...] = (1,)
    chunk: int = 250
    move_seconds: float | None = None
    adjusted: bool | None = None
    gauntlet: bool = False
    strict: bool = False

    def __post_init__(self) -> None:
        for seed in self.seeds:
            check_seed(seed)
        if len(set(self.seeds)) < max(1, len(self.seeds)):
            raise ValueError(f"seeds must be one or more, each once, got {self.seeds!r}")
        maker, rules = find_game(self.environment, self.rules)
        if self.adjusted:
            chosen_reference(rules, (), True)
            if self.episode == "match":
                raise ValueError("luck is not known of matches: leave out --adjust always")
        if self.episode not in EPISODES:
            meant = nearest(self.episode, EPISODES)
            raise ValueError(f"episode must be game or match, got {self.episode!r}{meant}")
        if self.episode == "match" and "match" not in maker.episodes:
            raise ValueError(f"{self.environment} has no matches: episode must be game")
        seats = two_sides(maker, rules, self.players, "crib tournament")
        object.__setattr__(self, "players", seats)  # what None stands for is part of the identity
        if len(self.agents) < 2:
            raise ValueError(f"a tournament needs two agents or more, got {len(self.agents)}")
        for name in self.agents:
            if self.agents.count(name) > 1:
                raise ValueError(f"{name!r} is in the field twice")
        if self.chunk < 1:
            raise ValueError(f"chunk must be at least 1 pair, got {self.chunk!r}")
        if self.move_seconds is not None and self.move_seconds <= 0:
            raise ValueError(f"move_seconds must be above 0, got {self.move_seconds!r}")

    @property
    def pairings(self) -> list[tuple[int, int]]:
        """The places of all that meet: each agent and each later one, or the first and each."""
        places = combinations(range(len(self.agents)), 2)
        return [(i, j) for i, j in places if i == 0 or not self.gauntlet]

    def chunks(self, first: int, second: int, pairs: int) -> list[Chunk]:
        """Return the chunks that make up ``pairs`` pairs of the agents in two places, per seed."""
        one, other = sorted((self.agents[first], self.agents[second]))
        return [
            Chunk(index, one, other, min(self.chunk, pairs - at), seed)
            for index, at in enumerate(range(0, pairs, self.chunk))
            for seed in self.seeds
        ]

    def identity(self) -> dict[str, Any]:
        """Return what must be the same for chunks to belong together, ready for JSON.

        This is the set-up without the field and the seeds, which every chunk records; the contents
        of weights files and of the modules of agents' classes; and a digest of `sources`. (It does
        not cover other code of third-party agents.)
        """
        files = {}
        for name in self.agents:
            given = name.removeprefix(IN_PROCESS)
            paths = [agent_file(part.removeprefix(IN_PROCESS)) for part in of_two(given) or [given]]
            contents = [path.read_bytes() for path in paths if path is not None]
            if contents:
                files[name] = sha256(b"".join(contents)).hexdigest()[:16]
        about = asdict(self)
        for name in ("seeds", "gauntlet", "strict"):
            del about[name]
        return {
            **about,
            "agents": sorted(self.agents),
            "rules": self.rules or find_env(self.environment).rules,
            "files": files,
            "code": _code_digest(),
        }


def label_agents(setup: Setup) -> list[str]:
    """Return a label for each agent of the field: its name, or as given if names coincide.

    Raises:
        ValueError: one of them cannot be loaded.
    """
    names = [load_agent(given, setup.move_seconds).name for given in setup.agents]
    return [
        name if names.count(name) == 1 else given
        for name, given in zip(names, setup.agents, strict=True)
    ]


def play(setup: Setup, chunk: Chunk, finished: Finished = ignore_progress) -> Record:
    """Play one chunk and return its outcome, ready for JSON; see `read_pairs`.

    An agent's failure costs it the game; see `evaluation.referee`.
    """
    began = time.perf_counter()
    maker, rules = find_game(setup.environment, setup.rules)
    # Two instances of each agent, in processes of their own if it has one: one plays the first
    # games of pairs alone, the other the same deals from the other side. Against another agent,
    # on these deals again, others play: none meets cards that it has seen.
    both = chunk.first, chunk.second
    agents, swapped_agents = (
        (_referee(setup, *both, half), _referee(setup, *both[::-1], half)) for half in (0, 1)
    )
    players = [_agent(*who, setup.move_seconds, 0) for who in (both, both[::-1])]
    reference = chosen_reference(rules, players, setup.adjusted)
    played = {}
    for kind, episode in zip(KINDS, (setup.episode, shortest_episode(maker)), strict=True):
        key = (chunk.index, KINDS.index(kind))
        entropy = np.random.SeedSequence(chunk.seed, spawn_key=key)
        played[kind] = play_chunk(
            rules, episode, agents, chunk.pairs, entropy, setup.players, swapped_agents,
            reference=reference, finished=finished,
        )  # fmt: skip
    return {
        **asdict(chunk),
        "seconds": round(time.perf_counter() - began, 3),
        **{kind: _written(pairs) for kind, pairs in played.items()},
    }


def read_pairs(written: Record) -> Pairs:
    """Return the pairs of games, or of deals, of a record of `play`."""
    arrays: dict[str, Array] = {}
    for name in ARRAYS:
        flat = np.array(written[name], dtype=np.int64)
        shape = {"points": (-1, 2, 2, 3), "first_dealt": (-1, 2)}.get(name, (-1, 2, 2))
        arrays[name] = flat.reshape(shape)
    for name, kind in (("returns", float), ("first_dealt", bool), ("forfeits", bool)):
        arrays[name] = arrays[name].astype(kind)
    for name in set(CORRECTIONS) & set(written):  # all terms are one by then
        shape = {"points_correction": (-1, 2, 1, 2, 3)}.get(name, (-1, 2, 1))
        arrays[name] = np.array(written[name]).reshape(shape)
    failures = tuple(Failure(**failure) for failure in written["failures"])
    return Pairs(**arrays, failures=failures)


def _written(pairs: Pairs) -> Record:
    """Return pairs as flat lists of integers, and corrections, all terms in one, of fractions."""
    flat = {name: getattr(pairs, name).astype(np.int64).ravel().tolist() for name in ARRAYS}
    for name in pairs.known():
        if name in CORRECTIONS:
            flat[name] = getattr(pairs, name).sum(axis=2).round(CORRECTION_PLACES).ravel().tolist()
    return {**flat, "failures": [asdict(failure) for failure in pairs.failures]}


@lru_cache(maxsize=INSTANCES)
def _agent(given: str, against: str, move_seconds: float | None, half: int) -> Agent:
    """Return an agent of the field: one for each pairing and either half of the pairs."""
    return load_agent(given, move_seconds)


@lru_cache(maxsize=INSTANCES)
def _referee(setup: Setup, given: str, against: str, half: int) -> Referee:
    agent = _agent(given, against, setup.move_seconds, half)
    # An agent in a process of its own has its own clock, which leaves out a child's start.
    seconds = None if given.startswith(IN_PROCESS) else setup.move_seconds
    maker = find_env(setup.environment)
    return Referee(in_phase(maker, agent), seconds, given, setup.strict)


@cache
def _code_digest() -> str:
    """Return a digest of all our code that determines results."""
    digest = sha256()
    for path in sources():
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def sources() -> list[Path]:
    """Return the files of crib_env and of our agents, and those of ours that play tournaments."""
    folders = Path(crib_env.__file__).parent, Path(crib_agents.__file__).parent
    files = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    for name in PLAYING:
        place = Path(__file__).parents[1] / name
        files += sorted(place.glob("*.py")) if place.is_dir() else [place]
    return [path for path in files if "__pycache__" not in path.parts]
