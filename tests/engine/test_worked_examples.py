"""Every worked example of the sources (seeds/, "Worked examples") against crib_env itself.

Counted cards are tested in `crib_env.scoring` and in rounds of Table Top. Deals of the two-hand
games and open cells are in the clause tests.
"""

from __future__ import annotations

import pytest

from crib_env import parse_card, parse_cards, scoring, table_top_v0
from stacked import unused
from table_top_views import IN_ORDER, deck_of

# Lines of [T] with their combinations, in suits without a flush of five or four.
LINES = {
    "9C 7D 7H 7S 8C": ["fifteen 2"] * 3 + ["pair royal 6"] + ["run of three 3"] * 3,  # 21
    "TC KD 9H 5S 5C": ["fifteen 2"] * 4 + ["pair 2"],  # 10
    "3C 4D TH 2S 4C": ["fifteen 2"] + ["pair 2"] + ["run of three 3"] * 2,  # 10
    "7C JC 9D TH JD": ["pair 2"] + ["run of three 3"] * 2 + ["nob 1"],  # 9, under the 7 of clubs
}
POINTS = {"9C 7D 7H 7S 8C": 21, "TC KD 9H 5S 5C": 10, "3C 4D TH 2S 4C": 10, "7C JC 9D TH JD": 9}
NOB_LINE = "7C JC 9D TH JD"


def starter_of(line: str) -> str | None:
    return "7C" if line == NOB_LINE else None


def parts_of(score: scoring.Score) -> list[str]:
    """Return what scores, without the cards."""
    return [str(part).split(" (")[0].replace("nobs", "nob") for part in score.parts]


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("rules", ["table_top", "table_top_ship"])
def test_c2_lines_score_as_in_the_source(line: str, rules: str) -> None:
    score = scoring.score_line(line, rules, starter_of(line))
    assert score.points == POINTS[line]
    assert parts_of(score) == LINES[line]


def test_c4_without_the_starter_the_line_with_the_jacks_has_no_nob() -> None:
    assert scoring.score_line(NOB_LINE).points == POINTS[NOB_LINE] - 1


@pytest.mark.parametrize("line", LINES)
def test_c2_hands_of_the_same_cards_score_as_much(line: str) -> None:
    """Every choice of starter among the five scores the same, nobs apart."""
    cards = parse_cards(line)
    for starter in [parse_card("7C")] if line == NOB_LINE else cards:
        hand = [card for card in cards if card != starter]
        for crib in (False, True):
            assert scoring.score_hand(hand, starter, crib=crib).points == POINTS[line]
            assert scoring.score_hands([hand], [starter], crib=crib).tolist() == [POINTS[line]]


@pytest.mark.parametrize("players", [2, 4])
@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("across", [True, False])
def test_t8_lines_in_a_round_of_table_top(line: str, across: bool, players: int) -> None:
    """The line lies in the centre row or column, or beside it if it does not hold the starter."""
    cards = parse_cards(line)
    middle = line == NOB_LINE
    if middle:  # the starter lies in the centre, so it is the third of its line
        cards = [*cards[1:3], cards[0], *cards[3:]]
    at = range(10, 15) if middle else range(5, 10)  # by rows
    placed = {(cell if across else 5 * (cell % 5) + cell // 5): card for cell, card in zip(at, cards, strict=True)}
    others = iter(unused(52, cards))
    layout = [placed[cell] if cell in placed else next(others) for cell in range(25)]
    deck = deck_of(layout, [next(others) for _ in range(4)])
    env = table_top_v0.raw_env(players=players, episode="round", on_illegal="raise")
    env.reset(options={"decks": [deck], "dealer": 1})
    for action in IN_ORDER:
        env.step(action)
    assert all(env.terminations.values())
    counted = [e for e in env.events if e.reason == "line" and e.cards == tuple(sorted(cards))]
    assert [(e.seat, e.points) for e in counted] == [(0 if across else 1, POINTS[line])]


def test_c2_ace_2_3_3_3_holds_three_runs_of_three() -> None:
    score = scoring.score_hand("AC 2D 3H 3S", "3C")
    assert parts_of(score).count("run of three 3") == 3
    assert score.points == 3 * 3 + 6  # the pair royal; no fifteen, all five are 12


def test_h4_runs_in_play_are_called() -> None:
    assert parts_of(scoring.score_play("JC QD KH")) == ["run of three 3"]
    assert parts_of(scoring.score_play("7C 6D 4H 5S")) == ["run of four 4"]
    assert parts_of(scoring.score_play("AC 3D 5H 4S 2C")) == ["fifteen 2", "run of five 5"]
