"""The reference implementation against figures worked by hand from the clauses in seeds/."""

import random
from collections.abc import Sequence

import pytest

from reference import (
    CRIB,
    Referee,
    TableTopReferee,
    card,
    cards,
    fifteens,
    flush,
    line_flush,
    nobs,
    pairs,
    runs,
    score_line,
    score_play,
    score_show,
    text,
)
from reference.scoring import RANKS, value

# ---------------------------------------------------------------- scoring


def test_c1_card_names_and_values() -> None:
    assert [text(c) for c in (0, 1, 2, 3, 4, 51)] == ["AC", "AD", "AH", "AS", "2C", "KS"]
    assert all(card(text(c)) == c for c in range(52))
    assert [value(4 * r) for r in range(13)] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10]


def test_c2_runs_of_a_2_3_3_3() -> None:
    held = cards("AC 2D 3H 3S 3C")
    assert (fifteens(held), pairs(held), runs(held)) == (0, 6, 9)


def test_c2_only_the_longest_runs_count() -> None:
    assert runs(cards("AC 2D 3H 4S 5C")) == 5
    assert runs(cards("2C 3D 4H 4S 5C")) == 8
    assert runs(cards("JC QD KH AS 2C")) == 3  # no way round the ace


def test_c4_nob_needs_the_suit_of_the_starter() -> None:
    assert nobs(cards("JC 2D 3H 4S"), card("9C")) == 1
    assert nobs(cards("JC 2D 3H 4S"), card("9D")) == 0


@pytest.mark.parametrize(
    ("hand", "starter", "points"),
    [
        ("5C 5D 5H JS", "5S", 29),  # eight fifteens, four fives, the nob
        ("5C 5D 5H JC", "5S", 28),
        ("5C 5D 5H 5S", "JC", 28),  # a jack turned up is heels, not its own nob
        ("4C 5D 5H 6S", "5C", 23),  # 4-5-6 three times, 5-5-5; pair royal; three runs
        ("7C 7D 8H 8S", "9C", 24),  # 7-8 four times; two pairs; four runs of three
        ("4C 4D 5H 6S", "6C", 24),  # 4-5-6 four times; two pairs; four runs of three
        ("3C 3D 3H 9S", "3S", 24),  # 3-3-9 six times; four threes
        ("TC QD KH 4S", "AC", 6),  # 10-4-1 three times; ten to king is no run without the jack
        ("2C 4D 6H 8S", "QC", 0),  # nothing but even values
        ("QC KD AH 2S", "9C", 0),
        ("AC 2C 3C 4C", "5D", 11),  # 15 with all five, a run of five, a flush of four
        ("AC 2C 3C 4C", "5C", 12),  # the starter joins the flush
        ("AC 2C 3C 4D", "5C", 7),  # the starter completes no four-flush
    ],
)
def test_h8_known_hands(hand: str, starter: str, points: int) -> None:
    assert score_show(cards(hand), card(starter), False, "hoyle") == points


@pytest.mark.parametrize("rules_name", ["hoyle", "five_card"])
@pytest.mark.parametrize(("starter", "points"), [("6D", 0), ("6C", 5)])
def test_h8_f6_crib_flush_needs_all_five(rules_name: str, starter: str, points: int) -> None:
    assert score_show(cards("2C 4C 8C QC"), card(starter), True, rules_name) == points


@pytest.mark.parametrize(
    ("hand", "starter", "points"),
    [
        ("2C 4C 8C", "QD", 3),
        ("2C 4C 8C", "QC", 4),
        ("2C 4C 8D", "QC", 0),
        ("5C 5D JH", "5H", 15),  # 5-10 three times, 5-5-5; pair royal; the nob
        ("AC 2D 3H", "4S", 4),
    ],
)
def test_f6_known_hands(hand: str, starter: str, points: int) -> None:
    assert score_show(cards(hand), card(starter), False, "five_card") == points


def test_f6_run_of_five_in_the_crib() -> None:
    assert score_show(cards("AC 2D 3H 4S"), card("5S"), True, "five_card") == 7


