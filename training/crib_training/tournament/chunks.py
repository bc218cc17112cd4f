"""The pieces a tournament is played in, each fixed by its key alone.

A chunk is some hundred duplicate pairs of two of the agents: whole games, and as many single deals.
Its chance is derived from the tournament's seed, the two agents' places in the field and the
chunk's number, and from nothing else. So it does not matter who plays it, where, or when.
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
from crib_agents.loading import IN_PROCESS, agent_file, load_agent

import crib_env
from crib_env.options import check_seed
from crib_env.policy import Agent
from crib_training.evaluation.duplicate import ARRAYS, Array, Pairs, play_chunk
from crib_training.loading import find_game, find_maker, in_phase, shortest_episode
from crib_training.tournament.referee import Failure, Referee

KINDS = ("games", "deals")
EPISODES = ("game", "match")
# The modules of this package that have a hand in how a chunk comes out.
PLAYING = (
    "evaluation/duplicate.py", "loading.py", "tournament/chunks.py", "tournament/referee.py",
)  # fmt: skip

Record = dict[str, Any]


@dataclass(frozen=True, order=True)
class Chunk:
    """Which pairs of a tournament: ``pairs`` of them, the ``index``-th of two agents' chunks.

    Attributes:
        index: counts a pairing's chunks from 0.
        first: the place of one agent in the field.
        second: that of the other, a later one.
        pairs: how many pairs of games, and of single deals.
    """

    index: int
    first: int
    second: int
    pairs: int


@dataclass(frozen=True)
class Setup:
    """Everything that decides how a tournament's chunks come out.

    Attributes:
        agents: the field, as `load_agent` takes them.
        environment: the module name of the game.
        rules: the name of a preset; None is the environment's own.
        episode: ``"game"`` or ``"match"``.
        players: seats in a game; of four each agent plays the two of one side.
        seed: fixes everything.
        chunk: the pairs of a chunk.
        move_seconds: the longest an agent may take for a decision, None for no limit. With one,
            results may depend on how fast the machine is.

    Raises:
        ValueError: something no tournament can be played with; the message says what.
    """

    agents: tuple[str, ...]
    environment: str = "six_card_v0"
    rules: str | None = None
    episode: str = "game"
    players: int = 2
    seed: int = 1
    chunk: int = 250
    move_seconds: float | None = None

    def __post_init__(self) -> None:
        check_seed(self.seed)
        maker, _ = find_game(self.environment, self.rules)
        if self.episode not in EPISODES:
            raise ValueError(f"episode must be game or match, got {self.episode!r}")
        if self.episode == "match" and "match" not in maker.episodes:
            raise ValueError(f"{self.environment} has no matches: episode must be game")
        maker.check_players(self.players)
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
        """The places of all that meet: each agent and each later one."""
        return list(combinations(range(len(self.agents)), 2))

    def chunks(self, first: int, second: int, pairs: int) -> list[Chunk]:
        """Return the chunks that make up ``pairs`` pairs of two agents."""
        return [
            Chunk(index, first, second, min(self.chunk, pairs - at))
            for index, at in enumerate(range(0, pairs, self.chunk))
        ]

    def identity(self) -> dict[str, Any]:
        """Return what must be the same for chunks to belong together, ready for JSON.

        That is this set-up, the contents of weights files and of the modules that agents' classes
        are in, and a digest of `sources`. (What else other packages' agents are made of cannot be
        known.)
        """
        files = {}
        for name in self.agents:
            path = agent_file(name.removeprefix(IN_PROCESS))
            if path is not None:
                files[name] = sha256(path.read_bytes()).hexdigest()[:16]
        return {
            **asdict(self),
            "agents": list(self.agents),
            "rules": self.rules or find_maker(self.environment).rules,
            "files": files,
            "code": _code_digest(),
        }


def label_agents(setup: Setup) -> list[str]:
    """Return what to call each agent of the field: its name, or as given where names coincide.

    Raises:
        ValueError: one of them cannot be loaded.
    """
    names = [_agent(setup, place, 0).name for place in range(len(setup.agents))]
    return [
        name if names.count(name) == 1 else given
        for name, given in zip(names, setup.agents, strict=True)
    ]


def play(setup: Setup, chunk: Chunk) -> Record:
    """Play one chunk and return its outcome, ready for JSON; see `read_pairs`.

    An agent's failure costs it the game; see `referee`.
    """
    began = time.perf_counter()
    maker, rules = find_game(setup.environment, setup.rules)
    # Two instances of each agent, in processes of their own if it has one: one plays the first
    # games of pairs alone, the other the same deals from the other side.
    once, again = (
        (_referee(setup, chunk.first, half), _referee(setup, chunk.second, half)) for half in (0, 1)
    )
    played = {}
    for kind, episode in zip(KINDS, (setup.episode, shortest_episode(maker)), strict=True):
        key = (chunk.first, chunk.second, chunk.index, KINDS.index(kind))
        entropy = np.random.SeedSequence(setup.seed, spawn_key=key)
        played[kind] = play_chunk(rules, episode, once, chunk.pairs, entropy, setup.players, again)
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
        shape = {"points": (-1, 2, 2, 3), "forfeits": (-1, 2, 2)}.get(name, (-1, 2))
        arrays[name] = flat.reshape(shape)
    for name in ("first_dealt", "forfeits"):
        arrays[name] = arrays[name].astype(bool)
    failures = tuple(Failure(**failure) for failure in written["failures"])
    return Pairs(**arrays, failures=failures)


def _written(pairs: Pairs) -> Record:
    """Return pairs as flat lists of integers."""
    flat = {name: getattr(pairs, name).astype(np.int64).ravel().tolist() for name in ARRAYS}
    return {**flat, "failures": [asdict(failure) for failure in pairs.failures]}


@lru_cache(maxsize=128)
def _agent(setup: Setup, place: int, half: int) -> Agent:
    """Return an agent of the field; each process makes it once for either half of the pairs."""
    return load_agent(setup.agents[place], setup.move_seconds)


@lru_cache(maxsize=128)
def _referee(setup: Setup, place: int, half: int) -> Referee:
    agent, given = _agent(setup, place, half), setup.agents[place]
    # An agent in a process of its own has its own clock, which leaves out a child's start.
    seconds = None if given.startswith(IN_PROCESS) else setup.move_seconds
    return Referee(in_phase(find_maker(setup.environment), agent), seconds, given)


@cache
def _code_digest() -> str:
    """Return a digest of all of ours that decides how games come out."""
    digest = sha256()
    for path in sources():
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def sources() -> list[Path]:
    """Return the files of crib_env and of our agents, and those of ours that play tournaments."""
    folders = Path(crib_env.__file__).parent, Path(crib_agents.__file__).parent
    files = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    files += [Path(__file__).parents[1] / name for name in PLAYING]
    return [path for path in files if "__pycache__" not in path.parts]
