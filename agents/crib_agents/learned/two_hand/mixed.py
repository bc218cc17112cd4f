"""``learned_mixed``: samples from the softmax of its networks' values, in two-hand games."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from crib_agents.checks import FOR_POINTS
from crib_agents.learned.agent import MonteCarloAgent, by_rules, shipped
from crib_agents.learned.two_hand import FAMILY
from crib_agents.learned.weights import Weights
from crib_env.arrays import Doubles
from crib_env.engine.hands.records import DEAL
from crib_env.policy import Act, Actions, Views, check_rng, one_or_many


class MixedAgent(MonteCarloAgent):
    """Samples an action from the softmax of its networks' values; see `Weights.temperature`.

    It plays for points and ignores the score, as `Equilibrium` does.

    Args:
        sets: the weights, by default those that come with the package.
        name: its name in tables.

    Raises:
        ValueError: weights without a temperature.
    """

    draws: ClassVar[bool] = True
    honours = FOR_POINTS
    acts: ClassVar[dict[str, Act]] = {FAMILY.name: FAMILY.act}

    def __init__(self, sets: Sequence[Weights] | None = None, name: str = "learned_mixed") -> None:
        super().__init__(shipped("mixed") if sets is None else sets, name)
        if not all(weights.temperature for weights in self.sets):
            raise ValueError("weights of a mixed policy have a temperature above 0, got 0")

    @one_or_many
    def action_values(self, views: Views) -> Doubles:
        """Return its value of each action in points, float64[B, actions]; NaN where illegal.

        Raises:
            ValueError: see `act`.
        """
        self._for_views(views)
        for_points = views.copy()
        for_points["episode"] = DEAL
        values: Doubles = super().action_values(for_points)
        return values

    @one_or_many
    def action_probabilities(self, views: Views) -> Doubles:
        """Return the probability of each action, float64[B, actions].

        Raises:
            ValueError: see `act`.
        """
        values = self.action_values(views)
        temperatures = np.empty((len(views), 1))
        for weights, rows in by_rules(self, views, FAMILY):
            temperatures[rows] = weights.temperature
        below = values - np.nanmax(values, axis=1, keepdims=True)
        odds = np.nan_to_num(np.exp(below / temperatures), nan=0.0)
        found: Doubles = odds / odds.sum(axis=1, keepdims=True)
        return found

    @one_or_many
    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return a legal action for each view, int64[B].

        Raises:
            ValueError: views of another game, or of rules that it has no nets for.
        """
        ladder = self.action_probabilities(views).cumsum(axis=1)
        points = check_rng(rng).random((len(views), 1)) * ladder[:, -1:]
        actions: Actions = (ladder > points).argmax(axis=1)
        return actions
