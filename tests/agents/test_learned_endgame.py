"""How `learned` discards where a seat may go out soon, beside the expert's own staged worth."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from crib_agents.expert.discard import WIN_VALUE, rank_discards
from crib_agents.knowledge import measured
from crib_agents.knowledge.winning import win_table
from crib_agents.learned import MonteCarloAgent, Weights, two_hand
from crib_agents.learned.agent import shipped
from crib_agents.learned.two_hand import pair_value, pair_win_value
from numba import float64, int64, void

from crib_env.batch import GameBatch
from crib_env.engine.hands.records import GAME
from crib_env.engine.jit import entry
from crib_env.engine.record import TABLE_T, WEIGHTS_T
from crib_env.engine.show import show_table
from crib_env.engine.two_hand import VIEWS_T
from crib_env.rules import PRESETS

CARDS = {"hoyle": 121, "five_card": 61}


@entry(
    void(VIEWS_T, TABLE_T, WEIGHTS_T, int64[:, ::1], float64[:, ::1], float64[:, ::1]),
    "test.pair_win_values",
)
def win_table_of(views, table, weights, pairs, win_value, value):
    """Write what discarding two cards of each hand, by their places, is worth."""
    for b in range(views.shape[0]):
        v = views[b]
        for k in range(pairs.shape[0]):
            one = v["hand"][pairs[k, 0]]
            other = v["hand"][pairs[k, 1]]
            low = min(one, other)
            high = max(one, other)
            win_value[b, k] = pair_win_value(v, table, weights, low, high)
            value[b, k] = pair_value(v, table, weights, low, high)


def shipped_for(preset: str) -> Weights:
    return next(w for w in shipped() if w.rules == preset)


def views_at(preset: str, n: int, seed: int, scores: Any, episode: str = "game") -> Any:
    """Return the views of discarding of n deals begun at these scores, cards in order."""
    games = GameBatch(PRESETS[preset], n, episode=episode, seed=seed)
    games.reset(scores=scores)
    views = games.views(np.arange(n))
    views["hand"][:, : views["dealt"][0]].sort(axis=1)
    return np.ascontiguousarray(views)


def judged(views: Any, weights: Weights) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    pairs = np.array(list(combinations(range(int(views["dealt"][0])), 2)))
    win_value, value = np.zeros((2, len(views), len(pairs)))
    win_table_of(views, show_table(), weights.flat(), pairs, win_value, value)
    return win_value, value


@pytest.mark.parametrize("preset", CARDS)
def test_it_judges_nearly_as_the_expert_does(preset: str) -> None:
    rng = np.random.default_rng(3)
    weights = shipped_for(preset)
    for seed in range(10):
        low = CARDS[preset] - 40
        scores = tuple(int(x) for x in rng.integers(low, CARDS[preset] - 1, size=2))
        views = views_at(preset, 60, seed, scores)
        win_value, _ = judged(views, weights)
        expected = rank_discards(views)[1][:, : win_value.shape[1], WIN_VALUE]
        assert ((win_value > -1e-9) & (win_value < 1.0 + 1e-9)).all()
        assert win_value.mean() == pytest.approx(expected.mean(), abs=0.02)
        lost = expected.max(axis=1) - expected[np.arange(60), win_value.argmax(axis=1)]
        assert lost.mean() < 0.005  # of games, by the expert's judgement


@pytest.mark.parametrize("preset", CARDS)
def test_farther_from_the_end_and_in_single_deals_points_decide(preset: str) -> None:
    weights = shipped_for(preset)
    far = CARDS[preset] - two_hand.NEAR - 1
    for views in (
        views_at(preset, 20, 1, (far, far)),
        views_at(preset, 20, 1, (far + 40, far + 40), "deal"),
    ):
        win_value, value = judged(views, weights)
        assert (win_value == value).all()
    win_value, value = judged(views_at(preset, 20, 1, (far, far + 1)), weights)
    assert not (win_value == value).any()


def test_points_certain_to_be_counted_first_win() -> None:
    """Pone needs what a hand counts whatever the starter; the dealer is far behind."""
    views = views_at("hoyle", 400, 9, (110, 20))
    views = views[views["dealer"] == 1]
    need = views["target"] - views["scores"][:, 0]
    far = views["target"] - views["scores"][:, 1]
    assert ((need == 11) | (need == 101)).all()
    views = views[need < far]
    win_value, _ = judged(views, shipped_for("hoyle"))
    hands = [[int(c) for c in view["hand"]] for view in views]
    from reference.scoring import fifteens, pairs, runs

    certain = 0
    for hand, row in zip(hands, win_value, strict=True):
        for k, discarded in enumerate(combinations(hand, 2)):
            kept = [c for c in hand if c not in discarded]
            if fifteens(kept) + pairs(kept) + runs(kept) >= 11:
                assert row[k] == pytest.approx(1.0, abs=1e-3)
                certain += 1
    assert certain > 0


@pytest.mark.parametrize("preset", CARDS)
def test_chances_after_a_hand_are_sums_over_what_comes_besides(preset: str) -> None:
    dealt, target = PRESETS[preset].dealt, CARDS[preset]  # type: ignore[attr-defined]
    known = two_hand.probabilities_of({"dealt": dealt, "target": target})
    tables = known[two_hand.CHANCES :].reshape(2, target + 1, target + 1)
    deal, after = measured.load_outcomes(dealt), win_table(dealt, target, GAME)[0]
    for pone, dealer in ((1, 1), (3, 20), (17, 5), (40, 41)):
        slow = [0.0, 0.0]
        for crib, crib_chance in enumerate(deal.crib):
            for hand, chance in enumerate(deal.dealer_hand):
                left = dealer - hand - crib
                slow[0] += crib_chance * chance * (after[pone, left] if left > 0 else 0.0)
            for hand, chance in enumerate(deal.pone_hand):
                if hand >= pone:
                    slow[1] += crib_chance * chance
                elif crib < dealer:
                    slow[1] += crib_chance * chance * after[pone - hand, dealer - crib]
        assert tables[:, pone, dealer] == pytest.approx(slow, abs=1e-9)


def test_both_decisions_agree_near_the_end_and_another_target_is_played() -> None:
    agent, rng = MonteCarloAgent(), np.random.default_rng(0)
    games = GameBatch(replace(PRESETS["hoyle"], target=151), 200, episode="game", seed=8)
    games.reset(scores=(130, 125))
    lanes = np.arange(200)
    views = games.views(lanes)
    first = agent.act(views, rng)
    games.step(lanes, first)
    second = agent.act(games.views(lanes), rng)
    views["hand"].sort(axis=1)
    win_value, _ = judged(np.ascontiguousarray(views), shipped_for("hoyle"))
    for view, one, other, found in zip(views, first, second, win_value, strict=True):
        pairs = [set(pair) for pair in combinations(view["hand"].tolist(), 2)]
        assert found[pairs.index({int(one), int(other)})] == found.max()
