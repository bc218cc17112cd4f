"""The tree of every continuation of a deal with known hands, and the value of each action.

Self-play knows both hands, so it can value every action exactly instead of playing one: the pegging
of a deal of five cards has some 26 decisions, and each seat has ten ways to discard. Sampling of
actions then adds no noise. What is left is the luck of the deal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from crib_env.arrays import Doubles, Ints
from crib_training.learn.games import Games
from crib_training.learn.self_play import Policy

CHUNK = 4096  # observations at once
Values = Callable[[Games], Doubles]


@dataclass(frozen=True)
class ValuedDecisions:
    """Decisions with the value of every action.

    Attributes:
        observations: float32[B, size]. masks: bool[B, actions].
        log_probabilities: float32[B, actions], of the policy that was valued.
        advantages: float32[B, actions], points that an action brings the mover beyond the
            policy's mean; 0 where it is illegal.
        weights: float32[B], how likely a decision is met, of mean 1.
    """

    observations: Tensor
    masks: Tensor
    log_probabilities: Tensor
    advantages: Tensor
    weights: Tensor

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

    Args:
        policy: the policy of both seats.
        explore: the share of the uniform policy in the weights, so that the policy also learns
            after cards that it does not play.
        own: exponent of the mover's own probabilities in the weights: 1 weighs a decision by how
            likely self-play meets it, 0 as if the mover had wanted to get there.
    """

    def __init__(self, policy: Policy, explore: float, own: float) -> None:
        self.policy, self.explore, self.own = policy, explore, own

    def log_probabilities(self, games: Games) -> Tensor:
        """Return those of all actions of the movers, float32[N, actions]."""
        parts = zip(torch.split(torch.from_numpy(games.observations), CHUNK),
                    torch.split(torch.from_numpy(games.masks), CHUNK), strict=True)  # fmt: skip
        with torch.no_grad():
            return torch.cat([self.policy(*part).log_softmax(1) for part in parts])

    def draw(self, games: Games, rng: np.random.Generator) -> Ints:
        """Draw an action for each mover, int64[N]."""
        ladder = self.log_probabilities(games).exp().double().numpy().cumsum(1)
        actions: Ints = (ladder > rng.random((len(ladder), 1)) * ladder[:, -1:]).argmax(1)
        return actions

    def pegging(self, games: Games) -> tuple[Doubles, ValuedDecisions]:
        """Value all pegging from here.

        Returns float64[N], the points of seat 0 less those of seat 1 until the deal is over; and
        all decisions that can follow.
        """
        values, found = self._follow(games, np.ones((len(games.lanes), 2)))
        return values, ValuedDecisions.join(found).normalised()

    def _follow(self, games: Games, reach: Doubles) -> tuple[Doubles, list[ValuedDecisions]]:
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

    def discards(self, games: Games, replies: list[Ints], value: Values) -> ValuedDecisions:
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

    def _explored(self, games: Games, log_p: Tensor) -> Doubles:
        """Return the probabilities with a share of the uniform policy, float64[N, actions]."""
        uniform = games.masks / games.masks.sum(1, keepdims=True)
        p: Doubles = (1 - self.explore) * log_p.exp().double().numpy() + self.explore * uniform
        return p


def _weigh(
    games: Games, log_p: Tensor, lanes: Ints, actions: Ints, outcomes: Doubles, weights: Doubles
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
