"""The time that an agent takes for its decisions."""

from __future__ import annotations

import time

import numpy as np

from crib_env.honours import refuse_rules
from crib_env.policy import Actions, Agent, Views, one_or_many
from crib_env.rules import Rules


class Timed:
    """An agent under a stop-watch.

    Attributes:
        name: the agent's.
        decisions: number of its decisions.
        seconds: their duration.
    """

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.name = agent.name
        self.decisions = 0
        self.seconds = 0.0

    def refuse_rules(self, rules: Rules, episode: str | None = None) -> None:
        """Raise a ValueError unless the agent plays by these rules; see `crib_env.honours`."""
        refuse_rules(self.agent, rules, episode)

    @one_or_many
    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return the agent's actions."""
        started = time.perf_counter()
        actions = self.agent.act(views, rng)
        self.seconds += time.perf_counter() - started
        self.decisions += len(views)
        return actions
