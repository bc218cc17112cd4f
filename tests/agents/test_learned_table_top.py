"""The agent `learned` at Table Top: what its nets see, what they put out, what it takes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crib_agents.learned import MonteCarloAgent, Weights
from crib_agents.learned.table_top import (
    ACTIONS,
    EACH_TWICE,
    EVERY_LINE,
    LINES,
    UNLIKELY,
    action_values,
    line_values,
)
from numba import float64, int64, void

from crib_env.engine.jit import entry
from crib_env.engine.record import TABLE_T, WEIGHTS_T
from crib_env.engine.show import show_table
from crib_env.engine.table_top.records import VIEWS_T
from crib_env.rules import PRESETS
from learned_nets import drawn_weights, saved_but_for, slow_crib, views_of
from reference import learned as slow_nets
from reference import learned_table_top as slow

TABLE_TOP = ("table_top", "table_top_ship")


@entry(
    void(VIEWS_T, TABLE_T, WEIGHTS_T, int64[:, ::1], float64[:, ::1], float64[:, ::1]),
    "test.table_top_values",
)
def values_of(views, table, weights, points, value, values):
    """Write what lines and actions are worth."""
    for b in range(views.shape[0]):
        line_values(views[b], table, weights, EVERY_LINE, points[b], value[b])
        action_values(views[b], table, weights, value[b], values[b])


def found_in(
    views: np.ndarray[Any, Any], weights: Weights
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    n = len(views)
    points = np.zeros((n, EACH_TWICE), dtype=np.int64)
    value, values = np.zeros((n, EACH_TWICE)), np.zeros((n, ACTIONS))
    values_of(views, show_table(), weights.flat(), points, value, values)
    return points, value, values


def slow_line(view: Any, weights: Weights, line: int, cards: list[int]) -> tuple[int, float]:
    """Return a line's points so far and what it is worth."""
    starter = int(view["starter"]) if line % 5 == 2 else None
    points = slow.points_of(cards, starter, int(view["flush_size"]))
    if len(cards) == 5:
        return points, points
    seen = slow_nets.dense(slow.line_seen(view, line, cards), slow.place_in(slow.LINE_PLACES), 109)
    return points, points + slow_nets.forward(weights.nets["line"], seen)[0]


def slow_actions(view: Any, weights: Weights) -> dict[int, float]:
    """Return what each legal action is worth."""
    card, lines = int(view["card"]), slow.lines_of(view)
    gains = [
        slow_line(view, weights, line, [*cards, card])[1] - slow_line(view, weights, line, cards)[1]
        if len(cards) < 5
        else 0.0
        for line, cards in enumerate(lines)
    ]
    sign = 1 if view["scores_rows"] else -1
    values = {
        cell: sign * (gains[cell // 5] - gains[5 + cell % 5])
        for cell in range(25)
        if view["legal"] >> cell & 1
    }
    if view["legal"] >> slow.CRIB & 1:
        known = [int(view["starter"]), *(int(c) for c in view["crib"] if c >= 0)]
        gain = slow_crib(view, weights, [*known, card]) - slow_crib(view, weights, known)
        owing = weights.tables["owing"].astype(np.float64)
        left = slow.TURNS - 1 - view["turn"]
        mine, theirs = view["owed"][0] + view["owed"][2], view["owed"][1] + view["owed"][3]

        def even(owed: int) -> float:
            return float(owing[0, left, owed, theirs] - owing[1, left, theirs, owed])

        values[slow.CRIB] = (gain if view["my_crib"] else -gain) + even(mine - 1) - even(mine)
    return values


@pytest.mark.parametrize("players", [2, 4])
@pytest.mark.parametrize("preset", TABLE_TOP)
def test_values_are_what_nets_make_of_features_by_slow_definition(
    preset: str, players: int
) -> None:
    rules = PRESETS[preset]
    weights = drawn_weights(rules)
    views = views_of(rules, 6, 4, players)
    points, value, values = found_in(views, weights)
    chosen = MonteCarloAgent([weights]).act(views, np.random.default_rng(0))
    for i, view in enumerate(views):
        card = int(view["card"])
        for line, cards in enumerate(slow.lines_of(view)):
            longer = [*cards, card] if len(cards) < 5 else cards
            for at, held in ((line, cards), (LINES + line, longer)):
                expected_points, expected = slow_line(view, weights, line, held)
                assert points[i, at] == expected_points
                assert value[i, at] == pytest.approx(expected, abs=1e-9)
        expected_values = slow_actions(view, weights)
        for action in range(ACTIONS):
            expected = expected_values.get(action, UNLIKELY)
            assert values[i, action] == pytest.approx(expected, abs=1e-9)
        assert values[i, chosen[i]] == pytest.approx(max(expected_values.values()), abs=1e-9)


def test_rules_without_nets_are_refused() -> None:
    agent = MonteCarloAgent([drawn_weights(PRESETS["hoyle"]), drawn_weights(PRESETS["table_top"])])
    with pytest.raises(
        ValueError,
        match=r"flush_size is 4 and crib_flush_size is 4 and adjacency is False: it plays "
        r"table_top \(flush_size 5, crib_flush_size 5, adjacency True\); `crib train`",
    ):
        agent.act(views_of(PRESETS["table_top_ship"], 1, 1), np.random.default_rng(0))


def test_four_players_and_another_target_need_no_other_nets() -> None:
    rules = replace(PRESETS["table_top"], target=61, partners_confer=False)
    agent = MonteCarloAgent([drawn_weights(PRESETS["table_top"])])
    assert (agent.act(views_of(rules, 1, 1, 4), np.random.default_rng(0)) >= 0).all()


@pytest.mark.parametrize(
    ("numbers", "reason"),
    [
        (None, "expected the tensors .*owing, found"),
        (np.zeros((2, 28, 3)), r"expected the table 'owing' to be floats .*\(2, 28, 3, 3\), found"),
        (np.zeros((2, 28, 3, 3), dtype=np.int64), "floats of shape .* found int64"),
        (np.full((2, 28, 3, 3), np.nan), "the tensor 'owing' holds numbers that are not finite"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(numbers: Any, reason: str, tmp_path: Path) -> None:
    weights = drawn_weights(PRESETS["table_top"])
    path = saved_but_for(weights, tmp_path / "x.safetensors", {}, {"owing": numbers})
    with pytest.raises(ValueError, match=rf"x\.safetensors.*: .*{reason}"):
        Weights.load(path)
