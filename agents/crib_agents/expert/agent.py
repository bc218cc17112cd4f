"""`expert`: discards by expectation, plays by belief and search, and judges by winning."""

from __future__ import annotations

import numpy as np

from crib_agents.adapters.phased import PhasedAgent
from crib_agents.checks import refuse_other_views
from crib_agents.expert.honours import HONOURS
from crib_agents.expert.table_top import TableTopExpert
from crib_agents.expert.two_hand.discard.expert import DiscardExpert
from crib_agents.expert.two_hand.pegging.expert import PeggingExpert
from crib_env.answers import one_or_many
from crib_env.engine.family import find_family
from crib_env.engine.two_hand.records import VIEW
from crib_env.policy import Actions, Views


class ExpertAgent:
    """The strongest agent here, at every game.

    Attributes:
        name: what tables call it.
    """

    name = "expert"
    honours = HONOURS

    def __init__(self) -> None:
        self._two_hand = PhasedAgent(DiscardExpert(), PeggingExpert())
        self._table_top = TableTopExpert()

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    @one_or_many
    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return a legal action for each view, int64[B].

        Args:
            views: structured array [B] of views, each of a seat to move.
            rng: left alone, for the expert's choices have no chance in them.

        Raises:
            ValueError: views of another game.
        """
        refuse_other_views(self.name, views, find_family("two_hand"), find_family("table_top"))
        player = self._two_hand if views.dtype == VIEW else self._table_top
        return player.act(views, rng)
