"""The clauses M: cribbage for three and four, on stacked deals.

Hands are written by seat, ``"kept cards / card laid away"``. Unless a test says otherwise the last
seat deals, so seat 0 leads.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest

from crib_env import format_card, parse_cards
from crib_env.engine.record import NONE
from crib_env.events import Event, read_log
from crib_env.game import Game
from crib_env.rules import ManyHandRules, Rules
from stacked import deck_of, first_dealer, in_play, in_show


class Table:
    """A game that begins with a stacked deal."""

    def __init__(
        self,
        hands: Sequence[str],
        starter: str = "KS",
        crib: str = "",
        rules: str | None = None,
        episode: str = "deal",
        dealer: int | None = None,
        scores: Sequence[int] | None = None,
    ) -> None:
        seats = len(hands)
        crib = crib or ("QS" if seats == 3 else "")
        self.dealer = seats - 1 if dealer is None else dealer
        self.hands = hands
        self.game = Game(rules or ("three_hand" if seats == 3 else "four_hand"), episode=episode)
        options: dict[str, Any] = {} if scores is None else {"scores": scores}
        deck = deck_of(hands, starter, crib, self.dealer)
        self.game.reset(decks=[deck], dealer=self.dealer, **options)

    def discard(self) -> list[str]:
        """Discard the last card of each hand; return the points pegged."""
        pegged = []
        for turn in range(len(self.hands)):
            seat = (self.dealer + 1 + turn) % len(self.hands)
            pegged += self.play(f"{seat}:{self.hands[seat].split('/')[1].strip()}")
        return pegged

    def discarded(self) -> Table:
        self.discard()
        return self

    def play(self, moves: str) -> list[str]:
        """Play ``"0:5H 1:TS"``, checking that each seat is to move; return the points pegged."""
        pegged = []
        for move in moves.split():
            seat, card = move.split(":")
            assert not self.game.over, f"the episode was over before {move}"
            assert self.game.seat == int(seat), f"{move}, but seat {self.game.seat} is to move"
            events = self.game.step(parse_cards(card)[0])
            pegged += [f"{e.seat} {e.reason} {e.points}" for e in events]
        return pegged

    def finish(self) -> list[str]:
        """Play the lowest legal card to the end; return the points that the last one pegs."""
        pegged: list[str] = []
        while not self.game.over:
            pegged = self.play(f"{self.game.seat}:{format_card(self.game.legal_actions[0])}")
        return pegged

    @property
    def legal(self) -> set[str]:
        return {format_card(card) for card in self.game.legal_actions}


THREE = ("2C 4D 6H 8S / KC", "2D 4H 6S 8C / KD", "2H 4S 6C 8D / KH")
FOUR = (*THREE, "TC JD QH 9S / AC")


# ---------------------------------------------------------------- M1: players and sides


def test_m1_three_seats_are_three_sides_four_are_two_partnerships() -> None:
    assert Game("three_hand").sides == (0, 1, 2)
    assert Game("four_hand").sides == (0, 1, 0, 1)
    assert Game("four_hand[partners=False]").sides == (0, 1, 2, 3)


def test_m1_partners_points_are_one_score() -> None:
    table = Table(("7C 2D 3H 4S / KC", "8D QH TS TC / KD", "7H 6H 5H 9C / KH", "8C QC JC TD / AH")).discarded()
    assert table.play("0:7C 1:8D") == ["1 fifteen 2"]
    assert table.game.scores == (0, 2)
    assert table.play("2:9C") == ["0 run 3"]  # seat 2 pegs for side 0
    assert table.game.scores == (3, 2)


def test_m1_without_partners_each_pegs_alone() -> None:
    hands = ("7C 2D 3H 4S / KC", "8D QH TS TC / KD", "7H 6H 5H 9C / KH", "8C QC JC TD / AH")
    table = Table(hands, rules="four_hand[partners=False]").discarded()
    table.play("0:7C 1:8D 2:9C")
    assert table.game.scores == (0, 2, 3, 0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"players": 2}, "players must be a whole number from 3 to 4"),
        ({"players": 5}, "players must be a whole number from 3 to 4"),
        ({"partners": True}, "partners sit opposite each other: 3 players have none"),
        ({"second_go_ends": 1}, "second_go_ends must be True or False"),
        ({"match_target": -1}, "match_target must be a whole number from 0 to 7"),
        ({"flush_size": 3}, "flush_size must be a whole number from 4 to 5"),
    ],
)
def test_m1_impossible_rules_are_rejected(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Rules.preset("three_hand", **changes)


def test_m1_rules_set_the_number_of_players() -> None:
    assert Game("four_hand", players=4).players == 4
    with pytest.raises(ValueError, match="has 3 players, got players=4"):
        Game("three_hand", players=4)
    with pytest.raises(ValueError, match="a game by rules='mine' has 4 players, got players=2"):
        Game(ManyHandRules(name="mine", players=4), players=2)


# ---------------------------------------------------------------- M2, M3: the deal and the crib


@pytest.mark.parametrize("dealer", [0, 1, 2])
def test_m2_three_get_five_each_singly_from_the_dealers_left_and_the_crib_one(dealer: int) -> None:
    deck = list(np.random.default_rng(2).permutation(52))
    game = Game("three_hand", episode="deal")
    game.reset(decks=[deck], dealer=dealer)
    for turn in (1, 2, 3):
        seat = (dealer + turn) % 3
        assert game.seat == seat
        assert game.legal_actions == sorted(deck[turn - 1 : 15 : 3])
        game.step(game.legal_actions[0])
    assert game.view(0)["starter"] == deck[16]
    laid = [min(deck[turn:15:3]) for turn in range(3)]
    while not game.over:
        game.step(game.legal_actions[0])
    (crib,) = [e for e in _counted(game) if e.reason == "crib"]
    assert set(crib.cards) - {deck[16]} == {*laid, deck[15]}


@pytest.mark.parametrize("dealer", range(4))
def test_m2_four_get_five_each_and_the_next_card_is_the_starter(dealer: int) -> None:
    deck = list(np.random.default_rng(3).permutation(52))
    game = Game("four_hand", episode="deal")
    game.reset(decks=[deck], dealer=dealer)
    for turn in (1, 2, 3, 4):
        assert game.seat == (dealer + turn) % 4
        assert game.legal_actions == sorted(deck[turn - 1 : 20 : 4])
        game.step(game.legal_actions[0])
    assert game.view(0)["starter"] == deck[20]


def _counted(game: Game) -> list[Event]:
    return read_log(game.log, include_zero=True)


@pytest.mark.parametrize("rules", ["three_hand", "four_hand"])
def test_m2_no_card_is_dealt_twice(rules: str) -> None:
    game = Game(rules, episode="deal")
    for seed in range(50):
        game.reset(seed=seed)
        cards = [card for card in game.states["dealt"][0].tolist() if card != NONE]
        cards.append(int(game.states["starter"][0]))
        assert len(cards) == 5 * game.players + (game.players == 3) + 1
        assert len(set(cards)) == len(cards)


def test_m3_each_seat_discards_one_and_keeps_four() -> None:
    for hands in (THREE, FOUR):
        table = Table(hands).discarded()
        assert [len(table.game.hand(table.game.view(seat))) for seat in range(len(hands))] == [4] * len(hands)
        assert table.game.seat == 0


@pytest.mark.parametrize("hands", [THREE, FOUR], ids=["three", "four"])
def test_m3_discard_is_secret(hands: Sequence[str]) -> None:
    """A seat's observation does not depend on the others' discards, a partner's included."""
    seats = len(hands)
    for seat in range(seats):
        seen = set()
        for choice in product(range(3), repeat=seats - 1):
            table = Table(hands)
            laid = list(choice)
            for _ in range(seats):
                mover = table.game.seat
                number = 0 if mover == seat else laid.pop()
                table.game.step(table.game.legal_actions[number])
                if table.game.seat == seat and mover != seat:
                    seen.add(table.game.view(seat).tobytes())
            seen.add(table.game.view(seat).tobytes())
        # Before its own discard, if another's came first, and when all have laid theirs.
        assert len(seen) == 1 + (seat > 0), f"seat {seat}"


