"""The games for three and four against the slow referee, decision by decision."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from crib_env.engine.record import NONE
from crib_env.game import Game
from crib_env.rules import Rules
from decks import even_deck, low_deck
from reference import ManyHandReferee

DECKS = {"deal": 1, "game": 60, "match": 200}
GAMES: dict[str, dict[str, Any]] = {
    "three_hand": {"players": 3},
    "three_hand[target=61,second_go_ends=True]": {
        "players": 3, "target": 61, "second_go_ends": True,
    },
    "four_hand": {"players": 4, "partners": True},
    "four_hand[second_go_ends=True,heels=1]": {
        "players": 4, "partners": True, "second_go_ends": True, "heels": 1,
    },
    "four_hand[partners=False,match_target=2]": {"players": 4, "match_target": 2},
}  # fmt: skip


def check_view(game: Game, referee: ManyHandReferee, seat: int, rear: list[int]) -> None:
    """Compare what a seat sees with what the referee knows."""
    view, players, sides = game.view(seat), referee.players, referee.sides

    def at(other: int) -> int:
        return (other - seat) % players

    pile = view["pile"][: view["pile_n"]].tolist()
    who = [int(view["pile_seats"]) >> 2 * i & 3 for i in range(len(pile))]
    assert list(zip(who, pile, strict=True)) == [(at(w), card) for w, card in referee.played]
    assert (view["pile"][len(pile) :] == NONE).all()
    assert pile[view["pile_from"] :] == referee.pile
    assert (view["count"], view["deals"]) == (referee.count, referee.deals)
    assert view["passed"] == sum(1 << at(other) for other in referee.passed)
    assert (view["mover"], view["dealer"]) == (at(referee.to_move or 0), at(referee.dealer))
    assert view["starter"] == (NONE if referee.starter is None else referee.starter)
    assert sorted(view["hand"][: view["hand_n"]]) == sorted(referee.hands[seat])
    if referee.starter is not None:
        left = [len(referee.hands[(seat + i) % players]) for i in range(players)]
        assert view["held_n"].tolist() == left + [0] * (4 - players)
    first = referee.side[seat]
    for name, by_side in (
        ("scores", referee.scores), ("rear", rear), ("match_score", referee.games),
    ):  # fmt: skip
        mine_first = [by_side[(first + i) % sides] for i in range(sides)]
        assert view[name].tolist() == mine_first + [0] * (4 - sides), name


def follow(game: Game, referee: ManyHandReferee, rng: Random) -> int:
    """Play one episode on both, comparing at every decision; return the number of decisions."""
    choose = [rng.choice((rng.choice, rng.choice, max, min)) for _ in range(game.players)]
    decisions = 0
    scores, rear = list(referee.scores), game.view(0)["rear"].tolist()
    rear = [rear[(side - referee.side[0]) % referee.sides] for side in range(referee.sides)]
    assert game.gains == [0.0] * game.players
    while referee.to_move is not None:
        seat = referee.to_move
        check_view(game, referee, rng.randrange(game.players), rear)
        assert (game.seat, game.dealer, game.over) == (seat, referee.dealer, False)
        assert game.scores == tuple(referee.scores)
        assert game.legal_actions == referee.legal()
        pegged = len(referee.events)
        referee_starter = referee.starter
        card = choose[seat](referee.legal())
        referee.step(card)
        events = game.step(card)
        expected = referee.events[pegged:]
        assert [(e.seat, e.points, e.reason) for e in events] == [
            (e.seat, e.points, e.reason) for e in expected
        ]
        made = [sum(e.points for e in expected if e.seat == side) for side in range(referee.sides)]
        others = referee.sides - 1
        assert game.gains == pytest.approx(
            [made[side] - (sum(made) - made[side]) / others for side in referee.side]
        )
        for event, theirs in zip(events, expected, strict=True):
            starter = {referee_starter} if event.reason in ("hand", "crib") else set()
            assert set(event.cards) | starter == set(theirs.cards)
            rear[theirs.seat] = scores[theirs.seat]
            scores[theirs.seat] += theirs.points
        if scores != referee.scores:  # of the next game of a match
            scores, rear = list(referee.scores), [0] * referee.sides
        decisions += 1
    return decisions


def check_end(game: Game, referee: ManyHandReferee) -> None:
    assert game.over
    assert game.scores == tuple(referee.scores)
    assert not game.legal_actions
    if referee.episode == "match":
        assert game.match_score == tuple(referee.games)
    if referee.winner is not None:
        loss = -1 / (referee.sides - 1)
        assert game.returns == [1 if side == referee.winner else loss for side in game.sides]
    assert sum(game.returns) == pytest.approx(0)


def play(rules: str, episode: str, episodes: int, seed: int) -> int:
    """Play so many episodes in lock-step; return the decisions."""
    rng = Random(seed)
    game = Game(rules, episode=episode)
    target = Rules.preset(rules).target
    decisions = 0
    for i in range(episodes):
        decks = [(low_deck if i % 3 == 2 else even_deck)(rng) for _ in range(DECKS[episode])]
        dealer = rng.randrange(game.players)
        scores = None
        if i % 2:  # from anywhere on the board, the last holes most of all
            scores = [target - 1 - min(int(rng.expovariate(0.05)), target - 1) for _ in game.scores]
        game.reset(decks=decks, dealer=dealer, **({} if scores is None else {"scores": scores}))
        referee = ManyHandReferee(
            decks=decks, dealer=dealer, episode=episode, scores=scores, **GAMES[rules]
        )
        decisions += follow(game, referee, rng)
        check_end(game, referee)
    return decisions


@pytest.mark.parametrize(("episode", "episodes"), [("deal", 60), ("game", 20), ("match", 4)])
@pytest.mark.parametrize("rules", GAMES)
def test_lockstep_with_the_referee(rules: str, episode: str, episodes: int) -> None:
    assert play(rules, episode, episodes, seed=5) > 10 * episodes


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 104))
@pytest.mark.parametrize("rules", GAMES)
def test_lockstep_long(rules: str, seed: int) -> None:
    """Over all seeds 20,000 games by each preset's rules, and 4,000 by the others'."""
    games = 1000 if "[" in rules else 5000
    assert play(rules, "game", games, seed) > 40 * games  # a game to 61 has about 50 decisions