def test_flush_counts_only_the_kept_cards() -> None:
    assert flush(cards("2C 4C 8C QC"), card("6D"), False) == 4
    assert flush(cards("2C 4C 8C QD"), card("6C"), False) == 0


def test_score_show_refuses_a_wrong_hand() -> None:
    with pytest.raises(ValueError, match="expected 4"):
        score_show(cards("2C 4C 8C"), card("QC"), False, "hoyle")
    with pytest.raises(ValueError, match="expected 3"):
        score_show(cards("2C 4C 8C"), card("2C"), False, "five_card")


@pytest.mark.parametrize(
    ("line", "starter", "points"),
    [
        ("9C 7C 7D 7H 8C", None, 21),
        ("TC KC 9D 5C 5D", None, 10),
        ("3C 4C TH 2C 4D", None, 10),
        ("7S JH 9H TD JD", "9H", 9),
        ("7S JH 9H TD JD", None, 8),  # no nob in a line without the starter
        ("7S JH 9C TD JD", "JH", 8),  # the starter is not its own nob
    ],
)
def test_t8_lines_of_the_source(line: str, starter: str | None, points: int) -> None:
    turned_up = None if starter is None else card(starter)
    assert score_line(cards(line), 5, turned_up) == points
    assert score_line(cards(line)[::-1], 5, turned_up) == points  # the order does not matter


@pytest.mark.parametrize(
    ("line", "standard", "ship"),
    [("2C 4C 6C 8C QC", 5, 5), ("2C 4C 6D 8C QC", 0, 4), ("2C 4C 6D 8D QC", 0, 0)],
)
def test_t8_t12_line_flush(line: str, standard: int, ship: int) -> None:
    assert (line_flush(cards(line), 5), line_flush(cards(line), 4)) == (standard, ship)
    assert (score_line(cards(line), 5), score_line(cards(line), 4)) == (standard, ship)


@pytest.mark.parametrize(
    ("played", "parts"),
    [
        ("JQK", (0, 0, 3)),
        ("7645", (0, 0, 4)),
        ("A3542", (2, 0, 5)),  # 15 and the run together
        ("456", (2, 0, 3)),
        ("77A", (2, 0, 0)),
        ("5675", (0, 0, 3)),  # the last three are a run again
        ("2879", (0, 0, 3)),
        ("4556", (0, 0, 0)),  # the second five is in the way
        ("344", (0, 2, 0)),
        ("TT", (0, 2, 0)),
        ("TJ", (0, 0, 0)),  # worth the same, but no pair
        ("555", (2, 6, 0)),
        ("3333", (0, 12, 0)),
        ("3435", (2, 0, 3)),
        ("QKA", (0, 0, 0)),
    ],
)
def test_h4_scores_in_play(played: str, parts: tuple[int, int, int]) -> None:
    ranks = [RANKS.index(name) for name in played]
    assert score_play(ranks, sum(value(4 * r) for r in ranks)) == parts


# ---------------------------------------------------------------- two-hand games


def a_deck(pone: str, dealer: str, starter: str) -> list[int]:
    """Return a deck that deals these cards alternately, then the starter, then the rest."""
    dealt = [c for pair in zip(cards(pone), cards(dealer), strict=True) for c in pair]
    front = [*dealt, card(starter)]
    return front + [c for c in range(52) if c not in front]


def play(referee: Referee, script: str) -> None:
    """Step through ``"0TC 1TD"``: seat 0 plays the ten of clubs, seat 1 the ten of diamonds."""
    for turn in script.split():
        assert referee.to_move == int(turn[0]), f"before {turn}"
        referee.step(card(turn[1:]))


def pegs(referee: Referee) -> list[tuple[int, int, str]]:
    return [(event.seat, event.points, event.reason) for event in referee.events]