# ---------------------------------------------------------------- M4 to M6


def test_m4_jack_turned_up_pegs_the_dealer_two() -> None:
    assert Table(THREE, "JS").discard() == ["2 heels 2"]
    assert Table(FOUR, "JS").discard() == ["1 heels 2"]  # seat 3's side
    won = Table(THREE, "JS", episode="game", scores=(0, 0, 120))
    assert won.discard() == ["2 heels 1"]
    assert won.game.over
    assert won.game.returns == [-0.5, -0.5, 1.0]


def test_m5_dealers_left_leads_and_the_turn_passes_left() -> None:
    for hands in (THREE, FOUR):
        for dealer in range(len(hands)):
            table = Table(hands, dealer=dealer).discarded()
            order = []
            for _ in range(len(hands) + 1):
                order.append(table.game.seat)
                table.game.step(table.game.legal_actions[0])
            assert order == [(dealer + 1 + i) % len(hands) for i in range(len(hands) + 1)]


def test_m5_card_past_31_is_illegal_and_a_legal_card_must_be_played() -> None:
    table = Table(("TC TD 5H 9S / AC", "TH TS 6D 7C / AD", "QC 5S KH KD / AH")).discarded()
    table.play("0:TC 1:TH 2:5S")  # 25
    assert table.legal == {"5H"}
    assert table.play("0:5H") == ["0 pair 2", "0 go 1"]  # 30; no seat has an ace


