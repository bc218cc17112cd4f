"""C1-C5, the clauses common to all games, through the public environment.

Every expected figure is worked by hand from the words of seeds/. Table Top's share of these
clauses is tested with Table Top.
"""

from __future__ import annotations

import pytest

from crib_env import card_name, format_card, parse_card, parse_cards
from stacked import Table, deal, unused

RANKS = "A23456789TJQK"


def show(cards: str, starter: str, of: str = "p hand") -> list[str]:
    """Return what pone's hand, or the crib, pegs in the show of a six-card deal, fillers about."""
    rest = [format_card(card) for card in unused(8, parse_cards(f"{cards} {starter}"))]
    if of == "p hand":
        pone, laid = cards, rest[4:]
    else:
        pone, laid = " ".join(rest[4:]), cards.split()
    dealer = f"{' '.join(rest[:4])} / {' '.join(laid[2:])}"
    table = Table(deal(f"{pone} / {' '.join(laid[:2])}", dealer, starter)).discarded()
    return [peg for peg in table.finish() if peg.startswith(of)]


def test_c1_pack_has_thirteen_ranks_of_four_suits() -> None:
    texts = [format_card(card) for card in range(52)]
    assert texts == [rank + suit for rank in RANKS for suit in "CDHS"]
    assert [parse_card(text) for text in texts] == list(range(52))
    assert parse_card("10h") == parse_card("TH") == 38
    assert card_name(parse_card("5H")) == "five of hearts"
    assert card_name(parse_card("AS")) == "ace of spades"


@pytest.mark.parametrize(
    ("rank", "value"),
    [("A", 1), ("2", 2), ("3", 3), ("4", 4), ("5", 5), ("6", 6), ("7", 7), ("8", 8), ("9", 9),
     ("T", 10), ("J", 10), ("Q", 10), ("K", 10)],
)  # fmt: skip
def test_c1_lead_counts_its_pip_value(rank: str, value: int) -> None:
    lead = parse_card(rank + "S")
    rest = [format_card(card) for card in unused(12, [lead])]
    pone = f"{rank}S {' '.join(rest[:3])} / {' '.join(rest[3:5])}"
    dealer = f"{' '.join(rest[5:9])} / {' '.join(rest[9:11])}"
    table = Table(deal(pone, dealer, rest[11])).discarded()
    table.play(f"p:{rank}S")
    assert [int(table.env.view(seat)["count"]) for seat in (0, 1)] == [value, value]


@pytest.mark.parametrize("ranks", ["QKA", "KA2"])
def test_c1_ace_is_low_so_no_run_in_play_passes_from_king_to_ace(ranks: str) -> None:
    first, second, third = (rank + "S" for rank in ranks)
    table = Table(deal(f"{first} {third} 9C 9D / 8C 8D", f"{second} 7C 7D 6C / 6D 5C", "4C")).discarded()
    assert table.play(f"p:{first} d:{second} p:{third}") == []