GO_DECK = a_deck("TC 9C AC AD 2S 6S", "TD KH QH JH 2H 8D", "7S")
GO_DISCARDS = "02S 06S 12H 18D"
GO_PLAY = "0TC 1TD 09C 0AC 0AD 1KH 1QH 1JH"
GO_PEGS = [
    (1, 2, "pair"),
    (0, 1, "go"),  # at 29: the dealer holds court cards only
    (0, 2, "pair"),  # plays on alone: ace, ace
    (0, 1, "thirty_one"),  # H6: one, for the go is pegged
    (1, 1, "go"),  # pone has no cards left, so the king is answered by nobody
    (1, 3, "run"),  # and the jack, the last card, pegs nothing more: one go point for each count
]
# Pone 10-9-A-A + 7: a pair. Dealer 10-J-Q-K + 7: a run. Crib 2-2-6-8 + 7: 7-8 and 2-6-7 twice,
# a pair, a run of three.
GO_SHOW = [(0, 2, "hand"), (1, 4, "hand"), (1, 11, "crib")]


def test_h1_deal_and_laying_away() -> None:
    referee = Referee("hoyle", [list(range(52))], dealer=0)
    assert referee.hands == [[1, 3, 5, 7, 9, 11], [0, 2, 4, 6, 8, 10]]
    seats = []
    for _ in range(4):
        seats.append(referee.to_move)
        assert len(referee.legal()) == 6 - seats.count(referee.to_move) + 1
        assert referee.starter is None
        referee.step(referee.legal()[0])
    assert seats == [1, 1, 0, 0]
    assert referee.crib == [0, 2, 1, 3]
    assert (referee.starter, referee.to_move) == (12, 1)
    with pytest.raises(ValueError, match="may not choose"):
        referee.step(5)  # the dealer's card


def test_f2_deal_and_laying_away() -> None:
    referee = Referee("five_card", [list(range(52))], dealer=1)
    assert referee.hands == [[0, 2, 4, 6, 8], [1, 3, 5, 7, 9]]
    play(referee, "0AC 0AH 1AD 1AS")
    assert (referee.starter, referee.to_move) == (10, 0)


def test_h5_h6_h7_go_then_31_then_alone_to_the_end() -> None:
    referee = Referee("hoyle", [GO_DECK], dealer=1, episode="deal")
    play(referee, f"{GO_DISCARDS} {GO_PLAY}")
    assert pegs(referee) == GO_PEGS + GO_SHOW
    assert referee.events[4].cards == (card("KH"),)
    assert referee.events[5].cards == tuple(cards("KH QH JH"))
    assert referee.scores == [6, 21]
    assert (referee.to_move, referee.legal(), referee.winner) == (None, [], None)


def test_h7_last_card_after_counts_that_end_in_go() -> None:
    deck = a_deck("KC QC 5C 6C 2S 3S", "JD 6D TD 9D 2H 8D", "7S")
    referee = Referee("hoyle", [deck], dealer=1, episode="deal")
    play(referee, "02S 03S 12H 18D 0KC 1JD 0QC")
    assert pegs(referee) == [(0, 3, "run"), (0, 1, "go")]  # 30, and pone cannot go on either
    assert (referee.count, referee.pile) == (0, [])
    play(referee, "19D 06C 16D")
    assert pegs(referee)[2:] == [(0, 2, "fifteen"), (1, 2, "pair")]
    play(referee, "05C")  # 26, and the dealer holds the ten
    assert pegs(referee)[4:] == [(0, 1, "go")]
    play(referee, "1TD")
    assert pegs(referee)[5] == (1, 1, "last")


def test_h6_31_without_a_go_scores_two_and_the_other_leads() -> None:
    deck = a_deck("KC JC 3C 4C 2S 6S", "QD AD TD 9D 2H 8D", "7S")
    referee = Referee("hoyle", [deck], dealer=1)
    play(referee, "02S 06S 12H 18D 0KC 1QD 0JC")
    assert referee.legal() == [card("AD")]  # the only card that does not pass 31 must be played
    play(referee, "1AD")
    assert pegs(referee) == [(0, 3, "run"), (1, 2, "thirty_one")]
    assert (referee.to_move, referee.count) == (0, 0)