def test_m6_pairs_and_runs_reach_across_all_players() -> None:
    table = Table(("5C 5D KH KD / AC", "5H 2S 9C 9D / AD", "5S 3C TC TD / AH")).discarded()
    assert table.play("0:5C 1:5H 2:5S") == ["1 pair 2", "2 fifteen 2", "2 pair 6"]
    assert table.play("0:5D") == ["0 pair 12"]
    table = Table(("3C KC KD QC / AC", "5H KH 9S QD / AD", "4S 6C TC TD / AH")).discarded()
    assert table.play("0:3C 1:5H 2:4S") == ["2 run 3"]
    assert table.play("0:KC") == []


# ---------------------------------------------------------------- M7: go

# 10, 8, 10: 28. Seat 0 holds an ace and a seven, seat 1 nothing below a nine, seat 2 a two.
GO = ("TC AC 7D 7H / KC", "8D 9H JS QC / KD", "TD 2H 9C JC / KH")


def test_m7_seat_unable_to_play_is_passed_over() -> None:
    table = Table(("TC TH 9D JH / KC", "8D 9H JS QC / KD", "TD 2H AC 7D / KH")).discarded()
    table.play("0:TC 1:8D 2:TD")  # 28; seats 0 and 1 cannot, seat 2 can
    assert table.game.seat == 2
    assert table.play("2:2H") == []  # 30
    assert table.play("2:AC") == ["2 thirty_one 2"]
    table = Table(GO).discarded()
    assert table.play("0:TC 1:8D 2:TD 0:AC") == []  # 29; seat 1 says go
    assert table.game.view(2)["passed"] == 0b100  # two to the left of seat 2
    assert table.play("2:2H") == ["2 thirty_one 2"]


def test_m7_last_player_pegs_one_when_no_seat_can_play() -> None:
    table = Table(("TC 7C 7D 7H / KC", "8D 9H JS QC / KD", "TD AH 9C JC / KH")).discarded()
    table.play("0:TC 1:8D 2:TD")  # 28
    assert table.play("2:AH") == ["2 go 1"]  # 29, after the others' gos
    assert table.game.seat == 0


def test_m7_last_card_of_the_deal_pegs_one() -> None:
    assert in_play(Table(THREE).discarded().finish()) == ["2 pair 6", "2 last 1"]  # 8, 8, 8 are 24


ALONE = ("TC AC 7D 7H / KC", "8D 9H JS QC / KD", "TD 5S 9C JC / KH")


def both(hands: Sequence[str]) -> tuple[Table, Table]:
    """Return tables at which the others play on after gos, and at which the second go ends."""
    name = Game("three_hand" if len(hands) == 3 else "four_hand").rules.name
    tables = Table(hands), Table(hands, rules=f"{name}[second_go_ends=True]")
    for table in tables:
        table.discard()
    return tables


def test_m7_after_one_go_the_others_play_on_under_either_rule() -> None:
    for table in both(("TC 9C 9D JH / KC", "8D 2H JS QC / KD", "TD AC 7D JC / KH")):
        assert table.play("0:TC 1:8D 2:TD 1:2H 2:AC") == ["2 thirty_one 2"]


def test_m7_two_successive_gos_end_a_count_under_that_rule() -> None:
    free, ended = both(("TC 9C 9D JH / KC", "8D 5H 5S QC / KD", "TD AC 7D JC / KH"))
    assert free.play("0:TC 1:8D 2:TD") == []  # 28; seat 2 can still play
    assert free.play("2:AC") == ["2 go 1"]
    assert ended.play("0:TC 1:8D 2:TD") == ["2 go 1"]
    assert (ended.game.seat, ended.game.view(0)["count"]) == (0, 0)
    free, ended = both(("TC 9C 9D KH / 2C", "TH AC JH JD / 2D", "8D 7C 7D JC / 2H", "9H 9S QC QD / 2S"))
    assert free.play("0:TC 1:TH 2:8D") == ["1 pair 2"]  # 28; seats 3 and 0 cannot, seat 1 can
    assert free.play("1:AC") == ["1 go 1"]
    assert ended.play("0:TC 1:TH 2:8D") == ["1 pair 2", "0 go 1"]  # seat 2's, for its side
    assert (ended.game.seat, ended.game.view(0)["count"]) == (3, 0)


