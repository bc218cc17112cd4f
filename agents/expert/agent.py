"""`expert`: lays away by expectation, plays by belief and search, and judges by winning."""

from __future__ import annotations

import numpy as np

from agents.expert.keep import KeepExpert
from agents.expert.play import PlayExpert
from agents.phased import PhasedAgent
from crib_env.engine.records import VIEW
from crib_env.opponents import Actions, Views


class ExpertAgent:
    """The strongest agent here, at every game.

    Attributes:
        name: what tables call it.
    """

    name = "expert"

    def __init__(self) -> None:
        self._two_hand = PhasedAgent(KeepExpert(), PlayExpert())

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return a legal action for each view, int64[B]; ``rng`` is left alone.

        Args:
            views: structured array [B] of views, each of a seat to move.
            rng: unused, for the expert's choices are certain.

        Raises:
            ValueError: the views are of a family the agent does not play.
        """
        if views.dtype == VIEW:
            return self._two_hand.act(views, rng)
        raise ValueError("no")
