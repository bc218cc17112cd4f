"""`expert`: exact expectations, belief and search, maximising the probability of winning.

With two hands `discard` and `pegging` play, the second by the distribution of the other hand from
`belief`. At Table Top `table_top` plays, by `table_top_values`. `expert` does not play with three
and four.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from crib_agents.honours import HONOURS, presets_of
from crib_env.encoding import family_of
from crib_env.policy import Actions, Agent, Views, one_or_many
from crib_env.rules import Rules, games_of


def two_hand() -> Agent:
    """Return the player of the games for two; it is imported when it plays."""
    from crib_agents.adapters.agent_wrappers import PhasedAgent
    from crib_agents.expert.discard import DiscardExpert
    from crib_agents.expert.pegging import PeggingExpert

    return PhasedAgent(DiscardExpert(), PeggingExpert())


def table_top() -> Agent:
    """Return the player of Table Top; it is imported when it plays."""
    from crib_agents.expert.table_top import TableTopExpert

    return TableTopExpert()


PLAYERS: dict[str, Callable[[], Agent]] = {"two_hand": two_hand, "table_top": table_top}


class ExpertAgent:
    """Plays two-hand games and Table Top by expected values, belief and search; see docs/agents.md.

    Attributes:
        name: what tables call it.
    """

    name = "expert"
    honours = HONOURS
    known_rules: ClassVar[tuple[Rules, ...]] = presets_of("two_hand") + presets_of("table_top")
    other_rules = "'learned' plays three_hand and four_hand, 'random' plays by any rules"

    def __init__(self) -> None:
        self._players: dict[str, Agent] = {}

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    @one_or_many
    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return a legal action for each view, int64[B].

        Args:
            views: structured array [B] of views, each of a seat to move.
            rng: not used: the expert is deterministic.

        Raises:
            ValueError: views of a game that it does not play.
        """
        family = family_of(views).name
        if family not in PLAYERS:
            raise ValueError(f"{self.name} does not play {games_of(family)}: {self.other_rules}")
        if family not in self._players:
            self._players[family] = PLAYERS[family]()
        return self._players[family].act(views, rng)
