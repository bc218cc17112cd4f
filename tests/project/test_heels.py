"""C3, T3: the points of heels are a field of the rules; no code has a fixed 2."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from crib_agents.knowledge import deal_points
from crib_agents.knowledge.winning import WON, probabilities
from crib_play.table.games import table_game
from crib_play.table.session import Session
from crib_training.evaluation.aivat import DEALER_PLAY, STARTER, Deals, shipped_outcomes, usual_reference

from crib_env.game import Game
from crib_env.rules import PRESETS, Rules, TwoHandRules
from reference import Referee, TableTopReferee
from reference.scoring import JACK

HOYLE = TwoHandRules.preset("hoyle")
VALUES = (0, 1, 5)
values = pytest.mark.parametrize("heels", VALUES)
two_hand = pytest.mark.parametrize("preset", ["hoyle", "five_card"])


def decks_with_jacks(preset: str, n: int, rng: Random) -> list[list[int]]:
    """Return decks; the starter of every second one is a jack."""
    at = {"hoyle": 12, "five_card": 10}.get(preset, 28)
    decks = []
    for i in range(n):
        deck = list(range(52))
        rng.shuffle(deck)
        if i % 2:
            j = deck.index(4 * JACK + i % 4)
            deck[at], deck[j] = deck[j], deck[at]
        decks.append(deck)
    return decks


@two_hand
@values
def test_c3_heels_of_games_agree_with_the_referee(preset: str, heels: int) -> None:
    rng = Random(heels)
    game = Game(Rules.preset(preset, heels=heels))
    met = 0
    for dealer in (0, 1, 0, 1):
        decks = decks_with_jacks(preset, 60, rng)
        game.reset(decks=np.array(decks), dealer=dealer)
        referee = Referee(preset, decks, dealer, heels=heels)
        while referee.to_move is not None:
            assert (game.seat, tuple(game.legal_actions)) == (referee.to_move, tuple(referee.legal()))
            before = len(referee.events)
            card = rng.choice(referee.legal())
            referee.step(card)
            pegged = [(e.seat, e.points, e.reason) for e in game.step(card)]
            assert pegged == [(e.seat, e.points, e.reason) for e in referee.events[before:]]
            met += any(reason == "heels" for _, _, reason in pegged)
        assert game.over
    assert bool(met) == bool(heels)


@pytest.mark.parametrize("preset", ["table_top", "table_top_ship"])
@values
def test_t3_heels_of_rounds_agree_with_the_referee(preset: str, heels: int) -> None:
    rng = Random(heels)
    game = Game(Rules.preset(preset, heels=heels))
    for dealer in (0, 1, 0, 1):
        decks = decks_with_jacks(preset, 40, rng)
        game.reset(decks=np.array(decks), dealer=dealer)
        ship = preset == "table_top_ship"
        referee = TableTopReferee(decks, dealer, ship=ship, episode="game", heels=heels)
        while referee.to_move is not None:
            assert tuple(game.scores) == tuple(referee.scores)
            action = rng.choice(referee.legal())
            referee.step(action)
            game.step(action)
        assert game.over
        assert tuple(game.scores) == tuple(referee.scores)


@values
def test_starter_luck_includes_heels(heels: int) -> None:
    rules = replace(HOYLE, heels=heels)
    deck = decks_with_jacks("hoyle", 1, Random(7))[0]
    starters = np.array(deck[12:])
    n = len(starters)
    dealt, dealer = np.tile(np.array(deck[:12]), (n, 1)), np.ones(n, dtype=np.int64)
    no_scores = np.zeros((n, 2), dtype=np.int64)
    deals = Deals(np.arange(n), dealer, dealt, np.full((n, 2), 0b11), starters, no_scores)
    reference = usual_reference(rules)
    assert reference is not None
    points, chances = reference.terms(rules, deals, np.random.SeedSequence(0))
    made = np.where(starters // 4 == JACK, heels, 0)
    assert points[:, STARTER, DEALER_PLAY] == pytest.approx(made - made.mean())
    assert abs(chances[:, STARTER].mean()) < 1e-12
    assert shipped_outcomes(rules).exact == (heels == PRESETS["hoyle"].heels)


@pytest.mark.parametrize(("heels", "heard"), [(0, []), (1, ["one for heels"]), (2, ["two for heels"])])
@pytest.mark.parametrize("name", ["six", "table-top"])
def test_table_states_heels(name: str, heels: int, heard: list[str]) -> None:
    game = Game(Rules.preset(table_game(name).rules, heels=heels))
    game.reset(decks=np.array(decks_with_jacks(game.rules.name, 2, Random(1))[1:]), dealer=0)
    session = Session(game, (None, None), chance=1)
    calls = [call.text for call in session.opening]
    for _ in range(2 if name == "six" else 0):
        seat = session.seat
        session.act(seat, [int(a) for a in session.game.legal_actions[: session.to_choose]])
        calls += [call.text for call in session.turns[-1].calls]
    assert [text for text in calls if "heels" in text] == heard


@pytest.mark.parametrize("dealt", [6, 5])
@pytest.mark.parametrize("heels", [0, 1, 3, 5])
def test_load_outcomes_adjusts_measured_pegging_for_heels(dealt: int, heels: int) -> None:
    """The dealer pegs a thirteenth of the difference more; pone pegs the same."""
    plain, found = deal_points.load_outcomes(dealt), deal_points.load_outcomes(dealt, heels)
    points = np.arange(deal_points.PLAY_SIZE)
    assert found.pegging.min() >= 0.0
    assert found.pegging.sum() == pytest.approx(1.0)
    assert found.pegging.sum(axis=1) == pytest.approx(plain.pegging.sum(axis=1), abs=1e-3)
    more = (found.pegging - plain.pegging).sum(axis=0) @ points
    assert more == pytest.approx((heels - 2) / 13, abs=0.002)
    # Heels do not win if the dealer needs one point more, and win if it needs as many.
    chance = [probabilities(dealt, 61, n)[1, heels + 1, 10, WON].sum() for n in (heels, heels + 1)]
    assert chance[0] < chance[1]
