"""The Table Top engine: clauses T1 to T13, hidden information, and the compiled batch."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from benchmarks.batch import rollout_of
from crib_env import find_agent, table_top_v0
from crib_env.batch import GameBatch
from crib_env.cards import parse_card, parse_cards
from crib_env.engine.entries import EPISODE_OVER, ILLEGAL
from crib_env.engine.ranks import bit_count, lowest
from crib_env.engine.record import CRIB, DIFFERENCE, HEELS, LINE, LOG_SIZE, NONE
from crib_env.engine.show import show_table
from crib_env.engine.table_top import FAMILY
from crib_env.engine.table_top.records import CENTRE, TO_CRIB, TURNS, touching
from crib_env.engine.table_top.transitions import line_points, nob
from crib_env.game import Game
from crib_env.options import set_scores
from crib_env.rules import Rules
from decks import even_deck, shuffled
from reference import TableTopReferee
from stacked import first_dealer
from table_top_views import IN_ORDER, deck_of, every_variant, mask_of

encode = import_module("crib_env.engine.table_top.encode")


class Round(Game):
    """A game with the fields of its state as attributes.

    From given decks it plays in step with the referee, so results worked by hand hold for both.
    """

    def __init__(
        self,
        rules: str | Rules = "table_top",
        players: int = 2,
        decks: Sequence[Sequence[int]] = (),
        dealer: int | None = 1,
        episode: str = "round",
        scores: tuple[int, int] = (0, 0),
        seed: int = 0,
    ) -> None:
        super().__init__(rules, players=players, episode=episode, seed=seed)
        self.reset(seed=seed, decks=decks, dealer=dealer)
        set_scores(self.states, scores)
        self.referee = None
        if isinstance(rules, str) and decks and min(scores) >= 0:
            ship = rules == "table_top_ship"
            self.referee = TableTopReferee(decks, dealer or 0, players, ship, episode, scores)
            reconcile(self, self.referee, "dealt")

    def __getattr__(self, name: str) -> Any:
        if name == "states" or name not in self.states.dtype.names:
            raise AttributeError(name)
        value = self.states[0][name]
        return value.tolist() if isinstance(value, np.ndarray) else int(value)

    def play(self, actions: Sequence[int]) -> None:
        for action in actions:
            self.step(action)
            if self.referee is not None:
                self.referee.step(action)
                reconcile(self, self.referee, f"after {action}")

    def play_randomly(self, rng: random.Random, turns: int = TURNS) -> None:
        for _ in range(turns):
            self.step(rng.choice(self.legal_actions))

    def logged(self) -> list[tuple[int, ...]]:
        rows = self.log[1 : 1 + 4 * self.log[0]].reshape(-1, 4).tolist()
        return [tuple(row) for row in rows]

    def points(self, side: int, reason: int) -> int:
        return sum(row[1] for row in self.logged() if row[0] == side and row[2] == reason)


# Rows 21, 10, 9, 10, 0, the first four being the lines of the source. Columns, from the west:
# 0 (four clubs); a pair of kings 2; a pair of nines 2; 10-5 and 7-5-2-A 4; J-5 and a pair of
# eights 4 (four diamonds). Crib with the nine: 9-6 and 4-5-6 twice, a pair, two runs: 16.
LAYOUT = parse_cards("9C 7C 7D 7H 8C  TC KC 9D 5C 5D  7S JH 9H TD JD  3C 4C TH 2C 4D  QC KD 2H AC 8D")
CRIB_CARDS = parse_cards("5H 6C 6D 4H")
ROWS, COLUMNS, CRIB_POINTS = [21, 10, 9, 10, 0], [0, 2, 2, 4, 4], 16
SHIP_FLUSHES = 8  # the two fours of one suit, both in columns
SHUFFLED = shuffled(20)


def deck_with_starter(starter: str) -> list[int]:
    rest = [card for card in SHUFFLED if card != parse_card(starter)]
    return [*rest[:TURNS], parse_card(starter), *rest[TURNS:]]


# ---------------------------------------------------------------- the deal and the turns


def test_t1_side_0_scores_the_rows_side_1_the_columns() -> None:
    for players in (2, 4):
        game = Round(players=players, decks=[deck_of(LAYOUT, CRIB_CARDS)])
        assert [int(game.view(seat)["scores_rows"]) for seat in range(players)] == ([1, 0] * (players // 2))
        game.play(IN_ORDER)
        rows = [mask_of(LAYOUT[5 * i : 5 * i + 5]) for i in range(5)]
        columns = [mask_of(LAYOUT[i::5]) for i in range(5)]
        logged = [[row[3] for row in game.logged() if row[::2] == (side, LINE)] for side in (0, 1)]
        assert set(logged[0]) <= set(rows)
        assert set(logged[1]) <= set(columns)
        by_cards = {row[3]: row[1] for row in game.logged()}
        assert [by_cards.get(line, 0) for line in rows] == ROWS
        assert [by_cards.get(line, 0) for line in columns] == COLUMNS


def test_tally_adds_each_reason_to_its_phase() -> None:
    column = FAMILY.kernels.tally_column
    reasons = {"heels": HEELS, "lines": LINE, "crib": CRIB}
    assert {name: FAMILY.phases[column(reason)] for name, reason in reasons.items()} == {name: name for name in reasons}
    assert column(DIFFERENCE) == NONE


def test_t2_card_is_seen_in_its_turn_by_its_player_only() -> None:
    deck = shuffled(2)
    game = Round(players=2, decks=[deck])
    for turn in range(TURNS):
        mover = game.to_move
        assert int(game.view(mover)["card"]) == deck[turn]
        assert int(game.view(1 - mover)["card"]) == NONE
        game.step(game.legal_actions[0])


def test_t2_cards_are_dealt_and_turned_up_uniformly() -> None:
    games = GameBatch("table_top", 5200, seed=1)
    games.reset()
    dealt = np.bincount(games.states["deck"].ravel(), minlength=52)
    turned = np.bincount(games.states["deck"][:, TURNS], minlength=52)
    assert np.abs(dealt - 2900).max() < 200  # over 5 standard deviations
    assert np.abs(turned - 100).max() < 50


def test_t3_the_starter_lies_in_the_centre() -> None:
    deck = deck_with_starter("4H")
    game = Round(decks=[deck])
    assert game.layout[CENTRE] == deck[TURNS] == parse_card("4H")
    assert game.layout.count(NONE) == 24
    assert (game.scores, game.logged()) == ((0, 0), [])


@pytest.mark.parametrize(("players", "dealer"), [(2, 0), (2, 1), (4, 0), (4, 1), (4, 2), (4, 3)])
def test_t3_heels_score_two_for_the_dealers_side(players: int, dealer: int) -> None:
    deck = deck_with_starter("JD")
    game = Round(players=players, decks=[deck], dealer=dealer)
    side = dealer % 2
    assert game.scores[side] == 2
    assert game.scores[1 - side] == 0
    assert game.logged() == [(side, 2, HEELS, 1 << parse_card("JD"))]
    assert game.states["start"].tolist() == [[0, 0]]  # they count within the round


@pytest.mark.parametrize(("players", "dealer"), [(2, 0), (2, 1), (4, 0), (4, 1), (4, 2), (4, 3)])
def test_t4_the_left_of_the_dealer_begins_and_28_turns_are_taken(players: int, dealer: int) -> None:
    game = Round(players=players, dealer=dealer)
    seats: list[int] = []
    while not game.over:
        assert len(seats) == game.turn
        seats.append(game.to_move)
        game.step(game.legal_actions[0])
    assert seats == [(dealer + 1 + turn) % players for turn in range(TURNS)]


# ---------------------------------------------------------------- which cells are open


def test_t5_open_cells_of_the_source() -> None:
    front = parse_cards("5C 3H 7D")
    rest = [c for c in range(52) if c not in (*front, parse_card("8D"))]
    game = Round(decks=[[*front, *rest[:25], parse_card("8D"), *rest[25:]]])
    game.play([13, 7, 3])
    closed = {cell for cell in range(25) if cell // 5 == 4 or cell % 5 == 0}
    assert len(closed) == 9
    assert set(game.legal_actions) - {TO_CRIB} == set(range(25)) - closed - {3, 7, 12, 13}
    assert len(set(game.legal_actions) - {TO_CRIB}) == 12


def test_t5_cells_touch_by_side_or_corner_and_do_not_wrap_round() -> None:
    rng = random.Random(5)
    masks = [1 << cell for cell in range(25)] + [rng.getrandbits(25) for _ in range(500)]
    for placed in masks:
        expected = {
            cell
            for cell in range(25)
            if not placed >> cell & 1
            and any(
                placed >> other & 1 and max(abs(cell // 5 - other // 5), abs(cell % 5 - other % 5)) == 1
                for other in range(25)
            )
        }
        assert touching(placed) == sum(1 << cell for cell in expected), bin(placed)


def test_t5_bit_count_and_lowest() -> None:
    rng = random.Random(6)
    for mask in [1, 1 << 25, (1 << 26) - 1, *(rng.getrandbits(26) | 1 << 25 for _ in range(200))]:
        assert bit_count(mask) == mask.bit_count()
        assert mask >> lowest(mask) & 1
        assert mask & ((1 << lowest(mask)) - 1) == 0


@every_variant
def test_t6_seats_lay_their_share_and_always_have_an_action(players: int, preset: str) -> None:
    for seed in range(8):
        rng = random.Random(seed)
        game = Round(preset, players, dealer=seed % players, seed=seed)
        for turn in range(TURNS):
            seat = game.to_move
            left = len([t for t in range(turn, TURNS) if (game.dealer + 1 + t) % players == seat])
            owed = game.owed[seat]
            legal = game.legal_actions
            assert legal, f"seed {seed} turn {turn}"
            assert (TO_CRIB in legal) == (owed > 0)
            assert (legal == [TO_CRIB]) == (owed == left)
            game.step(rng.choice(legal))
        assert game.over == 1
        assert game.layout.count(NONE) == 0
        assert game.owed == [0, 0, 0, 0]
        discarded = [(game.dealer + 1 + turn) % players for turn in game.crib]
        assert sorted(discarded) == sorted([*range(players)] * (4 // players))
        cards = game.layout + [game.deck[turn] for turn in game.crib]
        assert len(set(cards)) == 29


def test_t6_share_may_be_laid_first_but_not_exceeded() -> None:
    game = Round(players=2)
    game.play([TO_CRIB, 6, TO_CRIB, 7])
    assert game.owed[:2] == [0, 2]
    assert TO_CRIB not in game.legal_actions
    assert game.advance(TO_CRIB) == ILLEGAL


def test_t7_open_cells_are_open_to_both_sides() -> None:
    for first in (0, 1):
        game = Round(players=2, dealer=1 - first)
        game.step(TO_CRIB)
        cells = [cell for cell in game.legal_actions if cell != TO_CRIB]
        assert cells == [6, 7, 8, 11, 13, 16, 17, 18]


@pytest.mark.parametrize("confer", [True, False])
def test_t7_partners_see_each_others_card_and_crib_cards(confer: bool) -> None:
    deck = shuffled(7)
    rules = Rules.preset("table_top", partners_confer=confer)
    game = Round(rules, 4, [deck], dealer=3)
    for turn in range(4):
        for seat in range(4):
            v = game.view(seat)
            own, partners = seat == turn, seat == (turn + 2) % 4
            assert int(v["card"]) == (deck[turn] if own else NONE)
            assert int(v["partner_card"]) == (deck[turn] if partners and confer else NONE)
            for discarded in range(turn):
                known = seat == discarded or (confer and seat == (discarded + 2) % 4)
                assert int(v["crib"][discarded]) == (deck[discarded] if known else NONE)
                assert int(v["crib_turns"][discarded]) == discarded  # all seats see the discard
        game.step(TO_CRIB)


# ---------------------------------------------------------------- the count


def test_t8_nob_of_the_source() -> None:
    line = parse_cards("7C JC 9H TS JD")
    with_nob = line_points(show_table(), 5, *line) + nob(parse_card("9H"), mask_of(line))
    assert with_nob == 8
    line = parse_cards("7C JC 9C TS JD")
    assert line_points(show_table(), 5, *line) + nob(parse_card("9C"), mask_of(line)) == 9


@pytest.mark.parametrize(("cell", "extra"), [(0, (0, 0)), (10, (1, 0)), (14, (1, 0)), (2, (0, 1)), (22, (0, 1))])
def test_t8_nob_counts_in_the_middle_lines_only(cell: int, extra: tuple[int, int]) -> None:
    """Swap the jack of hearts and other suits to see the points that suit adds."""
    points = []
    for jack, other in (("JH", "JS"), ("JS", "JH")):
        layout = parse_cards("AC AD AS 2C 2D 2S 3C 3D 3S 4C 4D 4S 6C 6D 6S 8C 8D 8S KC KD KS QC QD")
        layout.insert(min(cell, CENTRE), parse_card(jack) if cell < CENTRE else parse_card("9H"))
        layout.insert(max(cell, CENTRE), parse_card("9H") if cell < CENTRE else parse_card(jack))
        crib = parse_cards("TC TD 7C 7D")
        deck = deck_of(layout, crib)
        assert deck.index(parse_card(other)) > TURNS
        game = Round(decks=[deck])
        game.play(IN_ORDER)
        points.append([game.points(side, LINE) for side in (0, 1)])
    with_nob, without = points
    assert tuple(np.subtract(with_nob, without)) == extra


@pytest.mark.parametrize(("players", "dealer"), [(2, 0), (2, 1), (4, 2), (4, 3)])
def test_t8_the_dealers_side_adds_the_crib(players: int, dealer: int) -> None:
    game = Round(players=players, decks=[deck_of(LAYOUT, CRIB_CARDS)], dealer=dealer)
    game.play(IN_ORDER)
    assert game.points(dealer % 2, CRIB) == CRIB_POINTS
    lines = [sum(ROWS), sum(COLUMNS)]
    assert [game.points(side, LINE) for side in (0, 1)] == lines
    lines[dealer % 2] += CRIB_POINTS
    assert list(game.scores) == lines


def test_t8_flush_takes_five() -> None:
    four = parse_cards("AC 3C 5C 7C QD")
    five = parse_cards("AC 3C 5C 7C QC")
    assert line_points(show_table(), 5, *five) - line_points(show_table(), 5, *four) == 5


# ---------------------------------------------------------------- the end of a round and a game

DECK = deck_of(LAYOUT, CRIB_CARDS)


def counted(dealer: int) -> list[int]:
    game = Round(decks=[DECK], dealer=dealer)
    game.play(IN_ORDER)
    return list(game.scores)


@pytest.mark.parametrize(
    ("goal", "winner"),
    [
        ((120, 120), NONE),
        ((121, 120), 0),
        ((121, 130), 1),  # both past the target: the higher total, which no cap hides
        ((125, 125), NONE),  # a tie plays another round
    ],
)
def test_t9_full_count_of_both_sides(goal: tuple[int, int], winner: int) -> None:
    made = counted(dealer=1)
    start = (goal[0] - made[0], goal[1] - made[1])
    game = Round(decks=[DECK, DECK], dealer=1, episode="game", scores=start)
    game.play(IN_ORDER)
    assert game.scores == goal
    assert game.winner == winner
    assert game.over == (winner != NONE)
    if winner == NONE:
        assert (game.dealer, game.to_move, game.turn, game.deals) == (0, 1, 0, 2)
    else:
        assert game.returns[winner] == 1.0


def test_t9_heels_alone_do_not_win_before_the_count() -> None:
    deck = deck_with_starter("JD")
    game = Round(decks=[deck], dealer=0, episode="game", scores=(120, 0))
    assert list(game.scores) == [122, 0]
    assert (game.over, game.winner) == (0, NONE)


def test_t9_another_target_and_the_deal_round_four_seats() -> None:
    rules = Rules.preset("table_top", target=190)
    game = Round(rules, 4, dealer=2, episode="game", seed=9)
    rng = random.Random(9)
    dealers = []
    while not game.over:
        dealers.append(game.dealer)
        game.play_randomly(rng)
    assert dealers == [(2 + i) % 4 for i in range(len(dealers))]
    assert len(dealers) > 3
    assert max(game.scores) >= 190


def test_t9_round_ends_the_episode() -> None:
    game = Round(decks=[DECK], dealer=1)
    game.play(IN_ORDER)
    rows, columns = game.scores
    assert (game.over, game.winner, game.deals) == (1, NONE, 1)
    assert game.returns[0] == np.sign(rows - columns)
    assert not game.mask.any()
    assert game.advance(0) == ILLEGAL


@pytest.mark.parametrize("side", [0, 1])
def test_t9_round_is_won_by_its_own_points(side: int) -> None:
    transposed = [LAYOUT[5 * (cell % 5) + cell // 5] for cell in range(25)]
    deck = deck_of((LAYOUT, transposed)[side], CRIB_CARDS)
    start = (0, 70) if side == 0 else (70, 0)  # behind on the board, but the round goes to side
    game = Round(decks=[deck], dealer=side, scores=start)
    game.play(IN_ORDER)
    assert game.scores[side] < game.scores[1 - side] < 121
    assert game.returns[side] == 1.0


@pytest.mark.parametrize("players", [2, 4])
@pytest.mark.parametrize(("which", "best"), [("low_card", min), ("high_card", max)])
def test_t10_lowest_card_drawn_deals_first(players: int, which: str, best: Any) -> None:
    rules = Rules.preset("table_top", first_dealer=which)
    dealers = []
    for seed in range(60):
        game = Round(rules, players, dealer=None, seed=seed)
        assert game.dealer == first_dealer(seed, players, best), f"seed {seed}"
        dealers.append(game.dealer)
    assert set(dealers) == set(range(players))


def test_t11_ship_opens_every_vacant_cell() -> None:
    game = Round("table_top_ship")
    assert game.legal_actions == [cell for cell in range(26) if cell != CENTRE]
    game.play([0, 24])
    assert game.legal_actions == [cell for cell in range(26) if cell not in (0, CENTRE, 24)]


@pytest.mark.parametrize(
    ("cards", "size", "points"),
    [
        ("AC 3C 5C 7C QD", 4, 4),
        ("QD AC 3C 5C 7C", 4, 4),  # any four of the line
        ("AC 3C 5C 7C QC", 4, 5),
        ("AC 3C 5C 7D QD", 4, 0),
        ("AC 3C 5C 7C QD", 5, 0),
    ],
)
def test_t12_four_of_a_suit_are_a_flush(cards: str, size: int, points: int) -> None:
    ids = parse_cards(cards)
    assert line_points(show_table(), size, *ids) - line_points(show_table(), 6, *ids) == points


def test_t12_the_starter_helps_a_flush_of_the_crib() -> None:
    layout = parse_cards("9C 7D 7H 7S 8C  TC KD 9D 5S 5C  AC JC TH AS JD  3C 4D TD 2S 4C  QD QS 2D 9S 6S")
    flush, other = parse_cards("AH 6H 8H QC"), parse_cards("AD 6D 8S QC")
    made = []
    for crib in (flush, other):
        game = Round("table_top_ship", decks=[deck_of(layout, crib)], dealer=0)
        game.play(IN_ORDER)
        made.append(game.points(0, CRIB))
    assert made[0] - made[1] == 4


@pytest.mark.parametrize("dealer", [0, 1])
@pytest.mark.parametrize("starter", ["9H", "JS"])
def test_t13_only_the_difference_scores(dealer: int, starter: str) -> None:
    layout = [*LAYOUT[:CENTRE], parse_card(starter), *LAYOUT[CENTRE + 1 :]]
    game = Round("table_top_ship", decks=[deck_of(layout, CRIB_CARDS)], dealer=dealer)
    heels = [0, 0]
    if starter == "JS":
        heels[dealer] = 2
        assert game.logged() == [(dealer, 2, HEELS, 1 << parse_card("JS"))]
    assert list(game.scores) == [0, 0]  # heels count within the round's points
    game.play(IN_ORDER)
    hand = [game.points(side, LINE) + game.points(side, CRIB) + heels[side] for side in (0, 1)]
    assert list(game.scores) == [max(0, hand[0] - hand[1]), max(0, hand[1] - hand[0])]
    side = int(hand[1] > hand[0])
    assert game.logged()[-1] == (side, abs(hand[0] - hand[1]), DIFFERENCE, 0)
    if starter == "9H":
        assert sum(hand) == sum(ROWS) + sum(COLUMNS) + SHIP_FLUSHES + CRIB_POINTS
        assert game.scores == ((46, 0), (14, 0))[dealer]


def test_t13_31_game_points_win() -> None:
    game = Round("table_top_ship", decks=[DECK], dealer=1)
    game.play(IN_ORDER)
    margin = max(game.scores)
    side = game.scores.index(margin)
    for short, over in ((31 - margin, 1), (30 - margin, 0)):
        start = (short, 30) if side == 0 else (30, short)
        game = Round("table_top_ship", decks=[DECK] * 2, dealer=1, episode="game", scores=start)
        game.play(IN_ORDER)
        assert (game.over, game.winner) == (over, side if over else NONE)


# ---------------------------------------------------------------- against the referee


def reconcile(game: Round, referee: TableTopReferee, where: str) -> None:
    over = referee.to_move is None
    assert game.over == over, where
    assert list(game.scores) == referee.scores, where
    assert game.winner == (NONE if referee.winner is None else referee.winner), where
    assert game.dealer == referee.dealer, where
    if not over:
        assert game.to_move == referee.to_move, where
        assert game.legal_actions == referee.legal(), where
        assert [None if card == NONE else card for card in game.layout] == referee.cells, where


@pytest.mark.parametrize("episode", ["round", "game"])
@every_variant
def test_t1_to_t13_in_step_with_the_referee(players: int, preset: str, episode: str) -> None:
    target = Rules.preset(preset).target
    for seed in range(25 if episode == "round" else 6):
        rng = random.Random(seed)
        where = f"seed {seed}"
        decks = [even_deck(rng) for _ in range(40)]
        scores = (rng.randrange(target), rng.randrange(target))
        dealer = rng.randrange(players)
        game = Round(preset, players, decks, dealer, episode, scores)
        referee = TableTopReferee(decks, dealer, players, preset == "table_top_ship", episode, scores)
        reconcile(game, referee, where)
        before: Sequence[int] = scores  # the first turn is paid the heels too
        while referee.to_move is not None:
            action = rng.choice(referee.legal())
            referee.step(action)
            ended, seat = divmod(game.advance(action), EPISODE_OVER)
            gain, before = np.subtract(referee.scores, before), list(referee.scores)
            assert game.gains[0] == gain[0] - gain[1] == -game.gains[1], where
            assert bool(ended) == (referee.to_move is None), where
            if referee.to_move is not None:
                assert seat == referee.to_move, where
            reconcile(game, referee, where)


# ---------------------------------------------------------------- hidden information


def known_turns(game: Round, seat: int) -> list[int]:
    """Return the turns whose card ``seat`` may know; the starter's is TURNS."""
    players = game.players
    confer = players == 4 and game.rules.partners_confer
    mine = {seat, (seat + 2) % 4} if confer else {seat}
    known = [turn for turn in game.turns if turn != NONE] + [TURNS]
    private = [turn for turn in game.crib if turn != NONE]
    if not game.over:
        private.append(game.turn)
    return known + [turn for turn in private if (game.dealer + 1 + turn) % players in mine]


