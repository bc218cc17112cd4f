"""Fit the pegging network of a stochastic policy to `equilibrium`, in a two-hand game.

    python -m research.imitate --student runs/mixed/policy.safetensors --out imitated.safetensors

The student's networks play deals: they discard the pair of the highest value, and draw cards as
`research.distill` does, with the discards hidden as ``suits="ranks"`` hides them. At each decision
`equilibrium` gives the probability of every card. The loss is the cross-entropy of the student's
softmax to these probabilities. Every decision is learned from once, at a falling learning rate. The
networks for discarding stay as they are.

The result measures the capacity of a pegging network of this size with these inputs.
"""

from __future__ import annotations

import numpy as np
import torch
from crib_agents.equilibrium import Equilibrium
from crib_agents.learned import MixedAgent
from crib_training.command_line import start
from crib_training.learn.deep_monte_carlo.inputs import inputs_of, one_card_per_rank
from crib_training.progress import steps
from torch import Tensor

from crib_env.arrays import Array
from crib_env.engine.ranks import RANKS
from crib_env.policy import Views
from crib_env.settings import Count, Positive, checked_dataclass
from research.distill import FitSettings, Student, joined, play, rows_by_decision

LAST_SHARE = 0.02  # of the learning rate, at the end


def card_targets(views: Views) -> tuple[Array, Array, Array, Array]:
    """Return the inputs, the sure points, the teacher's probability and the view of each card.

    Shapes: float32[N, inputs], float32[N], float32[N], int64[N].
    """
    cards, _ = one_card_per_rank(views)
    inputs, sure = inputs_of(views, cards)
    by_rank = Equilibrium().action_probabilities(views).reshape(len(views), RANKS, 4).sum(axis=2)
    wanted = by_rank[cards[:, 0], views["hand"][cards[:, 0], cards[:, 1]] >> 2]
    return inputs, sure.astype(np.float32), wanted.astype(np.float32), cards[:, 0]


def cross_entropy(values: Tensor, wanted: Tensor, decisions: Tensor) -> Tensor:
    """Return the mean over decisions of the softmax's cross-entropy to the wanted probabilities."""
    n = int(decisions[-1]) + 1
    largest = torch.full((n,), -torch.inf).scatter_reduce(0, decisions, values.detach(), "amax")
    below = values - largest[decisions]
    total = torch.zeros(n).index_add(0, decisions, below.exp()).log()
    loss: Tensor = -(wanted * (below - total[decisions])).sum() / n
    return loss


@checked_dataclass(frozen=True, kw_only=True)
class Settings(FitSettings):
    """Fit the pegging network of a stochastic policy to the choices of `equilibrium`."""

    rounds: Count = 80
    deals: Count = 16384
    learning_rate: Positive = 1e-3


def run(settings: Settings) -> None:
    """Fit the pegging network of a file, and write the file with it."""
    rng, learner = np.random.default_rng(settings.seed), Student(settings, "imitate")
    temperature = MixedAgent([learner.now()]).sets[0].temperature  # refuses one that is not mixed
    for number in steps(range(settings.rounds), "rounds"):
        inputs, sure, wanted, decisions = card_targets(play(learner.now(), settings.deals, rng, hide_discards=True))
        by_decision = rows_by_decision(decisions)
        share = max(LAST_SHARE, 1 - number / settings.rounds)
        order, batches = rng.permutation(len(by_decision)), max(1, len(by_decision) // settings.batch_size)
        for batch in np.array_split(order, batches):
            rows, which = joined([by_decision[i] for i in batch])
            expected = learner.net(torch.from_numpy(inputs[rows]))
            values = torch.from_numpy(sure[rows]) + expected[:, 0] - expected[:, 1]
            loss = cross_entropy(values / temperature, torch.from_numpy(wanted[rows]), which)
            learner.nets.step(loss, share)
    learner.now().save(settings.out)


if __name__ == "__main__":
    start(Settings, run)
