"""The PyTorch part of distillation: networks from weights, the loss, and the errors."""

from __future__ import annotations

from pathlib import Path

import torch
from crib_agents.learned import Weights
from crib_agents.learned.agent import shipped
from torch import nn

from crib_env.policy import Agent
from crib_env.rules import Rules
from crib_training.evaluation.duplicate import estimate, play_pairs
from crib_training.evaluation.figures import as_json, shown_percent
from crib_training.learn.learner import mlp

SEED = 3_000_000  # of the deals that strength is measured on


def find_student(path: Path | None, rules: Rules) -> Weights:
    """Return the weights to begin with: those of a file, or those that come with the package.

    Raises:
        ValueError: there are none for these rules.
    """
    known = shipped() if path is None else (Weights.load(path),)
    for weights in known:
        if weights.rules == rules.name:
            return weights
    raise ValueError(f"there are no weights for {rules.name}: train some by crib train --method "
                     f"deep_monte_carlo, and give them as --student")  # fmt: skip


def modules(weights: Weights) -> nn.ModuleDict:
    """Return the nets of weights for PyTorch."""
    made = nn.ModuleDict()
    for name, layers in weights.nets.items():
        (first, _), (second, _), (last, _) = layers
        made[name] = mlp(first.shape[1], len(first), len(second), len(last))
        linear = [layer for layer in made[name].modules() if isinstance(layer, nn.Linear)]
        for layer, (weight, bias) in zip(linear, layers, strict=True):
            layer.weight.data = torch.tensor(weight)
            layer.bias.data = torch.tensor(bias)
    return made


def centred_loss(
    found: torch.Tensor, targets: torch.Tensor, signs: torch.Tensor, of: torch.Tensor, scale: float
) -> torch.Tensor:
    """Return the mean squared error of the values of choices, less its mean over each view.

    Args:
        found, targets: float32[rows, outputs]. signs: float32[outputs], see `labels.SIGNS`.
        of: int64[rows], the view of each row, from 0. scale: the weight of the outputs' own errors.
    """
    wrong = found - targets
    value = wrong @ signs
    views = int(of[-1]) + 1
    rows = torch.zeros(views).index_add_(0, of, torch.ones(len(of)))
    mean = torch.zeros(views).index_add_(0, of, value) / rows
    return ((value - mean[of]) ** 2 + scale * (wrong**2).sum(dim=1)).mean()


def games_won(agent: Agent, opponent: Agent, rules: Rules, pairs: int) -> str:
    """Return the share of duplicate games that an agent wins, as words."""
    games = play_pairs(rules, "game", agent, opponent, pairs, SEED)
    won = as_json(estimate(games.won.mean(axis=1)))
    return f"{shown_percent(won)} of games, {pairs} pairs"
