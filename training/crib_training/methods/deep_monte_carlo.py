"""Deep Monte Carlo: self-play, and regression on the return of each choice; for every game.

    crib train deep_monte_carlo --env six_card_v0 --deals 400000 --out runs/six_card

1. Play a batch of deals, every seat with the current networks. A softmax over the predicted values
   draws each choice; its temperature and epsilon fall over the run. The temperature of two-hand
   discards is constant.
2. Fit the networks to the returns of the choices: squared errors, every decision once, in batches.
   The learning rate falls linearly.
3. Update the average of the weights at every step. Evaluation and saved files use the average.

The games, with the inputs and targets of their networks, are in
`crib_training.learn.deep_monte_carlo`.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
import torch
from crib_agents.learned import MonteCarloAgent
from crib_agents.learned.network import WIDEST
from crib_agents.loading import load_agent
from crib_agents.process_pool import ProcessPool
from crib_play.replay import write_replay
from pydantic import Field

from crib_env import settings as types
from crib_env.arrays import Array, Bytes
from crib_env.envs.makers import EnvMaker
from crib_env.settings import checked_dataclass
from crib_training.learn import run as runs
from crib_training.learn.curve import Strength
from crib_training.learn.deep_monte_carlo.many_hand import ManyHandSelfPlay
from crib_training.learn.deep_monte_carlo.self_play import Samples, SelfPlay
from crib_training.learn.deep_monte_carlo.table_top import TableTopSelfPlay
from crib_training.learn.deep_monte_carlo.two_hand import TwoHandSelfPlay
from crib_training.learn.run import FREE, LostError, RunSettings, State, module_tensors, restore_module
from crib_training.loading import NamesGame, players_of
from crib_training.outputs import command
from crib_training.provenance import code_digest
from crib_training.workers import RayPool, require_alike

GAMES: dict[str, type[SelfPlay]] = {
    one.family.name: one for one in (TwoHandSelfPlay, TableTopSelfPlay, ManyHandSelfPlay)
}

# --- learning from samples of self-play -----------------------------------------------------------


def batches(samples: Samples, size: int, rng: np.random.Generator) -> Iterator[Mapping[str, torch.Tensor]]:
    """Yield the rows of each update: every sample once, the samples of each group spread evenly."""
    lengths = {name: len(next(iter(group.values()))) for name, group in samples.groups.items()}
    lengths = {name: length for name, length in lengths.items() if length}
    n = max(1, min(max(lengths.values()) // size, *lengths.values()))
    parts = {name: np.array_split(rng.permutation(k), n) for name, k in lengths.items()}
    for i in range(n):
        yield {name: torch.from_numpy(rows[i]) for name, rows in parts.items()}


def fit(
    self_play: SelfPlay, nets: runs.AveragedNets, samples: Samples, size: int, share: float, rng: np.random.Generator
) -> float:
    """Learn from every sample once, in batches of ``size``; return the mean loss.

    ``share`` multiplies the learning rate.
    """
    losses = [nets.step(self_play.loss(samples, rows), share) for rows in batches(samples, size, rng)]
    return float(torch.stack(losses).mean())


def find_self_play(settings: Settings) -> tuple[EnvMaker, SelfPlay]:
    """Return the environment that settings name and its self-play; seed PyTorch."""
    maker, rules = settings.game
    self_play = GAMES[maker.family.name]
    players = players_of(rules, settings.players)
    torch.manual_seed(settings.seed)
    return maker, self_play(rules, players, settings)


# --- self-play elsewhere: in processes of this machine, or on a Ray cluster -----------------------
#
# Each worker plays one part of a round of deals. The result of a part depends on the networks, the
# seed and the part, not on the worker, the machine or the time. So a run repeats from its seed and
# its number of workers. While the learner fits the networks to one round, the workers play the next
# with the networks from before.

STREAM = 1  # the actors' generators are spawned with this key; the learner's is the seed's own
PATIENCE = 300.0  # seconds to wait for a cluster's first result

Arrays = Mapping[str, Array]


@dataclass(frozen=True)
class RolloutJob:
    """A part of a round."""

    round: int  # the number of the round, from 0
    index: int  # of the part in its round, from 0
    deals: int  # number of deals
    progress: float  # of the run, 0 to 1


@dataclass(frozen=True)
class SparseArray:
    """An array without its zeros: most inputs of networks are 0, so it is a sixth of the size."""

    shape: tuple[int, ...]  # of the array
    bits: Bytes  # a bit for each number, 1 if it is not 0
    numbers: Array  # the numbers that are not 0

    @classmethod
    def of(cls, array: Array) -> SparseArray:
        """Pack an array."""
        there = array != 0
        return cls(array.shape, np.packbits(there), array[there])

    def unpack(self, into: Array) -> None:
        """Write the numbers into an array of zeros of the same shape."""
        there = np.unpackbits(self.bits, count=into.size).view(np.bool_)
        into[there.reshape(self.shape)] = self.numbers


@dataclass(frozen=True)
class RolloutResult:
    """The result of a part."""

    decisions: int  # as in `Samples`
    groups: Mapping[str, Mapping[str, SparseArray]]  # as in `Samples`
    cpu_seconds: float  # CPU seconds of its actor since the part before


class Actor:
    """Plays parts of rounds."""

    def __init__(self, settings: Settings) -> None:
        torch.set_num_threads(1)
        self.seed = settings.seed
        _, self.self_play = find_self_play(settings)
        self.counted = time.process_time()

    def play(self, part: RolloutJob, nets: Arrays) -> RolloutResult:
        """Play a part with networks in the form of `module_tensors`."""
        restore_module("", self.self_play.nets, nets)
        key = STREAM, part.round, part.index
        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=key))
        samples = self.self_play.play(part.deals, part.progress, rng)
        groups = {
            name: {key: SparseArray.of(tensor.numpy()) for key, tensor in group.items()}
            for name, group in samples.groups.items()
        }
        before, self.counted = self.counted, time.process_time()
        return RolloutResult(samples.decisions, groups, self.counted - before)


actor_of = cache(Actor)  # one per process and settings


def play_here(settings: Settings, part: RolloutJob, nets: Arrays, code: str) -> RolloutResult:
    """Play a part in this process; raise an error unless its code has the learner's hash."""
    require_alike(own_code(), code)
    return actor_of(settings).play(part, nets)


