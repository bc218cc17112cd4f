"""ESCHER: networks for counterfactual regrets, from a critic of histories, no importance weights.

    crib train --method escher --env five_card_v0 --out runs/escher

McAleer et al. 2023, arXiv 2206.04122. In each deal one seat draws its actions uniformly and the
other plays by regret matching. A critic that sees both hands values every action. An action's
value less the policy's mean is a sample of its regret, without importance weights. One network
learns the mean regret of each action over all iterations. Another learns the average policy, which
is evaluated.
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import torch
from crib_agents.torch_nets import mlp
from pydantic import Field
from torch import Tensor

from crib_env.settings import Count, NewFolder, Portion, Positive, Whole, checked_dataclass
from crib_training.learn.run import State
from crib_training.learn.self_play import (
    Memory,
    MemoryLearner,
    Policy,
    RolloutSettings,
    both_seats,
    descend,
    match_regrets,
)


@checked_dataclass(frozen=True, kw_only=True)
class Settings(RolloutSettings):
    """Learn a mixed policy by ESCHER.

    Attributes:
        method: the method.
        batch_size: decisions per step of gradient descent.
        updates: gradient steps of the regrets and of the average policy per iteration.
        critic_epochs: passes of the critic over an iteration's decisions.
        learning_rate: learning rate of all networks; it falls to a tenth.
        tau: step of the target critic at each update.
        reservoir_size: decisions in each of the two reservoirs.
        out: the folder for results.
    """

    method: Literal["escher"] = "escher"
    batch_size: Annotated[Whole, Field(ge=2, le=1 << 20)] = 256
    updates: Count = 64
    critic_epochs: Count = 6
    learning_rate: Positive = 1e-3
    tau: Portion = 0.02
    reservoir_size: Count = 400_000
    out: NewFolder = Path("runs/escher")


class Learner(MemoryLearner):
    """Learns by its `Settings`."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.regrets = Policy(self.games, settings.hidden_sizes)
        self.average = Policy(self.games, settings.hidden_sizes)
        seen = both_seats(self.games).shape[1]
        self.critic = mlp(seen, *settings.hidden_sizes, self.games.actions)
        self.target = copy.deepcopy(self.critic)
        self.adams = {
            name: torch.optim.Adam(module.parameters(), eps=1e-5, fused=True)
            for name, module in (("regrets", self.regrets), ("average", self.average),
                                 ("critic", self.critic))
        }  # fmt: skip
        self.modules = {
            "regrets": self.regrets,
            "average": self.average,
            "critic": self.critic,
            "target": self.target,
            **{f"adam_{name}": adam for name, adam in self.adams.items()},
        }
        self.of_regrets = Memory(settings.reservoir_size, True, self.rng)
        self.of_policy = Memory(settings.reservoir_size, True, self.rng)
        self.memories = {"regrets": self.of_regrets, "policy": self.of_policy}
        self.explorer = self.rng.integers(0, 2, settings.num_envs)  # the seat that explores

    def iterate(self) -> dict[str, float]:
        """Play an iteration, then let the critic, the regrets and the average learn."""
        settings = self.settings
        for adam in self.adams.values():
            adam.param_groups[0]["lr"] = settings.learning_rate * (0.1 + 0.9 * self.left)
        iteration = 1.0 + self.decisions / (settings.steps * settings.num_envs)
        rows = [self._step(iteration) for _ in range(settings.steps)]
        error = self._learn_critic(*(torch.cat(column) for column in zip(*rows, strict=True)))
        self.decisions += settings.steps * settings.num_envs
        loss = imitation = 0.0
        both = len(self.of_regrets) and len(self.of_policy)  # else a seat has not moved yet
        for _ in range(settings.updates if both else 0):
            loss, imitation = self._learn_regrets(iteration), self._learn_average(iteration)
        return {"loss": loss, "imitation_loss": imitation, "value_error": error}

    @torch.no_grad()
    def _step(self, iteration: float) -> tuple[Tensor, ...]:
        """Take a decision in every lane, and return the critic's training data."""
        games, lanes = self.games, self.games.lanes
        seen, masks = torch.from_numpy(games.observations), torch.from_numpy(games.masks)
        both, policy = both_seats(games), match_regrets(self.regrets(seen, masks), masks)
        q = self.critic(both)
        regrets = (q - (policy * q).sum(1, keepdim=True)) * masks
        explores = torch.from_numpy(self.explorer == games.movers)
        weight = torch.full((len(lanes),), int(iteration))  # whole: 16 bits end at 65,504
        self.of_regrets.add(seen=seen[explores], masks=masks[explores],
                            regrets=regrets[explores], weight=weight[explores])  # fmt: skip
        self.of_policy.add(seen=seen[~explores], masks=masks[~explores],
                           policy=policy[~explores], weight=weight[~explores])  # fmt: skip

        # One distribution in all iterations, or a position's regrets would not weigh them alike.
        uniform = masks / masks.sum(1, keepdim=True)
        ladder = torch.where(explores[:, None], uniform, policy).double().numpy().cumsum(1)
        points = self.rng.random((len(lanes), 1)) * ladder[:, -1:]
        actions = torch.from_numpy((ladder > points).argmax(1))
        sign = torch.from_numpy(1.0 - 2.0 * games.movers).float()
        gains, ended = games.step(actions.numpy())
        over = np.flatnonzero(ended)
        self.explorer[over] = self.rng.integers(0, 2, len(over))

        # The target: the gain, plus the critic's mean over the policy at the next decision.
        seen, masks = torch.from_numpy(games.observations), torch.from_numpy(games.masks)
        policy = match_regrets(self.regrets(seen, masks), masks)
        value = (policy * self.target(both_seats(games))).sum(1)
        value = value * torch.from_numpy(1.0 - 2.0 * games.movers).float()
        goes_on = 1.0 - torch.from_numpy(ended).float()
        return both, actions, (torch.from_numpy(gains) + goes_on * value) * sign

    def _learn_critic(self, both: Tensor, actions: Tensor, goals: Tensor) -> float:
        for _ in range(self.settings.critic_epochs):
            order = torch.from_numpy(self.rng.permutation(len(both)))
            for rows in torch.split(order, self.settings.batch_size):
                found = self.critic(both[rows]).gather(1, actions[rows][:, None])[:, 0]
                loss = (found - goals[rows]).square().mean()
                error = descend(self.adams["critic"], loss)
                with torch.no_grad():
                    torch._foreach_lerp_(list(self.target.parameters()),
                                         list(self.critic.parameters()),
                                         self.settings.tau)  # fmt: skip
        return error

    def _learn_regrets(self, iteration: float) -> float:
        rows = self.of_regrets.draw(self.settings.batch_size)
        masks = rows["masks"].bool()
        error = (self.regrets(rows["seen"], masks) - rows["regrets"]).square()
        weight = rows["weight"] / iteration  # later iterations count more: linear CFR
        loss = (error * masks).sum(1) @ weight / weight.sum()
        return descend(self.adams["regrets"], loss)

    def _learn_average(self, iteration: float) -> float:
        rows = self.of_policy.draw(self.settings.batch_size)
        log_p = self.average(rows["seen"], rows["masks"].bool()).log_softmax(1)
        weight = rows["weight"] / iteration
        loss = -(rows["policy"] * log_p).sum(1) @ weight / weight.sum()
        return descend(self.adams["average"], loss)

    def state(self) -> dict[str, Any]:
        """Return deals, generator and samples."""
        return super().state() | {"explorer": self.explorer}

    def restore(self, state: State) -> None:
        """Restore what `state` returned."""
        super().restore(state)
        self.explorer[:] = state["explorer"]
