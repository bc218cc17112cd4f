"""Fit the pegging network of `learned` to the values of `expert`, in a two-hand game.

    python -m research.distill --student runs/six/policy.safetensors --out six_card.safetensors

The network plays deals of self-play, and `expert` prices every card of each decision: the points
that both seats make from then on. The networks for discarding stay as they are. After each round
the network is fitted to twice a round's number of decisions, drawn from all rounds so far; at the
end to several times all decisions, at a falling learning rate. The loss is the squared error of the
differences between a decision's cards, plus a twentieth of that of the points.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from crib_agents.expert.pegging import MY_POINTS, POINTS_NOW, THEIR_POINTS, findings
from crib_agents.learned import MonteCarloAgent, Weights
from crib_agents.torch_nets import layers_of, mlp
from crib_training.command_line import start
from crib_training.learn.deep_monte_carlo.inputs import inputs_of
from crib_training.learn.deep_monte_carlo.pegging_tree import cards_loss
from crib_training.learn.deep_monte_carlo.two_hand import play_cards
from crib_training.learn.run import AveragedNets
from crib_training.outputs import command
from crib_training.progress import steps
from torch import nn

from crib_env.arrays import Array
from crib_env.batch import GameBatch
from crib_env.policy import Views
from crib_env.rules import TwoHandRules
from crib_env.settings import Count, File, NewFile, Positive, Seed, checked_dataclass

EMA_RATE = 0.002
TEMPERATURE, EPSILON = 0.1, 0.05  # of the cards played


def play(weights: Weights, deals: int, rng: np.random.Generator, hide_discards: bool = False) -> Views:
    """Play deals and return the views of their pegging that have a choice."""
    student = MonteCarloAgent([weights])
    games = GameBatch(weights.rules, deals, episode="deal", seed=int(rng.integers(1 << 62)))
    games.reset()
    for _ in range(4):
        games.ask(student, np.arange(deals), rng)
    played = play_cards(games, weights.flat(), TEMPERATURE, EPSILON, rng, hide_discards)
    return np.concatenate([views for _, views, _, _ in played])


def priced(views: Views) -> tuple[Array, Array, Array]:
    """Return the inputs, both seats' points to follow and the decision of every legal card.

    The points to follow exclude those that `learned` counts as sure when a card is played, such as
    the point for last, which `expert` pegs after the card.

    Shapes: float16[N, inputs], float32[N, 2], int64[N].
    """
    found = findings(views)
    cards = np.argwhere(np.isfinite(found[..., MY_POINTS]))
    inputs, sure = inputs_of(views, cards)
    found = found[cards[:, 0], cards[:, 1]]
    mine = found[:, POINTS_NOW] + found[:, MY_POINTS] - sure
    targets = np.stack([mine, found[:, THEIR_POINTS]], axis=1)
    return inputs.astype(np.float16), targets.astype(np.float32), cards[:, 0]


@checked_dataclass(frozen=True, kw_only=True)
class FitSettings:
    """Fit the pegging network of a file, and write the file with it.

    Attributes:
        student: the file to begin with.
        out: the file to write.
        rounds: rounds of deals, each followed by a fit.
        deals: deals of a round.
        learning_rate: of Adam, at first.
        batch_size: decisions of a step.
        seed: fixes all random numbers.
    """

    student: File
    out: NewFile
    rounds: Count = 40
    deals: Count = 2048
    learning_rate: Positive = 5e-4
    batch_size: Count = 256
    seed: Seed = 1


class Student:
    """The weights of a two-hand game's file; ``nets`` trains their pegging network ``net``."""

    def __init__(self, settings: FitSettings, program: str) -> None:
        torch.manual_seed(settings.seed)
        torch.set_num_threads(1)
        weights = Weights.load(settings.student)
        if not isinstance(weights.rules, TwoHandRules):
            raise ValueError(f"{settings.student} is of {weights.rules.name}: only two-hand games have a teacher")
        self.net = net_of(weights)
        self.nets = AveragedNets(self.net, settings.learning_rate, EMA_RATE)
        made_by = command(f"python -m research.{program}", settings, ("student", "out"))
        self.weights = replace(weights, made_by=f"{weights.made_by}, then {made_by}")

    def now(self) -> Weights:
        """Return the weights with the average of the network over its steps."""
        return replace(self.weights, nets={**self.weights.nets, "pegging": layers_of(self.nets.average)})


def net_of(weights: Weights) -> nn.Module:
    """Return the pegging network of weights as a module to train further."""
    layers = weights.nets["pegging"]
    net = mlp(layers[0][0].shape[1], *(len(bias) for _, bias in layers))
    arrays = [array for layer in layers for array in layer]
    with torch.no_grad():
        for parameter, array in zip(net.parameters(), arrays, strict=True):
            parameter.copy_(torch.tensor(array))
    return net


def rows_by_decision(decisions: Array) -> list[Array]:
    """Return the indices of the cards of each decision; ``decisions`` int64[N] is sorted."""
    return np.split(np.arange(len(decisions)), np.flatnonzero(np.diff(decisions)) + 1)


def joined(decisions: list[Array]) -> tuple[Array, torch.Tensor]:
    """Return the rows of some decisions, and the number of each row's decision among them."""
    which = np.repeat(np.arange(len(decisions)), [len(rows) for rows in decisions])
    return np.concatenate(decisions), torch.from_numpy(which)


@checked_dataclass(frozen=True, kw_only=True)
class Settings(FitSettings):
    """Fit the pegging network of `learned` to the values of `expert`.

    Attributes:
        last_epochs: passes over all rounds at the end, at a falling learning rate.
    """

    last_epochs: Count = 6


def run(settings: Settings) -> None:
    """Fit the pegging network of a file, and write the file with it."""
    rng, learner = np.random.default_rng(settings.seed), Student(settings, "distill")
    parts: list[tuple[Array, Array, Array]] = []

    def fit(epochs: float, falls: bool) -> None:
        inputs, targets, decisions = (np.concatenate(part) for part in zip(*parts, strict=True))
        by_decision = rows_by_decision(decisions)
        n = int(epochs * len(by_decision) / settings.batch_size)
        for step in range(n):
            chosen = rng.integers(len(by_decision), size=settings.batch_size)
            rows, which = joined([by_decision[i] for i in chosen])
            expected = learner.net(torch.from_numpy(inputs[rows].astype(np.float32)))
            loss = cards_loss(expected - torch.from_numpy(targets[rows]), which)
            learner.nets.step(loss, 1.0 - step / n if falls else 1.0)

    for _ in steps(range(settings.rounds), "rounds"):
        parts.append(priced(play(learner.now(), settings.deals, rng)))
        fit(2 / len(parts), falls=False)
    fit(settings.last_epochs, falls=True)
    learner.now().save(settings.out)


if __name__ == "__main__":
    start(Settings, run)
