"""Deep CFR: regrets from traversals that try every action of one seat, and the average policy.

    crib train --method deep_cfr --env five_card_v0 --out runs/deep_cfr

Brown et al. 2019, arXiv 1811.00164, with external sampling: in each traversal one seat tries all
its actions, the other draws one by regret matching, and the deal is drawn. A network learns the
mean regrets of all iterations, another the average policy; later iterations count more (linear
CFR). Both go on learning between iterations, where the paper begins the regrets afresh.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from crib_env.arrays import Array, Doubles, Ints
from crib_env.settings import Count, NewFolder, Positive, Whole, checked_dataclass
from crib_training.learn.games import Games
from crib_training.learn.run import State
from crib_training.learn.self_play import (
    Memory,
    MemoryLearner,
    Policy,
    RunSettings,
    descend,
    match_regrets,
)


@checked_dataclass(frozen=True, kw_only=True)
class Settings(RunSettings):
    """Learn a mixed policy by deep CFR.

    Attributes:
        method: the method.
        num_envs: deals traversed per iteration.
        batch_size: decisions per step of gradient descent.
        updates: gradient steps of each network per iteration.
        learning_rate: learning rate of both networks; it falls to a tenth.
        reservoir_size: decisions in each of the two reservoirs.
        out: the folder for results.
    """

    method: Literal["deep_cfr"] = "deep_cfr"
    num_envs: Count = 64
    batch_size: Annotated[Whole, Field(ge=2, le=1 << 20)] = 256
    updates: Count = 64
    learning_rate: Positive = 1e-3
    reservoir_size: Count = 400_000
    out: NewFolder = Path("runs/deep_cfr")


class Learner(MemoryLearner):
    """Learns by its `Settings`."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.regrets = Policy(self.games, settings.hidden_sizes)
        self.average = Policy(self.games, settings.hidden_sizes)
        self.adams = [torch.optim.Adam(net.parameters(), eps=1e-5, fused=True)
                      for net in (self.regrets, self.average)]  # fmt: skip
        self.modules = {
            "regrets": self.regrets, "average": self.average,
            "adam_regrets": self.adams[0], "adam_average": self.adams[1],
        }  # fmt: skip
        self.of_regrets = Memory(settings.reservoir_size, True, self.rng)
        self.of_policy = Memory(settings.reservoir_size, True, self.rng)
        self.memories = {"regrets": self.of_regrets, "policy": self.of_policy}
        self.iteration = 0

    def iterate(self) -> dict[str, float]:
        """Traverse new deals, for each seat in half of them, then let both networks learn."""
        settings = self.settings
        for adam in self.adams:
            adam.param_groups[0]["lr"] = settings.learning_rate * (0.1 + 0.9 * self.left)
        self.iteration += 1
        self.games.reset()
        self._traverse(self.games, (np.arange(settings.num_envs) + self.iteration) % 2)
        loss = imitation = 0.0
        both = len(self.of_regrets) and len(self.of_policy)
        for _ in range(settings.updates if both else 0):
            loss, imitation = self._learn_regrets(), self._learn_average()
        return {"loss": loss, "imitation_loss": imitation}

    @torch.no_grad()
    def _traverse(self, games: Games, seats: Ints) -> Doubles:
        """Add what can be learned below these decisions; return the seats' values, float64[N]."""
        self.decisions += len(games.lanes)
        seen, masks = torch.from_numpy(games.observations), torch.from_numpy(games.masks)
        policy = match_regrets(self.regrets(seen, masks), masks)
        tries = games.movers == seats
        weight = torch.full((len(seats),), self.iteration)
        other = torch.from_numpy(~tries)
        self.of_policy.add(seen=seen[other], masks=masks[other], policy=policy[other],
                           weight=weight[other])  # fmt: skip
        p = policy.double().numpy()
        ladder = p.cumsum(1)
        drawn = (ladder > self.rng.random((len(p), 1)) * ladder[:, -1:]).argmax(1)
        followed = games.masks & tries[:, None]
        followed[~tries, drawn[~tries]] = True
        lanes, actions = followed.nonzero()
        after, gains, running = games.after(lanes, actions)
        outcomes = gains * (1.0 - 2.0 * seats[lanes])
        if len(running):
            after.observe()
            outcomes[running] += self._traverse(after, seats[lanes[running]])
        found = np.zeros(p.shape)
        found[lanes, actions] = outcomes
        values: Doubles = np.where(tries, (found * p).sum(1), found.sum(1))
        own = torch.from_numpy(tries)
        regrets = torch.from_numpy(found - values[:, None]).float() * masks
        self.of_regrets.add(seen=seen[own], masks=masks[own], regrets=regrets[own],
                            weight=weight[own])  # fmt: skip
        return values

    def _learn_regrets(self) -> float:
        rows = self.of_regrets.draw(self.settings.batch_size)
        masks = rows["masks"].bool()
        error = (self.regrets(rows["seen"], masks) - rows["regrets"]).square() * masks
        return descend(self.adams[0], _weighted(error.sum(1), rows["weight"]))

    def _learn_average(self) -> float:
        rows = self.of_policy.draw(self.settings.batch_size)
        log_p = self.average(rows["seen"], rows["masks"].bool()).log_softmax(1)
        return descend(self.adams[1], _weighted(-(rows["policy"] * log_p).sum(1), rows["weight"]))

    def state(self) -> dict[str, Array]:
        """Return deals, generator, memories and the number of iterations."""
        return super().state() | {"iteration": np.array([self.iteration])}

    def restore(self, state: State) -> None:
        """Restore what `state` returned."""
        super().restore(state)
        self.iteration = int(state["iteration"][0])


def _weighted(losses: Tensor, weight: Tensor) -> Tensor:
    """Return the mean of losses by the iterations they come from, float32[]."""
    return losses @ (weight / weight.sum())
