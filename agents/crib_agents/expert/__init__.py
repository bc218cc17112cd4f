"""`expert`: exact expectations, belief and search, maximising the probability of winning.

In two-hand games `discard` and `pegging` choose; `pegging` takes the distribution of the other
hand from `belief`, and near the end both use `endgame`. At Table Top `table_top` chooses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from crib_agents.honours import HONOURS, presets_of, refuse_waiting_seats
from crib_env.engine.family import family_of
from crib_env.engine.hands.records import DISCARD
from crib_env.errors import whole_number
from crib_env.policy import Actions, Views, one_or_many
from crib_env.rules import Rules, games_of

DEEPEST = 4  # the highest budget at Table Top; `table_top.BUDGETS` has the settings of each


def play_hands(views: Views, _: int) -> Actions:
    """Return a card for each two-hand view."""
    from crib_agents.expert import discard, pegging  # here: each game loads only its own search

    actions = np.empty(len(views), dtype=np.int64)
    discarding = views["phase"] == DISCARD
    if discarding.any():
        actions[discarding] = discard.rank_discards(views[discarding])[0]
    if not discarding.all():
        actions[~discarding] = pegging.choose(views[~discarding])
    return actions


def play_table_top(views: Views, budget: int) -> Actions:
    """Return an action for each view of Table Top."""
    from crib_agents.expert import table_top

    return table_top.choose(views, budget)


PLAYS: dict[str, Callable[[Views, int], Actions]] = {"two_hand": play_hands, "table_top": play_table_top}


class ExpertAgent:
    """Plays two-hand games and Table Top by expected values, belief and search; see docs/agents.md.

    Args:
        budget: the depth of its search at Table Top, 1 to 4; see `table_top.choose`.

    Attributes:
        name: its name in tables.

    Raises:
        ValueError: another budget.
    """

    name = "expert"
    draws: ClassVar[bool] = False
    honours = HONOURS
    known_rules: ClassVar[tuple[Rules, ...]] = presets_of("two_hand") + presets_of("table_top")
    other_rules = "'learned' plays three_hand and four_hand, 'random' plays by any rules"

    def __init__(self, budget: int = 3) -> None:
        self.budget = whole_number("budget", budget, 1, DEEPEST)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({'' if self.budget == 3 else f'budget={self.budget}'})"

    @one_or_many
    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return a legal action for each view, int64[B].

        Args:
            views: structured array [B] of views, each of a seat to move.
            rng: unused: the expert is deterministic.

        Raises:
            ValueError: views of a game that it does not play, or of a seat that is not to move.
        """
        family = family_of(views).name
        if family not in PLAYS:
            raise ValueError(f"{self.name} does not play {games_of(family)}: {self.other_rules}")
        refuse_waiting_seats(self.name, views)
        return PLAYS[family](views, self.budget)