def test_m7_seat_without_cards_says_no_go() -> None:
    hands = ("9C AC AD KC / 3C", "8D 2H JH 9H / 3D", "KH TS JC QC / 3H")
    for table in both(hands):
        assert table.play("0:9C 1:8D 2:KH 0:AC 1:2H 0:AD") == ["0 thirty_one 2"]
        assert table.play("1:JH 2:TS 0:KC") == ["0 go 1"]
        assert table.play("1:9H 2:JC") == []  # only seat 2 has cards left and plays again
        assert in_play(table.play("2:QC")) == ["2 last 1"]


# ---------------------------------------------------------------- M8, M9


def test_m8_31_pegs_two_also_after_a_go() -> None:
    table = Table(GO).discarded()
    assert table.play("0:TC 1:8D 2:TD 0:AC 2:2H") == ["2 thirty_one 2"]


def test_m8_lead_goes_to_the_left_of_the_last_player() -> None:
    table = Table(GO).discarded()
    table.play("0:TC 1:8D 2:TD 0:AC 2:2H")  # 31 by seat 2
    assert (table.game.seat, table.game.view(0)["count"]) == (0, 0)
    table = Table(ALONE).discarded()
    table.play("0:TC 1:8D 2:TD 0:AC")  # a go to seat 0
    assert (table.game.seat, table.game.view(0)["count"]) == (1, 0)
    assert table.game.view(0)["passed"] == 0


def test_m8_lead_passes_over_seats_without_cards() -> None:
    game = Game("four_hand", episode="deal", seed=8)
    skipped = 0
    for seed in range(60):
        game.reset(seed=seed)
        while not game.over:
            mover = game.seat
            events = game.step(game.legal_actions[0])
            view = game.view(0)
            if game.over or view["phase"] != 1 or view["count"] or not view["pile_n"]:
                continue
            assert any(e.reason in ("go", "thirty_one") for e in events)
            left = [(mover + i) % 4 for i in (1, 2, 3, 4)]
            first = next(s for s in left if game.hand(game.view(s)))
            assert game.seat == first
            skipped += first != left[0]
    assert skipped


SHOWN = ("TC 9C 8C 7C / 2H", "TD KH 5S QD / 2S", "5D 5C AH AD / 3D")


def test_m9_hands_count_from_the_dealers_left_and_the_crib_last() -> None:
    for dealer in range(3):
        table = Table(SHOWN, "4H", crib="3S", dealer=dealer).discarded()
        # 7 8 9 10 of clubs: 7-8, a run, a flush. 10 K Q with the 5. 5-5-4-A twice, two pairs.
        by_seat = {0: "0 hand 10", 1: "1 hand 6", 2: "2 hand 8"}
        order = [by_seat[(dealer + 1 + i) % 3] for i in range(3)]
        assert in_show(table.finish()) == [*order, f"{dealer} crib 16"]  # 2 2 3 3 4: runs, pairs


def test_m9_log_has_counts_of_zero_and_reset_clears_it() -> None:
    """Heels of 0 points name the starter, which the state loses when the next deal begins."""
    table = Table(("2C 4D 6H 8S / KC", "3C 5S 7D 9H / TC", "2D 4H 6S 8C / JD"), "QC", "QS").discarded()
    table.finish()
    counted = read_log(table.game.log, include_zero=True)[-5:]
    assert [(e.reason, e.seat) for e in counted] == [("heels", 2), ("hand", 0), ("hand", 1), ("hand", 2), ("crib", 2)]
    assert (counted[0].points, set(counted[0].cards)) == (0, set(parse_cards("QC")))
    assert set(counted[4].cards) == set(parse_cards("QS KC TC JD"))
    table.game.reset()
    assert read_log(table.game.log, include_zero=True) == []


def test_m9_flush_of_four_counts_in_a_hand_of_five_only_in_the_crib() -> None:
    hands = ("2C 4C 8C QC / 2D", "AD 7D 9D JD / 4D", "AS 3S 7S 9S / 8D")
    for starter, hand, crib in (("6H", 4, 0), ("6D", 4, 5)):
        table = Table(hands, starter, crib="QD").discarded()
        table.finish()
        counted = {(e.reason, e.seat): e.points for e in _counted(table.game)}
        assert counted["hand", 0] == hand
        assert counted["crib", 2] == crib


