"""Plays Table Top by search over the networks of ``learned`` and the tables of `expert`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import numpy as np

from crib_agents.checks import HONOURS, refuse_other_views
from crib_agents.data.tables import RANKS, TABLE_TOP_VALUES, load
from crib_agents.expert.table_top.agent import BUDGETS, Work
from crib_agents.knowledge.table_top.win_table import group_by_win_table
from crib_agents.learned.agent import TakesWeights, by_rules, shipped
from crib_agents.learned.table_top import FAMILY
from crib_agents.learned.table_top.search import search_views
from crib_agents.learned.weights import Weights
from crib_env.answers import one_or_many
from crib_env.engine.family import find_family
from crib_env.engine.show import show_table
from crib_env.policy import Actions, Views


class SearchedTable(TakesWeights):
    """Places cards by search.

    Args:
        sets: the weights, by default those that come with the package.
        budget: how far the tables look ahead, see `TableTopExpert`; the nets look one card ahead.
    """

    name = "searched_table"
    honours = HONOURS

    def __init__(self, sets: Sequence[Weights] | None = None, budget: int = 3) -> None:
        self.sets = shipped() if sets is None else sets
        self.budget = BUDGETS[budget - 1]

    @one_or_many
    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return a legal action for each view, int64[B]; ``rng`` is left alone.

        Raises:
            ValueError: the views are not Table Top's, or of rules that it has no nets for.
        """
        refuse_other_views(self.name, views, find_family(FAMILY.name))
        views = np.ascontiguousarray(views)
        chosen = np.empty(len(views), dtype=np.int64)
        work, values = Work.new(), load(TABLE_TOP_VALUES)["values"]
        for weights, rows in by_rules(self, views, FAMILY):
            for win_table, judged in group_by_win_table(views[rows]):
                search_views(
                    views, rows[judged], show_table(), values, np.zeros(RANKS), win_table,
                    np.ones(2), *self.budget, *(getattr(work,
                    field.name) for field in fields(work)), weights.flat(), chosen,
                )  # fmt: skip
        return chosen
