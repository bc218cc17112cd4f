"""Ratings against a closed form, an independent fit and the coverage of their intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from crib_training.evaluation.ratings import expected_share, fit_ratings, rate, resampled


def closed_form(won: float, lost: float) -> float:
    return 400 * math.log10((won + 0.5) / (lost + 0.5))  # with one virtual game


@pytest.mark.parametrize(("won", "lost"), [(75, 25), (1, 0), (500, 500), (2000, 3), (0, 40)])
def test_ratings_of_two_agents_are_their_log_odds(won: int, lost: int) -> None:
    first, second = fit_ratings([[0, won], [lost, 0]])
    assert first - second == pytest.approx(closed_form(won, lost), abs=1e-6)
    assert first + second == pytest.approx(0, abs=1e-9)


def slow_fit(wins: np.ndarray) -> np.ndarray:
    """Fit by the iteration of Hunter (Annals of Statistics 32, 2004), one agent after another."""
    n = len(wins)
    played = wins + wins.T > 0
    won = wins + 0.5 * played
    value = [1.0] * n
    for _ in range(4000):
        for i in range(n):
            games = sum((won[i, j] + won[j, i]) / (value[i] + value[j]) for j in range(n) if j != i)
            value[i] = sum(won[i]) / games
    elo = np.array([400 * math.log10(w) for w in value])
    return elo - elo.mean()


@pytest.mark.parametrize("seed", range(2))
def test_ratings_agree_with_a_slow_independent_fit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, 250, size=5)
    games = rng.integers(20, 200, size=(5, 5))
    games[0, 3] = games[3, 0] = 0  # two that never met
    games = np.triu(games, 1)
    wins = np.triu(rng.binomial(games, np.triu(expected_share(truth), 1)))
    wins = (wins + (games - wins).T).astype(float)
    assert fit_ratings(wins) == pytest.approx(slow_fit(wins), abs=1e-3)


def test_ratings_of_a_perfect_score_follow_the_rule_of_three() -> None:
    """After 200 pairs without a lost game, the 95 % bound is 3 pairs with one in 200."""
    ratings, low, high = rate({(0, 1): np.full(200, 2.0)}, 2, seed=1)
    assert low[0] < ratings[0] == pytest.approx(high[0])
    share_lost = expected_share(np.array([low[0], -low[0]]))[1, 0]
    assert share_lost == pytest.approx(3 / 200 / 2, rel=0.3)


def test_ratings_refuse_unconnected_agents() -> None:
    wins = np.zeros((4, 4))
    wins[0, 1] = wins[2, 3] = 5
    with pytest.raises(ValueError, match="a chain of games"):
        fit_ratings(wins)
    with pytest.raises(ValueError, match="square"):
        fit_ratings(np.zeros((2, 3)))


def test_ratings_bootstrap_keeps_pairs_together() -> None:
    """Pairs that are always 2 or 0 spread twice as far as games drawn one by one would."""
    scores = {(0, 1): np.array([0.0, 2.0] * 200)}
    tables = resampled(scores, 2, np.random.default_rng(1), resamples=4000)
    assert (tables.sum(axis=(0, 2, 3)) == 800).all()
    assert tables[0, :, 0, 1].std() == pytest.approx(math.sqrt(400 * 1.0), rel=0.1)
    even = resampled({(0, 1): np.ones(400)}, 2, np.random.default_rng(1))
    assert (even[:, :, 0, 1] == 400).all()


def test_ratings_bootstrap_draws_equal_deals_together() -> None:
    rng = np.random.default_rng(4)
    pairs = rng.integers(0, 5, size=900) / 2
    scores = {(0, 1): pairs, (0, 2): pairs, (1, 2): 2 - pairs[:500]}
    wins, lost = resampled(scores, 3, np.random.default_rng(1), 400, together=True)
    assert (wins[:, 0, 1] == wins[:, 0, 2]).all()
    assert (wins[:, 0, 1] + lost[:, 0, 1]).std() < 2  # except for the pair that was not played
    assert np.corrcoef(wins[:, 0, 1], lost[:, 1, 2])[0, 1] > 0.4
    apart, _ = resampled(scores, 3, np.random.default_rng(1), 400)
    assert abs(np.corrcoef(apart[:, 0, 1], apart[:, 0, 2])[0, 1]) < 0.2
    for pair in scores:
        assert wins[:, *pair].mean() == pytest.approx(apart[:, *pair].mean(), rel=0.02)
        assert wins[:, *pair].std() == pytest.approx(apart[:, *pair].std(), rel=0.5)


def test_ratings_intervals_have_their_coverage() -> None:
    """Pairs drawn from known ratings, with the two games of a pair depending on each other."""
    truth = np.array([80.0, 10.0, -90.0])
    share = expected_share(truth)
    rng = np.random.default_rng(11)
    held = 0
    for trial in range(100):
        scores = {}
        for i, j in ((0, 1), (0, 2), (1, 2)):
            same = rng.random(150) < 0.3  # the cards decide both games alike
            first = rng.random((150, 2)) < share[i, j]
            first[same, 1] = first[same, 0]
            scores[i, j] = first.sum(axis=1).astype(float)
        _, low, high = rate(scores, 3, seed=trial)
        held += ((low <= truth) & (truth <= high)).sum()
    assert 0.91 < held / 300 < 0.98


def test_ratings_repeat_from_a_seed() -> None:
    rng = np.random.default_rng(8)
    scores = {pair: rng.integers(0, 3, size=300) for pair in ((0, 1), (0, 2), (1, 2))}
    one, again, other = (rate(scores, 3, seed) for seed in (1, 1, 2))
    assert np.array_equal(one, again)
    assert np.array_equal(one[0], other[0])
    assert not np.array_equal(one[1], other[1])


@pytest.mark.parametrize("opponents", [2, 3])
def test_ratings_of_games_among_more_sides_find_the_strengths(opponents: int) -> None:
    """One against copies of another: exact shares of known strengths give these strengths."""
    strength = np.array([4.0, 2.0, 1.0, 0.5])
    truth = 400 * np.log10(strength)
    share = strength[:, None] / (strength[:, None] + opponents * strength)
    assert expected_share(truth, opponents) == pytest.approx(share)
    games = 1e7 * (1 - np.eye(4))
    found = fit_ratings(games * share, games * (1 - share), anchor=2, opponents=opponents)
    assert found == pytest.approx(truth, abs=0.01)
    games[2:, :2] = 0  # only half of the meetings, each of one against copies
    found = fit_ratings(games * share, games * (1 - share), anchor=2, opponents=opponents)
    assert found == pytest.approx(truth, abs=0.01)
