"""Every worked example of the sources (seeds/, "Worked examples") against crib_env itself.

Both where cards are counted outright, in `crib_env.scoring`, and in a game played through the
environments. `test_reference.py` holds the reference to the same examples.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from crib_env import parse_card, parse_cards, scoring, table_top_v0
from stacked import Table, deal, in_play, in_show, unused

CENTRE = 12
TO_CRIB = 25

# Lines of [T] with what makes them, in suits that make no flush, of four neither.
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


def said(score: scoring.Score) -> list[str]:
    """Return what scores, without the cards."""
    return [str(part).split(" (")[0].replace("his nob", "nob") for part in score.parts]


# ---------------------------------------------------------------- lines


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("rules", ["table_top", "table_top_ship"])
def test_c2_lines_are_counted_as_the_source_does(line: str, rules: str) -> None:
    score = scoring.score_line(line, rules, starter_of(line))
    assert score.points == POINTS[line]
    assert said(score) == LINES[line]


def test_c4_without_the_starter_the_line_with_the_jacks_has_no_nob() -> None:
    assert scoring.score_line(NOB_LINE).points == POINTS[NOB_LINE] - 1


@pytest.mark.parametrize("line", LINES)
def test_c2_hands_of_the_same_cards_score_as_much(line: str) -> None:
    """Whichever of the five is the starter; only the nob hangs on that."""
    cards = parse_cards(line)
    for starter in [parse_card("7C")] if line == NOB_LINE else cards:
        hand = [card for card in cards if card != starter]
        for crib in (False, True):
            assert scoring.score_hand(hand, starter, crib=crib).points == POINTS[line]
            assert scoring.score_hands([hand], [starter], crib=crib).tolist() == [POINTS[line]]


@pytest.mark.parametrize("line", LINES)
def test_h8_the_same_cards_in_the_show_of_a_deal(line: str) -> None:
    starter = starter_of(line) or line.split()[0]
    kept = " ".join(card for card in line.split() if card != starter)
    table = Table(deal(f"{kept} / AH 2D", "AS 6D QS KS / 2H 3S", starter))
    table.discard()
    assert in_show(table.finish())[0] == f"p hand {POINTS[line]}"


@pytest.mark.parametrize("players", [2, 4])
@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("across", [True, False])
def test_t8_lines_in_a_round_of_table_top(line: str, across: bool, players: int) -> None:
    """The line lies in the centre row or column, or beside it where the starter is none of it."""
    cards = parse_cards(line)
    middle = line == NOB_LINE
    if middle:  # the starter lies in the centre, so it is the third of its line
        cards = [*cards[1:3], cards[0], *cards[3:]]
    at = range(10, 15) if middle else range(5, 10)  # by rows
    layout: dict[int, int] = {
        (cell if across else 5 * (cell % 5) + cell // 5): card
        for cell, card in zip(at, cards, strict=True)
    }
    others = iter(unused(52, cards))
    for cell in range(25):
        if cell not in layout:
            layout[cell] = next(others)
    # Cells from the centre outwards touch one before them; the last four cards go to the crib.
    actions = sorted(set(range(25)) - {CENTRE}, key=lambda c: max(abs(c // 5 - 2), abs(c % 5 - 2)))
    front = [layout[cell] for cell in actions] + [next(others) for _ in range(4)]
    deck = [*front, layout[CENTRE]]
    env = table_top_v0.raw_env(players=players, episode="round", on_illegal="raise")
    env.reset(options={"decks": [deck + unused(52 - len(deck), deck)], "dealer": 1})
    for action in [*actions, TO_CRIB, TO_CRIB, TO_CRIB, TO_CRIB]:
        env.step(action)
    assert all(env.terminations.values())
    counted = [e for e in env.events if e.reason == "line" and e.cards == tuple(sorted(cards))]
    assert [(e.seat, e.points) for e in counted] == [(0 if across else 1, POINTS[line])]


def test_c2_a_2_3_3_3_holds_three_runs_of_three() -> None:
    score = scoring.score_hand("AC 2D 3H 3S", "3C")
    assert said(score).count("run of three 3") == 3
    assert score.points == 3 * 3 + 6  # the pair royal; no fifteen, all five are 12
    table = Table(deal("AC 2D 3H 3S / KH QD", "4S 6D 9S TS / KS QS", "3C"))
    table.discard()
    assert in_show(table.finish())[0] == "p hand 15"


# ---------------------------------------------------------------- runs in play


def test_h4_runs_in_play_are_called() -> None:
    assert said(scoring.score_play("JC QD KH")) == ["run of three 3"]
    assert said(scoring.score_play("7C 6D 4H 5S")) == ["run of four 4"]
    assert said(scoring.score_play("AC 3D 5H 4S 2C")) == ["fifteen 2", "run of five 5"]


@pytest.mark.parametrize(
    ("pone", "dealer", "moves", "pegged"),
    [
        ("JC KH 2S 6S / AH 2D", "QD 8S 9S TS / AS 3S", "p:JC d:QD p:KH", ["p run 3", "p go 1"]),
        ("7C 4H 8H QS / AH 2D", "6D 5S 8S 9S / AS 3S", "p:7C d:6D p:4H d:5S", ["d run 4"]),
        # On its way the last one passes 3-5-4, a run of its own.
        ("AC 5H 2C KS / AH 2D", "3D 4S 8S 9S / AS 3S", "p:AC d:3D p:5H d:4S p:2C",
         ["d run 3", "p fifteen 2", "p run 5"]),
    ],
    ids=["J-Q-K", "7-6-4-5", "A-3-5-4-2"],
)  # fmt: skip
def test_h4_runs_in_play_are_pegged(pone: str, dealer: str, moves: str, pegged: list[str]) -> None:
    table = Table(deal(pone, dealer, "QH"))
    table.discard()
    assert table.play(moves) == pegged
    points = {who: sum(int(peg.split()[2]) for peg in pegged if peg[0] == who) for who in "pd"}
    assert table.scores == (points["p"], points["d"])


def test_h4_the_same_cards_make_runs_in_five_card_cribbage() -> None:
    table = Table(deal("7C 4H KS / AH 2D", "6D 5S 9S / AS 3S", "QH"), game="five_card")
    table.discard()
    assert table.play("p:7C d:6D p:4H d:5S") == ["d run 4"]


# ---------------------------------------------------------------- the one count of five cards


def test_f5_the_last_card_short_of_31_pegs_one_and_the_rest_is_not_played() -> None:
    table = Table(deal("TC 9C 8C / AH 2D", "TD KD 5H / AS 3S", "QH"), game="five_card")
    table.discard()
    assert table.play("p:TC d:TD") == ["d pair 2"]
    assert in_play(table.play("p:9C")) == ["p last 1"]
    assert table.over


def test_f5_31_pegs_two_and_no_other_point_for_last() -> None:
    table = Table(deal("TC JC AC / AH 2D", "KD 9D 8D / AS 3S", "QH"), game="five_card")
    table.discard()
    assert table.play("p:TC d:KD p:JC") == []
    assert table.to_move == "p"  # the dealer has said go
    assert in_play(table.play("p:AC")) == ["p thirty_one 2"]
    assert table.over


# ---------------------------------------------------------------- open cells


def open_cells(env: Any) -> set[int]:
    mask = env.observe(env.agent_selection)["action_mask"]
    return set(np.flatnonzero(mask[:TO_CRIB]).tolist())


@pytest.mark.parametrize("players", [2, 4])
def test_t5_the_layout_of_the_source_has_twelve_open_cells(players: int) -> None:
    front = parse_cards("5C 3H 7D")
    rest = unused(49, [*front, parse_card("8D")])
    deck = [*front, *rest[:25], parse_card("8D"), *rest[25:]]
    deck += unused(52 - len(deck), deck)
    env = table_top_v0.raw_env(players=players, episode="round", on_illegal="raise")
    env.reset(options={"decks": [deck], "dealer": 1})
    for cell in (13, 7, 3):  # right of the starter, above it, above that and one to the right
        env.step(cell)
    layout = env.view(0)["layout"].tolist()
    lying = {cell: card for cell, card in enumerate(layout) if card >= 0}
    assert lying == dict(zip((3, 7, 12, 13), parse_cards("7D 3H 8D 5C"), strict=True))
    closed = {*range(20, 25), *range(0, 25, 5)}  # the bottom row and the west column
    assert len(closed) == 9
    assert open_cells(env) == set(range(25)) - closed - set(lying)
    assert len(open_cells(env)) == 12


def test_t11_in_ships_variation_all_21_vacant_cells_are_open() -> None:
    env = table_top_v0.raw_env(rules="table_top_ship", episode="round", on_illegal="raise")
    env.reset(seed=0)
    for cell in (13, 7, 3):
        env.step(cell)
    assert open_cells(env) == set(range(25)) - {3, 7, 12, 13}
