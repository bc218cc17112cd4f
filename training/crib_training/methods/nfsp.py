"""Neural fictitious self-play: a best response by Q-learning, and the average of its actions.

    crib train nfsp --env five_card_v0 --out runs/nfsp

Heinrich and Silver 2016, arXiv 1603.01121. In each deal a seat plays its best response with the
anticipatory probability, and otherwise the average policy. The best response learns by double
Q-learning from the newest decisions of both; the average imitates a uniform sample of the best
response's actions. The average is evaluated.
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from crib_env.settings import Count, NewFolder, Portion, Positive, Share, checked_dataclass
from crib_training.learn import deal_learners
from crib_training.learn.deal_batch import END
from crib_training.learn.run import State, descend, follow


@checked_dataclass(frozen=True, kw_only=True)
class Settings(deal_learners.RolloutSettings):
    """Learn a stochastic policy by neural fictitious self-play.

    Attributes:
        batch_size: decisions per step of gradient descent.
        updates: gradient steps of both networks between batches of decisions.
        anticipatory: probability that a seat plays its best response in a deal.
        epsilon: probability that the best response plays at random; falls to a tenth.
        learning_rate: learning rate of the best response.
        average_learning_rate: learning rate of the average policy.
        tau: step of the target network at each update.
        buffer_size: newest decisions that the best response learns from.
        reservoir_size: decisions that the average policy learns from, a uniform sample of all.
    """

    method: ClassVar[str] = "nfsp"
    steps: Count = 16
    batch_size: deal_learners.BatchSize = 256
    updates: Count = 32
    anticipatory: Portion = 0.3
    epsilon: Share = 0.06
    learning_rate: Positive = 1e-3
    average_learning_rate: Positive = 1e-3
    tau: Portion = 0.01
    buffer_size: Count = 100_000
    reservoir_size: Count = 400_000
    out: NewFolder = Path("runs/nfsp")


class Learner(deal_learners.GamesLearner):
    """Learns by its `Settings`."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.q = deal_learners.Policy(self.games, settings.hidden_sizes)
        self.target = copy.deepcopy(self.q)
        self.average = deal_learners.Policy(self.games, settings.hidden_sizes)
        self.q_adam = torch.optim.Adam(self.q.parameters(), settings.learning_rate, fused=True)
        self.adam = torch.optim.Adam(self.average.parameters(), settings.average_learning_rate, fused=True)
        self.modules = {name: getattr(self, name) for name in ("q", "target", "average", "q_adam", "adam")}
        self.newest = deal_learners.Memory(settings.buffer_size, False, self.rng)
        self.sample = deal_learners.Memory(settings.reservoir_size, True, self.rng)
        self.memories = {"newest": self.newest, "sample": self.sample}
        n, games = settings.num_envs, self.games
        # the seats that play their best response
        self.best = self.rng.random((n, 2)) < settings.anticipatory
        # Each seat's last decision, and the points since; its next one or the deal's end closes it.
        self.open = np.zeros((n, 2), dtype=bool)
        self.before = torch.full((n, 2, games.size), END)
        self.taken = torch.zeros(n, 2, dtype=torch.long)
        self.gained = np.zeros((n, 2), dtype=np.float32)

    def iterate(self) -> dict[str, float]:
        """Play some decisions, then let both networks learn."""
        settings = self.settings
        for _ in range(settings.steps):
            self._step(settings.epsilon * self.annealed(1.0, 0.1))
        self.decisions += settings.steps * settings.num_envs
        loss = imitation = 0.0
        both = len(self.newest) and len(self.sample)  # else no best response has been played yet
        for _ in range(settings.updates if both else 0):
            loss, imitation = self._learn_response(), self._learn_average()
        return {"loss": loss, "imitation_loss": imitation}

    @torch.no_grad()
    def _step(self, epsilon: float) -> None:
        games, lanes = self.games, self.games.lanes
        seen, masks = torch.from_numpy(games.observations), torch.from_numpy(games.masks)
        movers = games.movers
        self._close(lanes[self.open[lanes, movers]], movers, seen, masks)
        best = self.best[lanes, movers]
        actions = torch.from_numpy((self.rng.random(games.masks.shape) * games.masks).argmax(1))  # at random
        explored = self.rng.random(len(lanes)) < epsilon
        greedy, drawn = np.flatnonzero(best & ~explored), np.flatnonzero(~best)
        actions[greedy] = self.q(seen[greedy], masks[greedy]).argmax(1)
        probabilities = self.average(seen[drawn], masks[drawn]).softmax(1)
        actions[drawn] = torch.from_numpy(deal_learners.draw_actions(probabilities, self.rng))
        rows = np.flatnonzero(best)
        self.sample.add(seen=seen[rows], masks=masks[rows], actions=actions[rows])

        self.before[lanes, movers] = seen
        self.taken[lanes, movers] = actions
        self.open[lanes, movers] = True
        gains, ended = games.step(actions.numpy())
        self.gained[:, 0] += gains
        self.gained[:, 1] -= gains
        over = np.flatnonzero(ended)
        for seat in range(2):
            closing = over[self.open[over, seat]]
            self._close(closing, np.full(len(lanes), seat), None, None)
        self.gained[over] = 0
        self.best[over] = self.rng.random((len(over), 2)) < self.settings.anticipatory

    def _close(self, lanes: Any, seats: Any, seen: Tensor | None, masks: Tensor | None) -> None:
        """Store the last decision of a seat in each game, with its outcome."""
        seats, games = seats[lanes], self.games
        rows = torch.from_numpy(lanes)
        self.newest.add(
            before=self.before[lanes, seats],
            taken=self.taken[lanes, seats],
            gained=torch.from_numpy(self.gained[lanes, seats]),
            after=torch.full((len(lanes), games.size), END) if seen is None else seen[rows],
            masks=torch.zeros(len(lanes), games.actions, dtype=torch.bool) if masks is None else masks[rows],
        )
        self.open[lanes, seats] = False
        self.gained[lanes, seats] = 0

    def _learn_response(self) -> float:
        """Take a step of double Q-learning."""
        rows = self.newest.draw(self.settings.batch_size)
        legal = rows["masks"].bool()
        goes_on = legal.any(1)
        with torch.no_grad():
            choice = self.q(rows["after"], legal).argmax(1, keepdim=True)
            value = self.target(rows["after"], legal).gather(1, choice)[:, 0]
            goal = rows["gained"] + torch.where(goes_on, value, 0.0)
        taken = rows["taken"][:, None]
        only = torch.zeros(len(taken), self.games.actions, dtype=torch.bool).scatter(1, taken, True)
        value = self.q(rows["before"], only).gather(1, taken)[:, 0]
        loss = torch.nn.functional.smooth_l1_loss(value, goal)
        found = descend(self.q_adam, loss).item()
        follow(self.target, self.q, self.settings.tau)
        return found

    def _learn_average(self) -> float:
        """Take a step towards the choices of the best response."""
        rows = self.sample.draw(self.settings.batch_size)
        log_p = self.average(rows["seen"], rows["masks"].bool()).log_softmax(1)
        loss = -log_p.gather(1, rows["actions"][:, None]).mean()
        return descend(self.adam, loss).item()

    def state(self) -> dict[str, Any]:
        """Return deals, memories, roles and decisions whose outcome is open."""
        return super().state() | {
            "best": self.best.astype(np.uint8),
            "open": self.open.astype(np.uint8),
            "before": self.before.numpy(),
            "taken": self.taken.numpy(),
            "gained": self.gained,
        }

    def restore(self, state: State) -> None:
        """Restore what `state` returned."""
        super().restore(state)
        self.best[:], self.open[:] = state["best"], state["open"]
        self.before[:] = torch.from_numpy(state["before"].copy())
        self.taken[:] = torch.from_numpy(state["taken"].copy())
        self.gained[:] = state["gained"]
