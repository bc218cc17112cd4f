"""What the loop needs of a game; `two_hand` and `table_top` are such tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from crib_agents.learned import Weights
from crib_agents.learned.family import LearnedFamily
from torch import Tensor, nn

from crib_env.rules import Rules
from crib_training.learn.deep_monte_carlo.settings import GameDefaults, Settings


@dataclass(frozen=True)
class Samples:
    """What self-play brought to learn from.

    Attributes:
        groups: named tensors in groups; the tensors of a group have one row for each sample, and
            groups may differ in how many they have.
        decisions: how many decisions were made.
    """

    groups: Mapping[str, Mapping[str, Tensor]]
    decisions: int

    def to(self, device: str) -> Samples:
        """Return them on a device."""
        groups = {
            name: {key: tensor.to(device) for key, tensor in group.items()}
            for name, group in self.groups.items()
        }
        return Samples(groups, self.decisions)


class Task(Protocol):
    """A game as something to learn.

    Made by ``Task(rules, players, settings)``; the random numbers of its nets come from PyTorch's
    generator, which the loop has seeded.

    Attributes:
        family: the games it is for. defaults: what they do well with.
        episode: the shortest episode of the game, of which one is learned from at a time.
        num_envs: how many are played side by side.
    """

    family: ClassVar[LearnedFamily]
    defaults: ClassVar[GameDefaults]
    episode: str
    num_envs: int

    def __init__(self, rules: Rules, players: int, settings: Settings) -> None: ...

    @property
    def nets(self) -> nn.Module:
        """What learns."""

    def play(self, n: int, progress: float, rng: np.random.Generator) -> Samples:
        """Play ``n`` deals, each seat by ``nets``; ``progress`` is 0 at the start, 1 at the end."""

    def loss(self, samples: Samples, rows: Mapping[str, Tensor]) -> Tensor:
        """Return the loss over ``rows[group]`` of each group, a scalar."""

    def weights(self, nets: nn.Module, made_by: str) -> Weights:
        """Return nets of the shape of `nets` as the agent ``learned`` reads them."""
