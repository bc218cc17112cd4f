"""Self-play elsewhere: in processes of this machine, or on a Ray cluster.

Each worker plays one part of a round of deals. The result of a part depends on the networks, the
seed and the part, not on who plays it, where or when. So a run repeats from its seed and its number
of workers. While the learner fits the networks to one round, the workers play the next with the
networks from before. An actor lost on the cluster loses only its own samples.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch

from crib_env.arrays import Array, Bytes
from crib_training.learn.deep_monte_carlo.self_play import Samples, find_self_play
from crib_training.learn.run import LostError, restore_module
from crib_training.processes import ProcessDiedError, ProcessPool
from crib_training.tournament.chunks import sources

if TYPE_CHECKING:
    from crib_training.methods.deep_monte_carlo import Settings

STREAM = 1  # of random numbers that a seed gives; the learner's own has no number

Arrays = Mapping[str, Array]


@dataclass(frozen=True)
class RolloutJob:
    """A part of a round."""

    round: int  # the number of the round, from 0
    index: int  # of the part in its round, from 0
    deals: int  # how many
    progress: float  # of the run, 0 to 1


@dataclass(frozen=True)
class SparseArray:
    """An array without its zeros, which most of what nets see is: a sixth of it to send."""

    shape: tuple[int, ...]  # of the array
    bits: Bytes  # a bit for each number, whether it is not 0
    numbers: Array  # those that are not 0

    @classmethod
    def of(cls, array: Array) -> SparseArray:
        """Return an array packed."""
        there = array != 0
        return cls(array.shape, np.packbits(there), array[there])

    def unpack(self, into: Array) -> None:
        """Write the numbers into an array of zeros of the same shape."""
        there = np.unpackbits(self.bits, count=into.size).view(np.bool_)
        into[there.reshape(self.shape)] = self.numbers


@dataclass(frozen=True)
class RolloutResult:
    """What a part came to."""

    deals: int  # how many
    decisions: int  # how many
    groups: Mapping[str, Mapping[str, SparseArray]]  # as in `Samples`
    cpu_seconds: float  # that its actor has spent since the part before


class Actor:
    """Plays parts of rounds.

    Args:
        settings: settings of the run.
    """

    def __init__(self, settings: Settings) -> None:
        torch.set_num_threads(1)
        self.seed = settings.seed
        _, self.self_play = find_self_play(settings)
        self.counted = time.process_time()

    def play(self, part: RolloutJob, nets: Arrays) -> RolloutResult:
        """Play a part by nets as `module_tensors` took them."""
        restore_module("", self.self_play.nets, nets)
        key = STREAM, part.round, part.index
        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=key))
        samples = self.self_play.play(part.deals, part.progress, rng)
        groups = {
            name: {key: SparseArray.of(tensor.numpy()) for key, tensor in group.items()}
            for name, group in samples.groups.items()
        }
        before, self.counted = self.counted, time.process_time()
        return RolloutResult(part.deals, samples.decisions, groups, self.counted - before)


class Actors(Protocol):
    """Actors in other places."""

    @property
    def waiting(self) -> bool:
        """A round has begun."""

    def begin(self, parts: Sequence[RolloutJob], nets: Arrays) -> None:
        """Have the parts of a round played; one round may follow another that is not finished."""

    def finish(self) -> list[RolloutResult]:
        """Return the parts of the round that began first, but those lost, as soon as it is over."""


class ProcessActors:
    """Actors in processes of this machine.

    Args:
        settings: settings of the run.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._pool = ProcessPool(settings.workers)
        self._rounds: list[list[Future[RolloutResult]]] = []

    def __enter__(self) -> ProcessActors:
        self._pool.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        for part in (part for parts in self._rounds for part in parts):
            part.cancel()
        self._pool.__exit__(*error)

    @property
    def waiting(self) -> bool:
        """A round has begun."""
        return bool(self._rounds)

    def begin(self, parts: Sequence[RolloutJob], nets: Arrays) -> None:
        """Have the parts of a round played."""
        self._rounds.append(
            [self._pool.submit(play_here, self._settings, part, nets) for part in parts]
        )

    def finish(self) -> list[RolloutResult]:
        """Return the parts of the round that began first, as soon as it is over."""
        try:
            return [part.result() for part in self._rounds.pop(0)]
        except ProcessDiedError as error:
            why = "a process of self-play died, killed or out of memory"
            raise LostError(why) from error


@cache
def _actor(settings: Settings) -> Actor:
    """Return the actor of this process."""
    return Actor(settings)


def play_here(settings: Settings, part: RolloutJob, nets: Arrays) -> RolloutResult:
    """Play a part in this process."""
    return _actor(settings).play(part, nets)


