"""Table Top judged by winning: the table against linear equations, what views make of it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from crib_agents.expert.table_top import VALUE, WIN_VALUE, TableTopExpert
from crib_agents.expert.table_top_values import MINE, THEIRS
from crib_agents.knowledge import table_top
from crib_agents.knowledge.table_top import chance_of
from crib_training.evaluation.duplicate import estimate, play_pairs
from crib_training.tables.table_top import measure_rounds

from compiled import compiled_alone
from crib_env.engine.table_top.records import GAME, ROUND
from crib_env.policy import Actions, Views
from crib_env.rules import PRESETS
from table_top_views import OPEN, every_variant, position

Array = npt.NDArray[Any]


def by_points(expert: TableTopExpert) -> Any:
    """Return the expert where it takes every round for one by itself, so judges by points."""

    def act(views: Views, rng: np.random.Generator) -> Actions:
        views = views.copy()
        views["episode"] = ROUND
        return expert.act(views, rng)

    return SimpleNamespace(name=f"{expert.name} by points", act=act)


# Rounds small enough to follow: points of the dealer's side and the other, and their chances.
ADDED = {(3, 1): 0.3, (1, 3): 0.2, (2, 2): 0.25, (0, 4): 0.15, (0, 0): 0.1}  # T9
DIFFERENCES = {(4, 0): 0.4, (1, 0): 0.2, (0, 3): 0.25, (0, 0): 0.15}  # T13


def by_equations(brought: dict[tuple[int, int], float], target: int) -> dict[Any, float]:
    """Return the dealer's chance at the start of a round from every score, by linear equations.

    The score "tied" stands for every tie at the target or past it.
    """
    scores: list[Any] = [(a, b) for a in range(target) for b in range(target)]
    scores.append("tied")
    at = {score: i for i, score in enumerate(scores)}
    left, right = np.eye(len(scores)), np.zeros(len(scores))
    for score, i in at.items():
        for (dealer, other), chance in brought.items():
            a, b = (target, target) if score == "tied" else score
            a, b = a + dealer, b + other
            if max(a, b) >= target and a != b:
                right[i] += chance * (a > b)
                continue
            # The other side deals next: the dealer wins where that one does not.
            right[i] += chance
            left[i, at["tied" if a == b >= target else (b, a)]] += chance
    return dict(zip(scores, np.linalg.solve(left, right), strict=True))


@pytest.mark.parametrize("brought", [ADDED, DIFFERENCES], ids=["T9", "T13"])
def test_t9_t13_the_table_is_what_the_equations_say(brought: dict[tuple[int, int], float]) -> None:
    points = np.zeros((5, 5))
    for at, chance in brought.items():
        points[at] = chance
    for target in (1, 2, 7, 10):
        solved, expected = table_top.solve(points, target), by_equations(brought, target)
        for a in range(target):
            for b in range(target):
                assert 1.0 - solved[b, a] == pytest.approx(expected[a, b]), (target, a, b)
        for tie in range(target, target + 5):
            assert 1.0 - solved[tie, tie] == pytest.approx(expected["tied"])


@every_variant
def test_a_point_more_never_hurts(players: int, preset: str) -> None:
    rules = PRESETS[preset]
    table = table_top.probabilities(int(rules.score_difference), players, rules.target)
    assert table.min() >= 0.0
    assert table.max() <= 1.0
    assert np.diff(table, axis=0).min() >= -1e-12
    assert np.diff(table, axis=1).max() <= 1e-12


@compiled_alone
@every_variant
def test_the_table_agrees_with_games_played(players: int, preset: str) -> None:
    """How often the first dealer wins games of the expert against itself by points, seed 3."""
    rules, agent = PRESETS[preset], by_points(TableTopExpert(1))
    games = play_pairs(rules, "game", agent, agent, 500, 3,
                       players=players)  # fmt: skip
    won = estimate((games.won[..., 0] == games.first_dealt).mean(axis=1))
    expected = (
        1.0 - table_top.probabilities(int(rules.score_difference), players, rules.target)[0, 0]
    )
    assert abs(won.mean - expected) < 2.0 * won.half  # four standard errors


@compiled_alone
@every_variant
def test_a_new_measurement_agrees_with_the_file(players: int, preset: str) -> None:
    """The file was measured at budget 2, whose points are a little more."""
    stored = table_top.load_rounds(int(PRESETS[preset].score_difference), players)
    scored, errors = measure_rounds(preset, players, 1, 1000, np.random.SeedSequence(5))
    points = np.arange(table_top.POINTS)
    assert scored[:, 0].mean() == pytest.approx(stored.points.sum(axis=1) @ points, abs=0.9)
    assert scored[:, 1].mean() == pytest.approx(stored.points.sum(axis=0) @ points, abs=0.9)
    for turn in (0, 9, 18):
        found = np.sqrt(np.diag(np.cov(errors[turn].T)))
        np.testing.assert_allclose(found, np.sqrt(np.diag(stored.spread[turn])), rtol=0.08)


def test_the_mean_over_a_spread_adds_its_variance() -> None:
    """Of a square by its variance, of a product by its covariance; a plane stays as it is."""
    x, y = np.meshgrid(np.arange(100.0), np.arange(100.0), indexing="ij")
    spread = np.array([[9.0, 4.0], [4.0, 16.0]])
    inside = (slice(40, 60), slice(40, 60))
    for value, more in ((x + y, 0.0), (x * x, 9.0), (y * y, 16.0), (x * y, 4.0)):
        found = table_top.smoothed(value / 2e4, spread) * 2e4 - value
        np.testing.assert_allclose(found[inside], more, atol=0.02)


def test_places_between_entries_are_linear() -> None:
    table = np.array([[0.0, 1.0], [2.0, 5.0]])
    found = table_top.between(table, np.array([0.5, 1.0, np.nan]), np.array([0.5, 1.0, np.nan]))
    np.testing.assert_allclose(found, [2.0, 5.0, np.nan])


# --- what views make of it -----------------------------------------------------------------------


def in_game(preset: str, mine: int, theirs: int) -> Any:
    """Return a view of a game at a score, my side dealing."""
    view, rules = position(OPEN, "6H", crib=1), PRESETS[preset]
    view["episode"], view["turn"], view["target"] = GAME, 11, rules.target
    view["flush_size"], view["score_difference"] = rules.flush_size, rules.score_difference
    view["crib_flush_size"], view["adjacency"] = rules.crib_flush_size, rules.adjacency
    view["heels"] = rules.heels
    view["scores"] = mine, theirs
    return view


@pytest.mark.parametrize("preset", ["table_top", "table_top_ship"])
def test_the_chances_of_both_sides_add_up_to_one(preset: str) -> None:
    view = in_game(preset, 25, 19)
    mine, theirs = np.array([20.0, 27.5, np.nan]), np.array([30.0, 21.25, np.nan])
    other = view.copy()
    other["my_crib"], other["scores"] = 0, (19, 25)
    for episode in (GAME, 1 - GAME):
        view["episode"] = other["episode"] = episode
        total = chance_of(view, mine, theirs) + chance_of(other, theirs, mine)
        np.testing.assert_allclose(total, [1.0, 1.0, np.nan])


def test_t3_t13_heels_count_where_the_difference_does() -> None:
    """Where points are added they are in the score already."""
    mine, theirs = np.array([25.0]), np.array([25.0])
    for preset, more in (("table_top", 0), ("table_top_ship", 2)):
        view = in_game(preset, 20, 20)
        plain = chance_of(view, mine + more, theirs)
        view["starter"] = 43  # the jack of spades
        assert chance_of(view, mine, theirs) == pytest.approx(plain)


def test_past_the_target_only_the_difference_matters() -> None:
    mine, theirs = np.array([24.0, 30.0]), np.array([28.0, 22.0])
    for preset in ("table_top", "table_top_ship"):
        far = chance_of(in_game(preset, 300, 300), mine, theirs)
        target = PRESETS[preset].target
        np.testing.assert_allclose(chance_of(in_game(preset, target, target), mine, theirs), far)
        assert far[0] < 0.5 < far[1]


def weights(view: Any) -> Array:
    """Return by how much each side's points weigh in what the expert finds of a view."""
    found = TableTopExpert(1).analyze(view)
    found = found[~np.isnan(found[:, VALUE])]
    fitted = np.linalg.lstsq(found[:, [MINE, THEIRS]], found[:, VALUE], rcond=None)[0]
    np.testing.assert_allclose(found[:, [MINE, THEIRS]] @ fitted, found[:, VALUE], atol=1e-9)
    return fitted * (1, -1)


