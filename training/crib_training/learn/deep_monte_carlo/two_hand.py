"""The two-hand games as something to learn: discarding, a net for each role, and the play.

What is certain is not learned: points that a card pegs at once, the exact mean hand. Learned are
the points of the play still to come, my own and the other seat's, and the crib; its target is the
mean over all starters, so that the starter's luck is no part of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch
from crib_agents.learned import Weights
from crib_agents.learned.family import LearnedFamily
from crib_agents.learned.two_hand import FAMILY
from crib_agents.learned.weights import fields_of
from torch import Tensor, nn
from torch.nn.functional import mse_loss

from crib_env.batch import GameBatch
from crib_env.engine.show import show_table
from crib_env.engine.two_hand.records import HAND
from crib_env.rules import LARGEST_TARGET, Rules, TwoHandRules
from crib_training.learn.deep_monte_carlo.nets import layers_of, mlp
from crib_training.learn.deep_monte_carlo.settings import GameDefaults, Settings
from crib_training.learn.deep_monte_carlo.task import Samples
from crib_training.learn.deep_monte_carlo.two_hand_play import (
    PAIRS,
    choose_cards,
    choose_pairs,
    mean_cribs,
)

ROLES = ("discard_pone", "discard_dealer")
DISCARD_WIDTH = 0.75  # of the play's: fewer inputs
DISCARD_TEMPERATURE = 0.2
EVEN = 1e3  # a temperature at which values no longer matter

Array = npt.NDArray[Any]


class TwoHandTask:
    """Six-card, five-card, and whatever `TwoHandRules` a user makes.

    Args:
        rules: the rules. players: 2.
        settings: those of the run.
    """

    family: ClassVar[LearnedFamily] = FAMILY
    defaults: ClassVar[GameDefaults] = GameDefaults(
        num_envs=4096, learning_rate=1e-3, ema_rate=0.005, temperature=0.3, last_temperature=0.08,
        width=128, narrow=64,
    )  # fmt: skip
    episode = "deal"

    def __init__(self, rules: Rules, players: int, settings: Settings) -> None:
        self.rules = rules
        self.players = players
        # A whole deal is learned from, wherever the score would have ended it.
        assert isinstance(rules, TwoHandRules)
        self.open_rules = replace(rules, target=LARGEST_TARGET, for_last=0)
        mine = self.defaults.under(settings)
        self.num_envs = mine.num_envs
        self.first_temperature, self.last_temperature = mine.temperature, mine.last_temperature
        self.epsilon = settings.epsilon
        self.nets = nn.ModuleDict(
            {
                name: mlp(
                    net.inputs,
                    mine.width if name == "pegging" else max(1, int(DISCARD_WIDTH * mine.width)),
                    mine.narrow,
                    net.outputs,
                )
                for name, net in FAMILY.nets.items()
            }
        )

    def weights(self, nets: nn.Module, made_by: str = "") -> Weights:
        """Return nets as the agent reads them."""
        assert isinstance(nets, nn.ModuleDict)
        layers = {name: layers_of(net) for name, net in nets.items()}
        return Weights(
            FAMILY.name, self.rules.name, fields_of(self.rules), self.players, layers, made_by
        )

    def play(self, n: int, progress: float, rng: np.random.Generator) -> Samples:
        """Play ``n`` deals."""
        flat = self.weights(self.nets).flat()
        games = GameBatch(self.open_rules, n, episode="deal", seed=int(rng.integers(1 << 62)))
        games.reset()
        lanes = np.arange(n)
        epsilon = self.epsilon * (1 - progress)
        seats = np.stack([1 - games.states["dealer"], games.states["dealer"]])  # by role
        seen = []
        for role, name in enumerate(ROLES):
            views = games.views(lanes, seats[role])
            noise = gumbel(rng, (n, PAIRS), DISCARD_TEMPERATURE, epsilon)
            pairs = np.empty((n, 2), dtype=np.int64)
            seen.append(np.empty((n, FAMILY.nets[name].inputs), dtype=np.float32))
            choose_pairs(views, show_table(), flat, noise, pairs, seen[role])
            for column in range(2):
                games.step(lanes, np.ascontiguousarray(pairs[:, column]))
        heels = games.tally[:, :, 0].copy()
        cribs = np.empty(n)
        mean_cribs(games.states, show_table(), self.rules.crib_flush_size, cribs)
        temperature = self.first_temperature + progress * (
            self.last_temperature - self.first_temperature
        )
        groups = {"pegging": self._play_out(games, flat, temperature, epsilon, rng)}
        pegged = games.tally[:, :, 0] - heels
        for role, name in enumerate(ROLES):
            mine, theirs = pegged[lanes, seats[role]], pegged[lanes, seats[1 - role]]
            targets = np.stack([cribs, mine, theirs], axis=1).astype(np.float32)
            groups[name] = _tensors(seen[role], targets)
        return Samples(groups, 4 * n + len(groups["pegging"]["inputs"]))

    def _play_out(
        self,
        games: GameBatch,
        flat: Array,
        temperature: float,
        epsilon: float,
        rng: np.random.Generator,
    ) -> dict[str, Tensor]:
        """Play the cards of all games; return what the net saw and what it is to put out."""
        inputs, targets = [], []
        decided = []  # lanes, seats, and both sides' points of the play with the card's own
        running = games.running()
        while len(running):
            views = games.views(running)
            noise = gumbel(rng, (len(running), HAND), temperature, epsilon)
            cards, chosen, points = np.empty((3, len(running)), dtype=np.int64)
            seen = np.empty((len(running), FAMILY.nets["pegging"].inputs), dtype=np.float32)
            k = choose_cards(views, flat, noise, cards, chosen, points, seen)
            lanes, seats = running[chosen[:k]], views["seat"][chosen[:k]]
            before = games.tally[lanes, :, 0]
            before[np.arange(k), seats] += points[:k]
            inputs.append(seen[:k])
            decided.append((lanes, seats, before))
            games.step(running, cards)
            running = games.running(running)
        for lanes, seats, before in decided:
            rest = games.tally[lanes, :, 0] - before
            row = np.arange(len(lanes))
            targets.append(np.stack([rest[row, seats], rest[row, 1 - seats]], axis=1))
        return _tensors(np.concatenate(inputs), np.concatenate(targets).astype(np.float32))

    def loss(self, samples: Samples, rows: Mapping[str, Tensor]) -> Tensor:
        """Return the squared errors of the nets, added up."""
        assert isinstance(self.nets, nn.ModuleDict)
        losses = []
        for name, net in self.nets.items():
            group, chosen = samples.groups[name], rows[name]
            losses.append(mse_loss(net(group["inputs"][chosen]), group["targets"][chosen]))
        return torch.stack(losses).sum()


def gumbel(
    rng: np.random.Generator, shape: tuple[int, int], temperature: float, epsilon: float
) -> Array:
    """Return noise that makes the largest sum of value and noise a draw from the softmax.

    Args:
        shape: decisions, choices. temperature: of the softmax.
        explore: the share of decisions in which all choices are as likely.
    """
    scale = np.where(rng.random(shape[0]) < epsilon, EVEN, temperature)
    noise: Array = rng.gumbel(size=shape) * scale[:, None]
    return noise


def _tensors(inputs: Array, targets: Array) -> dict[str, Tensor]:
    return {"inputs": torch.from_numpy(inputs), "targets": torch.from_numpy(targets)}
