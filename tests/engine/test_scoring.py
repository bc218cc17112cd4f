"""`crib_env.scoring`: right points, the right cards named, the words players use."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from crib_env import scoring
from crib_env.cards import format_card, parse_card, parse_cards
from crib_env.engine.ranks import pair_number
from crib_env.engine.show import FOUR, KEYS, count_ranks, read_sum, show_table
from crib_env.rules import Rules
from crib_env.scoring.many import fill_histogram


@pytest.fixture(scope="module", autouse=True)
def engine() -> None:
    """Compile before Hypothesis holds a test to its time limit."""
    scoring.score_hands([[0, 1, 2, 3]], [4])
    count_ranks(0, 1, 2, 3, 4)


def different_cards(n: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, 51), min_size=n, max_size=n, unique=True)


def of_reason(score: scoring.Score, reason: str) -> int:
    return sum(part.points for part in score.parts if part.reason == reason)


# --- points -------------------------------------------------------------------------------------


def test_score_histogram_of_three_cards_equals_one_by_one() -> None:
    counts = scoring.score_histogram("five_card")
    assert counts.sum() == 22_100 * 49
    three = np.array([(a, b, c) for a in range(52) for b in range(a + 1, 52) for c in range(b + 1, 52)])
    one_by_one = np.zeros(30, dtype=np.int64)
    for starter in range(52):
        hands = three[~(three == starter).any(axis=1)]
        points = scoring.score_hands(hands, np.full(len(hands), starter))
        one_by_one += np.bincount(points, minlength=30)
    assert counts.tolist() == one_by_one.tolist()


@pytest.mark.parametrize(("lowest", "rules", "size"), [(37, "hoyle", 4), (48, "hoyle", 4), (40, "five_card", 3)])
def test_fill_histogram_high_cards_equals_one_by_one(lowest: int, rules: str, size: int) -> None:
    """Of high cards alone: few enough for `research.mutants`, which runs them uncompiled."""
    counts = np.zeros(30, dtype=np.int64)
    fill_histogram(lowest, size, Rules.preset(rules).flush_size, show_table(), counts)
    rows = [
        (*hand, starter)
        for hand in combinations(range(lowest, 52), size)
        for starter in range(52)
        if hand[0] == lowest and starter not in hand
    ]
    points = scoring.score_hands([row[:size] for row in rows], [row[size] for row in rows], rules)
    assert counts.tolist() == np.bincount(points, minlength=30).tolist()


@given(different_cards(5), st.booleans())
def test_hands_of_four_score_as_the_reference_says(cards: list[int], crib: bool) -> None:
    hand, starter = cards[:4], cards[4]
    expected = reference.score_show(hand, starter, crib, "hoyle")
    explained = scoring.score_hand(hand, starter, crib=crib)
    assert explained.points == expected
    assert scoring.score_hands([hand], [starter], crib=crib).tolist() == [expected]
    assert of_reason(explained, "fifteen") == reference.fifteens(cards)
    assert of_reason(explained, "pair") == reference.pairs(cards)
    assert of_reason(explained, "run") == reference.runs(cards)
    assert of_reason(explained, "flush") == reference.flush(hand, starter, crib)
    assert of_reason(explained, "nob") == reference.nobs(hand, starter)


@given(different_cards(4))
def test_hands_of_three_score_as_the_reference_says(cards: list[int]) -> None:
    expected = reference.score_show(cards[:3], cards[3], False, "five_card")
    assert scoring.score_hand(cards[:3], cards[3], "five_card").points == expected
    assert scoring.score_hands([cards[:3]], [cards[3]]).tolist() == [expected]


SUITED = st.sampled_from(range(4)).flatmap(
    lambda s: st.lists(st.sampled_from([4 * r + s for r in range(13)]), min_size=4, max_size=4, unique=True)
)


@pytest.mark.parametrize(
    ("rules", "crib", "ranks"),
    [
        ("hoyle", False, (10, 0, 3, 6)),
        ("hoyle", True, (1, 10, 4, 8)),
        ("five_card", False, (12, 0, 10)),
        ("five_card", True, (1, 10, 4, 8)),
    ],
)
def test_h8_f6_all_suits_of_a_hand_score_as_the_reference_says(rules: str, crib: bool, ranks: tuple[int, ...]) -> None:
    suits = list(product(range(4), repeat=len(ranks) + 1))
    for up in (0, 12):
        rows = [
            [4 * rank + suit for rank, suit in zip((*ranks, up), some, strict=True)]
            for some in suits
            if up not in ranks or some[-1] != some[ranks.index(up)]
        ]
        table = np.array(rows, dtype=np.int8)
        table.setflags(write=False)  # as arrays of Ray and JAX are
        points = scoring.score_hands(table[:, :-1], table[:, -1], rules, crib)
        for row, found in zip(rows, points.tolist(), strict=True):
            *hand, starter = row
            assert found == reference.score_show(hand, starter, crib, rules), row
            assert found == scoring.score_hand(hand, starter, rules, crib).points


@pytest.mark.parametrize("size", [4, 5])
def test_show_table_agrees_with_the_reference(size: int) -> None:
    table = show_table()
    for ranks in combinations_with_replacement(range(13), size):
        if len(set(ranks)) == 1 and size == 5:
            continue
        cards = [4 * rank for rank in ranks]
        points = reference.fifteens(cards) + reference.pairs(cards) + reference.runs(cards)
        assert table[KEYS[list(ranks)].sum() + (FOUR if size == 4 else 0)] == points, ranks


@given(different_cards(5), st.sampled_from([("table_top", 5), ("table_top_ship", 4)]), st.booleans())
def test_t8_t12_lines_score_as_the_reference_says(line: list[int], rules: tuple[str, int], with_starter: bool) -> None:
    starter = line[2] if with_starter else None
    expected = reference.score_line(line, rules[1], starter)
    assert scoring.score_line(line, rules[0], starter).points == expected


@given(SUITED, st.integers(0, 51))
def test_t12_four_of_a_suit_are_a_flush_in_ships_variation_only(suited: list[int], other: int) -> None:
    if other in suited:
        return
    flush = [of_reason(scoring.score_line([other, *suited], name), "flush") for name in ("table_top", "table_top_ship")]
    assert flush == ([5, 5] if other % 4 == suited[0] % 4 else [0, 4])


@given(st.permutations(range(52)), st.booleans())
def test_h4_play_scores_as_the_reference_says(deck: list[int], go: bool) -> None:
    pile: list[int] = []
    for card in deck[:8]:
        if sum(map(reference.scoring.value, [*pile, card])) > 31:
            continue
        pile.append(card)
        count = sum(map(reference.scoring.value, pile))
        score = scoring.score_play(pile, go)
        expected = reference.score_play([c // 4 for c in pile], count)
        parts = (of_reason(score, "fifteen"), of_reason(score, "pair"), of_reason(score, "run"))
        assert parts == tuple(expected)
        assert score.points == sum(expected) + (0 if count < 31 else 1 if go else 2)  # H6
        assert score.count == count


# --- what scores --------------------------------------------------------------------------------


@given(different_cards(5))
def test_score_parts_cards_make_their_points(cards: list[int]) -> None:
    for part in scoring.score_hand(cards[:4], cards[4]).parts:
        assert set(part.cards) <= set(cards)
        ranks = sorted(card // 4 for card in part.cards)
        n = len(ranks)
        made = {
            "fifteen": part.points == 2 and sum(min(r + 1, 10) for r in ranks) == 15,
            "pair": part.points == n * (n - 1) and len(set(ranks)) == 1 and n > 1,
            "run": part.points == n >= 3 and ranks == list(range(ranks[0], ranks[0] + n)),
            "flush": part.points == n >= 4 and len({card % 4 for card in part.cards}) == 1,
            "nob": part.points == 1 and ranks == [10] and part.cards[0] % 4 == cards[4] % 4,
        }
        assert made[part.reason], part


@given(different_cards(5))
def test_score_parts_are_distinct(cards: list[int]) -> None:
    parts = scoring.score_hand(cards[:4], cards[4]).parts
    assert max(Counter((part.reason, part.cards) for part in parts).values(), default=1) == 1


def test_score_line_partial_line_scores_its_cards() -> None:
    assert scoring.score_line("5H", partial=True).points == 0
    assert scoring.score_line("5H TS", partial=True).points == 2
    assert scoring.score_line("2H 4H 6H 8H", "table_top_ship", partial=True).points == 4
    assert scoring.score_line([], partial=True).points == 0


def test_score_hand_uses_flush_rules() -> None:
    rules = Rules.preset("hoyle", flush_size=5)
    assert scoring.score_hand("2H 4H 6H 8H", "QC").points == 4
    assert scoring.score_hand("2H 4H 6H 8H", "QC", rules).points == 0
    assert scoring.score_hands([parse_cards("2H 4H 6H 8H")], [parse_card("QC")], rules)[0] == 0


@pytest.mark.parametrize(("flush_size", "crib_flush_size"), [(4, 5), (5, 4)])
def test_score_table_top_line_and_crib_have_separate_flush_rules(flush_size: int, crib_flush_size: int) -> None:
    house = Rules.preset("table_top", flush_size=flush_size, crib_flush_size=crib_flush_size)
    for crib, smallest in ((False, flush_size), (True, crib_flush_size)):
        score = scoring.score_line("2H 4H 6H 8H KS", house, crib=crib)
        assert of_reason(score, "flush") == (4 if smallest == 4 else 0)


@given(st.lists(st.integers(0, 12), min_size=5, max_size=5).filter(lambda r: len(set(r)) > 1))
def test_count_ranks_is_independent_of_order(ranks: list[int]) -> None:
    """The GPU counts the ranks unsorted; the table is filled from sorted ranks."""
    table = show_table()
    for held in (ranks, ranks[::-1], [*ranks[1:], ranks[0]]):
        assert count_ranks(*held) == table[KEYS[ranks].sum()]
        assert count_ranks(*held[:4], -1) == table[FOUR + KEYS[held[:4]].sum()]


@pytest.mark.parametrize(("a", "b"), [(0, 0), (4, 9), (6, 7), (12, 3)])
def test_show_table_sums_equal_those_of_every_three_cards(a: int, b: int) -> None:
    table, pair = show_table(), pair_number(a, b)
    three = np.array(list(combinations(range(52), 3)))
    points = table[KEYS[a] + KEYS[b] + KEYS[three // 4].sum(axis=1)].astype(np.int64)
    assert read_sum(table, pair, 104) == points.sum()
    having = [(three == card).any(axis=1) for card in range(52)]
    for r in range(13):
        assert read_sum(table, pair, r) == points[having[4 * r]].sum()
        for s in range(13):
            both = having[4 * r] & having[4 * s + 1]
            assert read_sum(table, pair, 13 + pair_number(r, s)) == points[both].sum()


def test_cards_may_be_ids_or_text() -> None:
    text = "5H 5S 5C JD"
    ids = parse_cards(text)
    expected = scoring.score_hand(text, "5D")
    assert scoring.score_hand(ids, parse_card("5D")) == expected
    assert scoring.score_hand(text.split(), "5D") == expected
    assert scoring.score_hand(np.array(ids), np.int64(parse_card("5D"))) == expected


# --- wording -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hand", "starter", "call"),
    [
        ("5C JD 2H 2S", "8D", "fifteen two, fifteen four, fifteen six, a pair is eight, and nobs nine"),
        (
            "5H 5S 5C JD",
            "5D",
            "fifteen two, fifteen four, fifteen six, fifteen eight, fifteen ten,"
            " fifteen twelve, fifteen fourteen, fifteen sixteen, a double pair royal is twenty-eight,"
            " and nobs twenty-nine",
        ),
        (
            "4C 5D 5H 6S",
            "5C",
            "fifteen two, fifteen four, fifteen six, fifteen eight, a pair royal"
            " is fourteen, and three runs of three are twenty-three",
        ),
        ("7C 8D 2S 4H", "KD", "fifteen two"),
        ("7C 8D 8S 4H", "KD", "fifteen two, fifteen four, and a pair is six"),
        ("7C 8D 2S 2H", "KD", "fifteen two and a pair is four"),
        ("2C 2D 9D 9S", "KH", "two pairs for four"),
        ("2C 4C 6C 8C", "QD", "a flush of four for four"),
        ("2C 4C 8C JC", "QC", "a flush of five for five and nobs six"),
        ("2D 4D 6D JC", "8C", "one for nobs"),
        ("2C 4D 6H 8S", "QC", "nothing"),
    ],
)
def test_h8_hand_call_uses_players_words(hand: str, starter: str, call: str) -> None:
    score = scoring.score_hand(hand, starter)
    assert score.call == call
    assert str(score) == call


@pytest.mark.parametrize(
    ("pile", "call"),
    [
        ("7C", "seven"),
        ("7C 8D", "fifteen for two"),
        ("4C 4D", "eight, a pair for two"),
        ("4C 4D 4H", "twelve, a pair royal for six"),
        ("3C 3D 3H 3S", "twelve, a double pair royal for twelve"),
        ("7C 8D 9H", "twenty-four, a run of three for three"),
        ("3C 6D 4H 5S", "eighteen, a run of four for four"),
        ("KC 2D AC 3D", "sixteen, a run of three for three"),
        ("5C 5D 5H", "fifteen for two and a pair royal is eight"),
        ("4C 6D 5H", "fifteen for two and a run of three is five"),
        ("TC 9D TD 2H", "thirty-one for two"),
        ("TC JD 8C 3H", "thirty-one for two"),
        ("9C JD 4H 4S 4D", "a pair royal for six and thirty-one is eight"),
        ("AC AD AH AS 2C 2D 2H 2S 3C 3D 3H 3S 4C", "twenty-eight"),  # among four (M5)
    ],
)
def test_h4_play_call_uses_players_words(pile: str, call: str) -> None:
    assert scoring.score_play(pile).call == call


def test_part_repr_shows_its_cards() -> None:
    fifteen, pair, *_ = scoring.score_hand("5C JD 2H 2S", "KC").parts
    assert str(fifteen) == "fifteen 2 (5C JD)"
    assert str(scoring.score_hand("2C 2H 9D QS", "KC").parts[0]) == "pair 2 (2C 2H)"
    assert [format_card(card) for card in pair.cards] == ["5C", "KC"]


# --- bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: scoring.score_hand("5H 5S 5C 1D", "5D"), "'1D' is not a card: write a rank"),
        (lambda: scoring.score_hand([1, 2, 3, 52], 0), "52 is not a card id: ids are 0 to 51"),
        (lambda: scoring.score_hand([1, 2, 3, 4.0], 0), "4.0 is not a card"),
        (lambda: scoring.score_hand(5, 0), "5 is not a set of cards"),
        (lambda: scoring.score_hand("5H 5S 5C JD", "5H"), "5H given more than once"),
        (lambda: scoring.score_hand("5H 5S 5C", "5D"), "4 cards and the starter apart, got 3 "),
        (lambda: scoring.score_hand("5H 5S 5C JD", "5D", "five_card"), "is 3 cards .* got 4 "),
        (lambda: scoring.score_hand("5H 5S 5C JD", "5D", "whist"), "choose from hoyle, five_card"),
        (lambda: scoring.score_line("5H 5S 5C JD"), "a line is five cards .* got 4 "),
        (lambda: scoring.score_line("5H 5S 5C JD 2C 3C", partial=True), "at most five .* got 6 "),
        (lambda: scoring.score_line("5H 5S 5C JD 2C", starter="9C"), "9C is not in the line"),
        (lambda: scoring.score_play(""), "1 to 13 cards, got none"),
        (lambda: scoring.score_play("TH TS TD 2C"), "is 32: no card may take it past 31"),
        (lambda: scoring.score_hands([[1, 2, 3, 4]], [4]), "row 0 is not of different cards"),
        (lambda: scoring.score_hands([[1, 2, 3, 4]], [52]), "row 0 is not of different cards"),
        (lambda: scoring.score_hands([[1, 2, 3, 4]], [2**63]), rf"starter {2**63}$"),
        (lambda: scoring.score_hands([[1, 2]], [4]), r"shape \[N, 4\] or \[N, 3\]"),
        (lambda: scoring.score_hands([[1, 2, 3, 4]], [5, 6]), r"got \[1, 4\] and \[2\]"),
        (lambda: scoring.score_hands([[1.0, 2, 3, 4]], [5]), "whole numbers, got float64"),
        (lambda: scoring.score_hands([[1, 2, 3]], [5], "hoyle"), "score 4 cards .* got 3"),
        (lambda: scoring.score_histogram("table_top"), "choose from hoyle, five_card"),
    ],
)
def test_score_rejects_invalid_cards_with_the_reason(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
