"""Fit the pegging network of `learned` to the values of `expert`, in a two-hand game.

    python -m research.distill --student runs/six/policy.safetensors --out six_card.safetensors

The network plays deals of self-play, and `expert` prices every card of each decision: the points
that both seats make from then on. The networks for discarding stay as they are. After each round
the network is fitted to decisions drawn from all rounds so far, twice as many as a round has; at
the end, at a falling learning rate, to several times as many as there are. The loss is the squared
error of the differences between a decision's cards, plus a twentieth of that of the points.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
import tyro
from crib_agents.expert.pegging import MY_POINTS, POINTS_NOW, THEIR_POINTS, findings
from crib_agents.learned import MonteCarloAgent, Weights
from crib_agents.torch_nets import layers_of, mlp
from crib_training.learn.deep_monte_carlo.inputs import inputs_of
from crib_training.learn.deep_monte_carlo.pegging_tree import cards_loss
from crib_training.learn.deep_monte_carlo.two_hand import play_cards
from crib_training.learn.run import AveragedNets
from crib_training.progress import Progress
from torch import nn

from crib_env.arrays import Array
from crib_env.batch import GameBatch
from crib_env.policy import Views
from crib_env.rules import TwoHandRules

EMA_RATE = 0.002
TEMPERATURE, EPSILON = 0.1, 0.05  # of the cards played


def play(weights: Weights, deals: int, rng: np.random.Generator, hide_discards: bool = False) -> Views:
    """Return the views with a choice of the pegging of some deals."""
    student = MonteCarloAgent([weights])
    games = GameBatch(weights.rules, deals, episode="deal", seed=int(rng.integers(1 << 62)))
    games.reset()
    for _ in range(4):
        games.ask(student, np.arange(deals), rng)
    played = play_cards(games, weights.flat(), TEMPERATURE, EPSILON, rng, hide_discards)
    return np.concatenate([views for _, views, _, _ in played])


def priced(views: Views) -> tuple[Array, Array, Array]:
    """Return inputs, both seats' points to follow, and the decision, of every card that is legal.

    What `learned` counts as sure when a card is played, a last card's point among it, does not
    follow; `expert` pegs that point after the card.

    Shapes: float16[N, inputs], float32[N, 2], int64[N].
    """
    found = findings(views)
    cards = np.argwhere(np.isfinite(found[..., MY_POINTS]))
    inputs, sure = inputs_of(views, cards)
    found = found[cards[:, 0], cards[:, 1]]
    mine = found[:, POINTS_NOW] + found[:, MY_POINTS] - sure
    targets = np.stack([mine, found[:, THEIR_POINTS]], axis=1)
    return inputs.astype(np.float16), targets.astype(np.float32), cards[:, 0]


class Student:
    """The weights of a two-hand game's file; ``nets`` trains their pegging network ``net``."""

    def __init__(self, file: Path, command: str, learning_rate: float, seed: int) -> None:
        torch.manual_seed(seed)
        torch.set_num_threads(1)
        weights = Weights.load(file)
        if not isinstance(weights.rules, TwoHandRules):
            raise SystemExit(f"{file} is of {weights.rules.name}: only two-hand games have a teacher")
        self.net = net_of(weights)
        self.nets = AveragedNets(self.net, learning_rate, EMA_RATE)
        self.weights = replace(weights, made_by=f"{weights.made_by}, then python -m research.{command} --seed {seed}")

    def now(self) -> Weights:
        """Return the weights with the average of the network over its steps."""
        return replace(self.weights, nets={**self.weights.nets, "pegging": layers_of(self.nets.average)})


def net_of(weights: Weights) -> nn.Module:
    """Return the pegging network of weights, to be trained on."""
    layers = weights.nets["pegging"]
    net = mlp(layers[0][0].shape[1], *(len(bias) for _, bias in layers))
    with torch.no_grad():
        numbers = (torch.tensor(array) for layer in layers for array in layer)
        for parameter, array in zip(net.parameters(), numbers, strict=True):
            parameter.copy_(array)
    return net


def rows_by_decision(decisions: Array) -> list[Array]:
    """Return the indices of the cards of each decision; ``decisions`` int64[N] is sorted."""
    return np.split(np.arange(len(decisions)), np.flatnonzero(np.diff(decisions)) + 1)


def main(
    student: Path,
    out: Path,
    rounds: int = 40,
    deals: int = 2048,
    learning_rate: float = 5e-4,
    last_epochs: int = 6,
    batch_size: int = 256,
    seed: int = 1,
) -> None:
    """Fit the pegging network of a file, and write the file with it."""
    rng = np.random.default_rng(seed)
    learner = Student(student, f"distill --rounds {rounds} --deals {deals}", learning_rate, seed)
    parts: list[tuple[Array, Array, Array]] = []

    def fit(epochs: float, falls: bool) -> None:
        inputs, targets, decisions = (np.concatenate(part) for part in zip(*parts, strict=True))
        by_decision = rows_by_decision(decisions)
        steps = int(epochs * len(by_decision) / batch_size)
        for step in range(steps):
            chosen = [by_decision[i] for i in rng.integers(len(by_decision), size=batch_size)]
            rows = np.concatenate(chosen)
            expected = learner.net(torch.from_numpy(inputs[rows].astype(np.float32)))
            which = np.repeat(np.arange(batch_size), [len(cards) for cards in chosen])
            loss = cards_loss(expected - torch.from_numpy(targets[rows]), torch.from_numpy(which))
            learner.nets.step(loss, 1.0 - step / steps if falls else 1.0)

    with Progress("rounds", rounds) as progress:
        for _ in range(rounds):
            parts.append(priced(play(learner.now(), deals, rng)))
            fit(2 / len(parts), falls=False)
            progress.advance(1)
    fit(last_epochs, falls=True)
    learner.now().save(out)


if __name__ == "__main__":
    tyro.cli(main)
