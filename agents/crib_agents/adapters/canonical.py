"""Agents that see canonical cards: what was trained with ``suits="canonical"`` plays any game."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from crib_env.answers import one_or_many
from crib_env.encoding import canonical_views, family_of
from crib_env.policy import Actions, Agent, Views, action_probabilities, ask_agent


class CanonicalAgent:
    """Shows an agent canonical cards, and plays the cards that its answers stand for.

    So situations that differ only by suits get the same answer, and `crib exploit` is exact.

    Args:
        agent: an agent of two-hand games.

    Attributes:
        name: the agent's.
        draws: whether its choice uses chance.
        suits: "canonical".
    """

    suits = "canonical"

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.name = agent.name
        self.draws = bool(getattr(agent, "draws", False))

    @one_or_many
    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return one legal action for each view, int64[B].

        Raises:
            ValueError: views of a game whose suits count in full, or the agent's answer is no card
                of the hand.
        """
        seen = canonical_views(views)
        actions = ask_agent(self.agent, seen, rng)
        places = seen["hand"] == actions[:, None]
        if not places.any(axis=1).all():
            raise ValueError(f"{self.name} chose a card that it does not hold")
        cards: Actions = views["hand"][np.arange(len(views)), places.argmax(axis=1)]
        return cards

    @one_or_many
    def action_probabilities(self, views: Views) -> npt.NDArray[np.float64]:
        """Return how likely it is to take each action, float64[B, actions].

        Raises:
            ValueError: the agent draws and does not say by which probabilities.
        """
        seen = canonical_views(views)
        actions = family_of(views).actions
        found = action_probabilities(self.agent, seen, actions, np.random.default_rng(0))
        probabilities = np.zeros_like(found)
        for place in range(views["hand"].shape[1]):
            rows = np.flatnonzero(place < views["hand_n"])
            cards, canonical = views["hand"][rows, place], seen["hand"][rows, place]
            probabilities[rows, cards] = found[rows, canonical]
        return probabilities
