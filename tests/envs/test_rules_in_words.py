"""The prompts of language models and the page of rules state the rules of the clauses."""

from __future__ import annotations

import re

import pytest
from crib_play.web.app import rules_text

from crib_env import Game
from crib_env.rules import Rules
from crib_env.text import prompt

MATCH = {"episode": "match"}
HOUSE = Rules.preset("hoyle", skunk_margin=20, skunk_points=3, match_target=5)
GO = "The other pegs 1 for the go at once and plays on alone while able. A card that makes 31"
LAST_OF_FIVE = "The last card of the count pegs 1 as the play ends, or 2 if it makes exactly 31."
ROUNDS = "Rounds are played until a side has 121 or more after both are counted in full."
MANY = "The last card of a count pegs 1 once no player can play"
MANY_ON_PAGE = "After a go the others play on, and the last card of the count pegs 1"

# Rules, how they are played, words of the prompt, and words of the page, by clause.
SAID = {
    "H5, H6": ("hoyle", {}, [f"{GO} pegs 2, or 1 after a go."],
               ["the count is 31; after a go 2; 1"]),
    "F5": ("five_card", {}, [LAST_OF_FIVE,
           "at the start of a game the player who does not deal pegs 3"],
           ["only then the last card pegs 1"]),
    "M7 three": ("three_hand", {}, [MANY], [MANY_ON_PAGE]),
    "M7 four": ("four_hand", {}, [MANY], [MANY_ON_PAGE]),
    "H8": ("hoyle", {}, [
           "all four hand cards of one suit, 4, or 5 if the starter is of the suit too",
           "In the crib it takes all five cards of one suit, 5."],
           ["in the crib a flush takes all five cards 5"]),
    "F6": ("five_card", {}, [
           "all three hand cards of one suit, 3, or 4 if the starter is of the suit too"],
           ["Three hand cards of one suit are a flush of 3, with the starter 4"]),
    "C4": ("hoyle", {}, [
           "A jack in the hand or crib of the same suit as the starter counts 1."],
           ["a jack in the hand or crib of the starter's suit"]),
    "H11": ("hoyle", MATCH, [
            "1 game point, 2 if won by more than 30 points and 4 by more than 60; 7 game"],
            ["won with seven game points", "by more than 60 a double skunk and counts four"]),
    "H11 house": (HOUSE, MATCH, [
                  "3 if won by more than 20 points and 4 by more than 60; 5 game"], []),
    "M11": ("three_hand", MATCH, ["3 games won win the match, by any margin."],
            ["Three games win a match"]),
    "T9, T12": ("table_top", {}, [
                ROUNDS, "Then the higher total wins; a tie plays another round."],
                ["A flush is five cards of one suit, 5"]),
    "T13": ("table_top_ship", {}, ["31 such points win."],
            ["In Ship's variation four of a suit count 4"]),
    "M1": ("four_hand", {}, ["Pegged last: seats 1, 3: 0; seats 0, 2: 0", "you 0, p0&p2 0"], []),
}  # fmt: skip


@pytest.mark.parametrize("clause", SAID)
def test_rules_in_words_state_their_clauses(clause: str) -> None:
    rules, keywords, told, shown = SAID[clause]
    game = Game(rules, seed=3, **keywords)
    words = prompt(game.view(game.seat), game.rules, "full")
    page = re.sub(r"<[^>]+>", "", rules_text().replace("</td>", " "))
    assert not [one for one in told if one not in words]
    assert not [one for one in shown if one not in re.sub(r"\s+", " ", page)]
    assert ("skunk" in words) is False or keywords == MATCH
