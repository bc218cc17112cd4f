"""The win table and the worth of a score, against slow recursions and counts done by hand."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from crib_agents.knowledge import measured, winning
from crib_agents.knowledge.measured import PLAY_SIZE, Outcomes
from crib_agents.knowledge.winning import (
    after_deal,
    group_by_win_table,
    slope,
    stakes,
    win_table,
)
from crib_training.tables.deals import DEALER, outcomes_as_json, play_deals
from hypothesis import given, settings
from hypothesis import strategies as st

from compiled import SLOW
from crib_env import find_agent
from crib_env.batch import GameBatch
from crib_env.engine.hands.records import DEAL, GAME, MATCH, PEGGING_ONLY
from crib_env.engine.two_hand import VIEW
from crib_env.rules import PRESETS
from small_deal import COUNTS, PLAYS, small_deal

Array = npt.NDArray[Any]

STARTS = {  # points still to make by the dealer and by pone
    "hoyle": ((121, 121), (61, 61), (61, 36), (31, 46), (26, 21), (16, 16), (10, 5), (4, 8)),
    "five_card": ((61, 58), (41, 41), (31, 21), (21, 26), (16, 16), (11, 6), (4, 8)),
}

compiled = pytest.mark.skipif(SLOW, reason="thousands of games take compiled code")
every_game = pytest.mark.parametrize("game", ["hoyle", "five_card"])


@cache
def slow_probabilities(pone: int, dealer: int) -> tuple[float, ...]:
    """Return the six chances for pone by following every way a small deal can go."""
    total = np.zeros(winning.ENDS)
    for chance, pegged in PLAYS:
        for hand, p in COUNTS[0].items():
            for other, q in COUNTS[1].items():
                for crib, r in COUNTS[2].items():
                    order = [*pegged, ("pone", hand), ("dealer", other), ("dealer", crib)]
                    total += chance * p * q * r * np.array(follow(order, pone, dealer))
    return tuple(total)


def follow(order: Any, pone: int, dealer: int) -> tuple[float, ...]:
    """Return the six chances for pone of a deal that brings points in this order."""
    left = {"pone": pone, "dealer": dealer}
    for seat, points in order:
        left[seat] -= points
        if left[seat] <= 0:
            margin = left["dealer" if seat == "pone" else "pone"]
            end = 0 if margin > 60 else 1 if margin > 30 else 2
            return tuple(float(i == (end if seat == "pone" else 5 - end)) for i in range(6))
    return slow_probabilities(left["dealer"], left["pone"])[::-1]


def test_the_table_is_what_following_every_deal_gives() -> None:
    """C5: the order of the play and of the counts decides who is first, and by how much (H11)."""
    solved = winning.solve(small_deal(), 70)
    for pone in (1, 2, 3, 5, 9, 31, 62, 70):
        for dealer in (1, 2, 3, 4, 8, 33, 64, 70):
            assert solved[pone, dealer] == pytest.approx(
                slow_probabilities(pone, dealer), abs=1e-12
            )


@every_game
def test_the_measured_play_adds_up_wherever_a_game_stands(game: str) -> None:
    """Pone is out, the dealer is out or neither: one of them, and by what was counted."""
    deal = measured.load_outcomes(PRESETS[game].dealt)
    for field in fields(Outcomes):
        if not field.name.endswith("out"):
            assert getattr(deal, field.name).sum() == pytest.approx(1.0), field.name
    for pone in range(1, PLAY_SIZE):
        for dealer in range(1, PLAY_SIZE):
            out = deal.pone_out[pone, :dealer].sum() + deal.dealer_out[dealer, :pone].sum()
            assert out + deal.pegging[:pone, :dealer].sum() == pytest.approx(1.0)


@every_game
def test_chances_are_chances_for_both_seats(game: str) -> None:
    rules = PRESETS[game]
    table = winning.probabilities(rules.dealt, rules.target)
    assert table.min() >= 0.0
    assert table[:, 1:, 1:].sum(axis=3) == pytest.approx(1.0)
    assert (table[1] == table[0].transpose(1, 0, 2)[..., ::-1]).all()


@every_game
def test_a_shorter_target_is_the_same_table(game: str) -> None:
    rules = PRESETS[game]
    longer = winning.probabilities(rules.dealt, 71)[:, :62, :62]
    assert winning.probabilities(rules.dealt, 61) == pytest.approx(longer)


@settings(max_examples=200, deadline=None)
@given(
    game=st.sampled_from(["hoyle", "five_card"]), i_deal=st.integers(0, 1), data=st.data()
)  # fmt: skip
def test_a_point_more_never_hurts(game: str, i_deal: int, data: st.DataObject) -> None:
    rules = PRESETS[game]
    episode = data.draw(st.sampled_from([DEAL, GAME, MATCH]))
    mine, theirs = data.draw(st.tuples(st.integers(1, 7), st.integers(1, 7)))
    table = win_table(rules.dealt, rules.target, episode, mine, theirs)
    pone = data.draw(st.integers(2, rules.target))
    dealer = data.draw(st.integers(2, rules.target))
    now = after_deal(table, i_deal, pone, dealer)
    sign = 1 if i_deal else -1
    rounding = 1e-12  # a game as good as won is worth 1 either way
    assert sign * (after_deal(table, i_deal, pone, dealer - 1) - now) > -rounding
    assert sign * (after_deal(table, i_deal, pone - 1, dealer) - now) < rounding
    assert 0.0 <= now <= 1.0 + rounding


@compiled
@every_game
def test_the_table_agrees_with_games_played(game: str) -> None:
    """Games of an agent against itself from several scores, seed 3: chi-square over them."""
    rules, agent, games = PRESETS[game], find_agent("rule_based"), 2000
    total = 0.0
    for needs in STARTS[game]:
        expected = winning.probabilities(rules.dealt, rules.target)[
            1, needs[0], needs[1], winning.WON
        ].sum()
        deals, chance = np.random.SeedSequence(3).spawn(2)
        play = GameBatch(rules, games, seed=deals)
        play.reset(dealer=DEALER, scores=(rules.target - needs[0], rules.target - needs[1]))
        for _ in play.play(agent, np.random.default_rng(chance)):
            pass
        won = (play.states["winner"] == DEALER).mean()
        total += (won - expected) ** 2 / (expected * (1 - expected) / games)
    assert total < 27.9  # 8 degrees, 1 in 2000


@compiled
def test_a_new_measurement_agrees_with_the_file() -> None:
    deals = 1500
    points, outs = play_deals(PRESETS["hoyle"], find_agent("expert"), deals,
                           np.random.SeedSequence(5))  # fmt: skip
    found = outcomes_as_json(points, outs, PRESETS["hoyle"])
    stored = measured.load_outcomes(6)
    for name in ("pone_hand", "dealer_hand", "crib"):
        expected = getattr(stored, name) * deals
        counted = np.array(found[name])[expected > 5]
        chi = ((counted - expected[expected > 5]) ** 2 / expected[expected > 5]).sum()
        assert chi < 60, name  # some 20 degrees
    for name in ("pegging", "pone_out", "dealer_out"):
        assert np.abs(np.array(found[name]) / deals - getattr(stored, name)).max() < 0.03


# --- stakes --------------------------------------------------------------------------------------


def certain(end_as_pone: int, end_as_dealer: int) -> Array:
    """Return chances by which every game ends in one way for pone and another for the dealer."""
    table = np.zeros((2, 122, 122, 6))
    table[0, :, :, end_as_pone] = 1.0
    table[1, :, :, end_as_dealer] = 1.0
    return table


@pytest.mark.parametrize(
    ("table", "won"),
    [
        # (dealing, mine, theirs) that win the match. Dealers win plainly: the loser deals the next
        # game and wins it, so they take turns, and the first dealer needs no more than the other.
        (certain(3, 2), {(1, 1, 1), (1, 1, 2), (1, 1, 3), (0, 1, 2), (0, 1, 3), (1, 2, 2),
                         (1, 2, 3), (0, 2, 3), (1, 3, 3)}),
        # Dealers win by a skunk, 2: with 2 to make one game does it.
        (certain(4, 1), {(1, 1, 1), (1, 1, 2), (1, 1, 3), (1, 2, 1), (1, 2, 2), (1, 2, 3),
                         (0, 1, 3), (0, 2, 3), (1, 3, 3)}),
        # By a double skunk, 4: the first dealer wins the match.
        (certain(5, 0), {(1, mine, theirs) for mine in (1, 2, 3) for theirs in (1, 2, 3)}),
    ],
    ids=["plain", "skunk", "double skunk"],
)  # fmt: skip
def test_h10_h11_the_loser_deals_and_skunks_count_more(
    table: Array, won: set[tuple[int, int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(winning, "probabilities", lambda dealt, target, heels: table)
    found = winning.match_win_probabilities.__wrapped__(6, 121)
    for deals in (0, 1):
        for mine in (1, 2, 3):
            for theirs in (1, 2, 3):
                assert found[deals, mine, theirs] == ((deals, mine, theirs) in won), (
                    deals, mine, theirs,
                )  # fmt: skip


@every_game
def test_a_match_is_somebodys(game: str) -> None:
    rules = PRESETS[game]
    found = winning.match_win_probabilities(rules.dealt, rules.target)[:, 1:, 1:]
    assert found[0] + found[1].T == pytest.approx(1.0)


def test_stakes_of_the_last_game_are_a_plain_games() -> None:
    assert stakes(6, 121, 1, 1).tolist() == [1, 1, 1, 0, 0, 0]
    assert win_table(6, 121, MATCH, 1, 1) == pytest.approx(win_table(6, 121, GAME))


def test_a_deals_worth_is_the_difference_in_points() -> None:
    for episode in (DEAL, PEGGING_ONLY):
        table = win_table(6, 121, episode)
        assert after_deal(table, 1, 100, 90) == pytest.approx(0.5 + 10 / 242)
        assert after_deal(table, 0, 100, 90) == pytest.approx(0.5 - 10 / 242)
        assert slope(table, 1, 100, 90, 1, 8) == pytest.approx(1 / 242)
        assert slope(table, 1, 100, 90, 0, 8) == pytest.approx(-1 / 242)
        assert slope(table, 0, 100, 90, 0, 8) == pytest.approx(1 / 242)


def test_a_slope_is_the_gain_of_a_point_also_at_the_edges_of_the_table() -> None:
    table = win_table(6, 121, GAME)
    expected = (table[1, 60, 50] - table[1, 60, 70]) / 20
    assert slope(table, 1, 60, 60, 1, 10) == pytest.approx(expected)
    expected = (table[0, 50, 60] - table[0, 70, 60]) / 20
    assert slope(table, 0, 60, 60, 0, 10) == pytest.approx(expected)
    expected = (table[1, 60, 108] - table[1, 60, 121]) / 13
    assert slope(table, 1, 60, 118, 1, 10) == pytest.approx(expected)
    expected = (table[1, 60, 0] - table[1, 60, 10]) / 10
    assert slope(table, 1, 60, -10, 1, 10) == pytest.approx(expected)


def test_views_are_sorted_by_what_judges_them() -> None:
    views = np.zeros(5, dtype=VIEW)
    views["dealt"], views["target"], views["match_target"], views["heels"] = 6, 121, 7, 2
    views["episode"] = (GAME, MATCH, GAME, MATCH, MATCH)
    views["match_score"] = ((0, 0), (6, 2), (3, 3), (6, 2), (2, 6))
    groups = {tuple(which.tolist()): table for table, which in group_by_win_table(views)}
    assert set(groups) == {(0, 2), (1, 3), (4,)}
    assert groups[1, 3] is win_table(6, 121, MATCH, 1, 5, 2)
    assert groups[(4,)] is win_table(6, 121, MATCH, 5, 1, 2)