def test_h7_31_with_the_last_card_pegs_no_last() -> None:
    deck = a_deck("KC 5C 9C 3H 2S 6S", "QD 6D TD 9D 2H 8D", "7S")
    referee = Referee("hoyle", [deck], dealer=1, episode="deal")
    # K, 6, 5, 10 make 31; then 9, 9, 3, Q make 31 with the last card of the deal.
    play(referee, "02S 06S 12H 18D 0KC 16D 05C 1TD 09C 19D 03H 1QD")
    assert [peg for peg in pegs(referee) if peg[2] not in ("hand", "crib")] == [
        (1, 2, "thirty_one"),
        (1, 2, "pair"),
        (1, 2, "thirty_one"),
    ]


@pytest.mark.parametrize(
    ("game", "pone", "dealer"),
    [
        ("hoyle", "9H 7D 3S JS 2C 4C", "9S KD AH JH 8C QC"),
        ("five_card", "9H 7D 3S 2C 4C", "9S KD AH 8C QC"),
    ],
)
@pytest.mark.parametrize(("starter", "points"), [("6D", 0), ("6C", 5)])
def test_h8_f6_crib_of_one_suit_in_the_show(
    game: str, pone: str, dealer: str, starter: str, points: int
) -> None:
    deck = a_deck(pone, dealer, starter)
    referee = Referee(game, [deck], dealer=1, episode="deal")
    play(referee, "02C 04C 18C 1QC")
    while referee.to_move is not None:
        referee.step(referee.legal()[0])
    assert sum(event.points for event in referee.events if event.reason == "crib") == points


def test_c3_heels_and_h10_the_deal_alternates() -> None:
    heels = a_deck("TC 9C AC AD 2S 6S", "TD KH QH JH 2H 8D", "JS")
    referee = Referee("hoyle", [heels, GO_DECK], dealer=1)
    play(referee, GO_DISCARDS)
    assert pegs(referee) == [(1, 2, "heels")]
    assert referee.events[0].cards == (card("JS"),)
    play(referee, GO_PLAY)
    assert (referee.dealer, referee.to_move) == (0, 1)
    assert referee.hands[1] == cards("TC 9C AC AD 2S 6S")


def test_c5_first_to_121_wins_at_that_instant() -> None:
    # The go point wins at once, with two aces still to play.
    referee = Referee("hoyle", [GO_DECK], dealer=1, scores=(120, 100))
    play(referee, f"{GO_DISCARDS} 0TC 1TD 09C")
    assert (referee.scores, referee.winner, referee.to_move) == ([121, 102], 0, None)

    # The play takes both to 120, and pone's hand is counted first.
    referee = Referee("hoyle", [GO_DECK], dealer=1, scores=(116, 114))
    play(referee, f"{GO_DISCARDS} {GO_PLAY}")
    assert (referee.scores, referee.winner) == ([121, 120], 0)
    assert pegs(referee)[-1] == (0, 1, "hand")  # cut at the target

    # The play takes pone to 118 only: the dealer's hand wins, and the crib is not counted.
    referee = Referee("hoyle", [GO_DECK], dealer=1, scores=(114, 114))
    play(referee, f"{GO_DISCARDS} {GO_PLAY}")
    assert (referee.scores, referee.winner) == ([120, 121], 1)
    assert pegs(referee)[-1] == (1, 1, "hand")


def test_c5_heels_can_win() -> None:
    heels = a_deck("TC 9C AC AD 2S", "TD KH QH JH 2H", "JS")
    referee = Referee("five_card", [heels], dealer=1, scores=(60, 60))
    play(referee, "02S 0AD 12H 1JH")
    assert (referee.scores, referee.winner, referee.to_move) == ([60, 61], 1, None)
    assert pegs(referee) == [(1, 1, "heels")]


