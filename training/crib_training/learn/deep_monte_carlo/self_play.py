"""The base class of a game's self-play for deep Monte Carlo, and the samples that it returns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from crib_agents.learned import Weights
from crib_agents.learned.network import LearnedFamily
from crib_agents.torch_nets import layers_of
from torch import Tensor, nn

from crib_env.arrays import Array
from crib_env.rules import Rules
from crib_training.learn.run import resolve

EVEN = 1e3  # a temperature at which values no longer matter


@dataclass(frozen=True)
class Samples:
    """Training data from self-play."""

    # named tensors in groups; the tensors of a group have one row for each sample, and groups may
    # have different numbers of rows
    groups: Mapping[str, Mapping[str, Tensor]]
    decisions: int  # number of decisions with a choice; each card of a discard counts

    def to(self, device: str) -> Samples:
        """Return the samples on a device."""
        groups = {
            name: {key: tensor.to(device) for key, tensor in group.items()} for name, group in self.groups.items()
        }
        return Samples(groups, self.decisions)


@dataclass(frozen=True)
class GameDefaults:
    """Per-game defaults for settings left as None."""

    hidden_sizes: tuple[int, int]
    num_envs: int = 4096
    learning_rate: float = 1e-3
    ema_rate: float = 0.005
    temperature: float = 0.3
    final_temperature: float = 0.08


class SelfPlay(ABC):
    """A game's self-play; ``resolved`` holds its settings, with the game's defaults for None.

    PyTorch's generator, which the caller seeds, initialises the networks.
    """

    family: ClassVar[LearnedFamily]  # the games it plays
    defaults: ClassVar[GameDefaults]  # for settings left as None
    nets: nn.Module  # the networks that learn

    def __init__(self, rules: Rules, players: int, settings: Any) -> None:
        self.rules, self.players = rules, players
        self.resolved = resolve(self.defaults, settings)
        self.epsilon = settings.epsilon

    @abstractmethod
    def play(self, n: int, progress: float, rng: np.random.Generator) -> Samples:
        """Play ``n`` deals, each seat by ``nets``; ``progress`` is 0 at the start, 1 at the end."""

    @abstractmethod
    def loss(self, samples: Samples, rows: Mapping[str, Tensor]) -> Tensor:
        """Return the loss over ``rows[group]`` of each group, a scalar."""

    def weights(self, nets: nn.Module, made_by: str = "") -> Weights:
        """Return networks shaped as ``self.nets`` as the weights of the agent `learned`."""
        layers = {name: layers_of(net) for name, net in nets.named_children()}
        return Weights(self.rules, layers, made_by)

    def exploration(self, progress: float) -> tuple[float, float]:
        """Return the temperature of the softmax, and the probability of a uniform choice."""
        first, last = self.resolved.temperature, self.resolved.final_temperature
        return first + progress * (last - first), self.epsilon * (1 - progress)


def gumbel(rng: np.random.Generator, shape: tuple[int, int], temperature: float, epsilon: float) -> Array:
    """Return noise with which the largest value plus noise is a draw from the softmax of values.

    With probability ``epsilon`` the draw of a row is uniform.
    """
    scale = np.where(rng.random(shape[0]) < epsilon, EVEN, temperature)
    noise: Array = rng.gumbel(size=shape) * scale[:, None]
    return noise