@compiled_alone
def test_t9_a_leader_near_the_target_wants_to_reach_it() -> None:
    """A round more is the other side's chance, so my points count for more than theirs."""
    mine, theirs = weights(in_game("table_top", 95, 85))
    assert mine + theirs == pytest.approx(2.0)
    assert mine > 1.2
    value = TableTopExpert(1).analyze(in_game("table_top", 95, 85))[:, WIN_VALUE]
    assert 0.5 < np.nanmin(value) < np.nanmax(value) < 1.0


@compiled_alone
@pytest.mark.parametrize(
    ("preset", "mine", "theirs"),
    [
        ("table_top_ship", 25, 20),  # only the difference counts (T13)
        ("table_top", 0, 400),  # lost
        ("table_top", 400, 400),  # the next points decide, whosesoever
    ],
)
def test_points_weigh_alike_where_only_their_difference_can_matter(
    preset: str, mine: int, theirs: int
) -> None:
    np.testing.assert_allclose(weights(in_game(preset, mine, theirs)), 1.0, atol=0.02)


@compiled_alone
def test_an_action_in_a_game_depends_on_its_view_alone() -> None:
    """Views of games, of rounds and of other rules may come together."""
    views = np.array([in_game("table_top", 95, 85), in_game("table_top_ship", 20, 29),
                      in_game("table_top", 60, 88), in_game("table_top", 0, 0)])  # fmt: skip
    views["episode"][3] = 1 - GAME
    agent, rng = TableTopExpert(2), np.random.default_rng(1)
    together = agent.act(views, rng).tolist()
    assert together == [int(agent.act(views[i : i + 1], rng)[0]) for i in range(len(views))]
    for view, action in zip(views, together, strict=True):
        assert action == np.nanargmax(agent.analyze(view)[:, VALUE])


@compiled_alone
def test_judging_by_the_game_wins_no_fewer_games() -> None:
    """Over 400 duplicate pairs the 95 % interval reaches half of them."""
    expert = TableTopExpert(1)
    games = play_pairs(PRESETS["table_top"], "game", expert, by_points(expert), 400, 4)
    won = estimate(games.shares_won)
    assert won.mean + won.half > 0.5