def split_round(round_: int, deals: int, progress: float, workers: int) -> list[RolloutJob]:
    """Return the parts of a round, none of them empty."""
    sizes = [deals // workers + (i < deals % workers) for i in range(workers)]
    return [RolloutJob(round_, i, size, progress) for i, size in enumerate(sizes) if size]


def joined(parts: Sequence[RolloutResult]) -> Samples:
    """Return what parts came to as samples, in their order."""
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


PATIENCE = 300.0  # seconds for the first actor to be ready
PERSISTENCE = 3  # rounds


def code_digest() -> str:
    """Return a digest of all of ours that decides what self-play comes to."""
    digest = sha256()
    here = Path(__file__).parent
    for path in [*sources(), *sorted(here.glob("*.py")), here.parent / "nets.py"]:
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


class ClusterActor(Actor):
    """An actor that can say where it is and by what code it plays."""

    def ready(self) -> tuple[str, str]:
        """Return the name of its node and `code_digest`."""
        return platform.node(), code_digest()


class Cluster:
    """Actors on a Ray cluster, each on one core.

    Every node needs this package with its extra ``train``, in the same version. The parts of an
    actor that dies are lost, and the run has other deals instead. The actors that are left take
    over, and a new one wherever there is room joins them when it is ready.

    Args:
        settings: settings of the run.

    Raises:
        ValueError: Ray is not installed.
    """

    def __init__(self, settings: Settings) -> None:
        try:
            import ray
        except ModuleNotFoundError as error:
            cure = 'pip install "crib-env[train,cluster]"'
            raise ValueError(f"Ray is not installed: {cure}") from error
        self._ray = ray
        self._settings = settings
        self._actors: list[Any] = []
        self._starting: dict[Any, Any] = {}  # actors by their answer that they are ready
        self._rounds: list[list[tuple[Any, Any]]] = []  # actors and their answers
        self._lost = 0  # rounds, one after the other, of which nothing came back

    def __enter__(self) -> Cluster:
        self._ray.init(
            address=self._settings.ray_address, ignore_reinit_error=True, log_to_driver=False
        )
        self._make = self._ray.remote(num_cpus=1)(ClusterActor)
        for _ in range(self._settings.workers):
            self._start()
        return self

    def __exit__(self, *error: object) -> None:
        for actor in [*self._actors, *self._starting.values()]:
            self._ray.kill(actor)
        self._ray.shutdown()

    @property
    def waiting(self) -> bool:
        """A round has begun."""
        return bool(self._rounds)

    def begin(self, parts: Sequence[RolloutJob], nets: Arrays) -> None:
        """Have the parts of a round played."""
        self._welcome()
        stored = self._ray.put(dict(nets))
        actors = [self._actors[i % len(self._actors)] for i in range(len(parts))]
        self._rounds.append(
            [(a, a.play.remote(part, stored)) for a, part in zip(actors, parts, strict=True)]
        )

    def finish(self) -> list[RolloutResult]:
        """Return the parts of the round that began first, but those lost, as soon as it is over."""
        played = []
        for actor, answer in self._rounds.pop(0):
            try:
                played.append(self._ray.get(answer))
            except self._ray.exceptions.RayTaskError:  # it erred: so would the next
                raise
            except self._ray.exceptions.RayError:
                if actor in self._actors:
                    self._actors.remove(actor)
                    self._ray.kill(actor)  # if it is only out of reach
                    self._start()
        self._lost = 0 if played else self._lost + 1
        if self._lost == PERSISTENCE:
            raise LostError(f"all actors were lost, and {PERSISTENCE} rounds with them")
        return played

    def _start(self) -> None:
        actor = self._make.remote(self._settings)
        self._starting[actor.ready.remote()] = actor

    def _welcome(self) -> None:
        """Take in the actors that are ready; with none at all, wait for one."""
        why = f"none was ready within {PATIENCE:.0f} seconds; has it a core to spare?"
        while self._starting:
            answers = list(self._starting)
            count, patience = (len(answers), 0.0) if self._actors else (1, PATIENCE)
            found, _ = self._ray.wait(answers, num_returns=count, timeout=patience)
            for answer in found:
                actor = self._starting.pop(answer)
                try:
                    node, code = self._ray.get(answer)
                except self._ray.exceptions.RayError as error:  # it is not tried again
                    why = str(error)
                    continue
                if code != code_digest():
                    raise RuntimeError(f"node {node} has other code than the learner: install the "
                                       f"same version on every node")  # fmt: skip
                self._actors.append(actor)
            if self._actors or not found:
                break
        if not self._actors:
            raise LostError(f"no actor on the cluster: {why}")
