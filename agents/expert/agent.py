"""`expert`: lays away by expectation, plays by belief and search, and judges by winning."""

from __future__ import annotations

import numpy as np

from agents.expert.keep import KeepExpert
from agents.expert.play import PlayExpert
from agents.phased import PhasedAgent
from agents.table_top.expert import TableTopExpert
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
        self._table_top = TableTopExpert()

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return a legal action for each view, int64[B].

        Args:
            views: structured array [B] of views, each of a seat to move.
            rng: left alone, for the expert's choices have no chance in them.
        """
        player = self._two_hand if views.dtype == VIEW else self._table_top
        return player.act(views, rng)