@pytest.mark.parametrize(
    ("hand", "starter", "points"),
    [
        ("AC 2D 3H 3S", "3C", 15),  # the clause's own: three runs of three, and a pair royal
        ("9C 7C 7D 7H", "8C", 21),  # the sources' four lines, as hands:
        ("TC KC 9D 5C", "5D", 10),
        ("3C 4C TH 2C", "4D", 10),
        ("7S JH TD JD", "9H", 9),
        ("3C 3D 3H 9S", "3S", 24),  # 3-3-9 six ways, a double pair royal
        ("5C 5D 5H 5S", "JC", 28),  # jack and five four ways, 5-5-5 four ways, 12
        ("2C 3D 4H 5S", "6C", 9),  # 4-5-6 and 2-3-4-6; one run of five, no shorter ones
        ("2C 3D 4H 4S", "5C", 12),  # 2-4-4-5; a pair; two runs of four
        ("7C 7D 8H 8S", "9C", 24),  # 7-8 four ways; two pairs; four runs of three
        ("JC QD KH AS", "2D", 3),  # runs do not wrap: J-Q-K only
        ("4C 5D 5H 6S", "5C", 23),  # 4-5-6 three times, 5-5-5; pair royal; three runs
        ("4C 4D 5H 6S", "6C", 24),  # 4-5-6 four times; two pairs; four runs of three
        ("5C 5D 5H JS", "5S", 29),  # eight fifteens, a double pair royal, the nob
        ("TC QD KH 4S", "AC", 6),  # 10-4-1 three times; no run without the jack
        ("AC 2C 3C 4C", "5D", 11),  # 15 with all five, a run of five, a flush of four
        ("AC 2C 3C 4C", "5C", 12),  # the starter joins the flush
        ("AC 2C 3C 4D", "5C", 7),  # the starter completes no four-flush
        ("QC KD AH 2S", "9C", 0),
        ("2C 4D 6H 8S", "QC", 0),  # all values even
    ],
)
def test_c2_five_cards_score(hand: str, starter: str, points: int) -> None:
    assert show(hand, starter) == ([f"p hand {points}"] if points else [])


def test_c2_crib_scores_as_a_hand_does() -> None:
    assert show("AC 2D 3H 3S", "3C", "d crib") == ["d crib 15"]


@pytest.mark.parametrize("dealer", [0, 1])
@pytest.mark.parametrize(("starter", "pegged"), [("JD", ["d heels 2"]), ("QD", []), ("TD", [])])
def test_c3_dealer_pegs_two_at_once_for_a_jack_turned_up(dealer: int, starter: str, pegged: list[str]) -> None:
    table = Table(deal("2C 3D 8H 9S / KC KD", "AC 4D 6H 9C / QC KH", starter), dealer=dealer)
    assert table.discard() == pegged
    assert table.scores[dealer] == (2 if pegged else 0)
    assert table.scores[1 - dealer] == 0
    assert table.to_move == "p"  # pegged before pone leads


@pytest.mark.parametrize(("starter", "points"), [("6H", 1), ("6C", 0), ("6S", 0)])
def test_c4_nob_is_a_jack_of_the_starters_suit(starter: str, points: int) -> None:
    for of in ("p hand", "d crib"):
        assert show("JH 2C 4D 8S", starter, of) == ([f"{of} {points}"] if points else [])


def test_c4_the_jack_turned_up_is_not_its_own_nob() -> None:
    assert show("2C 4D 6H 8S", "JH") == []


FIVES = deal("5C 5H KC 9D / 2C 4D", "5D KH 8S 7C / 6C 8D", "QS")


@pytest.mark.parametrize(
    ("score", "pegged", "total"),
    [
        (0, ["p fifteen 2", "p pair 6"], 8),  # one card that scores twice pegs in order
        (119, ["p fifteen 2"], 121),  # nothing is scored after the game is won: not the pair royal
        (118, ["p fifteen 2", "p pair 1"], 121),  # the score stops at the target
    ],
)
def test_c5_card_pegs_in_order_until_the_game_is_won(score: int, pegged: list[str], total: int) -> None:
    table = Table(FIVES, scores=(score, 0), episode="game").discarded()
    assert table.play("p:5C d:5D p:5H") == ["d pair 2", *pegged]
    assert table.over == (total == 121)
    assert table.scores == (total, 2)


@pytest.mark.parametrize("episode", ["game", "deal"])
@pytest.mark.parametrize(("score", "pegged"), [(119, "d heels 2"), (120, "d heels 1")])
def test_c5_heels_can_win_the_game(score: int, pegged: str, episode: str) -> None:
    jack = deal("2C 3D 8H 9S / KC KD", "AC 4D 6H 9C / QC KH", "JD")
    table = Table(jack, scores=(120, score), episode=episode)
    assert table.discard() == [pegged]
    assert table.over
    assert table.scores == (120, 121)
    assert table.env._cumulative_rewards == {"player_0": -1.0, "player_1": 1.0}