def test_f1_three_for_last_unless_scores_are_given() -> None:
    decks = [list(range(52))]
    assert Referee("five_card", decks, dealer=1).events == [(0, 3, "for_last", ())]
    assert Referee("five_card", decks, dealer=0).scores == [0, 3]
    assert Referee("five_card", decks, dealer=0, scores=(0, 0)).scores == [0, 0]
    assert Referee("hoyle", decks, dealer=0).scores == [0, 0]


def test_f4_f5_one_count_and_no_go_point() -> None:
    deck = a_deck("TC 9C 8C 2S 6S", "TD KH 5H 2H 8D", "7S")
    referee = Referee("five_card", [deck], dealer=1, episode="deal")
    play(referee, "02S 06S 12H 18D 0TC 1TD 09C")
    # The count is 29: pone's eight and the dealer's king and five are not played.
    assert pegs(referee) == [
        (0, 3, "for_last"),
        (1, 2, "pair"),
        (0, 1, "last"),
        (0, 9, "hand"),  # 8-7; the run 7-8-9-10; the flush of three clubs
        (1, 4, "hand"),  # 10-5 twice
        (1, 11, "crib"),  # as in GO_SHOW
    ]
    assert (referee.scores, referee.to_move, referee.winner) == ([13, 17], None, None)


def test_f5_alone_after_the_go_and_31_pegs_two_without_last() -> None:
    deck = a_deck("TC JC AC 2S 6S", "KD 9D 8D 2H 4D", "7S")
    referee = Referee("five_card", [deck], dealer=1, episode="deal", scores=(0, 0))
    play(referee, "02S 06S 12H 14D 0TC 1KD 0JC 0AC")
    assert pegs(referee)[0] == (0, 2, "thirty_one")
    assert {peg[2] for peg in pegs(referee)[1:]} == {"hand", "crib"}


def test_f5_alone_after_the_go_pegs_one_at_the_end() -> None:
    deck = a_deck("TC 9C AC 2S 6S", "TD KH 5H 2H 8D", "7S")
    referee = Referee("five_card", [deck], dealer=1, episode="deal", scores=(0, 0))
    play(referee, "02S 06S 12H 18D 0TC 1TD 09C")
    assert pegs(referee) == [(1, 2, "pair")]  # nothing for the go at 29
    play(referee, "0AC")
    assert pegs(referee)[1] == (0, 1, "last")


def test_f7_61_wins_and_is_not_passed() -> None:
    deck = a_deck("TC 9C 8C 2S 6S", "TD KH 5H 2H 8D", "7S")
    referee = Referee("five_card", [deck], dealer=1, scores=(55, 0))
    play(referee, "02S 06S 12H 18D 0TC 1TD 09C")
    assert (referee.scores, referee.winner) == ([61, 2], 0)  # 56 after last, then 9 in hand


@pytest.mark.parametrize(("loser", "value"), [(91, 1), (90, 2), (61, 2), (60, 4), (0, 4)])
def test_h11_skunks_and_the_loser_deals_next(loser: int, value: int) -> None:
    heels = a_deck("TC 9C AC AD 2S 6S", "TD KH QH JH 2H 8D", "JS")
    decks = [heels, GO_DECK]
    for dealer in (0, 1):
        scores = (loser, 120) if dealer == 1 else (120, loser)
        referee = Referee("hoyle", decks, dealer, "match", scores)
        pone = 1 - dealer
        play(referee, f"{pone}2S {pone}6S {dealer}2H {dealer}8D")
        assert referee.games[dealer] == value
        assert (referee.games[pone], referee.scores, referee.winner) == (0, [0, 0], None)
        assert (referee.dealer, referee.to_move) == (pone, dealer)


def test_decks_run_out_and_bad_arguments() -> None:
    referee = Referee("hoyle", [GO_DECK], dealer=1)
    with pytest.raises(IndexError):
        play(referee, f"{GO_DISCARDS} {GO_PLAY}")
    with pytest.raises(ValueError, match="no episode"):
        Referee("five_card", [GO_DECK], dealer=1, episode="match")
    with pytest.raises(ValueError, match="from 0 to 120"):
        Referee("hoyle", [GO_DECK], dealer=1, scores=(121, 0))


