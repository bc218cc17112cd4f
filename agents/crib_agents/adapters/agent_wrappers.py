"""Agents around agents: one for each phase, one that sees canonical cards, one with a timer."""

from __future__ import annotations

import time

import numpy as np

from crib_agents.policy_net import of_real_cards
from crib_env import policy
from crib_env.arrays import Bools, Doubles
from crib_env.encoding import canonical_views
from crib_env.engine.family import SUITS, check_family
from crib_env.engine.hands.encode import ACTIONS
from crib_env.engine.hands.records import DISCARD
from crib_env.errors import check_choice
from crib_env.policy import Actions, Agent, Opponent, Views, find_agent, one_or_many
from crib_env.rules import Rules
from crib_env.supported_rules import refuse_family, refuse_rules


class PhasedAgent:
    """Plays one agent in the discard phase and another in the pegging of a two-hand game.

    Args:
        discard: chooses the discards: a name, an agent or a function, such as an agent trained on
            ``discard_v0``.
        pegging: the same for the pegging, such as an agent trained on ``pegging_v0``.
        name: its name in tables; by default both names.
    """

    def __init__(self, discard: Opponent, pegging: Opponent, name: str | None = None) -> None:
        self.discard = find_agent(discard)
        self.pegging = find_agent(pegging)
        self.name = name or f"{self.discard.name}/{self.pegging.name}"

    def refuse_rules(self, rules: Rules, episode: str | None = None) -> None:
        """Raise a ValueError unless both play by these rules."""
        refuse_family(self, rules, ("two_hand",))
        for agent in (self.discard, self.pegging):
            refuse_rules(agent, rules, episode)

    @one_or_many
    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return one card for each two-hand view, int64[B].

        Raises:
            ValueError: views of another game, or one of the two did not return one integer
                for each view.
        """
        actions = np.empty(len(views), dtype=np.int64)
        for agent, chosen in self._parts(views):
            actions[chosen] = policy.check_actions(agent.act(views[chosen], rng), int(chosen.sum()))
        return actions

    @one_or_many
    def action_probabilities(self, views: Views) -> Doubles:
        """Return float64[B, 52], the probability of each card for each two-hand view.

        Raises:
            ValueError: views of another game, or one of the two draws its actions and does not
                state their probabilities.
        """
        probabilities = np.zeros((len(views), ACTIONS))
        for agent, chosen in self._parts(views):
            rng = np.random.default_rng(0)  # unused by an agent that draws nothing
            probabilities[chosen] = policy.action_probabilities(agent, views[chosen], ACTIONS, rng)
        return probabilities

    def _parts(self, views: Views) -> list[tuple[Agent, Bools]]:
        """Return each agent that has views to play, with a mask of its views."""
        check_family(self.name, views, ["two_hand"])
        discarding = views["phase"] == DISCARD
        parts = (self.discard, discarding), (self.pegging, ~discarding)
        return [(agent, chosen) for agent, chosen in parts if chosen.any()]


class WrappedAgent:
    """Base of wrappers: it has the name of the wrapped agent and accepts the same rules."""

    def __init__(self, agent: Opponent) -> None:
        self.agent = find_agent(agent)
        self.name = self.agent.name

    def refuse_rules(self, rules: Rules, episode: str | None = None) -> None:
        """Raise a ValueError unless the agent plays by these rules."""
        refuse_rules(self.agent, rules, episode)


class SuitedAgent(WrappedAgent):
    """Plays an agent that sees canonical cards; see `crib_env.encoding.canonical_views`."""

    def __init__(self, agent: Opponent, suits: str) -> None:
        super().__init__(agent)
        check_choice("suits", suits, SUITS)
        self.suits = suits

    @one_or_many
    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return one card for each two-hand view, int64[B]; -1 if the agent's card is not held."""
        seen = canonical_views(views, self.suits)
        chosen = policy.ask_agent(self.agent, seen, rng)[:, None] == seen["hand"]
        cards = np.take_along_axis(views["hand"], chosen.argmax(axis=1)[:, None], axis=1)[:, 0]
        actions: Actions = np.where(chosen.any(axis=1), cards, -1)
        return actions

    @one_or_many
    def action_probabilities(self, views: Views) -> Doubles:
        """Return float64[B, 52], the probability of each card for each two-hand view."""
        seen = canonical_views(views, self.suits)
        rng = np.random.default_rng(0)  # unused by an agent that draws nothing
        found = policy.action_probabilities(self.agent, seen, ACTIONS, rng)
        return of_real_cards(found, seen, views, 0.0)


class Timed(WrappedAgent):
    """Counts an agent's ``decisions`` and the ``seconds`` that they take."""

    def __init__(self, agent: Opponent) -> None:
        super().__init__(agent)
        self.decisions = 0
        self.seconds = 0.0

    @one_or_many
    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return the agent's actions."""
        started = time.perf_counter()
        actions = self.agent.act(views, rng)
        self.seconds += time.perf_counter() - started
        self.decisions += len(views)
        return actions
