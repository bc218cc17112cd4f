"""The agent `learned_search`: what it finds at Table Top, and that it plays every game."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from crib_agents.learned import Weights
from crib_agents.learned.searching import LearnedSearch
from crib_agents.learned.table_top.act import ACTIONS, UNLIKELY
from crib_agents.learned.table_top.search import action_values
from numba import float64, void

from crib_env.engine.jit import entry
from crib_env.engine.record import TABLE_T, WEIGHTS_T
from crib_env.engine.show import show_table
from crib_env.engine.table_top.records import VIEWS_T
from crib_env.rules import PRESETS, Rules
from learned_nets import drawn_weights, slow_crib, views_of
from reference import learned as slow_nets
from reference import learned_table_top as slow

POINTS = np.array([1.25, 0.75])
TABLE_TOP = ("table_top", "table_top_ship")


@entry(void(VIEWS_T, TABLE_T, WEIGHTS_T, float64[::1], float64[:, ::1]), "test.action_values")
def win_table_of(views, table, weights, points, values):
    """Write what actions are worth by the answers to them."""
    for b in range(views.shape[0]):
        action_values(views[b], table, weights, points, values[b])


class Slow:
    """What actions are worth by the answers to them, tried out one by one.

    Args:
        view: of a seat to move. weights: the nets.
    """

    def __init__(self, view: Any, weights: Weights) -> None:
        self.view, self.weights = view, weights
        self.unseen = slow.unseen_of(view)
        self.known: dict[Any, float] = {}

    def line(self, line: int, cards: Sequence[int], owed: Sequence[int]) -> float:
        """Return what a line is worth after the answer, all on the table but the last two cards."""
        key = line, tuple(sorted(cards)), tuple(owed)
        if key not in self.known:
            self.known[key] = self._line(line, list(cards), owed)
        return self.known[key]

    def _line(self, line: int, cards: list[int], owed: Sequence[int]) -> float:
        view, starter = self.view, int(self.view["starter"])
        points = slow.points_of(cards, starter if line % 5 == 2 else None, int(view["flush_size"]))
        if len(cards) == 5:
            return points
        then = view.copy()
        then["turn"] += 1
        then["owed"][:] = [*owed, 0, 0]
        seen = slow.line_seen(then, line, cards)
        seen["on turn",] = 1.0 - seen["on turn",]  # the answer was the other side's
        if seen.get(("nob",)):
            seen["nob to come",] = 0.0  # the answer itself
        places = slow.place_in(slow.LINE_PLACES)
        inputs = slow_nets.dense(seen, places, 109)
        return points + slow_nets.forward(self.weights.nets["line"], inputs)[0]

    def total(self, lines: Sequence[Sequence[int]], mine: int, theirs: int) -> float:
        """Return what lines and debts are worth to my side after the answer."""
        view = self.view
        owed = [self.mine, int(view["owed"][1] + view["owed"][3])]
        owing, left = self.weights.tables["owing"].astype(np.float64), 26 - int(view["turn"])
        total = POINTS[0] * owing[1, left, mine, theirs] - POINTS[1] * owing[0, left, theirs, mine]
        for line, cards in enumerate(lines):
            own = (line < 5) == bool(view["scores_rows"])
            total += (POINTS[0] if own else -POINTS[1]) * self.line(line, cards, owed)
        return float(total)

    def value(self, action: int, rules: Rules) -> float:
        """Return what an action is worth."""
        view, card = self.view, int(self.view["card"])
        lines, known = slow.lines_of(view), [int(view["starter"])]
        crib = known + [int(c) for c in view["crib"] if c >= 0]
        self.mine = int(view["owed"][0] + view["owed"][2])
        theirs, placed = int(view["owed"][1] + view["owed"][3]), np.flatnonzero(view["layout"] >= 0)
        taken = set(placed.tolist())
        if action == slow.CRIB:
            crib.append(card)
            self.mine -= 1
        else:
            lines = put(lines, action, card)
            taken.add(action)
        of_crib = POINTS[0] if view["my_crib"] else -POINTS[1]
        answers = self.answers(taken)
        other = view.copy()
        other["my_crib"] = 1 - view["my_crib"]
        sums = []
        for answer_card in self.unseen:
            found = [
                self.total(put(lines, cell, answer_card), self.mine, theirs)
                for cell in answers
                if cell != slow.CRIB
            ]
            if slow.CRIB in answers:
                more = slow_crib(other, self.weights, [*known, answer_card])
                more -= slow_crib(other, self.weights, known)
                found.append(self.total(lines, self.mine, theirs - 1) + of_crib * more)
            sums.append(min(found))
        return float(np.mean(sums)) + of_crib * slow_crib(view, self.weights, crib)

    def answers(self, taken: set[int]) -> list[int]:
        """Return what the next seat may do (T5, T6, T11)."""
        view, owed = self.view, int(self.view["owed"][1])
        turns = range(int(view["turn"]) + 1, slow.TURNS, int(view["players"]))
        if owed == len(turns):
            return [slow.CRIB]
        cells = [
            cell
            for cell in set(range(25)) - taken
            if not view["adjacency"]
            or any(abs(cell // 5 - c // 5) <= 1 and abs(cell % 5 - c % 5) <= 1 for c in taken)
        ]
        return cells + [slow.CRIB] * (owed > 0)


def put(lines: Sequence[Sequence[int]], cell: int, card: int) -> list[list[int]]:
    """Return lines with a card more."""
    return [
        [*cards, card] if line in (cell // 5, 5 + cell % 5) else list(cards)
        for line, cards in enumerate(lines)
    ]


@pytest.mark.parametrize("players", [2, 4])
@pytest.mark.parametrize("preset", TABLE_TOP)
def test_an_action_is_worth_the_mean_over_next_cards_of_their_best_answers(
    preset: str, players: int
) -> None:
    rules = PRESETS[preset]
    weights = drawn_weights(rules)
    views = views_of(rules, 2, 7, players)
    views = views[np.isin(views["turn"], (13, 22, 25, 26))]
    values = np.zeros((len(views), ACTIONS))
    win_table_of(views, show_table(), weights.flat(), POINTS, values)
    for view, found in zip(views, values, strict=True):
        slowly = Slow(view, weights)
        for action in range(ACTIONS):
            expected = UNLIKELY
            if view["legal"] >> action & 1:
                expected = slowly.value(action, rules)
            assert found[action] == pytest.approx(expected, abs=1e-8)


def test_views_of_different_rules_are_answered_each_by_its_own_nets() -> None:
    agent = LearnedSearch([drawn_weights(PRESETS[p], seed=i) for i, p in enumerate(TABLE_TOP)])
    parts = [views_of(PRESETS[p], 1, 1) for p in TABLE_TOP]
    rng = np.random.default_rng(0)
    alone = np.concatenate([agent.act(part, rng) for part in parts])
    assert (agent.act(np.concatenate(parts), rng) == alone).all()
