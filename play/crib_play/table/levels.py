"""Five opponents by strength, for people who do not know the agents by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from crib_agents.loading import load_agent

from crib_env.policy import Agent
from crib_play.table.advice import actions_of, choices


@dataclass(frozen=True)
class Level:
    """A level that a person chooses."""

    name: str
    agent: str  # one of `ERRING` or an agent's name
    about: str


LEVELS = (
    Level("Beginner", "beginner", "Knows the rules and often misses the better card."),
    Level("Casual", "casual", "Plays well most of the time and slips now and then."),
    Level("Regular", "rule_based", "Plays by sound rules of thumb and never looks at the score."),
    Level("Strong", "expert", "Weighs every card and crib by its chance of winning the game."),
    Level("Strong", "learned", "Weighs every card by the points that it brings."),  # three and four
    Level("Master", "master", "Plays as the expert does and hides what it holds."),
)
# The difference in the probability of winning at which the better choice is e times as likely.
ERRING = {"beginner": 0.08, "casual": 0.02}


class Erring:
    """An agent that errs by design: it draws from a softmax over the values of `choices`."""

    def __init__(self, name: str) -> None:
        self.name, self.temperature = name, ERRING[name]

    def act(self, views: Any, rng: np.random.Generator) -> Any:
        """Return an action for each view, int64[B]."""
        return np.array([self._choose(view, rng) for view in views])

    def _choose(self, view: Any, rng: np.random.Generator) -> int:
        found = choices(view)
        wins = np.array([choice.win for choice in found])
        weights = np.exp((wins - wins.max()) / self.temperature)
        taken = actions_of(found[rng.choice(len(found), p=weights / weights.sum())])
        gone = set(view["discarded"].tolist()) if "discarded" in view.dtype.names else set()
        return min(taken - gone)


def load_player(name: str) -> Agent:
    """Return an opponent: one of those that err, or any agent by name."""
    return Erring(name) if name in ERRING else load_agent(name)
