"""`random`, `greedy` and `rule_based` at Table Top: legal, blind to hidden cards, each better.

What the kernels count is checked against `tests/reference`, which counts by literal definition.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from crib_agents import GreedyAgent, RandomAgent, RuleBasedAgent
from crib_agents.kernels import table_top
from crib_training.evaluation.duplicate import estimate, play_pairs

from compiled import SLOW, as_entry
from crib_env.engine.record import NONE
from crib_env.engine.show import show_table
from crib_env.engine.table_top.lines import points_so_far
from crib_env.engine.table_top.records import TABLE_VIEW, TO_CRIB
from crib_env.policy import Agent, find_agent
from crib_env.rules import PRESETS
from reference.learned_table_top import points_of
from stacked import Lanes
from table_top_views import every_variant, mask_of, position


def choose(agent: Agent, view: Any) -> int:
    """Return the agent's action for one view."""
    return int(agent.act(np.array([view], dtype=TABLE_VIEW), np.random.default_rng(0))[0])


def line_of(view: Any, cell: int, rows: int) -> list[int]:
    """Return the cards in the row or the column of a cell."""
    layout = view["layout"].reshape(5, 5)
    line = layout[cell // 5] if rows else layout[:, cell % 5]
    return [int(c) for c in line if c != NONE]


def as_they_lie(cards: list[int], flush_size: int, starter: int) -> int:
    """Return what the cards of a line score so far, by the reference."""
    return points_of(cards, starter if starter in cards else None, flush_size) if cards else 0


def gain_now(view: Any, cell: int) -> int:
    """Return what the card adds to its side's line less the other's, by the reference."""
    starter, card, size = int(view["starter"]), int(view["card"]), int(view["flush_size"])
    gains = []
    for rows in (int(view["scores_rows"]), 1 - int(view["scores_rows"])):
        line = line_of(view, cell, rows)
        gains.append(as_they_lie([*line, card], size, starter) - as_they_lie(line, size, starter))
    return gains[0] - gains[1]


# --- random --------------------------------------------------------------------------------------

OPENING = """
    -- -- -- -- --
    -- -- -- -- --
    -- -- 8D -- --
    -- -- -- -- --
    -- -- -- -- --
"""


def test_random_takes_each_legal_action_as_often() -> None:
    around = sum(1 << cell for cell in (6, 7, 8, 11, 13, 16, 17, 18))
    views = np.full(9000, position(OPENING, "5C", crib=1, cells=around), dtype=TABLE_VIEW)
    taken, counts = np.unique(RandomAgent().act(views, np.random.default_rng(2)),
                              return_counts=True)  # fmt: skip
    assert taken.tolist() == [6, 7, 8, 11, 13, 16, 17, 18, TO_CRIB]
    assert ((counts - 1000) ** 2 / 1000).sum() < 31.8  # chi-square, 8 degrees, 1 in 10,000


# --- greedy --------------------------------------------------------------------------------------


@every_variant
def test_greedy_agrees_with_the_reference(players: int, preset: str) -> None:
    """The first cell of the highest gain; the crib where none gains and it is open."""
    games = Lanes(preset, 2 if SLOW else 30, 13, players=players, episode="round")
    rng = np.random.default_rng(4)
    while len(lanes := games.running()):
        views = games.views(lanes)
        for view, action in zip(views, GreedyAgent().act(views, rng), strict=True):
            gains = {c: gain_now(view, c) for c in range(25) if int(view["legal"]) >> c & 1}
            if int(view["legal"]) >> TO_CRIB & 1 and max(gains.values(), default=0) <= 0:
                assert action == TO_CRIB
            else:
                assert action == max(gains, key=lambda cell: (gains[cell], -cell))
        games.step(lanes, RandomAgent().act(views, rng))


# --- rule_based ----------------------------------------------------------------------------------


@pytest.mark.parametrize("flush_size", [4, 5])
def test_lines_are_counted_and_foreseen_as_the_reference_does(flush_size: int) -> None:
    """What a line scores, and the mean of what each unseen card would add to it."""
    seed = 20
    rng = random.Random(seed)
    weights = np.zeros(len(table_top.WEIGHTS))
    weights[table_top.NEXT : table_top.NEXT + 6] = 1.0
    for trial in range(100 if SLOW else 300):
        n = trial % 6
        deck = rng.sample(range(52), 52)
        if trial % 3 == 0:  # of few suits, so that flushes and nobs occur
            deck.sort(key=lambda c: c % 4 != 2)
        cards, unseen, starter = deck[:n], deck[n : n + 30], deck[0]
        nob = 0 if starter // 4 == 10 or not cards else 1 << 40 + starter % 4
        now = as_they_lie(cards, flush_size, starter)
        found = as_entry(points_so_far)(show_table(), mask_of(cards), flush_size, nob)
        assert found == now, (seed, cards)
        added = 0
        if 0 < n < 5:
            added = sum(as_they_lie([*cards, c], flush_size, starter) - now for c in unseen)
        likely = as_entry(table_top.likely_points)(
            show_table(), weights, mask_of(cards), mask_of(unseen), flush_size, nob
        )
        assert likely == pytest.approx(now + added / len(unseen)), (seed, cards, unseen)


FIVES = """
    5C 5D 5H -- KH
    -- -- -- -- --
    -- -- 8D -- --
    -- -- -- -- --
    -- -- -- -- --
"""
PARTED = """
    -- -- -- -- 2C
    -- -- -- -- 3H
    -- -- 8D -- --
    -- -- -- -- 4D
    -- -- -- -- --
"""
ONE_LEFT = """
    2C KD 7H 4C AS
    2D QC JH 6D 3C
    9C TD 8D KC AH
    9D 4H QS 7C 6S
    -- 8H 8S 3S 9S
"""
HEARTS = """
    2H 9H QH -- KC
    -- -- -- -- --
    -- -- 8D -- --
    -- -- -- -- --
    -- -- -- -- --
"""


@pytest.mark.parametrize(
    ("view", "action"),
    [
        (position(FIVES, "5S", crib=1), 3),  # the fourth five, and fifteens with it
        (position(FIVES, "AH", rows=0, crib=1), 3),  # spoils the row a five or a ten would fill
        (position(PARTED, "3D", rows=0, cells=1 << 24 | 1), 24),  # a double run
        (position(PARTED, "7D", rows=1, cells=1 << 24 | 1), 24),  # takes room from the run
        (position(ONE_LEFT, "5D", crib=1, my_crib=1), TO_CRIB),  # a five helps nowhere but there
        (position(ONE_LEFT, "5D", crib=1, my_crib=0), 20),  # and would help the other side there
        # A fourth heart makes a flush in the variation alone (T12).
        (position(HEARTS, "7H", preset="table_top_ship", cells=1 << 3 | 1 << 20), 3),
        (position(HEARTS, "7H", preset="table_top", cells=1 << 3 | 1 << 20), 20),
    ],
)
def test_rule_based_weighs_both_sides_what_may_come_and_the_crib(view: Any, action: int) -> None:
    assert choose(RuleBasedAgent(), view) == action


def test_rule_based_weights_are_named_and_explained() -> None:
    names = [name for name, _, _ in table_top.HEURISTICS]
    assert len(set(names)) == len(names)
    assert all(why for _, _, why in table_top.HEURISTICS)
    for name in ("line_0", "next_0", "draft", "other", "crib_next", "throw"):
        constant = name.removesuffix("_0").upper()
        assert names[getattr(table_top, constant)] == name


@pytest.mark.skipif(SLOW, reason="hundreds of games")
@every_variant
@pytest.mark.parametrize(("better", "worse"), [("rule_based", "greedy"), ("greedy", "random")])
def test_each_agent_beats_the_one_below(better: str, worse: str, players: int, preset: str) -> None:
    """Over duplicate games the whole 95 % interval lies above half."""
    games = play_pairs(
        PRESETS[preset], "game", find_agent(better), find_agent(worse),
        60, 17, players=players,
    )  # fmt: skip
    won = estimate(games.shares_won)
    assert won.mean - won.half > 0.9
