"""Deep CFR: regrets from traversals that try every action of one seat, and the average policy.

    crib train deep_cfr --env five_card_v0 --out runs/deep_cfr

Brown et al. 2019, arXiv 1811.00164, with external sampling: in each traversal one seat tries all
its actions, the other draws one by regret matching, and the deal is drawn. A network learns the
mean regrets of all iterations, another the average policy; later iterations count more (linear
CFR). Both keep learning between iterations, where the paper starts the regrets from zero.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import numpy as np
import torch

from crib_env.arrays import Array, Doubles, Ints
from crib_env.settings import Count, NewFolder, checked_dataclass
from crib_training.learn.deal_batch import DealBatch
from crib_training.learn.deal_learners import RegretLearner, RegretSettings, draw_actions, match_regrets
from crib_training.learn.run import State


@checked_dataclass(frozen=True, kw_only=True)
class Settings(RegretSettings):
    """Learn a stochastic policy by deep CFR.

    Attributes:
        num_envs: deals traversed per iteration.
    """

    method: ClassVar[str] = "deep_cfr"
    num_envs: Count = 64
    out: NewFolder = Path("runs/deep_cfr")


class Learner(RegretLearner):
    """Learns by its `Settings`."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.iteration = 0

    def iterate(self) -> dict[str, float]:
        """Traverse new deals, for each seat in half of them, then let both networks learn."""
        self.set_rate()
        self.iteration += 1
        self.games.reset()
        self._traverse(self.games, (np.arange(self.settings.num_envs) + self.iteration) % 2)
        return self.learn_both()

    @torch.no_grad()
    def _traverse(self, games: DealBatch, seats: Ints) -> Doubles:
        """Add the samples from these decisions on; return the values for ``seats``, float64[N]."""
        self.decisions += len(games.lanes)
        seen, masks = torch.from_numpy(games.observations), torch.from_numpy(games.masks)
        policy = match_regrets(self.regrets(seen, masks), masks)
        tries = games.movers == seats
        weight = torch.full((len(seats),), self.iteration)
        other = torch.from_numpy(~tries)
        self.of_policy.add(seen=seen[other], masks=masks[other], policy=policy[other], weight=weight[other])
        p, drawn = policy.double().numpy(), draw_actions(policy, self.rng)
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
        self.of_regrets.add(seen=seen[own], masks=masks[own], regrets=regrets[own], weight=weight[own])
        return values

    def state(self) -> dict[str, Array]:
        """Return deals, memories and the number of iterations."""
        return super().state() | {"iteration": np.array([self.iteration])}

    def restore(self, state: State) -> None:
        """Restore what `state` returned."""
        super().restore(state)
        self.iteration = int(state["iteration"][0])
