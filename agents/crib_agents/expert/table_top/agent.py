"""`expert` at Table Top: the value of every line by learned tables, and search on top of them."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt
from numba import float64, int64, void

from crib_agents.checks import HONOURS, presets_of, refuse_other_views
from crib_agents.data.tables import RANKS, TABLE_TOP_VALUES, load
from crib_agents.expert.table_top.search import DECK, GAINS, narrow, score_actions
from crib_agents.expert.table_top.values import MINE, THEIRS, side_value
from crib_agents.knowledge.table_top import (
    POSITION,
    POSITIONS_T,
    chance_of,
    group_by_win_table,
    pass_on,
    put,
    take_back,
)
from crib_env.arrays import Doubles
from crib_env.engine.family import find_family
from crib_env.engine.jit import entry
from crib_env.engine.record import TABLE_T
from crib_env.engine.show import show_table
from crib_env.engine.table_top.cells import lowest
from crib_env.engine.table_top.records import SIZE, TO_CRIB, VIEWS_T
from crib_env.policy import Actions, Views, one_or_many

ACTIONS = TO_CRIB + 1
# What each budget looks into: so many actions, and so many answers to every next card.
BUDGETS = ((0, 0), (ACTIONS, 0), (4, 3), (8, 6))
VALUE, WIN_VALUE = 2, 3  # the columns of an analysis after both sides' points
COLUMNS = 4


@entry(
    void(
        VIEWS_T, int64[::1], TABLE_T, float64[:, ::1], float64[::1], float64[:, :, ::1],
        float64[::1], int64, int64, POSITIONS_T, float64[:, :, ::1], float64[:, ::1],
        float64[:, ::1], int64[::1], float64[:, :, ::1],
    )
)  # fmt: skip
def act_views(
    views, rows, table, values, surplus, win_table, weights, actions, answers, positions, gains,
    saved, ahead, chosen, analysis,
):  # fmt: skip
    """Write an action for each view that is to be judged by ``win_table``.

    Args:
        rows: indices of these views.
        analysis: float64[B, ACTIONS, COLUMNS], filled for every legal action unless B is 0,
            but for its win table.
    """
    for i in rows:
        v = views[i]
        legal = v["legal"]
        if legal & (legal - 1) == 0 and analysis.shape[0] == 0:
            chosen[i] = lowest(legal)
            continue
        learned = values[0 if v["flush_size"] == SIZE else 1]
        best = score_actions(
            v, table, learned, surplus, win_table, weights, actions, answers, positions, gains,
            saved, ahead,
        )  # fmt: skip
        chosen[i] = lowest(narrow(ahead[0], best, 1, 1))
        if analysis.shape[0] == 0:
            continue
        p = positions[1]
        pass_on(positions[0], p, v["card"], v["players"])
        while legal:
            action = lowest(legal)
            legal &= legal - 1
            put(p, 0, v["card"], action)
            for side in range(2):
                analysis[i, action, side] = side_value(v, table, learned, surplus, p, side)
            analysis[i, action, VALUE] = ahead[0, action]
            take_back(p, 0, v["card"], action)


@dataclass
class Work:
    """The arrays the search works in, in the order the entry takes them."""

    positions: npt.NDArray[np.void]
    gains: Doubles
    saved: Doubles
    ahead: Doubles

    @classmethod
    def new(cls) -> Work:
        """Return fresh arrays, so that threads may share an agent."""
        return cls(
            positions=np.zeros(3, dtype=POSITION),
            gains=np.zeros((2, GAINS, DECK)),
            saved=np.zeros((2, DECK)),
            ahead=np.zeros((2, ACTIONS)),
        )


class TableTopExpert:
    """Plays Table Top by learned values of lines, with search over the cards to come.

    The value of a position is each side's expected points, from tables learned by self-play. The
    agent takes the action with the greatest difference. In a game, the points of each side are
    weighted by their effect on the probability of winning. In a single round, and where only the
    difference counts (T13), they have the same weight.

    Attributes:
        name: what tables call it.
        budget: how far it looks: 1, the values after its action alone; 2, the best answer to
            every card that may come next; 3 (the default) and 4, a card further, into the best 4
            or 8 actions and the best 3 or 6 answers.
    """

    name = "expert"
    honours = HONOURS
    known_rules = presets_of("table_top")

    def __init__(self, budget: int = 3) -> None:
        if isinstance(budget, bool) or budget not in range(1, len(BUDGETS) + 1):
            raise ValueError(f"budget must be a whole number from 1 to {len(BUDGETS)}, "
                             f"got {budget!r}")  # fmt: skip
        self.budget = budget

    def __repr__(self) -> str:
        return f"{type(self).__name__}(budget={self.budget})"

    @one_or_many
    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return a legal action for each view; ``rng`` is left alone, int64[B]."""
        return self._search(views, BUDGETS[self.budget - 1], np.zeros((0, ACTIONS, COLUMNS)))

    def analyze(self, view: np.void) -> Doubles:
        """Return what each action is expected to come to, for the seat of one view to move.

        Shapes: the result float64[26, 4].
        """
        views = np.array([view])
        analysis = np.full((ACTIONS, COLUMNS), np.nan)
        actions, answers = BUDGETS[self.budget - 1]
        self._search(views, (ACTIONS if actions else 0, answers), analysis[None])
        analysis[:, WIN_VALUE] = chance_of(view, analysis[:, MINE], analysis[:, THEIRS])
        return analysis

    def _search(self, views: Views, budget: tuple[int, int], analysis: Doubles) -> Actions:
        refuse_other_views(self.name, views, find_family("table_top"))
        if not views["legal"].all():
            i = int(np.flatnonzero(views["legal"] == 0)[0])
            raise ValueError(f"{self.name} was given view {i} of seat {views['seat'][i]}, which "
                             "is not to move")  # fmt: skip
        chosen = np.empty(len(views), dtype=np.int64)
        work = Work.new()
        values = load(TABLE_TOP_VALUES)["values"]
        views = np.ascontiguousarray(views)
        for win_table, rows in group_by_win_table(views):
            act_views(
                views, rows, show_table(), values, np.zeros(RANKS), win_table, np.ones(2), *budget,
                *(getattr(work, field.name) for field in fields(work)), chosen, analysis,
            )  # fmt: skip
        return chosen
