"""A game as deep Monte Carlo learns it: the interface, and what all games share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import torch
from crib_agents.learned import Weights
from crib_agents.learned.network import LearnedFamily
from torch import Tensor, nn

from crib_env.arrays import Array
from crib_env.envs.makers import EnvSpec
from crib_env.registration import find_part
from crib_env.rules import Rules
from crib_training.loading import find_game, seats_of

if TYPE_CHECKING:
    from crib_training.methods.deep_monte_carlo import Settings

EVEN = 1e3  # a temperature at which values no longer matter


@dataclass(frozen=True)
class Samples:
    """What self-play brought to learn from."""

    # named tensors in groups; the tensors of a group have one row for each sample, and groups may
    # have different numbers of rows
    groups: Mapping[str, Mapping[str, Tensor]]
    decisions: int  # how many decisions were made

    def to(self, device: str) -> Samples:
        """Return the samples on a device."""
        groups = {
            name: {key: tensor.to(device) for key, tensor in group.items()}
            for name, group in self.groups.items()
        }
        return Samples(groups, self.decisions)


@dataclass(frozen=True)
class GameDefaults:
    """What a game does well with, where the settings leave it open."""

    num_envs: int
    learning_rate: float
    ema_rate: float
    temperature: float
    final_temperature: float
    hidden_sizes: tuple[int, int]

    def resolve(self, settings: Settings) -> GameDefaults:
        """Return these, or the values in the settings instead."""
        given = {f.name: getattr(settings, f.name) for f in fields(self)}
        return replace(self, **{name: value for name, value in given.items() if value is not None})


class SelfPlay(ABC):
    """A game as something to learn.

    The random numbers of the nets come from PyTorch's generator, which is seeded before.

    Args:
        rules: the rules.
        players: seats in a game.
        settings: settings of the run; what they leave open is the game's default.

    Attributes:
        chosen: what the settings and the defaults come to.
    """

    family: ClassVar[LearnedFamily]  # the games this is for
    defaults: ClassVar[GameDefaults]  # what these games do well with
    episode: ClassVar[str]  # the shortest episode of the game; each is learned from as a whole
    nets: nn.Module  # what learns

    def __init__(self, rules: Rules, players: int, settings: Settings) -> None:
        self.rules, self.players = rules, players
        self.chosen = self.defaults.resolve(settings)
        self.epsilon = settings.epsilon

    @abstractmethod
    def play(self, n: int, progress: float, rng: np.random.Generator) -> Samples:
        """Play ``n`` deals, each seat by ``nets``; ``progress`` is 0 at the start, 1 at the end."""

    @abstractmethod
    def loss(self, samples: Samples, rows: Mapping[str, Tensor]) -> Tensor:
        """Return the loss over ``rows[group]`` of each group, a scalar."""

    @abstractmethod
    def weights(self, nets: nn.Module, made_by: str = "") -> Weights:
        """Return nets of the shape of ``nets`` as the agent ``learned`` reads them."""

    def exploration(self, progress: float) -> tuple[float, float]:
        """Return the temperature of the softmax, and the share of uniform choices."""
        first, last = self.chosen.temperature, self.chosen.final_temperature
        return first + progress * (last - first), self.epsilon * (1 - progress)


def batches(
    samples: Samples, size: int, rng: np.random.Generator
) -> Iterator[Mapping[str, torch.Tensor]]:
    """Yield the rows of each update: every sample once, those of all groups spread evenly."""
    lengths = {name: len(next(iter(group.values()))) for name, group in samples.groups.items()}
    lengths = {name: length for name, length in lengths.items() if length}
    n = max(1, min(max(lengths.values()) // size, *lengths.values()))
    parts = {name: np.array_split(rng.permutation(k), n) for name, k in lengths.items()}
    for i in range(n):
        yield {name: torch.from_numpy(rows[i]) for name, rows in parts.items()}


def gumbel(
    rng: np.random.Generator, shape: tuple[int, int], temperature: float, epsilon: float
) -> Array:
    """Return noise that makes the largest sum of value and noise a draw from the softmax."""
    scale = np.where(rng.random(shape[0]) < epsilon, EVEN, temperature)
    noise: Array = rng.gumbel(size=shape) * scale[:, None]
    return noise


def find_self_play(settings: Settings) -> tuple[EnvSpec, SelfPlay]:
    """Return the environment that settings name, and its game as something to learn."""
    maker, rules = find_game(settings.env, settings.rules)
    family = maker.family
    self_play: type[SelfPlay] = find_part("deep_monte_carlo", family.name)
    players = len(seats_of(maker, rules, settings.players))
    torch.manual_seed(settings.seed)
    return maker, self_play(rules, players, settings)
