"""`random`, `greedy`, `rule_based` and `expert` at Table Top: their counts and strength order.

Counts and searches of the kernels are checked against `tests/reference`, which counts by literal
definition.
"""

from __future__ import annotations

import random
from functools import cache
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest
import torch
from crib_agents import ExpertAgent, GreedyAgent, RandomAgent, RuleBasedAgent, from_torch
from crib_agents.data import tables
from crib_agents.data.tables import TABLE_TOP_VALUES, load
from crib_agents.expert.table_top import (
    ACTIONS,
    BUDGETS,
    FIRST_SHAPE,
    MINE,
    SHAPES,
    THEIRS,
    VALUE,
    WIN_VALUE,
    analyze,
    crib_value,
    line_value,
    shape,
)
from crib_agents.expert.table_top import choose as expert_choice
from crib_agents.kernels import table_top
from crib_agents.master import Master
from crib_training.evaluation.duplicate import estimate, play_pairs
from crib_training.evaluation.evaluate import Settings, run

from compiled import SLOW, as_entry, compiled_alone
from crib_env.batch import GameBatch
from crib_env.cards import parse_card
from crib_env.engine.family import find_family
from crib_env.engine.ranks import RANKS
from crib_env.engine.record import NONE
from crib_env.engine.show import show_table
from crib_env.engine.table_top.lines import points_so_far
from crib_env.engine.table_top.records import CENTRE, TABLE_VIEW, TO_CRIB, TURNS
from crib_env.policy import Agent, find_agent
from crib_env.rules import PRESETS
from reference import scoring
from reference.learned_table_top import points_of
from stacked import Lanes
from table_top_views import OPEN, VARIANTS, every_variant, mask_of, position


def choose(agent: Agent, view: Any) -> int:
    """Return the agent's action for one view."""
    return int(agent.act(np.array([view], dtype=TABLE_VIEW), np.random.default_rng(0))[0])


