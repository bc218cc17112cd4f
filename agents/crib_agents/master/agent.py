"""``master``: plays for the win like `expert`, regularised towards `equilibrium`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from crib_agents.checks import HONOURS
from crib_agents.data import tables
from crib_agents.data.tables import RANKS
from crib_agents.equilibrium.agent import SHIPPED
from crib_agents.equilibrium.files import FIELDS, Solved
from crib_agents.equilibrium.packed import pack
from crib_agents.expert import ExpertAgent
from crib_agents.expert.two_hand import discard, pegging
from crib_agents.expert.two_hand.pegging import FINDINGS
from crib_agents.files import read_header
from crib_agents.knowledge.two_hand.measured import load_model_for
from crib_agents.knowledge.two_hand.pegging import POSITION, holdings
from crib_agents.knowledge.two_hand.winning import group_by_win_table
from crib_agents.master.choose import discard_views, pegging_views
from crib_env.answers import one_or_many
from crib_env.arrays import Doubles
from crib_env.engine.hands.records import DISCARD
from crib_env.engine.show import show_table
from crib_env.policy import Actions, Views

Fields = tuple[int, ...]


class Master:
    """Maximises the expert's value plus lambda times the log of the equilibrium's probability.

    In the pegging the value comes from the expert's search, which here predicts both seats' cards
    from the expert's choices. Without a solved strategy `master` plays as `expert`. It is
    deterministic.

    Args:
        discard_lambda: lambda in discarding, in points: a choice that is e times less likely
            needs a value that much higher.
        pegging_lambda: the same in the pegging.

    Attributes:
        name: its name in tables.
    """

    name = "master"
    honours = HONOURS

    def __init__(self, discard_lambda: float = 0.05, pegging_lambda: float = 0.1) -> None:
        self.discard_lambda = discard_lambda
        self.pegging_lambda = pegging_lambda
        self._expert = ExpertAgent()

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    @one_or_many
    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return a legal action for each view, int64[B].

        Args:
            views: structured array [B] of views, each of a seat to move.
            rng: unused, since the agent is deterministic.

        Raises:
            ValueError: views of another game.
        """
        if not set(FIELDS) <= set(views.dtype.names or ()):  # no game that strategies are for
            return self._expert.act(views, rng)
        actions = np.empty(len(views), dtype=np.int64)
        for rules, rows in by_rules(views):
            strategy = packed(rules)
            if strategy is None:
                actions[rows] = self._expert.act(views[rows], rng)
                continue
            for win_table, among in group_by_win_table(views[rows]):
                judged = rows[among]
                discarding = views["phase"][judged] == DISCARD
                for chosen, choose in ((discarding, self._discard), (~discarding, self._play)):
                    if chosen.any():
                        at = judged[chosen]
                        actions[at] = choose(np.ascontiguousarray(views[at]), win_table, strategy)
        return actions

    def _discard(self, views: Views, win_table: Doubles, strategy: Doubles) -> Actions:
        actions = np.empty(len(views), dtype=np.int64)
        discard_views(
            views, win_table, load_model_for(views), show_table(), discard.NEAR,
            np.zeros(1, dtype=discard.SCRATCH), np.zeros((discard.PAIRS, discard.COLUMNS)),
            strategy, self.discard_lambda * point(win_table), actions,
        )  # fmt: skip
        return actions

    def _play(self, views: Views, win_table: Doubles, strategy: Doubles) -> Actions:
        actions = np.empty(len(views), dtype=np.int64)
        pegging_views(
            views, holdings(), *read_tables(), load_model_for(views), win_table,
            show_table(), np.zeros(pegging.POSITIONS, dtype=POSITION),
            np.zeros(1, dtype=pegging.SCRATCH), np.zeros((RANKS, FINDINGS)), strategy,
            self.pegging_lambda * point(win_table), actions,
        )  # fmt: skip
        return actions


@cache
def read_tables() -> tuple[Doubles, Doubles, Doubles]:
    """Return the tables of the expert's search, with those that predict its choices."""
    _, rates, suited = pegging.read_tables()
    return tables.load(tables.CHOICES)["tables"].ravel() / pegging.UNIT, rates, suited


def point(win_table: Doubles) -> float:
    """Return the value of a point more at the start of a game; see `win_table`."""
    target = win_table.shape[1] - 1
    swing = min(discard.SWING, target)
    near, far = win_table[1, target, target - swing], win_table[1, target, target]
    more: float = (float(near) - float(far)) / swing
    return more


@cache
def paths() -> dict[Fields, Path]:
    """Return the files of the strategies, by the values of the rules in `FIELDS`."""
    found = {}
    for path in sorted(SHIPPED.glob("*.safetensors")):
        rules = read_header(path)[0]["rules_fields"]
        found[tuple(int(rules[field]) for field in FIELDS)] = path
    return found


@cache
def packed(rules: Fields) -> Doubles | None:
    """Return the strategy for rules of these fields as `packed` lays it out; None if there is none.

    The six-card strategy takes 150 MB, and a second or two to load.
    """
    path = paths().get(rules)
    return None if path is None else pack(Solved.load(path).strategy)


def by_rules(views: Views) -> Iterator[tuple[Fields, npt.NDArray[np.intp]]]:
    """Sort two-hand views by the rules that strategies depend on.

    Yields the fields' values and the indices of the views that have them.
    """
    keys = np.stack([views[field] for field in FIELDS], axis=1)
    distinct, group = np.unique(keys, axis=0, return_inverse=True)
    for i, fields in enumerate(distinct.tolist()):
        yield tuple(fields), np.flatnonzero(group.ravel() == i)
