"""Magnetic mirror descent that values every action instead of playing one.

    crib train --method mmd_tree --env five_card_v0 --out runs/mmd_tree

As `mmd`, with a reverse KL to the last policy and one to the uniform policy, whose pull falls. But
the advantages are not estimated from the actions played. The pegging of each deal is followed down
every branch, so the value of each card is exact for these two hands (`Trees`). Each pair of
discards is valued by the mean points of the show and by a critic of the pegging, which sees both
hands and learns from those values. Every decision of the trees counts in the budget.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from crib_env.arrays import Doubles, Ints
from crib_env.settings import (
    Count,
    NewFolder,
    NotNegative,
    Portion,
    Positive,
    Share,
    Whole,
    checked_dataclass,
)
from crib_training.learn.deal_batch import DealBatch
from crib_training.learn.self_play import (
    CriticLearner,
    CriticSettings,
    Memory,
    Policy,
    both_seats,
    draw_actions,
)

CHUNK = 4096  # observations at once
Values = Callable[[DealBatch], Doubles]


@dataclass(frozen=True)
class ValuedDecisions:
    """Decisions with the value of every action."""

    observations: Tensor  # float32[B, size]
    masks: Tensor  # bool[B, actions]
    log_probabilities: Tensor  # float32[B, actions], of the policy that was valued
    # float32[B, actions], points that an action brings the mover beyond the policy's mean; 0 where
    # it is illegal
    advantages: Tensor
    weights: Tensor  # float32[B], how likely a decision is met, of mean 1

    @classmethod
    def join(cls, parts: list[ValuedDecisions]) -> ValuedDecisions:
        """Return the decisions of all parts."""
        return cls(**{name: torch.cat([getattr(part, name) for part in parts])
                      for name in vars(parts[0])})  # fmt: skip

    def normalised(self) -> ValuedDecisions:
        """Return them with weights of mean 1."""
        return replace(self, weights=self.weights / self.weights.mean())


class Trees:
    """Values all actions of a policy against itself.

    ``explore`` is the share of the uniform policy in the weights, so that the policy also learns
    after cards that it does not play; ``own`` the exponent of the mover's own probabilities there:
    1 weighs a decision by how likely self-play meets it, 0 as if the mover wanted to get there.
    """

    def __init__(self, policy: Policy, explore: float, own: float) -> None:
        self.policy, self.explore, self.own = policy, explore, own

    def log_probabilities(self, games: DealBatch) -> Tensor:
        """Return those of all actions of the movers, float32[N, actions]."""
        parts = zip(torch.split(torch.from_numpy(games.observations), CHUNK),
                    torch.split(torch.from_numpy(games.masks), CHUNK), strict=True)  # fmt: skip
        with torch.no_grad():
            return torch.cat([self.policy(*part).log_softmax(1) for part in parts])

    def draw(self, games: DealBatch, rng: np.random.Generator) -> Ints:
        """Draw an action for each mover, int64[N]."""
        return draw_actions(self.log_probabilities(games).exp(), rng)

    def pegging(self, games: DealBatch) -> tuple[Doubles, ValuedDecisions]:
        """Value all pegging from here.

        Returns float64[N], the points of seat 0 less those of seat 1 until the deal is over; and
        all decisions that can follow.
        """
        values, found = self._follow(games, np.ones((len(games.lanes), 2)))
        return values, ValuedDecisions.join(found).normalised()

    def _follow(self, games: DealBatch, reach: Doubles) -> tuple[Doubles, list[ValuedDecisions]]:
        """Value the decisions of ``games`` and those below; ``reach[N, 2]`` is each seat's."""
        log_p = self.log_probabilities(games)
        lanes, actions = games.masks.nonzero()
        after, gains, running = games.after(lanes, actions)
        below: list[ValuedDecisions] = []
        if len(running):
            after.observe()
            rows = lanes[running]
            further = reach[rows]
            p = self._explored(games, log_p)[rows, actions[running]]
            further[np.arange(len(rows)), games.movers[rows]] *= p
            values, below = self._follow(after, further)
            gains[running] += values
        rows, movers = np.arange(len(games.lanes)), games.movers
        weights = reach[rows, 1 - movers] * reach[rows, movers] ** self.own
        values, choices = _weigh(games, log_p, lanes, actions, gains, weights)
        return values, [choices, *below]

    def discards(self, games: DealBatch, replies: list[Ints], value: Values) -> ValuedDecisions:
        """Value every pair of cards that the movers can discard (replies int64[N])."""
        log_p = self.log_probabilities(games)
        lanes, first = games.masks.nonzero()
        second, gains, _ = games.after(lanes, first)
        second.observe()
        second_log_p = self.log_probabilities(second)
        parents, last = second.masks.nonzero()
        # The order of two discards does not matter: value each pair once.
        deals = lanes[parents]
        pairs = np.stack([deals, *np.sort([first[parents], last], axis=0)], 1)
        _, once, which = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
        after, found, _ = second.after(parents[once], last[once])
        found = found + gains[parents[once]]
        for cards in replies:
            after, more, _ = after.after(after.lanes, cards[deals[once]])
            found = found + more
        after.observe()
        outcomes = (found + value(after))[which.ravel()]
        weights = self._explored(games, log_p)[lanes, first] ** self.own
        values, lower = _weigh(second, second_log_p, parents, last, outcomes, weights)
        upper = _weigh(games, log_p, lanes, first, values, np.ones(len(games.lanes)))[1]
        return ValuedDecisions.join([upper, lower])

    def _explored(self, games: DealBatch, log_p: Tensor) -> Doubles:
        """Return the probabilities with a share of the uniform policy, float64[N, actions]."""
        uniform = games.masks / games.masks.sum(1, keepdims=True)
        p: Doubles = (1 - self.explore) * log_p.exp().double().numpy() + self.explore * uniform
        return p