@pytest.mark.parametrize(
    ("dealer", "scores", "shown", "ended"),
    [
        # Every hand reaches 121 exactly, with what its seat pegs before the show.
        (2, (111, 112, 110), ["0 hand 10"], (121, 115, 113)),
        (0, (110, 115, 111), ["1 hand 6"], (111, 121, 113)),
        (1, (111, 114, 111), ["2 hand 8"], (111, 115, 121)),
        (2, (110, 112, 110), ["0 hand 10", "1 hand 6"], (120, 121, 113)),  # one too few
    ],
)
def test_m9_first_hand_of_the_show_wins_first(
    dealer: int, scores: tuple[int, ...], shown: list[str], ended: tuple[int, ...]
) -> None:
    table = Table(SHOWN, "4H", crib="3S", dealer=dealer, episode="game", scores=scores).discarded()
    assert in_show(table.finish()) == shown
    assert table.game.scores == ended
    assert table.game.returns == [1.0 if score == 121 else -0.5 for score in ended]


def test_m9_partners_hands_count_for_one_side_until_it_wins() -> None:
    hands = (*SHOWN, "2C 4D 6H 8S / 3S")
    table = Table(hands, "4H").discarded()
    # The last: a pair. 2 2 3 3 4 in the crib: runs, pairs.
    assert in_show(table.finish()) == ["0 hand 10", "1 hand 6", "0 hand 8", "1 hand 2", "1 crib 16"]
    pegged = table.game.scores[0] - 18, table.game.scores[1] - 24
    won = Table(hands, "4H", episode="game", scores=(104 - pegged[0], 114 - pegged[1])).discarded()
    assert in_show(won.finish()) == ["0 hand 10", "1 hand 6", "0 hand 7"]  # 114, 120, 121 and no more
    assert (won.game.scores, won.game.returns) == ((121, 120), [1.0, -1.0, 1.0, -1.0])


# ---------------------------------------------------------------- M10 to M12


def test_m10_lowest_card_drawn_deals_first() -> None:
    for rules, players in (("three_hand", 3), ("four_hand", 4)):
        game = Game(rules)
        for seed in range(60):
            game.reset(seed=seed)
            assert game.dealer == first_dealer(seed, players), f"seed {seed}"


def test_m10_the_deal_passes_to_the_left() -> None:
    for rules in ("three_hand", "four_hand"):
        game = Game(rules, seed=4)
        game.reset(dealer=1)
        dealers = [1]
        while not game.over:
            deals = game.deals
            game.step(game.legal_actions[0])
            if game.deals > deals:
                dealers.append(game.dealer)
        assert len(dealers) > 3
        assert dealers == [(1 + i) % game.players for i in range(len(dealers))]


@pytest.mark.parametrize(
    ("rules", "scores", "dealer", "then"),
    [
        ("three_hand", (5, 1, 120), 2, 1),
        ("three_hand", (1, 5, 120), 2, 0),
        ("three_hand", (3, 3, 120), 2, 0),  # both last: the first to the dealer's left
        ("three_hand", (3, 120, 3), 1, 2),
        ("four_hand", (5, 120), 3, 0),  # a partner of the losing side
        ("four_hand", (5, 120), 1, 2),
        ("four_hand[partners=False]", (7, 3, 5, 120), 3, 1),
    ],
)
def test_m10_the_loser_deals_the_next_game(rules: str, scores: tuple[int, ...], dealer: int, then: int) -> None:
    hands = THREE if len(Game(rules).sides) == 3 else FOUR
    table = Table(hands, "JS", rules=rules, episode="match", dealer=dealer, scores=scores)
    table.discard()  # heels win the game for the dealer's side
    assert not table.game.over
    assert table.game.dealer == then
    assert set(table.game.scores) == {0}


def test_m11_three_games_won_are_a_match() -> None:
    for rules, target in (("three_hand", 3), ("four_hand[match_target=2]", 2)):
        game = Game(rules, episode="match", seed=6)
        while not game.over:
            assert max(game.match_score) < target
            game.step(game.legal_actions[0])
        assert max(game.match_score) == target
        assert game.returns[game.match_score.index(target)] == 1
        assert game.states["winner"][0] == game.match_score.index(target)


@pytest.mark.parametrize(("rules", "target"), [("three_hand", 121), ("three_hand[target=61]", 61)])
def test_m12_first_side_at_the_target_wins_at_once(rules: str, target: int) -> None:
    for seed in range(10):
        game = Game(rules, seed=seed)
        while not game.over:
            assert max(game.scores) < target
            game.step(game.legal_actions[-1])
        assert sorted(game.scores)[-2] < max(game.scores) == target
