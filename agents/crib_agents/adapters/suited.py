"""An agent that sees the cards as an environment made with ``suits`` shows them."""

from __future__ import annotations

import numpy as np

from crib_agents.adapters.scored import of_real_cards
from crib_env.arrays import Doubles
from crib_env.encoding import canonical_views
from crib_env.engine.family import SUITS
from crib_env.engine.hands.encode import ACTIONS
from crib_env.errors import check_choice
from crib_env.honours import refuse_rules
from crib_env.policy import (
    Actions,
    Opponent,
    Views,
    action_probabilities,
    ask_agent,
    find_agent,
    one_or_many,
)
from crib_env.rules import Rules


class SuitedAgent:
    """Plays an agent that is shown canonical cards, and no more than ``suits`` shows.

    Args:
        agent: who plays: a name, an agent or a function.
        suits: ``"canonical"`` or ``"ranks"``; see `crib_env.encoding.canonical_views`.
    """

    def __init__(self, agent: Opponent, suits: str) -> None:
        check_choice("suits", suits, SUITS)
        self.agent, self.suits = find_agent(agent), suits
        self.name = self.agent.name

    def refuse_rules(self, rules: Rules, episode: str | None = None) -> None:
        """Raise a ValueError unless it plays by these rules; see `crib_env.honours`."""
        refuse_rules(self.agent, rules, episode)

    @one_or_many
    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return one card for each two-hand view, int64[B]; NONE where it takes one not held."""
        seen = canonical_views(views, self.suits)
        chosen = ask_agent(self.agent, seen, rng)[:, None] == seen["hand"]
        cards = np.take_along_axis(views["hand"], chosen.argmax(axis=1)[:, None], axis=1)[:, 0]
        actions: Actions = np.where(chosen.any(axis=1), cards, -1)
        return actions

    @one_or_many
    def action_probabilities(self, views: Views) -> Doubles:
        """Return float64[B, 52], the probability of each card for each two-hand view."""
        seen = canonical_views(views, self.suits)
        rng = np.random.default_rng(0)  # for an agent that draws nothing
        found = action_probabilities(self.agent, seen, ACTIONS, rng)
        return of_real_cards(found, seen, views, 0.0)
