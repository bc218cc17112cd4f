"""Self-play on a Ray cluster: a lost actor loses only its own samples."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crib_training.learn.deep_monte_carlo.actors import Actor, Arrays, RolloutJob, RolloutResult
from crib_training.learn.run import LostError
from crib_training.tournament.chunks import sources

if TYPE_CHECKING:
    from crib_training.methods.deep_monte_carlo import Settings

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
