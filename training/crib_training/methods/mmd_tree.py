"""Magnetic mirror descent that values every action instead of playing one.

    crib train --method mmd_tree --env five_card_v0 --out runs/mmd_tree

As `mmd`, with a reverse KL to the last policy and one to the uniform policy, whose pull falls. But
the advantages are not estimated from the actions played. The pegging of each deal is followed down
every branch, so the value of each card is exact for these two hands (`trees`). Each pair of
discards is valued by the mean points of the show and by a critic of the pegging, which sees both
hands and learns from those values. Every decision of the trees counts in the budget.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import torch
from pydantic import Field

from crib_env.arrays import Doubles
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
from crib_training.learn.games import Games
from crib_training.learn.self_play import Memory, MemoryLearner, Networks, RunSettings, both_seats
from crib_training.learn.trees import Trees, ValuedDecisions


@checked_dataclass(frozen=True, kw_only=True)
class Settings(RunSettings):
    """Learn a mixed policy by magnetic mirror descent on trees of deals.

    Attributes:
        method: the method.
        num_envs: deals per iteration.
        features: per-action features beside the bits.
        batch_size: decisions per step of gradient descent.
        epochs: passes over the decisions of an iteration.
        learning_rate: learning rate.
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
        max_grad_norm: maximum norm of the gradients.
        ema_rate: step of the average of the weights at each update; the average is evaluated.
        out: the folder for results.
    """

    method: Literal["mmd_tree"] = "mmd_tree"
    num_envs: Count = 512
    features: Literal["lookahead", "reply"] | None = "reply"
    batch_size: Annotated[Whole, Field(ge=2, le=1 << 20)] = 1024
    epochs: Count = 2
    learning_rate: Positive = 4e-3
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
    max_grad_norm: Positive = 0.5
    ema_rate: Portion = 0.005
    out: NewFolder = Path("runs/mmd_tree")


class Learner(MemoryLearner):
    """Learns by its `Settings`."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.networks = Networks(self.games, settings.hidden_sizes, settings.learning_rate)
        self.policy, self.average = self.networks.policy, self.networks.average
        self.critic, self.modules = self.networks.critic, self.networks.modules
        self.roots = Memory(settings.buffer_size, False, self.rng)
        self.memories = {"roots": self.roots}
        self.trees = Trees(self.policy, settings.explore, settings.own_reach_exponent)

    def iterate(self) -> dict[str, float]:
        """Value all actions of some deals, then learn from them."""
        settings = self.settings
        self.networks.set_rate(self.annealed(1.0, settings.final_learning_rate))
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
    def _pegging_value(self, games: Games) -> Doubles:
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
        self.networks.descend(loss, settings.max_grad_norm, settings.ema_rate)
        return {"loss": loss.item(), "kl": kl.mean().item(), "entropy": entropy.mean().item(),
                "value_error": error.item()}  # fmt: skip
