"""Whole games of OpenSpiel's cribbage for three and four against ours, decision by decision.

They differ only by three faults of OpenSpiel, named in `seeds/many_hand.md`. It pegs a flush of
four in the crib, as a field of our rules can. It counts past the target, and it counts hands in
the order of the seats: these two change only the last points of a game (`last_points`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from crib_env.cards import rank, suit
from crib_env.game import Game
from reference.scoring import score_show

PASSING = 52 + 52 * 52  # "Pass"
MOST_AT_ONCE = 16  # more than a card pegs


def code(card: int) -> int:
    """Return OpenSpiel's number of a card."""
    return 13 * suit(card) + rank(card)


def scores(state: Any) -> list[int]:
    """Return the scores by seat."""
    found = re.search(r"Scores: ([\d ]+)", str(state))
    return [int(word) for word in found[1].split()] if found else []


def play_games(spiel: Any, players: int, games: int) -> tuple[int, dict[str, int]]:
    """Play ``games`` games on both; count the cribs with a flush of four, and the games by end.

    Args:
        spiel: OpenSpiel's game.
    """
    rng = np.random.default_rng(players)
    rules = ("three_hand" if players == 3 else "four_hand") + "[crib_flush_size=4]"

    flushes, ends = 0, {"equal": 0, "past": 0, "out of order": 0}
    for number in range(games):
        decks = [rng.permutation(52).tolist() for _ in range(50)]
        if number % 3 == 0:  # few suits, so that some cribs are flushes
            for deck in decks:
                deck.sort(key=lambda card: suit(card) > 1)
        game, state = Game(rules, seed=1), spiel.new_initial_state()
        game.reset(decks=decks, dealer=0)
        for deals, deck in enumerate(decks, 1):
            hands = [deck[(seat - game.dealer - 1) % players : 5 * players : players] for seat in range(players)]
            *spare, starter = deck[5 * players : 5 * players + 5 - players]
            for card in (*chain(*hands), *spare):
                state.apply_action(code(card))
            laid: dict[int, int] = {}
            dealer = game.dealer
            for _ in range(players):  # OpenSpiel asks the first seat first, we the dealer's left
                assert game.legal_actions == sorted(hands[game.seat])
                laid[game.seat] = int(rng.choice(game.legal_actions))
                before, events = game.scores, game.step(laid[game.seat])
            for seat in range(players):
                assert state.legal_actions() == sorted(map(code, hands[seat]))
                state.apply_action(code(laid[seat]))
            state.apply_action(code(starter))
            played = 0
            while not game.over and game.deals == deals:
                while state.legal_actions() == [PASSING]:
                    state.apply_action(PASSING)
                assert scores(state) == [game.scores[side] for side in game.sides]
                assert state.current_player() == game.seat
                assert state.legal_actions() == sorted(map(code, game.legal_actions))
                card = int(rng.choice(game.legal_actions))
                state.apply_action(code(card))
                before, events = game.scores, game.step(card)
                played += 1
            while not state.is_terminal() and state.legal_actions() == [PASSING]:
                state.apply_action(PASSING)
            crib = [*laid.values(), *spare]
            flush = len({*map(suit, crib)}) == 1 != len({*map(suit, (*crib, starter))})
            flushes += flush
            if game.over:
                break
        kept = [[card for card in hand if card != laid[seat]] for seat, hand in enumerate(hands)]
        made = [score_show(hand, starter, False, "hoyle") for hand in kept]
        made[dealer] += score_show(crib, starter, True, "hoyle") + 4 * flush
        shown = [
            sum(made[other] for other in range(players) if game.sides[other] == side)
            for side in range(max(game.sides) + 1)
        ]
        pegged = [
            score + sum(event.points for event in events if event.seat == side and event.reason not in ("hand", "crib"))
            for side, score in enumerate(before)
        ]
        theirs = dict(zip(game.sides, scores(state), strict=True))
        ends[last_points(pegged, shown, played == 4 * players, game.scores, theirs)] += 1
    return flushes, ends


def last_points(pegged: list[int], shown: list[int], all_played: bool, ours: Sequence[int], theirs: Any) -> str:
    """Return "equal", or how OpenSpiel's last points differ; raise for any other difference.

    Args:
        pegged: the scores by side at the end of the play, as we count.
        shown: the points of all hands and the crib, by side.
        all_played: whether every card was played.
        ours, theirs: the final scores.
    """
    target = max(ours)
    winner = list(ours).index(target)
    counted = [theirs[side] for side in range(len(pegged))]
    if max(pegged) == target:  # won in the play, where a card may make several things at once
        if all_played and counted != pegged and counted[winner] - shown[winner] >= target:
            counted = [points - more for points, more in zip(counted, shown, strict=True)]
        assert [points for side, points in enumerate(counted) if side != winner] == [
            points for side, points in enumerate(pegged) if side != winner
        ]
        assert 0 <= counted[winner] - target < MOST_AT_ONCE
        return "past" if counted[winner] > target else "equal"
    assert counted == [points + more for points, more in zip(pegged, shown, strict=True)]
    assert counted[winner] >= target
    if sum(points >= target for points in counted) > 1:
        return "out of order"
    return "past" if counted != list(ours) else "equal"
