"""``master``: plays for the win like `expert`, regularised towards `equilibrium`.

The expert's search gives each choice a value, and the equilibrium gives it a probability. `master`
takes the choice with the highest

    value + lam * log(probability)

Early in a game values are nearly equal and the probabilities decide. Near the end one point can
decide the game, values differ widely, and they decide. (Jacob et al., *Modeling Strong and
Human-Like Gameplay with KL-Regularized Search*, 2022, where the policy is people's.)
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
from numba import float64, int64, void

from crib_agents.checks import HONOURS
from crib_agents.data import tables
from crib_agents.data.tables import RANKS
from crib_agents.equilibrium.agent import (
    CLASSES,
    CODES,
    SHIPPED,
    SPLITS,
    pack,
    pegging_probabilities,
    split_cards,
)
from crib_agents.equilibrium.classes import canonical, find_class
from crib_agents.equilibrium.strategy import FIELDS, Solved
from crib_agents.expert import ExpertAgent, discard, pegging
from crib_agents.expert.discard import PAIRS, SCRATCH_T, WIN_VALUE, best_pair, fill_columns
from crib_agents.expert.pegging import FINDINGS
from crib_agents.expert.pegging import WIN_VALUE as CARD_VALUE
from crib_agents.files import read_header
from crib_agents.kernels.two_hand import card_of
from crib_agents.knowledge.measured import MODEL_T, load_model_for
from crib_agents.knowledge.pegging import POSITION, POSITIONS_T, holdings
from crib_agents.knowledge.winning import group_by_win_table
from crib_env.arrays import Doubles
from crib_env.engine import stack
from crib_env.engine.hands.records import DISCARD
from crib_env.engine.jit import entry, kernel
from crib_env.engine.record import NONE, TABLE_T, WEIGHTS_T
from crib_env.engine.show import show_table
from crib_env.engine.two_hand import HAND, VIEWS_T
from crib_env.policy import Actions, Views, one_or_many

LEAST = 1 / 255  # the least probability: the resolution of a strategy's


@kernel
def drawn(chance, lam):
    """Return the term that a probability adds to a value."""
    return lam * math.log(max(chance, LEAST))


@kernel
def pair_probabilities(cards, n, is_dealer, strategy, probabilities):
    """Write the equilibrium probability of each pair, float64[PAIRS], by `fill_columns`."""
    order = stack.ints(HAND)
    classes = int(strategy[CLASSES])
    at = find_class(strategy, int(strategy[CODES]), classes, canonical(cards, n, order))
    packed = int(strategy[int(strategy[SPLITS]) + classes * is_dealer + at])
    for k in range(n * (n - 1) // 2):
        probabilities[k] = 0.0
    for which in range(2):
        likely = packed >> 8 if which == 0 else 255 - (packed >> 8)
        first, second = split_cards(n, packed >> (4 * which) & 15)
        low = min(order[first], order[second])
        high = max(order[first], order[second])
        probabilities[low * (2 * n - low - 1) // 2 + high - low - 1] += likely / 255.0


@entry(
    void(
        VIEWS_T, float64[:, :, ::1], MODEL_T, TABLE_T, int64, SCRATCH_T, float64[:, ::1],
        WEIGHTS_T, float64, int64[::1],
    )
)  # fmt: skip
def discard_views(views, win_table, model, table, near, scratch, columns, strategy, lam, actions):
    """Choose a card to discard for each view, all judged by one table and under the same rules.

    Args:
        win_table, model, table, near, scratch: see `fill_columns`.
        columns: float64[PAIRS, COLUMNS], no matter what is in them.
        strategy: see `equilibrium.agent.pack`. lam: in parts of a win, or of what ``win_table``
            counts.
        actions: int64[B], written.
    """
    probabilities = stack.floats(PAIRS)
    s = scratch[0]
    for i in range(views.shape[0]):
        v = views[i]
        pairs = fill_columns(v, win_table, model[0], table, near, s, columns)
        n = v["hand_n"] + v["discarded_n"]
        pair_probabilities(s["cards"], n, 1 - v["dealer"], strategy, probabilities)
        for k in range(pairs):
            columns[k, WIN_VALUE] += drawn(probabilities[k], lam)
        actions[i] = card_of(v, best_pair(v, s, columns))


@entry(
    void(
        VIEWS_T, int64[:, ::1], float64[::1], float64[:, ::1], float64[::1], MODEL_T,
        float64[:, :, ::1], TABLE_T, POSITIONS_T, pegging.SCRATCH_T, float64[:, ::1], WEIGHTS_T,
        float64, int64[::1],
    )
)  # fmt: skip
def pegging_views(
    views, hands, weights, keeping_rates, suited, model, win_table, table, positions, scratch,
    found, strategy, lam, actions,
):  # fmt: skip
    """Choose a card to play for each view, of equal value the higher; as `discard_views`.

    Args:
        hands, weights, keeping_rates, suited, positions, scratch: see `pegging.pegging_views`.
        found: float64[RANKS, FINDINGS], no matter what is in them.
    """
    probabilities = stack.floats(HAND)
    of_rank = stack.floats(RANKS)
    for i in range(views.shape[0]):
        v = views[i]
        open_choice = pegging.only_rank(v) == NONE
        if open_choice:
            pegging.find(
                v, hands, weights, keeping_rates, suited, model[0], win_table, table, positions,
                scratch[0], found,
            )  # fmt: skip
            pegging_probabilities(v, strategy, probabilities)
            for r in range(RANKS):
                of_rank[r] = 0.0
            for k in range(v["hand_n"]):
                of_rank[v["hand"][k] >> 2] += probabilities[k]
        card = NONE
        most = 0.0
        for k in range(v["hand_n"]):
            if v["legal"] >> k & 1:
                c = v["hand"][k]
                value = 0.0
                if open_choice:
                    value = found[c >> 2, CARD_VALUE] + drawn(of_rank[c >> 2], lam)
                if card == NONE or value > most or (value == most and c > card):
                    card = c
                    most = value
        actions[i] = card


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
