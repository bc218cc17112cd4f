"""The rules told to language models and on the page are those that are played, clause by clause."""

from __future__ import annotations

import re
from typing import Any

import pytest
from crib_play.web.app import rules_text

from crib_env import Game, parse_card, parse_cards
from crib_env.rules import Rules
from crib_env.scoring import score_hand, score_play
from crib_env.text import prompt


def told(rules: str | Rules, **keywords: Any) -> str:
    game = Game(rules, seed=3, **keywords)
    return prompt(game.view(game.seat), game.rules, "full")


def page() -> str:
    text = re.sub(r"<[^>]+>", "", rules_text().replace("</td>", " "))
    return re.sub(r"\s+", " ", text)


def played(rules: str, hands: list[str], starter: str, cards: str, **options: Any) -> Game:
    """Return a game for two after the dealer, player_0, and pone have played these cards."""
    dealt = [parse_cards(hand) for hand in hands]
    deck = [hand[i] for i in range(len(dealt[0])) for hand in (dealt[1], dealt[0])]
    deck += parse_cards(starter)
    deck += [card for card in range(52) if card not in deck]
    game = Game(rules, seed=1, **options.pop("made", {"episode": "deal"}))
    game.reset(decks=[deck], dealer=0, **options)
    for card in cards.split():
        game.step(parse_card(card))
    return game


def test_h5_h6_rules_explain_go_and_31_after_it() -> None:
    go = "The other pegs 1 for the go at once and plays on alone while able. A card that makes 31"
    assert f"{go} pegs 2, or 1 after a go." in told("hoyle")
    assert "the count is 31; after a go 2; 1" in page()
    hands = ["TD JD QD AH 2H 3H", "TC JC 9C 8C 2S 3S"]
    game = played("hoyle", hands, "KS", "2S 3S 2H 3H TC TD JC AH")
    assert [(one.seat, one.reason, one.points) for one in game.events if one.reason != "last"] == [
        (0, "thirty_one", 2)
    ]
    assert score_play("TC TD TH AC", go=True).points == 1
    assert score_play("TC TD TS AC").points == 2


def test_f5_rules_explain_last_card_of_five_cards() -> None:
    words = told("five_card")
    assert (
        "The last card of the count pegs 1 as the play ends, or 2 if it makes exactly 31." in words
    )
    assert "at the start of a game the player who does not deal pegs 3" in words
    assert "only then the last card pegs 1" in page()


@pytest.mark.parametrize("rules", ["three_hand", "four_hand"])
def test_m7_rules_explain_last_card_of_a_count(rules: str) -> None:
    assert "The last card of a count pegs 1 once no player can play" in told(rules)
    assert "After a go the others play on, and the last card of the count pegs 1" in page()


def test_h8_rules_explain_flushes() -> None:
    words = told("hoyle")
    assert "all four hand cards of one suit, 4, or 5 if the starter is of the suit too" in words
    assert "In the crib it takes all five cards of one suit, 5." in words
    assert "in the crib a flush takes all five cards 5" in page()
    assert score_hand("2H 4H 6H 8C", "TH").points == score_hand("2H 4D 6H 8C", "TH").points
    assert score_hand("2H 4H 6H 8H", "TC").points == score_hand("2H 4D 6H 8H", "TC").points + 4
    assert score_hand("2H 4H 6H 8H", "TH").points == score_hand("2H 4D 6H 8H", "TH").points + 5
    assert (
        score_hand("2H 4H 6H 8H", "TC", crib=True).points == score_hand("2H 4D 6H 8H", "TC").points
    )


def test_f6_rules_explain_flushes_of_three() -> None:
    words = told("five_card")
    assert "all three hand cards of one suit, 3, or 4 if the starter is of the suit too" in words
    assert "Three hand cards of one suit are a flush of 3, with the starter 4" in page()
    five = Rules.preset("five_card")
    plain = score_hand("2H 4D 6H", "TC", five).points
    assert score_hand("2H 4H 6H", "TC", five).points == plain + 3
    assert score_hand("2H 4H 6H", "TH", five).points == plain + 4


def test_c4_rules_explain_nobs_as_a_jack_in_hand() -> None:
    jack = "jack in the hand or crib of"
    assert f"A {jack} the same suit as the starter counts 1." in told("hoyle")
    assert f"a {jack} the starter's suit" in page()
    assert score_hand("2C 4D 6S 8H", "JH").points == score_hand("2C 4D 6S 8H", "QH").points
    assert score_hand("2C 4D 6S JH", "8H").points == score_hand("2C 4D 6S JD", "8H").points + 1


def test_h11_rules_explain_skunks_in_a_match() -> None:
    words = told("hoyle", episode="match")
    assert "1 game point, 2 if won by more than 30 points and 4 by more than 60; 7 game" in words
    assert "skunk" not in told("hoyle")
    assert "won with seven game points" in page()
    assert "by more than 60 a double skunk and counts four" in page()
    house = Rules.preset("hoyle", skunk_margin=20, skunk_points=3, match_target=5)
    assert "3 if won by more than 20 points and 4 by more than 60; 5 game" in told(
        house, episode="match"
    )


def test_m11_rules_of_three_hands_match_count_games() -> None:
    assert "3 games won win the match, by any margin." in told("three_hand", episode="match")
    assert "Three games win a match" in page()


def test_t9_t12_t13_rules_explain_ends_and_flushes_of_table_top() -> None:
    words = told("table_top")
    assert "Rounds are played until a side has 121 or more after both are counted in full." in words
    assert "Then the higher total wins; a tie plays another round." in words
    assert "31 such points win." in told("table_top_ship")
    assert "A flush is five cards of one suit, 5" in page()
    assert "In Ship's variation four of a suit count 4" in page()


def test_rules_name_partners_apart_from_their_points() -> None:
    game = Game("four_hand", seed=3)
    words = told("four_hand")
    assert "Pegged last: seats 1, 3: 0; seats 0, 2: 0" in words
    assert "you 0, p0&p2 0" in words
    while not game.events:
        game.step(game.legal_actions[-1])
    assert re.match(r"seats (0, 2|1, 3) ", str(game.events[0]))