@pytest.mark.parametrize("confer", [True, False])
@every_variant
def test_t2_t7_view_is_unchanged_when_hidden_cards_are_redrawn(players: int, preset: str, confer: bool) -> None:
    for seed in range(2):
        rng = random.Random(seed)
        game = Round(Rules.preset(preset, partners_confer=confer), players, dealer=0, seed=seed)
        for turn in range(TURNS):
            for seat in range(players):
                view = game.view(seat)
                obs = game.observe(seat)[0]
                known = known_turns(game, seat)
                deck = game.deck
                pool = sorted(set(range(52)) - {deck[t] for t in known})
                rng.shuffle(pool)
                other = Round(preset, players)
                other.record, other.states = game.record, game.states.copy()
                for t in range(TURNS):
                    if t not in known:
                        other.states["deck"][0, t] = pool.pop()
                assert other.view(seat) == view, f"seed {seed} turn {turn} seat {seat}"
                assert (other.observe(seat)[0] == obs).all(), f"seed {seed} turn {turn} seat {seat}"
                seen = np.flatnonzero(obs[encode.AT.seen : encode.AT.seen + 52]).tolist()
                assert seen == sorted(deck[t] for t in known)
            game.step(rng.choice(game.legal_actions))


@every_variant
def test_observation_holds_round_card_crib_and_table_each_turn(players: int, preset: str) -> None:
    """Perfect recall: read back from the bits who placed which card where in which turn."""
    rng = random.Random(players)
    game = Round(preset, players, dealer=players - 1)

    def ones(at: int, size: int) -> list[int]:
        return [int(i) for i in np.flatnonzero(obs[at : at + size])]

    for turn in range(TURNS + 1):
        for seat in range(players):
            view, obs = game.view(seat), game.observe(seat)[0]
            known = known_turns(game, seat)
            mover = [] if game.over else [(game.to_move - seat) % players]
            assert [int(view["mover"])] == (mover or [NONE])
            assert ones(encode.AT.mover, 4) == mover
            assert view["scores"].tolist() == [game.scores[seat % 2], game.scores[1 - seat % 2]]
            (dealer,) = ones(encode.AT.dealer, 4)
            assert (seat + dealer) % players == game.dealer
            assert ones(encode.AT.turn, 29) == [turn]
            for cell in range(25):
                bits = obs[encode.CELL * cell : encode.CELL * (cell + 1)]
                rank, suit = np.flatnonzero(bits[:13]), np.flatnonzero(bits[13:17])
                who, lap = np.flatnonzero(bits[17:21]), np.flatnonzero(bits[21:])
                if game.layout[cell] == NONE:
                    assert not bits.any()
                    continue
                assert [4 * r + s for r, s in zip(rank, suit, strict=True)] == [game.layout[cell]]
                if cell == CENTRE:
                    assert not bits[17:].any()
                    continue
                placed = 4 * int(lap[0]) + (int(who[0]) - dealer - 1) % 4
                assert placed == game.turns[cell]
                assert int(who[0]) % players == (game.dealer + 1 + placed - seat) % players
            assert ones(encode.AT.crib_turns, TURNS) == game.crib[: game.crib_n]
            assert ones(encode.AT.card, 52) == ([game.deck[turn]] if turn < TURNS and turn in known else [])
            for i, discarded in enumerate(game.crib):
                card = game.deck[discarded] if discarded in known else None
                bits = [] if card is None else [card // 4, 13 + card % 4]
                assert ones(encode.AT.crib + encode.DISCARDED * i, encode.DISCARDED) == bits
            owed = [game.owed[(seat + i) % players] for i in range(players)]
            assert view["owed"].tolist() == owed + [0] * (4 - players)
            assert ones(encode.AT.owed, 8) == [2 * i + k for i, n in enumerate(owed) for k in range(n)]
            assert ones(encode.AT.scores_rows, 1) == [0] * (seat % 2 == 0)
            assert ones(encode.AT.four, 1) == [0] * (players == 4)
            assert int(view["my_crib"]) == (seat % 2 == game.dealer % 2)
        if turn < TURNS:
            game.step(rng.choice(game.legal_actions))


def test_observation_points_needed() -> None:
    game = Round(episode="game", scores=(0, 100), decks=[DECK], dealer=0)
    obs, _ = game.observe(1)
    need = obs[encode.AT.need : encode.AT.need + 30]
    other = obs[encode.AT.other_need : encode.AT.other_need + 30]
    assert np.flatnonzero(need).tolist() == [0, 1, 21]  # 21 of 121
    assert np.flatnonzero(other).tolist() == [*range(12), 21]


# ---------------------------------------------------------------- the batch


@pytest.mark.parametrize(("players", "preset"), [(2, "table_top"), (4, "table_top_ship")])
def test_rollout_counts_decisions_and_resets_ended_games(players: int, preset: str) -> None:
    games = GameBatch(preset, 8, players=players, episode="round", seed=1)
    games.reset()
    rngs = np.random.default_rng(1).integers(2**32, size=(8, 4))
    view, log = np.zeros(1, dtype=FAMILY.view), np.zeros(LOG_SIZE, dtype=np.int64)
    obs, masks = np.zeros((8, FAMILY.obs_size), dtype=np.uint8), np.zeros((8, FAMILY.actions), dtype=np.int8)
    steps = 2 * TURNS + 3
    decisions = rollout_of(FAMILY)(
        games.states, games.record, games.decks, show_table(), rngs, view, log, 0, 8, NONE, steps, obs, masks
    )
    assert decisions == 8 * steps
    assert (games.states["turn"] == 3).all()
    assert (games.states["deals"] == 1).all()
    assert (games.states["over"] == 0).all()
    assert masks.any(axis=1).all()


def test_games_tally_points_by_side() -> None:
    games = GameBatch(Rules.preset("table_top"), 16, players=4, episode="round", seed=1)
    games.reset()
    heels = games.states["scores"].copy()
    assert sum(len(lanes) for lanes in games.play(find_agent("greedy"), np.random.default_rng(1))) == 16 * TURNS
    assert (games.states["over"] == 1).all()
    assert (games.tally.sum(axis=2) + heels == games.states["scores"]).all()
    assert games.tally[:, :, 1].all()
    dealers = games.states["dealer"] % 2
    assert (games.tally[np.arange(16), 1 - dealers, 2] == 0).all()
    margins = games.states["scores"][:, 0] - games.states["scores"][:, 1]
    assert (games.returns()[:, 0] == np.sign(margins)).all()


def test_games_name_the_first_illegal_action() -> None:
    games = GameBatch(Rules.preset("table_top"), 4, episode="round", seed=1)
    games.reset()
    assert games.step(np.arange(4), np.array([6, TO_CRIB, 0, 6])) == 2
    assert games.states["turn"].tolist() == [1, 1, 0, 0]
    assert "touches no card" in games.why_illegal(2, 0)


@pytest.mark.parametrize("players", [2, 4])
def test_learner_seat_is_drawn_from_all_seats(players: int) -> None:
    env = table_top_v0.vector_env(200, players=players, opponent="greedy", seat=None)
    env.reset(seed=1)
    assert set(env.batch.seats.tolist()) == set(range(players))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda rules: FAMILY.rules_record(rules, "deal", 2), "'round', 'game', got 'deal'"),
        (lambda rules: FAMILY.rules_record(rules, "round", 3), "has 2 or 4 players, got players=3"),
        (lambda rules: FAMILY.rules_record(rules, "round", True), "has 2 or 4 players"),
    ],
)
def test_t1_record_rejects_values_not_in_play(call: Callable[[Rules], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(Rules.preset("table_top"))