def own_code() -> str:
    """Return a hash of the code that determines self-play results."""
    games = sorted((Path(runs.__file__).parent / "deep_monte_carlo").glob("*.py"))
    return code_digest(Path(__file__), *games)


class Actors:
    """Plays rounds in other processes; a round may begin before the one before is finished."""

    def __init__(self, settings: Settings) -> None:
        self._settings, self._code = settings, own_code()
        address = settings.ray_address
        self._pool = ProcessPool(settings.workers) if address is None else RayPool(address)
        self._rounds: list[list[Future[RolloutResult]]] = []
        self._ready = address is None

    def __enter__(self) -> Self:
        self._pool.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        # Cancel no part before: Python 3.11 would hang at its exit if a process then died.
        self._pool.__exit__(*error)

    @property
    def waiting(self) -> bool:
        """Whether a round has begun and is not yet returned."""
        return bool(self._rounds)

    def begin(self, parts: Sequence[RolloutJob], nets: Arrays) -> None:
        """Submit the parts of a round."""
        if not self._ready:
            self._wait_for_room()
        shared = self._pool.share(nets)
        self._rounds.append([self._pool.submit(play_here, self._settings, part, shared, self._code) for part in parts])

    def finish(self) -> list[RolloutResult]:
        """Wait for the round that began first; return the results of its parts."""
        try:
            return [part.result() for part in self._rounds.pop(0)]
        except self._pool.lost as error:
            raise LostError("a process of self-play died, killed or out of memory") from error

    def _wait_for_room(self) -> None:
        try:
            self._pool.submit(platform.node).result(PATIENCE)
        except TimeoutError as error:
            raise LostError(
                f"nothing was played on the cluster within {PATIENCE:.0f} seconds; has it a core to spare?"
            ) from error
        self._ready = True