def line_of(view: Any, cell: int, rows: int) -> list[int]:
    """Return the cards in the row or the column of a cell."""
    layout = view["layout"].reshape(5, 5)
    line = layout[cell // 5] if rows else layout[:, cell % 5]
    return [int(c) for c in line if c != NONE]


def as_they_lie(cards: list[int], flush_size: int, starter: int) -> int:
    """Return the points so far of a line's cards, by the reference."""
    return points_of(cards, starter if starter in cards else None, flush_size) if cards else 0


def gain_now(view: Any, cell: int) -> int:
    """Return the card's points in its side's line less those in the other's, by the reference."""
    starter, card, size = int(view["starter"]), int(view["card"]), int(view["flush_size"])
    gains = []
    for rows in (int(view["scores_rows"]), 1 - int(view["scores_rows"])):
        line = line_of(view, cell, rows)
        gains.append(as_they_lie([*line, card], size, starter) - as_they_lie(line, size, starter))
    return gains[0] - gains[1]


# --- greedy --------------------------------------------------------------------------------------


@every_variant
def test_greedy_agrees_with_the_reference(players: int, preset: str) -> None:
    """The first cell of the highest gain; the crib where none gains and it is open."""
    games = Lanes(preset, 2 if SLOW else 10, 13, players=players, episode="round")
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
def test_line_values_agree_with_the_reference(flush_size: int) -> None:
    """A line's points, and the mean points that each unseen card would add."""
    seed = 20
    rng = random.Random(seed)
    weights = np.zeros(len(table_top.WEIGHTS))
    weights[table_top.NEXT : table_top.NEXT + 6] = 1.0
    for trial in range(100):
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
def test_rule_based_weighs_both_sides_future_cards_and_the_crib(view: Any, action: int) -> None:
    assert choose(RuleBasedAgent(), view) == action


@pytest.mark.skipif(SLOW, reason="hundreds of games")
@pytest.mark.parametrize(
    ("better", "worse", "players", "preset"),
    [
        ("rule_based", "greedy", 2, "table_top"),
        ("rule_based", "greedy", 4, "table_top_ship"),
        ("greedy", "random", 4, "table_top"),
        ("greedy", "random", 2, "table_top_ship"),
    ],
)
def test_agents_beat_the_next_weaker_agent(better: str, worse: str, players: int, preset: str) -> None:
    """Over duplicate games the whole 95 % interval lies above half."""
    games = play_pairs(PRESETS[preset], "game", find_agent(better), find_agent(worse), 40, 17, players=players)
    won = estimate(games.shares_won)
    assert won.mean - won.ci95 > 0.9


# --- expert ---------------------------------------------------------------------------------------


def at_turn(turn: int, players: int, preset: str, lanes: int, seed: int, episode: str = "round") -> Lanes:
    """Return rounds that random play has brought to a turn."""
    games = Lanes(preset, lanes, seed, players=players, episode=episode)
    rng = np.random.default_rng(seed)
    for _ in range(turn):
        games.step(games.running(), RandomAgent().act(games.views(games.running()), rng))
    return games


# --- behaviour --------------------------------------------------------------------------------


@compiled_alone
@pytest.mark.parametrize(
    ("budget", "players", "preset"), [(i, *variant) for i, variant in zip((1, 2, 3, 4), VARIANTS, strict=True)]
)
def test_agents_actions_are_legal(budget: int, players: int, preset: str) -> None:
    """Actions of `expert`, in its rounds and in random play; `Lanes` refuses an illegal one."""
    rng = np.random.default_rng(5)
    own, led = (Lanes(preset, 6 if budget < 3 else 1, 4, players=players, episode="round") for _ in range(2))
    while len(lanes := own.running()):
        views = led.views(lanes)
        assert (views["legal"] >> expert_choice(views, budget) & 1 == 1).all()
        led.step(lanes, RandomAgent().act(views, rng))
        own.step(lanes, expert_choice(own.views(lanes), budget))
    assert (own.states["turn"] == TURNS).all()


# --- values of lines -----------------------------------------------------------------------------


@pytest.mark.parametrize("preset", tables.VARIANTS)
def test_t8_t12_values_of_full_lines_and_cribs_are_their_score(preset: str) -> None:
    seed = 31
    rng = random.Random(seed)
    rules = PRESETS[preset]
    values = load(TABLE_TOP_VALUES)["values"][0]
    for trial in range(200):
        cards = rng.sample(range(52), 52)
        if trial % 3 == 0:  # of few suits, so that flushes and nobs occur
            cards.sort(key=lambda c: c % 4 != 2)
        line, starter = cards[:5], cards[0]
        nob = 0 if starter // 4 == scoring.JACK else 1 << 4 * scoring.JACK + starter % 4
        found = as_entry(line_value)(
            values,
            np.zeros(RANKS),
            show_table(),
            mask_of(line),
            trial % 2,
            0,
            rules.flush_size,
            nob,
            mask_of(cards[5:]),
        )
        assert found == scoring.score_line(line, rules.flush_size, starter), (seed, line)
        # A crib is counted without its flush, which no search sees coming.
        crib = as_entry(crib_value)(values, show_table(), mask_of(line), 1, nob)
        assert crib == scoring.score_line(line, 6, starter), (seed, line)


def test_multisets_of_up_to_four_ranks_have_distinct_numbers() -> None:
    """Numbered without gaps, smaller sets first, for any suits."""
    rng = random.Random(32)
    numbers = []
    for n in range(5):
        for ranks in combinations_with_replacement(range(RANKS), n):
            suits = {rank: rng.sample(range(4), ranks.count(rank)) for rank in ranks}
            cards = [4 * rank + suit for rank in suits for suit in suits[rank]]
            numbers.append(int(shape(mask_of(cards))))
            assert FIRST_SHAPE[n] <= numbers[-1] < FIRST_SHAPE[n + 1]
    assert sorted(numbers) == list(range(SHAPES))


@compiled_alone
@every_variant
def test_value_of_full_layout_without_crib_is_its_score(players: int, preset: str) -> None:
    """The last turn leaves nothing open: the points are those of the count (T8)."""
    games = at_turn(TURNS - 1, players, preset, 40, seed=33)
    size, placed = PRESETS[preset].flush_size, 0
    for view in games.views(games.running()):
        action = int(view["legal"]).bit_length() - 1
        layout = view["layout"].tolist()
        if action != TO_CRIB:
            layout[action] = int(view["card"])
            placed += 1
        mine = bool(view["my_crib"]) is False
        rows = bool(view["scores_rows"]) is mine
        lines = [layout[5 * i : 5 * i + 5] if rows else layout[i::5] for i in range(5)]
        points = sum(
            scoring.score_line(line, size, layout[CENTRE] if layout[CENTRE] in line else None) for line in lines
        )
        found = analyze(view, 2)
        assert found[action, MINE if mine else THEIRS] == pytest.approx(points)
    assert placed > 0


# --- analysis ------------------------------------------------------------------------------------


@compiled_alone
@pytest.mark.parametrize(("budget", "players", "preset"), [(1, 2, "table_top"), (2, 4, "table_top_ship")])
def test_analysis_has_a_row_for_each_legal_action_and_the_choice_is_its_best(
    budget: int, players: int, preset: str
) -> None:
    for turn, episode in product((0, 9, 25), ("round", "game")):
        games = at_turn(turn, players, preset, 5, seed=41 + turn, episode=episode)
        views = games.views(games.running())
        for view, action in zip(views, expert_choice(views, budget), strict=True):
            found = analyze(view, budget)
            legal = [bool(int(view["legal"]) >> a & 1) for a in range(ACTIONS)]
            assert (~np.isnan(found)).all(axis=1).tolist() == legal
            assert np.isnan(found).any(axis=1).tolist() == [not one for one in legal]
            assert action == np.nanargmax(found[:, VALUE])
            assert ((found[legal, WIN_VALUE] >= 0.0) & (found[legal, WIN_VALUE] <= 1.0)).all()
            if budget == 1 and episode == "round":
                margin = found[:, MINE] - found[:, THEIRS]
                np.testing.assert_allclose(found[:, VALUE], margin, atol=1e-9)


@compiled_alone
@every_variant
def test_values_are_symmetric_in_rows_and_columns(players: int, preset: str) -> None:
    """A layout mirrored in its diagonal, for the side of the columns, is the same round (T1)."""
    games = at_turn(11, players, preset, 6, seed=44)
    mirror = [5 * (cell % 5) + cell // 5 for cell in range(25)] + [TO_CRIB]
    for view in games.views(games.running()):
        other = np.array([view])[0]
        other["scores_rows"] = 1 - view["scores_rows"]
        other["layout"] = view["layout"][mirror[:25]]
        for field in ("placed", "legal"):
            mask = int(view[field])
            other[field] = sum((mask >> cell & 1) << mirror[cell] for cell in range(ACTIONS))
        np.testing.assert_allclose(analyze(other, 2), analyze(view, 2)[mirror], atol=1e-9)


@compiled_alone
def test_t7_partners_crib_card_counts_as_known() -> None:
    """For its side a crib with the partner's five has a higher value than one with a queen."""
    value = []
    for discarded in ("5S", "QS"):
        view = position(OPEN, "6H", crib=1)
        view["players"], view["turn"] = 4, 12
        view["owed"] = (1, 1, 0, 1)
        view["crib"][0], view["crib_turns"][0] = parse_card(discarded), 2
        value.append(analyze(view, 1)[1, MINE])
    assert value[0] > value[1] + 1.0


# --- search --------------------------------------------------------------------------------------


@cache
def line_score(line: tuple[int, ...], flush_size: int, starter: int) -> int:
    """Return the points of a full line, by the reference."""
    return scoring.score_line(list(line), flush_size, starter if starter in line else None)


def margin_of(layout: list[int], view: Any) -> int:
    """Return the points of the view's side in a full layout, less those of the other side."""
    size, starter = int(view["flush_size"]), layout[CENTRE]
    rows = sum(line_score(tuple(layout[5 * i : 5 * i + 5]), size, starter) for i in range(5))
    columns = sum(line_score(tuple(layout[i::5]), size, starter) for i in range(5))
    return rows - columns if view["scores_rows"] else columns - rows


def play_out(layout: list[int], card: int, unseen: list[int], view: Any, mine: bool) -> float:
    """Return the exact mean margin of the best play, over all vacant cells and all later cards."""
    margins = [after_placing(layout, cell, card, unseen, view, mine) for cell in range(25) if layout[cell] == NONE]
    return max(margins) if mine else min(margins)


def after_placing(layout: list[int], cell: int, card: int, unseen: list[int], view: Any, mine: bool) -> float:
    """Return the mean margin once the card lies on the cell."""
    layout = [*layout[:cell], card, *layout[cell + 1 :]]
    if NONE not in layout:
        return margin_of(layout, view)
    return sum(play_out(layout, c, [u for u in unseen if u != c], view, not mine) for c in unseen) / len(unseen)


@compiled_alone
@pytest.mark.parametrize(("players", "preset"), VARIANTS[::3])
def test_expert_searches_the_last_three_turns_exactly(players: int, preset: str) -> None:
    """With no crib cards owed, the values differ as exhaustive play does."""
    games = at_turn(25, players, preset, 300, seed=51)
    tried = 0
    for view in games.views(games.running()):
        if view["owed"].any() or (tried := tried + 1) > 2:
            continue
        layout = view["layout"].tolist()
        seen = {*layout, *view["crib"].tolist(), int(view["card"])}
        unseen = [card for card in range(52) if card not in seen]
        cells = [cell for cell in range(25) if layout[cell] == NONE]
        assert len(cells) == 3
        exact = [after_placing(layout, c, int(view["card"]), unseen, view, True) for c in cells]
        found = analyze(view)[cells, VALUE]
        np.testing.assert_allclose(found - found[0], np.array(exact) - exact[0], atol=1e-6)
        action = int(expert_choice(np.array([view]))[0])
        assert exact[cells.index(action)] == pytest.approx(max(exact))
    assert tried >= 2


# --- errors -----------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [0, len(BUDGETS) + 1, True, 2.5])
def test_expert_rejects_unknown_budget(budget: Any) -> None:
    with pytest.raises(ValueError, match="budget must be a whole number from 1 to 4"):
        ExpertAgent(budget)


def test_expert_rejects_views_it_cannot_play() -> None:
    rng = np.random.default_rng(0)
    game = GameBatch("three_hand", 1, seed=1)
    game.reset()
    with pytest.raises(ValueError, match=r"expert does not play three_hand or four_hand: .*'learned' plays"):
        ExpertAgent().act(game.views(np.zeros(1, dtype=np.int64)), rng)
    table = GameBatch("table_top", 1, seed=1)
    table.reset()
    waiting = table.views(np.zeros(1, dtype=np.int64), 1 - table.states["to_move"])
    for agent in (ExpertAgent(), Master(), from_torch(torch.nn.Linear(find_family("table_top").obs_size, ACTIONS))):
        with pytest.raises(ValueError, match=rf"{agent.name} was given view 0 of seat \d, which is not to move"):
            agent.act(waiting, rng)


# --- learning and strength -----------------------------------------------------------------------


@compiled_alone
@pytest.mark.parametrize(("players", "preset"), [(2, "table_top"), (4, "table_top_ship")])
def test_expert_budgets_beat_rule_based(players: int, preset: str) -> None:
    """Over duplicate rounds the whole 95 % interval of the margin lies above 0."""
    for budget, pairs in ((1, 80), (3, 60)):
        rounds = play_pairs(
            PRESETS[preset], "round", ExpertAgent(budget), find_agent("rule_based"), pairs, 17, players=players
        )
        margin = estimate(rounds.margin.mean(axis=1))
        assert margin.mean - margin.ci95 > 0.0, budget


@compiled_alone
def test_crib_evaluate_takes_the_budget_of_expert() -> None:
    settings = Settings("expert", "random", env="table_top_v0", budget=1)
    assert repr(settings.agent("expert")) == "ExpertAgent(budget=1)"
    assert settings.agent("greedy").name == "greedy"
    with pytest.raises(ValueError, match="--budget is for Table Top"):
        run(Settings("expert", "random", budget=1))
