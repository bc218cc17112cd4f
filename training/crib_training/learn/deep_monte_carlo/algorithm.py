"""Deep Monte Carlo from top to bottom: one iteration, the same for every game.

1. Play a batch of deals, every seat with the current networks. A softmax over the predicted values
   draws each choice; temperature and epsilon fall over the run.
2. Fit the networks to the returns of the choices: squared errors, every decision once, in batches.
   The learning rate falls linearly.
3. Update the average of the weights at every step. Evaluation and saved files use the average.

A game is a `SelfPlay` (`two_hand`, `table_top`). It defines the inputs and targets of its networks,
and how they play. `training` adds evaluation and checkpoints, `actors` and `cluster` play in other
processes, and `loop` runs it all.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from crib_agents.learned import Weights
from crib_agents.learned.network import LearnedFamily
from torch import Tensor, nn

from crib_env.arrays import Array
from crib_env.envs.makers import EnvSpec
from crib_env.registration import find_part
from crib_env.rules import Rules
from crib_training.learn.deep_monte_carlo.settings import GameDefaults, Settings
from crib_training.learn.learner import Learner
from crib_training.loading import find_game, seats_of

EVEN = 1e3  # a temperature at which values no longer matter


@dataclass(frozen=True)
class Samples:
    """What self-play brought to learn from.

    Attributes:
        groups: named tensors in groups; the tensors of a group have one row for each sample, and
            groups may have different numbers of rows.
        decisions: how many decisions were made.
    """

    groups: Mapping[str, Mapping[str, Tensor]]
    decisions: int

    def to(self, device: str) -> Samples:
        """Return the samples on a device."""
        groups = {
            name: {key: tensor.to(device) for key, tensor in group.items()}
            for name, group in self.groups.items()
        }
        return Samples(groups, self.decisions)


class SelfPlay(ABC):
    """A game as something to learn.

    The random numbers of the nets come from PyTorch's generator, which is seeded before.

    Args:
        rules: the rules.
        players: seats in a game.
        settings: settings of the run; what they leave open is the game's default.

    Attributes:
        family: the games this is for.
        defaults: what these games do well with.
        episode: the shortest episode of the game; each is learned from as a whole.
        nets: what learns.
        chosen: what the settings and the defaults come to.
    """

    family: ClassVar[LearnedFamily]
    defaults: ClassVar[GameDefaults]
    episode: ClassVar[str]
    nets: nn.Module

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
        first, last = self.chosen.temperature, self.chosen.last_temperature
        return first + progress * (last - first), self.epsilon * (1 - progress)


class DeepMonteCarlo:
    """A game that is learned.

    Args:
        self_play: the game.
        settings: settings of the run.

    Attributes:
        learner: the nets with their optimizer, and the average of their weights.
        deals: of self-play so far.
        decisions: in those deals.
        rounds: batches of deals so far.
        cpu_seconds: of self-play and learning.
        loss: the mean over the updates of the last round.
    """

    def __init__(self, self_play: SelfPlay, settings: Settings) -> None:
        self.self_play, self.settings = self_play, settings
        self_play.nets.to(settings.device)
        chosen = self_play.chosen
        self.learner = Learner(self_play.nets, chosen.learning_rate, chosen.ema_rate)
        self.rng = np.random.default_rng(settings.seed)
        self.deals, self.decisions, self.rounds, self.cpu_seconds = 0, 0, 0, 0.0
        self.loss = 0.0

    def iterate(self) -> None:
        """Play one batch of deals and learn from it."""
        began = time.process_time()
        progress = self.deals / self.settings.deals
        samples, deals = self.collect(self.batch_of_deals(self.deals), progress)
        self.rounds += 1
        if samples is not None:
            self.fit(samples, progress)
            self.deals += deals
            self.decisions += samples.decisions
        self.cpu_seconds += time.process_time() - began

    def batch_of_deals(self, after: int) -> int:
        """Return the number of deals in the next round."""
        return min(self.self_play.chosen.num_envs, self.settings.deals - after)

    def collect(self, deals: int, progress: float) -> tuple[Samples | None, int]:
        """Return what self-play brought, if anything, and how many deals that took."""
        return self.self_play.play(deals, progress, self.rng), deals

    def fit(self, samples: Samples, progress: float) -> None:
        """Learn from every sample once."""
        share = max(self.settings.last_learning_rate, 1.0 - progress)
        samples = samples.to(self.settings.device)
        losses = []
        for rows in batches(samples, self.settings.batch_size, self.rng):
            loss = self.self_play.loss(samples, rows)
            self.learner.step(loss, share)
            losses.append(loss.detach())
        self.loss = torch.stack(losses).mean().item()


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
