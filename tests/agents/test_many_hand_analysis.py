"""The values of choices with three and four hands, which `learned` gives, and their wins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from crib_agents.analyze import CardChoice, DiscardChoice, analyze
from crib_agents.learned import MonteCarloAgent
from crib_agents.learned.many_hand import chance_ahead

from crib_env.batch import GameBatch
from crib_env.cards import parse_card
from crib_env.engine.hands.records import DISCARD
from crib_env.engine.many_hand import VIEW
from crib_env.policy import find_agent
from crib_env.rules import Rules

GAMES = ("three_hand", "four_hand", "four_hand[partners=False]")
every_game = pytest.mark.parametrize("rules", GAMES)


def views_of(rules: str, turns: int, episode: str = "game") -> np.ndarray:
    """Return the views of six games of `rule_based`, turn by turn."""
    games = GameBatch(Rules.preset(rules), 6, episode=episode, seed=4)
    games.reset()
    rng, seen = np.random.default_rng(1), []
    for _ in range(turns):
        seen.append(games.views(games.running()))
        games.ask(find_agent("rule_based"), games.running(), rng)
    return np.concatenate(seen)


def card_of(choice: Any) -> int:
    return parse_card(choice.discard if isinstance(choice, DiscardChoice) else choice.card)


@every_game
def test_analyze_values_are_those_of_learned(rules: str) -> None:
    learned = MonteCarloAgent()
    learned.honours = None  # cut-throat too, in which it does not play
    views, kinds = views_of(rules, 12), set()
    for view, values in zip(views, learned.action_values(views), strict=True):
        choices = analyze(np.array([view]))
        assert len(choices) == np.isfinite(values).sum()
        for one in choices:
            kinds.add(type(one))
            assert one.points == pytest.approx(values[card_of(one)])
    assert kinds == {DiscardChoice, CardChoice}


@pytest.mark.parametrize("rules", GAMES[:2])
def test_analyze_orders_choices_as_learned_plays(rules: str) -> None:
    """Cards of one rank have equal values."""
    views = views_of(rules, 12)
    actions = find_agent("learned").act(views, np.random.default_rng(0))
    for view, action in zip(views, actions, strict=True):
        wins = {card_of(one): one.win for one in analyze(np.array([view]))}
        assert wins[int(action)] == max(wins.values())


def test_analyze_winning_card_has_probability_one() -> None:
    """One point short of the game: a pair or a fifteen wins at once."""
    views = views_of("three_hand", 12)
    views = views[views["phase"] != DISCARD]
    views["scores"][:, 0] = views["target"] - 1
    found = 0
    for view in views:
        for choice in analyze(np.array([view])):
            assert choice.now == 0 or choice.win == 1
            assert choice.now > 0 or choice.win < 1
            found += choice.now > 0
    assert found > 5


def test_analyze_of_rules_without_networks_is_refused() -> None:
    with pytest.raises(ValueError, match=r"learned has no networks for these rules.*flush_size"):
        analyze(views_of("three_hand[flush_size=5]", 1)[:1])


@every_game
def test_chance_ahead_sums_to_one_and_rises_with_points_and_scores(rules: str) -> None:
    sides = len(set(Rules.preset(rules).seating[Rules.preset(rules).players]))
    for scores in ([0] * sides, [30, 60, 45, 70][:sides], [119, 121 - 1, 100, 90][:sides]):
        views = np.zeros(sides, dtype=VIEW)
        views["sides"], views["target"] = sides, 121
        for side in range(sides):
            views["scores"][side, :sides] = np.roll(scores, -side)
        chances = chance_ahead(views, np.array([[0.0, 1.0, np.nan]]).repeat(sides, axis=0))
        assert chances[:, 0].sum() == pytest.approx(1)
        assert (chances[:, 1] > chances[:, 0]).all()
        assert np.isnan(chances[:, 2]).all()
        assert (np.argsort(chances[:, 0]) == np.argsort(scores)).all() or not any(scores)


@every_game
def test_chance_ahead_predicts_who_wins_games_of_rule_based(rules: str) -> None:
    """At the starts of deals, for every side, by thirds of the predictions."""
    games = GameBatch(Rules.preset(rules), 300, episode="game", seed=77)
    games.reset()
    predicted, lanes_of = [], []
    dealt = np.zeros(300, dtype=np.int64)
    sides = games.sides
    lanes = games.running()
    played = games.play(find_agent("rule_based"), np.random.default_rng(0))
    while True:
        new = lanes[games.states["deals"][lanes] > dealt[lanes]]
        dealt[new] += 1
        for _ in range(n := max(sides) + 1):
            views = games.views(new)
            own = (sides[views["seat"]] + len(lanes_of)) % n
            views["scores"][:, :n] = np.roll(views["scores"][:, :n], -(len(lanes_of) % n), axis=1)
            predicted.append(chance_ahead(views, np.zeros((len(new), 1)))[:, 0])
            lanes_of.append(np.stack([new, own], axis=1))
        if (lanes := next(played, None)) is None:
            break
    chances, (lane, side) = np.concatenate(predicted), np.concatenate(lanes_of).T
    won = games.states["winner"][lane] == side
    order = np.argsort(chances)
    for part in np.array_split(order, 3):
        print(rules, chances[part].mean(), won[part].mean(), len(part))
        assert chances[part].mean() == pytest.approx(won[part].mean(), abs=0.04)
    assert won[order[-len(order) // 5 :]].mean() > won.mean() + 0.2