def _weigh(
    games: DealBatch, log_p: Tensor, lanes: Ints, actions: Ints, outcomes: Doubles, weights: Doubles
) -> tuple[Doubles, ValuedDecisions]:
    """Return the values of decisions for seat 0, float64[N], and the decisions.

    Shapes: log_p float32[N, actions]; lanes, actions int64[K]; outcomes float64[K]; weights
    float64[N].
    """
    p = log_p.exp().double().numpy()
    weighed = np.bincount(lanes, p[lanes, actions] * outcomes, len(games.lanes))
    values = weighed.astype(np.float64)
    advantages = np.zeros(games.masks.shape, dtype=np.float32)
    sign = 1.0 - 2.0 * games.movers[lanes]
    advantages[lanes, actions] = (outcomes - values[lanes]) * sign
    return values, ValuedDecisions(
        torch.from_numpy(games.observations), torch.from_numpy(games.masks), log_p,
        torch.from_numpy(advantages), torch.from_numpy(weights.astype(np.float32)),
    )  # fmt: skip


@checked_dataclass(frozen=True, kw_only=True)
class Settings(CriticSettings):
    """Learn a mixed policy by magnetic mirror descent on trees of deals.

    Attributes:
        num_envs: deals per iteration.
        features: per-action features beside the bits.
        final_learning_rate: the share of the learning rate at the end.
        advantage_unit: points that count as an advantage of 1.
        kl_coef: weight of the KL to the policy that was valued.
        magnet_coef: weight of the KL to the uniform policy in the pegging.
        final_magnet_coef: that weight at the end.
        discard_magnet_coef: weight of the KL to the uniform policy at the discard.
        final_discard_magnet_coef: that weight at the end.
        explore: share of the uniform policy in the weights of decisions.
        own_reach_exponent: a decision weighs the probability that the other seat and chance reach
            it, times the mover's own probability of reaching it to the power of this.
        critic_batch_size: deals per step of the critic.
        buffer_size: deals from which the critic learns, the newest.
    """

    method: Literal["mmd_tree"] = "mmd_tree"
    num_envs: Count = 512
    features: Literal["lookahead", "reply"] | None = "reply"
    batch_size: Annotated[Whole, Field(ge=2, le=1 << 20)] = 1024
    final_learning_rate: Share = 0.03
    advantage_unit: Positive = 2.9
    kl_coef: NotNegative = 0.5
    magnet_coef: NotNegative = 0.05
    final_magnet_coef: NotNegative = 0.006
    discard_magnet_coef: NotNegative = 0.03
    final_discard_magnet_coef: NotNegative = 0.002
    explore: Share = 0.1
    own_reach_exponent: Share = 0.5
    critic_batch_size: Count = 256
    buffer_size: Count = 8192
    ema_rate: Portion = 0.005
    out: NewFolder = Path("runs/mmd_tree")


