"""The value of every choice with three and four hands, as `expert` sees it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from crib_agents.analyze import CardChoice, DiscardChoice, analyze
from crib_agents.data.tables import MANY_HAND_GAMES, MANY_HAND_WIN, load
from crib_agents.expert import ExpertAgent
from crib_agents.expert.many_hand import ADDED, chance_of, row_of
from crib_training.tables.many_hand import Starts, fit, play, probabilities, surprise

from crib_env.cards import parse_card, parse_cards
from crib_env.game import Game
from crib_env.policy import ask_agent, find_agent
from crib_env.rules import Rules
from reference.scoring import score_show

RNG = np.random.default_rng(0)
every_game = pytest.mark.parametrize("rules", MANY_HAND_GAMES)


def positions(rules: str, decisions: int, episode: str = "game") -> Iterator[tuple[Game, Any]]:
    """Yield positions of a game of `rule_based`, with the choices in each."""
    game, agent = Game(rules, episode=episode, seed=4), find_agent("rule_based")
    for _ in range(decisions):
        if game.over:
            return
        view = np.array([game.view(game.seat)])
        yield game, analyze(view)
        game.step(int(ask_agent(agent, view, RNG)[0]))


def card_of(choice: DiscardChoice | CardChoice) -> int:
    return parse_card(choice.discard if isinstance(choice, DiscardChoice) else choice.card)


@every_game
def test_what_is_listed_is_legal_and_expert_takes_the_first(rules: str) -> None:
    expert = ExpertAgent()
    seen = set()
    for game, choices in positions(rules, 40):
        assert sorted(map(card_of, choices)) == sorted(game.legal_actions)
        wins = [choice.win for choice in choices]
        assert wins == sorted(wins, reverse=True)
        assert 0 < wins[-1] <= wins[0] < 1
        assert int(expert.act(np.array([game.view(game.seat)]), RNG)[0]) == card_of(choices[0])
        seen |= {type(choice) for choice in choices}
    assert seen == {DiscardChoice, CardChoice}


def test_the_mean_of_a_hand_is_that_of_its_starters() -> None:
    game, choices = next(positions("three_hand", 1))
    dealt = list(game.legal_actions)
    starters = [card for card in range(52) if card not in dealt]
    for choice in choices:
        keep = parse_cards(choice.keep)
        assert sorted([*keep, card_of(choice)]) == sorted(dealt)
        counted = [score_show(keep, one, crib=False, rules_name="hoyle") for one in starters]
        assert choice.hand == pytest.approx(np.mean(counted))
        assert choice.points == pytest.approx(choice.hand + choice.crib + choice.pegging)
        assert choice.crib < 0  # the dealer's left discards first
    assert sum(choice.pegging for choice in choices) == pytest.approx(0)


def test_a_card_that_wins_is_certain_to() -> None:
    """One point short of the game: who can make a pair or a fifteen wins at once."""
    found = 0
    for game, _ in positions("three_hand", 200):
        view = np.array([game.view(game.seat)])
        if view["phase"][0] == 0:
            continue
        view["scores"][0, 0] = view["target"][0] - 1
        for choice in analyze(view):
            assert choice.now in (0, 1)
            if choice.now:
                assert choice.win == pytest.approx(1)
                found += 1
    assert found > 5


def test_in_a_single_deal_a_choice_counts_by_its_points() -> None:
    for _, choices in positions("four_hand", 16, episode="deal"):
        points = [choice.points for choice in choices]
        assert points == pytest.approx(sorted(points, reverse=True))


@every_game
def test_the_chances_of_all_sides_add_to_one_and_rise_with_the_score(rules: str) -> None:
    preset = Rules.preset(rules)
    sides = len(set(preset.seating[preset.players]))
    formula = load(MANY_HAND_WIN)["formula"][row_of(preset.players, sides)]
    for needs in ([121.0] * sides, [30.0, 60.0, 45.0, 70.0][:sides]):
        for dealing in range(sides):
            each = [chance_of(np.roll(needs, -side), sides, (dealing - side) % sides, formula)
                    for side in range(sides)]  # fmt: skip
            assert sum(each) == pytest.approx(1)
            nearer = [needs[0] - 5, *needs[1:]]
            assert chance_of(np.array(nearer), sides, dealing, formula) > each[0]


def test_the_formula_is_what_is_fitted_and_predicts_games() -> None:
    """The table's numbers by the trainer's arithmetic; and a fit to few games is nearly as good."""
    rules = Rules.preset("three_hand")
    starts = play(rules, 400, np.random.SeedSequence(77))
    formula = load(MANY_HAND_WIN)["formula"][row_of(3, 3)]
    stored = probabilities(starts.features(formula[ADDED]), np.array([formula[4], *formula[:2]]))
    for k in range(0, len(starts.needs), 97):
        needs = starts.needs[k].astype(np.float64)
        assert chance_of(needs, 3, starts.dealing[k], formula) == pytest.approx(stored[k, 0])
    level = surprise(starts, np.full_like(stored, 1 / 3))
    assert surprise(starts, stored) < level - 0.2
    added, weights = fit(starts)
    fitted = surprise(starts, probabilities(starts.features(added), weights))
    assert surprise(starts, stored) - 0.05 < fitted <= surprise(starts, stored) + 1e-6


def test_a_fit_finds_the_numbers_that_made_the_games() -> None:
    rng = np.random.default_rng(5)
    needs, dealing = rng.integers(5, 121, size=(30_000, 3)), rng.integers(0, 3, size=30_000)
    made = Starts(needs, dealing, np.zeros(30_000, dtype=np.int64))
    truth = np.array([0.4, 3.0, 1.0])
    share = probabilities(made.features(20.0), truth)
    winner = (rng.random(30_000)[:, None] > share.cumsum(axis=1)).sum(axis=1)
    added, weights = fit(Starts(needs, dealing, winner))
    assert added in (10.0, 20.0, 40.0)
    assert weights == pytest.approx(truth, rel=0.25)
