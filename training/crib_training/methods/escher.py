"""ESCHER: networks for counterfactual regrets, from a critic of histories, no importance weights.

    crib train escher --env five_card_v0 --out runs/escher

McAleer et al. 2023, arXiv 2206.04122. In each deal one seat draws its actions uniformly and the
other plays by regret matching. A critic that sees both hands values every action. An action's
value less the policy's mean is a sample of its regret, without importance weights. One network
learns the mean regret of each action over all iterations. Another learns the average policy, which
is evaluated.
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from crib_env.settings import Count, NewFolder, Portion, checked_dataclass
from crib_training.learn import deal_learners
from crib_training.learn.run import State, descend, follow


@checked_dataclass(frozen=True, kw_only=True)
class Settings(deal_learners.RegretSettings, deal_learners.RolloutSettings):
    """Learn a stochastic policy by ESCHER.

    Attributes:
        critic_epochs: passes of the critic over an iteration's decisions.
        tau: step of the target critic at each update.
    """

    method: ClassVar[str] = "escher"
    critic_epochs: Count = 6
    tau: Portion = 0.02
    out: NewFolder = Path("runs/escher")


class Learner(deal_learners.RegretLearner):
    """Learns by its `Settings`."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.critic = deal_learners.make_critic(self.games, settings.hidden_sizes, self.games.actions)
        self.add_network("critic", self.critic)
        self.target = copy.deepcopy(self.critic)
        self.modules["target"] = self.target
        self.explorer = self.rng.integers(0, 2, settings.num_envs)  # the seat that explores

    def iterate(self) -> dict[str, float]:
        """Play an iteration, then let the critic, the regrets and the average learn."""
        settings = self.settings
        self.set_rate()
        iteration = 1 + self.decisions // (settings.steps * settings.num_envs)
        rows, policy = [], self._policy()
        for _ in range(settings.steps):
            row, policy = self._step(iteration, policy)
            rows.append(row)
        error = self._learn_critic(*(torch.cat(column) for column in zip(*rows, strict=True)))
        self.decisions += settings.steps * settings.num_envs
        return {**self.learn_both(), "value_error": error}

    @torch.no_grad()
    def _policy(self) -> Tensor:
        """Return the movers' policy by their regrets, float32[N, actions]."""
        masks = torch.from_numpy(self.games.masks)
        return deal_learners.match_regrets(self.regrets(torch.from_numpy(self.games.observations), masks), masks)

    @torch.no_grad()
    def _step(self, iteration: int, policy: Tensor) -> tuple[tuple[Tensor, ...], Tensor]:
        """Take a decision in every game; return the critic's training data, and the next policy."""
        games, lanes = self.games, self.games.lanes
        seen, masks = torch.from_numpy(games.observations), torch.from_numpy(games.masks)
        both = deal_learners.both_seats(games)
        q = self.critic(both)
        regrets = (q - (policy * q).sum(1, keepdim=True)) * masks
        explores = torch.from_numpy(self.explorer == games.movers)
        weight = torch.full((len(lanes),), iteration)  # integers: 16-bit floats end at 65,504
        self.of_regrets.add(
            seen=seen[explores], masks=masks[explores], regrets=regrets[explores], weight=weight[explores]
        )
        self.of_policy.add(
            seen=seen[~explores], masks=masks[~explores], policy=policy[~explores], weight=weight[~explores]
        )

        # The explorer draws alike in all iterations, so that a position's regrets weigh them alike.
        uniform = masks / masks.sum(1, keepdim=True)
        played = torch.where(explores[:, None], uniform, policy)
        actions = torch.from_numpy(deal_learners.draw_actions(played, self.rng))
        sign = torch.from_numpy(1.0 - 2.0 * games.movers).float()
        gains, ended = games.step(actions.numpy())
        over = np.flatnonzero(ended)
        self.explorer[over] = self.rng.integers(0, 2, len(over))

        # The target: the gain, plus the critic's mean over the policy at the next decision.
        policy = self._policy()
        value = (policy * self.target(deal_learners.both_seats(games))).sum(1)
        value = value * torch.from_numpy(1.0 - 2.0 * games.movers).float()
        goes_on = 1.0 - torch.from_numpy(ended).float()
        goals = (torch.from_numpy(gains) + goes_on * value) * sign
        return (both, actions, goals), policy

    def _learn_critic(self, both: Tensor, actions: Tensor, goals: Tensor) -> float:
        for _ in range(self.settings.critic_epochs):
            order = torch.from_numpy(self.rng.permutation(len(both)))
            for rows in torch.split(order, self.settings.batch_size):
                found = self.critic(both[rows]).gather(1, actions[rows][:, None])[:, 0]
                loss = (found - goals[rows]).square().mean()
                error = descend(self.adams["critic"], loss).item()
                follow(self.target, self.critic, self.settings.tau)
        return error

    def state(self) -> dict[str, Any]:
        """Return deals, memories and the seats that explore."""
        return super().state() | {"explorer": self.explorer}

    def restore(self, state: State) -> None:
        """Restore what `state` returned."""
        super().restore(state)
        self.explorer[:] = state["explorer"]