def split_round(round_: int, deals: int, progress: float, workers: int) -> list[RolloutJob]:
    """Return the parts of a round, none of them empty."""
    sizes = [deals // workers + (i < deals % workers) for i in range(workers)]
    return [RolloutJob(round_, i, size, progress) for i, size in enumerate(sizes) if size]


def joined(parts: Sequence[RolloutResult]) -> Samples:
    """Return the results of parts as samples, joined in their order."""
    groups = {
        name: {key: _joined([part.groups[name][key] for part in parts]) for key in group}
        for name, group in parts[0].groups.items()
    }
    return Samples(groups, sum(part.decisions for part in parts))


def _joined(packed: Sequence[SparseArray]) -> torch.Tensor:
    ends = np.cumsum([array.shape[0] for array in packed])
    whole = np.zeros((ends[-1], *packed[0].shape[1:]), dtype=packed[0].numbers.dtype)
    for array, rows in zip(packed, np.split(whole, ends[:-1]), strict=True):
        array.unpack(rows)
    return torch.from_numpy(whole)


# --- the method -----------------------------------------------------------------------------------

BEHAVIOUR = "acting."  # prefix, in a checkpoint, of the networks that play the next round
HiddenSize = Annotated[types.Whole, Field(ge=1, le=WIDEST)]


@checked_dataclass(frozen=True, kw_only=True)
class Settings(NamesGame, RunSettings):
    """Train an agent by deep Monte Carlo: self-play, and regression on the return of each choice.

    Attributes:
        deals: deals (in Table Top rounds) to play in all.
        num_envs: deals side by side between updates; by default the game's.
        batch_size: decisions per update; with 2048, the same strength takes ten times the deals.
        learning_rate: learning rate of Adam, by default the game's; it falls linearly to the share
            ``final_learning_rate`` of this.
        final_learning_rate: the share of the learning rate at the end.
        ema_rate: step of the average of the weights at each update, by default the game's;
            measurements and saved files use the average.
        temperature: temperature of the softmax over the values of choices, in points; by default
            the game's. The discards of two hands always use 0.2.
        final_temperature: the temperature at the end.
        epsilon: the share of decisions drawn uniformly from all choices; falls to 0.
        hidden_sizes: sizes of the two hidden layers; by default the game's.
        eval_opponents: the reference opponents, built-in names joined by commas.
        baselines: built-in agents to draw as lines in the picture: their own strength against the
            first reference opponent; joined by commas.
        num_evals: number of measurements of strength.
        eval_pairs: pairs of duplicate deals per measurement, and half as many pairs of games; 0
            measures nothing.
        final_eval_pairs: the same for the measurement after the last deal.
        workers: processes that play while this one learns; with 1, this process does both in turn.
            A run repeats exactly with the same seed and number of workers.
        ray_address: address of a Ray cluster where the workers play as actors; auto on one of its
            nodes.
        device: device of the networks' training, cpu or cuda; play always runs on the CPU.
        threads: threads of PyTorch; with 1, every run of the same settings is identical to the bit.
        replay: write a page with one game of the trained agent against the first opponent.
    """

    method: ClassVar[str] = "deep_monte_carlo"
    deals: types.Count = 400_000
    num_envs: types.Count | None = None
    batch_size: types.Count = 256
    learning_rate: types.Positive | None = None
    final_learning_rate: types.Share = 0.05
    ema_rate: types.Portion | None = None
    temperature: types.Positive | None = None
    final_temperature: types.Positive | None = None
    epsilon: types.Share = 0.1
    hidden_sizes: tuple[HiddenSize, HiddenSize] | None = None
    eval_opponents: str = "rule_based"
    baselines: str = "greedy"
    num_evals: types.Count = 8
    eval_pairs: types.Pairs = 1000
    final_eval_pairs: types.Pairs = 4000
    workers: types.Workers = 1
    ray_address: str | None = None
    device: Literal["cpu", "cuda"] = "cpu"
    threads: types.Threads = 1
    out: types.NewFolder = Path("runs/deep_monte_carlo")
    replay: bool = False

    def __post_init__(self) -> None:
        if self.ray_address is not None and self.workers < 2:
            raise ValueError(f"workers must be at least 2 on a cluster, got {self.workers}")


class Learner(runs.Learner):
    """Learns by its `Settings`; with workers, ``behaviour_nets`` play the next round."""

    unit = "deals"
    counts = ("deals", "decisions", "rounds")

    def __init__(self, settings: Settings) -> None:
        if settings.device == "cuda" and not torch.cuda.is_available():
            raise ValueError("device cuda needs an NVIDIA card and a PyTorch built for it: here is none")
        super().__init__(settings)
        maker, self.self_play = find_self_play(settings)
        self.self_play.nets.to(settings.device)
        resolved = self.self_play.resolved
        self.nets = runs.AveragedNets(self.self_play.nets, resolved.learning_rate, resolved.ema_rate)
        self.modules = self.nets.modules
        self.deals = self.rounds = 0
        self.actors: Actors | None = None
        self.behaviour_nets = self._nets() if settings.workers > 1 else {}
        rules, players = self.self_play.rules, self.self_play.players
        self.curve: Strength = Strength(maker, rules, players, f"deep Monte Carlo, seed {settings.seed}", settings)

    def __enter__(self) -> Self:
        settings = self.settings
        self.self_play.play(2, 0.0, np.random.default_rng(0))  # compile now if the cache is empty
        if settings.ray_address is not None or settings.workers > 1:
            self.actors = Actors(settings).__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        """End the workers."""
        if self.actors is not None:
            self.actors.__exit__(*error)
            self.actors = None

    def iterate(self) -> dict[str, float]:
        """Play one batch of deals and learn from it."""
        progress, deals = self.deals / self.settings.deals, self.next_batch_size(self.deals)
        samples = self.collect(deals, progress)
        self.rounds += 1
        settings, share = self.settings, max(self.settings.final_learning_rate, 1.0 - progress)
        samples = samples.to(settings.device)
        loss = fit(self.self_play, self.nets, samples, settings.batch_size, share, self.rng)
        self.deals += deals
        self.decisions += samples.decisions
        return {"loss": loss}

    def next_batch_size(self, after: int) -> int:
        """Return the number of deals in the round that begins after ``after`` deals."""
        left: int = self.settings.deals - after
        return min(self.self_play.resolved.num_envs, left)

    def collect(self, deals: int, progress: float) -> Samples:
        """Return samples of self-play, from here or from workers, which play a round ahead."""
        actors, total, workers = self.actors, self.settings.deals, self.settings.workers
        if actors is None:
            return self.self_play.play(deals, progress, self.rng)
        if not actors.waiting:
            actors.begin(split_round(self.rounds, deals, progress, workers), self.behaviour_nets)
        nets, then = self._nets(), self.deals + deals
        if then < total:
            following = self.next_batch_size(then)
            actors.begin(split_round(self.rounds + 1, following, then / total, workers), nets)
        played = actors.finish()
        self.behaviour_nets = nets
        self.cpu_seconds += sum(part.cpu_seconds for part in played)
        return joined(played)

    def _nets(self) -> dict[str, Any]:
        """Return copies of the current networks' arrays."""
        return module_tensors("", self.self_play.nets)

    def agent(self) -> MonteCarloAgent:
        """Return the agent of the averaged weights."""
        made_by = command(f"crib train {self.settings.method}", self.settings, FREE, ())
        return MonteCarloAgent([self.self_play.weights(self.nets.average, made_by)], "learning")

    def state(self) -> dict[str, Array]:
        """Return the networks that play the next round; nothing without workers."""
        return {BEHAVIOUR + name: array for name, array in self.behaviour_nets.items()}

    def restore(self, state: State) -> None:
        """Restore what `state` returned."""
        self.behaviour_nets = {
            name.removeprefix(BEHAVIOUR): array.copy() for name, array in state.items() if name.startswith(BEHAVIOUR)
        }


def train(settings: Settings) -> MonteCarloAgent:
    """Learn by the settings, write everything to ``out``, and return the agent."""
    agent = runs.Run(Learner(settings)).go()
    assert isinstance(agent, MonteCarloAgent)
    return agent


def run(settings: Settings) -> None:
    """Train, and print where the results are."""
    agent = runs.learn(Learner(settings))
    if settings.replay:
        _, rules = settings.game
        agents = agent, load_agent(settings.eval_opponents.split(",")[0])
        file = settings.out / "replay.html"
        write_replay(file, rules, agents, settings.seed, players=settings.players)
        print(f"wrote {file}")