def shuffled(rng: random.Random, number: int) -> list[list[int]]:
    return [rng.sample(range(52), 52) for _ in range(number)]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("game", "target"), [("hoyle", 121), ("five_card", 61)])
def test_random_games_keep_their_books(game: str, target: int, seed: int) -> None:
    rng = random.Random(seed)
    referee = Referee(game, shuffled(rng, 60), dealer=seed % 2)
    while referee.to_move is not None:
        referee.step(rng.choice(referee.legal()))
    for seat in (0, 1):
        assert referee.scores[seat] == sum(e.points for e in referee.events if e.seat == seat)
    winner = referee.winner
    assert winner is not None
    assert referee.events[-1].seat == winner
    assert referee.scores[winner] == target > referee.scores[1 - winner]
    # H10, F1: the deal has alternated.
    assert referee.dealer == (seed + referee.deals - 1) % 2


@pytest.mark.parametrize("seed", range(4))
def test_h11_random_matches(seed: int) -> None:
    rng = random.Random(seed)
    referee = Referee("hoyle", shuffled(rng, 300), dealer=0, episode="match")
    while referee.to_move is not None:
        referee.step(rng.choice(referee.legal()))

    # Count the games again from what was pegged.
    games, scores = [0, 0], [0, 0]
    for event in referee.events:
        scores[event.seat] += event.points
        if scores[event.seat] == 121:
            behind = min(scores)
            games[event.seat] += 4 if behind <= 60 else 2 if behind <= 90 else 1
            scores = [0, 0]
    assert referee.games == games
    assert referee.winner is not None
    assert games[referee.winner] >= 7 > games[1 - referee.winner]


# ---------------------------------------------------------------- Table Top

# Rows 21, 10, 9, 10, 0, the first four being the lines of the source. Columns, from the west:
# 0 (four clubs); a pair of kings 2; a pair of nines 2; 10-5 and 7-5-2-A 4; J-5 and a pair of
# eights 4 (four diamonds). Crib with the nine: 9-6 and 4-5-6 twice, a pair, two runs: 16.
LAYOUT = cards(
    """
    9C 7C 7D 7H 8C
    TC KC 9D 5C 5D
    7S JH 9H TD JD
    3C 4C TH 2C 4D
    QC KD 2H AC 8D
    """
)
CRIB_CARDS = cards("5H 6C 6D 4H")
ROWS, COLUMNS, CRIB_POINTS = 50, 12, 16
SHIP_FLUSHES = 8  # the two fours of one suit, both in columns

INNER = [6, 7, 8, 11, 13, 16, 17, 18]
OUTER = [c for c in range(25) if c not in INNER and c != 12]
ORDER = [*INNER, *OUTER]  # from the centre outwards every cell touches one before it


def table_deck(layout: Sequence[int], crib: Sequence[int]) -> list[int]:
    """Return the deck whose cards fill the layout in `ORDER`, then the crib."""
    front = [layout[cell] for cell in ORDER] + [*crib, layout[12]]
    return front + [c for c in range(52) if c not in front]


def fill(referee: TableTopReferee) -> None:
    """Play a whole round in `ORDER`, with the crib last."""
    for action in [*ORDER, CRIB, CRIB, CRIB, CRIB]:
        referee.step(action)


DECK = table_deck(LAYOUT, CRIB_CARDS)


@pytest.mark.parametrize(("players", "dealer"), [(2, 0), (2, 1), (4, 0), (4, 1), (4, 2), (4, 3)])
def test_t8_count_of_a_round(players: int, dealer: int) -> None:
    referee = TableTopReferee([DECK], dealer, players)
    fill(referee)
    expected = [ROWS, COLUMNS]
    expected[dealer % 2] += CRIB_POINTS
    assert referee.scores == expected
    assert referee.hand_points == [tuple(expected)]
    assert (referee.to_move, referee.winner, referee.legal()) == (None, None, [])


