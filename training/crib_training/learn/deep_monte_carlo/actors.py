"""Self-play elsewhere: in processes of this machine (`ProcessActors`) or on a cluster (`cluster`).

Each worker plays one part of a round of deals. The result of a part depends on the networks, the
seed and the part, not on who plays it, where or when. So a run repeats from its seed and its number
of workers. While the learner fits the networks to one round, the workers play the next with the
networks from before.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Protocol

import numpy as np
import torch

from crib_env.arrays import Array, Bytes
from crib_training.learn.deep_monte_carlo.self_play import Samples, find_self_play
from crib_training.learn.run import LostError, restore_module
from crib_training.processes import ProcessDiedError, ProcessPool

if TYPE_CHECKING:
    from crib_training.methods.deep_monte_carlo import Settings

STREAM = 1  # of random numbers that a seed gives; the learner's own has no number

Arrays = Mapping[str, Array]


@dataclass(frozen=True)
class RolloutJob:
    """A part of a round.

    Attributes:
        round: the number of the round, from 0.
        index: of the part in its round, from 0.
        deals: how many.
        progress: of the run, 0 to 1.
    """

    round: int
    index: int
    deals: int
    progress: float


@dataclass(frozen=True)
class SparseArray:
    """An array without its zeros, which most of what nets see is: a sixth of it to send.

    Attributes:
        shape: of the array.
        bits: a bit for each number, whether it is not 0.
        numbers: those that are not 0.
    """

    shape: tuple[int, ...]
    bits: Bytes
    numbers: Array

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
    """What a part came to.

    Attributes:
        deals: how many.
        decisions: how many.
        groups: as in `Samples`.
        cpu_seconds: that its actor has spent since the part before.
    """

    deals: int
    decisions: int
    groups: Mapping[str, Mapping[str, SparseArray]]
    cpu_seconds: float


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
