"""What all methods share: the deals that they learn from, and the contents of a checkpoint."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import torch
from crib_agents.nets import PolicyNetAgent

from crib_env.arrays import Array
from crib_env.policy import Agent
from crib_training.baselines.games import Games
from crib_training.baselines.policy import Policy
from crib_training.baselines.settings import RunSettings

Modules = dict[str, torch.nn.Module | torch.optim.Optimizer]
State = Mapping[str, Array]


class SavedAgent(Agent, Protocol):
    """An agent that a run can write to its folder."""

    def save(self, path: str | Path) -> None:
        """Write it to a file that `load_agent` reads."""


class Learner(ABC):
    """A method, which learns batch by batch.

    Args:
        settings: what to learn, and how.

    Attributes:
        modules: networks and optimizers for the checkpoint, by name.
        decisions: decisions learned from so far.
    """

    modules: Modules

    def __init__(self, settings: RunSettings) -> None:
        self.settings: Any = settings
        torch.manual_seed(settings.seed)
        self.decisions = 0

    @property
    def left(self) -> float:
        """The share of the run that is left."""
        return max(0.0, 1 - self.decisions / float(self.settings.decisions))

    def annealed(self, first: float, last: float) -> float:
        """Return a value on its way from ``first`` to ``last``, linearly over the run."""
        return last + (first - last) * self.left

    @abstractmethod
    def iterate(self) -> dict[str, float]:
        """Learn from one batch, and return figures for TensorBoard; ``loss`` is one of them."""

    @abstractmethod
    def agent(self) -> SavedAgent:
        """Return the policy learned so far."""

    @abstractmethod
    def state(self) -> dict[str, Array]:
        """Return the rest of a checkpoint: generators, deals, buffers."""

    @abstractmethod
    def restore(self, state: State) -> None:
        """Restore what `state` returned."""


class GamesLearner(Learner):
    """A method that learns from `Games`; arguments as those of `Learner`.

    Attributes:
        games: the deals that it plays.
        average: the mixed policy learned so far.
    """

    average: Policy

    def __init__(self, settings: RunSettings) -> None:
        super().__init__(settings)
        self.games = Games(
            settings.rules, settings.num_envs, settings.seed, settings.features, settings.suits
        )

    def agent(self) -> PolicyNetAgent:
        """Return the mixed policy learned so far, an agent that samples."""
        return self.average.agent(self.settings.method, self.settings)

    def state(self) -> dict[str, Array]:
        """Return the deals."""
        return {"games": self.games.state()}

    def restore(self, state: State) -> None:
        """Restore what `state` returned."""
        self.games.set_state(state["games"])