class Learner(CriticLearner):
    """Learns by its `Settings`."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.roots = Memory(settings.buffer_size, False, self.rng)
        self.memories = {"roots": self.roots}
        self.trees = Trees(self.policy, settings.explore, settings.own_reach_exponent)

    def iterate(self) -> dict[str, float]:
        """Value all actions of some deals, then learn from them."""
        settings = self.settings
        self.set_rate(self.annealed(1.0, settings.final_learning_rate))
        pegging, discards = self._deal()
        columns = ValuedDecisions.join([pegging, discards])
        pull = torch.cat([
            torch.full_like(part.weights, self.annealed(first, last))
            for part, first, last in (
                (pegging, settings.magnet_coef, settings.final_magnet_coef),
                (discards, settings.discard_magnet_coef, settings.final_discard_magnet_coef),
            )
        ])  # fmt: skip
        count = len(pull)
        for _ in range(settings.epochs):
            order = torch.from_numpy(self.rng.permutation(count))
            for rows in order.tensor_split(max(1, count // settings.batch_size)):
                batch = ValuedDecisions(*(column[rows] for column in vars(columns).values()))
                figures = self._descend(batch, pull[rows])
        self.decisions += count
        return figures

    def _deal(self) -> tuple[ValuedDecisions, ValuedDecisions]:
        """Deal, and return the decisions of the pegging and of the discards."""
        games, trees = self.games, self.trees
        games.reset()
        stages, drawn = [games], []
        for _ in range(4):  # two cards of one seat, then two of the other
            drawn.append(trees.draw(stages[-1], self.rng))
            stage, _, _ = stages[-1].after(stages[-1].lanes, drawn[-1])
            stage.observe()
            stages.append(stage)
        values, pegging = trees.pegging(stages[4])
        movers = torch.from_numpy(1.0 - 2.0 * stages[4].movers)
        self.roots.add(both=both_seats(stages[4]),
                       value=(torch.from_numpy(values) * movers).float())  # fmt: skip
        first = trees.discards(stages[0], drawn[2:], self._pegging_value)
        second = trees.discards(stages[2], [], self._pegging_value)
        return pegging, ValuedDecisions.join([first, second]).normalised()

    @torch.no_grad()
    def _pegging_value(self, games: DealBatch) -> Doubles:
        """Return the critic's value of pegging for seat 0, float64[K]."""
        values: Doubles = self.critic(both_seats(games))[:, 0].double().numpy()
        return values * (1.0 - 2.0 * games.movers)

    def _descend(self, batch: ValuedDecisions, pull: torch.Tensor) -> dict[str, float]:
        """Take a step of gradient descent, and return figures."""
        settings = self.settings
        log_p = self.policy(batch.observations, batch.masks).log_softmax(1)
        p = log_p.exp()
        gain = (p * batch.advantages).sum(1) / settings.advantage_unit
        kl = (p * (log_p - batch.log_probabilities)).sum(1)
        entropy = -(p * log_p).sum(1)
        drawn = self.roots.draw(settings.critic_batch_size)
        error = (self.critic(drawn["both"])[:, 0] - drawn["value"]).square().mean()
        gain = gain - settings.kl_coef * kl + pull * entropy
        loss = -(batch.weights * gain).mean() + 0.1 * error
        self.descend(loss)
        return {"loss": loss.item(), "kl": kl.mean().item(), "entropy": entropy.mean().item(),
                "value_error": error.item()}  # fmt: skip