@pytest.mark.parametrize(("dealer", "scores"), [(1, [14, 0]), (0, [46, 0])])
def test_t12_t13_ship_scores_the_difference(dealer: int, scores: list[int]) -> None:
    referee = TableTopReferee([DECK], dealer, ship=True)
    fill(referee)
    assert sum(referee.hand_points[0]) == ROWS + COLUMNS + SHIP_FLUSHES + CRIB_POINTS
    assert referee.scores == scores
    assert referee.winner == (0 if scores[0] >= 31 else None)


def test_t13_equal_hands_score_nothing_and_31_wins() -> None:
    referee = TableTopReferee([DECK], dealer=1, ship=True, scores=(17, 30))
    fill(referee)
    assert (referee.scores, referee.winner) == ([31, 30], 0)


def test_t5_open_cells_of_the_source() -> None:
    front = cards("5C 3H 7D")
    rest = [c for c in range(52) if c not in front and c != card("8D")]
    deck = [*front, *rest[:25], card("8D"), *rest[25:]]
    referee = TableTopReferee([deck], dealer=1)
    for cell in (13, 7, 3):
        referee.step(cell)
    assert [text(c) for c in referee.cells if c is not None] == ["7D", "3H", "8D", "5C"]
    closed = {cell for cell in range(25) if cell // 5 == 4 or cell % 5 == 0}
    assert len(closed) == 9
    open_cells = [cell for cell in referee.legal() if cell != CRIB]
    assert len(open_cells) == 12
    assert set(open_cells) == set(range(25)) - closed - {13, 7, 3, 12}


def test_t11_ship_opens_every_vacant_cell() -> None:
    referee = TableTopReferee([DECK], dealer=1, ship=True)
    assert referee.legal() == [c for c in range(25) if c != 12] + [CRIB]
    assert TableTopReferee([DECK], dealer=1).legal() == [*INNER, CRIB]
    referee.step(0)
    assert 0 not in referee.legal()


@pytest.mark.parametrize(("players", "dealer"), [(2, 0), (2, 1), (4, 0), (4, 1), (4, 2), (4, 3)])
def test_t4_the_left_of_the_dealer_begins(players: int, dealer: int) -> None:
    referee = TableTopReferee([DECK], dealer, players)
    seats = []
    for cell in ORDER[:8]:
        seats.append(referee.to_move)
        referee.step(cell)
    assert seats == [(dealer + 1 + turn) % players for turn in range(8)]
    assert [referee.cells[cell] for cell in ORDER[:8]] == DECK[:8]  # T2


def test_t6_two_cards_each_with_two_players() -> None:
    referee = TableTopReferee([DECK], dealer=1)
    # Seat 0 discards in its first two turns; seat 1 never does, until it must.
    for turn in range(24):
        if referee.to_move == 0 and turn < 4:
            assert CRIB in referee.legal()
            referee.step(CRIB)
        else:
            assert (CRIB in referee.legal()) == (referee.to_move == 1)
            referee.step(referee.legal()[0])
    assert referee.crib == [DECK[0], DECK[2]]
    for turn in range(24, 28):
        assert referee.to_move == turn % 2
        assert (referee.legal() == [CRIB]) == (turn % 2 == 1)
        referee.step(referee.legal()[0])
    assert referee.crib == [DECK[0], DECK[2], DECK[25], DECK[27]]
    assert all(cell is not None for cell in referee.cells)


def test_t6_one_card_each_with_four_players() -> None:
    referee = TableTopReferee([DECK], dealer=3, players=4)
    referee.step(CRIB)
    for turn in range(1, 24):
        assert (CRIB in referee.legal()) == (turn % 4 != 0)
        referee.step(referee.legal()[0])
    assert CRIB not in referee.legal()  # seat 0, whose partner still owes a card of their own
    referee.step(referee.legal()[0])
    for _ in range(3):
        assert referee.legal() == [CRIB]
        referee.step(CRIB)
    assert referee.to_move is None


def test_t3_heels_score_the_dealers_side() -> None:
    jack_first = [c for c in DECK if c != card("JS")]
    jack_first.insert(28, card("JS"))
    for dealer in (0, 1, 2, 3):
        referee = TableTopReferee([jack_first], dealer, players=4)
        assert referee.scores == ([2, 0] if dealer % 2 == 0 else [0, 2])

    def both(dealer: int, ship: bool) -> TableTopReferee:
        referee = TableTopReferee([jack_first], dealer, ship=ship)
        fill(referee)
        return referee

    # A dealer's side gains the crib and the heels over what it has as pone.
    standard = both(0, ship=False), both(1, ship=False)
    gained = [standard[side].scores[side] - standard[1 - side].scores[side] for side in (0, 1)]
    crib = score_line([*CRIB_CARDS, card("JS")], 5, card("JS"))
    assert gained == [crib + 2, crib + 2]
    assert standard[0].hand_points == [tuple(standard[0].scores)]

    # In Ship's variation nothing is scored before the difference, which includes the heels.
    assert TableTopReferee([jack_first], dealer=0, ship=True).scores == [0, 0]
    ship = both(0, ship=True), both(1, ship=True)
    gained = [
        ship[side].hand_points[0][side] - ship[1 - side].hand_points[0][side] for side in (0, 1)
    ]
    assert gained == [crib + 2, crib + 2]


@pytest.mark.parametrize(
    ("start", "total", "winner"),
    [
        ((70, 92), [120, 120], None),
        ((71, 92), [121, 120], 0),
        ((71, 100), [121, 128], 1),  # both past the target: the higher total
        ((71, 93), [121, 121], None),  # a tie plays another round
        ((120, 120), [170, 148], 0),
    ],
)
def test_t9_a_full_count_of_both_sides(
    start: tuple[int, int], total: list[int], winner: int | None
) -> None:
    referee = TableTopReferee([DECK, DECK], dealer=1, episode="game", scores=start)
    fill(referee)
    assert (referee.scores, referee.winner) == (total, winner)
    assert (referee.to_move is None) == (winner is not None)
    if winner is None:
        assert (referee.dealer, referee.to_move) == (0, 1)  # the deal passes to the left
        fill(referee)
        assert (referee.scores, referee.winner) == ([total[0] + 66, total[1] + 12], 0)


def test_t9_another_target_and_the_deal_round_four_seats() -> None:
    referee = TableTopReferee([DECK] * 4, 2, players=4, episode="game", target=228)
    dealers = []
    while referee.to_move is not None:
        dealers.append(referee.dealer)
        fill(referee)
    assert dealers == [2, 3, 0, 1]
    assert referee.scores == [4 * ROWS + 32, 4 * COLUMNS + 32]
    assert referee.winner == 0


def test_table_top_refuses_bad_arguments() -> None:
    with pytest.raises(ValueError, match="won the game already"):
        TableTopReferee([DECK], dealer=0, scores=(121, 3))
    with pytest.raises(ValueError, match="dealer is a seat"):
        TableTopReferee([DECK], dealer=2)
    with pytest.raises(ValueError, match="may not choose"):
        TableTopReferee([DECK], dealer=0).step(0)
    with pytest.raises(IndexError):
        fill(TableTopReferee([DECK], dealer=0, episode="game"))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("players", [2, 4])
@pytest.mark.parametrize("ship", [False, True])
def test_random_rounds_fill_the_layout(seed: int, players: int, ship: bool) -> None:
    rng = random.Random(seed)
    referee = TableTopReferee(shuffled(rng, 1), seed % players, players, ship)
    while referee.to_move is not None:
        referee.step(rng.choice(referee.legal()))
    placed = [c for c in referee.cells if c is not None]
    assert (len(placed), len(referee.crib), referee.owed) == (25, 4, [0] * players)
    assert len({*placed, *referee.crib}) == 29
