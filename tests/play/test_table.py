"""The table without a screen: calls and counts add up, hidden cards stay hidden, turns go back."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import numpy as np
import pytest
from crib_agents.loading import load_agent
from crib_play.table import GAMES, NotYourTurnError, Review, Session, Turn, review, table_game
from crib_play.table.advice import actions_of, choices
from crib_play.table.seats import names, side_names, sit_down, usual_opponent
from crib_play.web.messages import review_payload

from crib_env import EpisodeOverError, Game, IllegalActionError, format_card, parse_cards
from hidden import redraw
from stacked import deck_of

every_game = pytest.mark.parametrize("game", GAMES)


def session_of(game: str, *agents: str, seed: int = 1) -> Session:
    kind, agents = table_game(game), agents or ("greedy",)
    seated = [load_agent(agents[seat % len(agents)]) for seat in range(kind.players)]
    return Session.begin(kind, seated, seed)


def made(turn: Turn, session: Session) -> Counter[int]:
    """Return the points of a turn's calls, and of its counts unless the difference is called."""
    points: Counter[int] = Counter()
    sides = session.game.sides
    for call in turn.calls:
        points[sides[call.seat]] += call.points
    if not getattr(session.game.rules, "score_difference", False):  # T13
        for one in turn.counted:
            points[sides[one.seat]] += one.points
    return points


@every_game
def test_table_calls_and_counts_equal_the_points_pegged(game: str) -> None:
    session = session_of(game, seed=0)
    capped = session.family.sides is None  # T9: at Table Top nothing is cut off
    target = session.game.rules.target
    board = Counter({call.seat % 2: call.points for call in session.opening})
    won = 0
    while not session.over:
        assert +board == +Counter(dict(enumerate(session.game.scores))), len(session.turns)
        games = sum(session.game.match_score) if game == "match" else 0
        board += made(session.answer(), session)
        if game == "match" and sum(session.game.match_score) > games and not session.over:
            won, board = won + 1, Counter()
        board = Counter({side: min(n, target) if capped else n for side, n in board.items()})
    assert +board == +Counter(dict(enumerate(session.game.scores)))
    assert session.winner is not None
    assert won or game != "match"


def test_h8_table_show_counts_pone_first_and_ends_with_the_game() -> None:
    session = session_of("six", seed=5)
    session.go_on()
    left = []
    for turn in session.turns:
        if shown := [(one.seat, one.name) for one in turn.counted]:
            dealer = (turn.seat + turn.view["dealer"]) % 2
            order = [(1 - dealer, "hand"), (dealer, "hand"), (dealer, "crib")]
            assert shown == order[: len(shown)]
            left.append(3 - len(shown))
    assert left == [0] * (len(left) - 1) + [2]  # pone's hand wins
    assert session.turns[-1].counted[0].seat == session.winner


@pytest.mark.parametrize("game", ["six", "five", "three", "four", "table-top", "partners"])
def test_table_shows_a_seat_the_same_for_other_hidden_cards(game: str) -> None:
    rng = np.random.default_rng(3)
    session = session_of(game, seed=3)
    changed = 0
    for _ in range(150):
        if session.over:
            break
        seat = session.seat
        seen = json.dumps(session.sight(seat))
        before = session.game.snapshot()
        changed += redraw(session.game, rng, seat)
        assert json.dumps(session.sight(seat)) == seen
        session.game.restore(before)
        session.answer()
    assert changed > 100


@pytest.mark.parametrize(("game", "shows"), [("three", 4), ("four", 5), ("cut-throat", 5)])
def test_m9_table_show_counts_from_the_dealers_left_and_the_crib_last(game: str, shows: int) -> None:
    session = session_of(game, seed=5)
    while not session.over:
        dealer, players = session.game.dealer, session.game.players
        counted = session.answer().counted
        if counted and not session.over:
            hands = [(dealer + 1 + i) % players for i in range(players)]
            assert [one.seat for one in counted] == [*hands, dealer]
            assert [one.name for one in counted] == ["hand"] * players + ["crib"]
            assert len({card for one in counted for card in one.cards}) == 4 * shows


def calls_of(hands: tuple[str, ...], moves: str, rules: str) -> list[str]:
    """Return the calls of moves by seat, after all have discarded; the last seat deals."""
    game = Game(rules)
    dealer = len(hands) - 1
    game.reset(decks=[deck_of(hands, "KS", "QS", dealer)], dealer=dealer)
    session = Session(game, [None] * len(hands), chance=1)
    for seat, hand in enumerate(hands):
        session.act(seat, parse_cards(hand.split("/")[1]))
    turns = [(int(move[0]), parse_cards(move[2:])) for move in moves.split()]
    calls = [call for seat, cards in turns for call in session.act(seat, cards).calls]
    return [f"{call.seat} {call.text}" for call in calls]


GO = ("TC 7C 7D 7H / KC", "8D 9H JS QC / KD", "TD AH 9C JC / KH")


def test_m7_player_unable_to_play_says_go_once_in_a_count() -> None:
    start = ["0 ten", "1 eighteen", "2 twenty-eight", "0 go", "1 go"]
    calls = calls_of(GO, "0:TC 1:8D 2:TD 2:AH", "three_hand")
    assert calls == [*start, "2 twenty-nine", "2 one for the go"]
    calls = calls_of(GO, "0:TC 1:8D 2:TD 0:7C", "three_hand[second_go_ends=True]")
    assert calls == [*start, "2 one for the go", "0 seven"]


def test_f4_player_unable_to_play_says_go_at_the_end_of_the_only_count() -> None:
    """If neither can play, too; not after 31, and not a second time."""
    neither = ("TC 9C 8C / 4H 6S", "TD KH 5S / 8D QC")
    assert calls_of(neither, "0:TC 1:TD 0:9C", "five_card")[-2:] == ["1 go", "0 one for last"]
    after_go = ("TC JC AC / 4H 6S", "KD 9H 8S / 8D QC")
    calls = calls_of(after_go, "0:TC 1:KD 0:JC 0:AC", "five_card")
    assert [call for call in calls if call.endswith("go")] == ["1 go"]
    assert calls[-1] == "0 thirty-one for two"
    after_go = ("TC JC AC / 4H 6S", "9D 9H 8S / 8D QC")
    calls = calls_of(after_go, "0:TC 1:9D 0:JC 0:AC", "five_card")
    assert calls[-3:] == ["1 go", "0 thirty", "0 one for last"]


def test_m7_player_without_cards_says_nothing() -> None:
    hands = ("9C AC AD KC / 3C", "8D 2H JH 9H / 3D", "KH TS JC QC / 3H")
    calls = calls_of(hands, "0:9C 1:8D 2:KH 0:AC 1:2H 0:AD 1:JH 2:TS 0:KC 1:9H 2:JC", "three_hand")
    assert calls[-7:] == ["2 twenty", "0 thirty", "1 go", "2 go", "0 one for the go", "1 nine", "2 nineteen"]
    assert calls[4:7] == ["1 thirty", "2 go", "0 thirty-one for two"]


@every_game
def test_undo_restores_the_previous_state(game: str) -> None:
    session = sit_down(table_game(game), 0, "rule_based", seed=4)
    rng = np.random.default_rng(4)
    session.go_on()
    for _ in range(12):
        before = session.game.notation(), len(session.turns), session.sight(0)
        legal = rng.permutation(session.game.legal_actions).tolist()
        session.act(0, legal[: session.to_choose])
        session.go_on()
        after = session.game.notation(), [turn.actions for turn in session.turns]
        if session.over:
            break
        assert session.undo(0)
        assert (session.game.notation(), len(session.turns), session.sight(0)) == before
        session.act(0, legal[: session.to_choose])
        session.go_on()
        assert (session.game.notation(), [turn.actions for turn in session.turns]) == after


def test_undo_is_refused_with_another_person_and_before_the_first_turn() -> None:
    kind = table_game("six")
    with pytest.raises(ValueError, match="only in practice"):
        Session.begin(kind, (None, None), 1).undo(0)
    session = sit_down(kind, 0, "greedy", seed=1)
    assert session.undo(0) is False
    session.resign(0)
    assert session.undo(0) is False
    assert session.resigned == 0


def test_table_refused_turn_changes_nothing() -> None:
    session = sit_down(table_game("six"), 0, "greedy", seed=2)
    session.go_on()
    before, hand = session.game.notation(), session.game.legal_actions
    other = next(card for card in range(52) if card not in hand)
    refused: list[tuple[int, list[int], type[Exception], str]] = [
        (1, hand[:2], NotYourTurnError, "seat 0 is to move, not seat 1"),
        (0, hand[:1], ValueError, "choose 2 here, got 1"),
        (0, hand[:3], ValueError, "choose 2 here, got 3"),
        (0, [hand[0], hand[0]], IllegalActionError, f"{format_card(hand[0])} .*is not held"),
        (0, [hand[0], other], IllegalActionError, f"{format_card(other)} .*is not held"),
    ]
    for seat, actions, error, says in refused:
        with pytest.raises(error, match=says):
            session.act(seat, actions)
        assert session.game.notation() == before
        assert session.sight(0)["discarded"] == []
    with pytest.raises(NotYourTurnError, match="seat 0 is a person's"):
        session.answer()
    over = session_of("five")
    over.go_on()
    assert not over.to_choose
    with pytest.raises(EpisodeOverError, match="the game is over"):
        over.act(over.seat, [0])


@pytest.mark.parametrize("game", ["six", "five", "three", "cut-throat", "table-top", "ship-partners"])
def test_session_is_rebuilt_from_its_start_chance_and_turns(game: str) -> None:
    """A killed server rebuilds its tables from these."""
    first = session_of(game, "random", seed=6)
    first.go_on()
    again = Session(Game.from_notation(first.start), first.seats, first.chance)
    for turn in first.turns[: len(first.turns) // 2]:
        again.act(turn.seat, turn.actions)
    again.go_on()
    assert again.game.notation() == first.game.notation()
    assert again.opening == first.opening
    for one, other in zip(again.turns, first.turns, strict=True):
        assert (one.calls, one.counted) == (other.calls, other.counted)


@pytest.mark.parametrize("game", ["six", "four", "table-top"])
def test_sight_of_a_past_turn_is_as_it_was(game: str) -> None:
    session, seen = session_of(game), []
    while not session.over:
        seen.append(session.sight(0))
        session.answer()
    assert [session.sight(0, n) for n in range(len(session.turns))] == seen


@every_game
def test_review_payload_points_by_phase_are_the_points_of_the_games(game: str) -> None:
    """With three for last, counts cut at the target, and Ship's difference alone."""
    session = session_of(game, seed=2)
    scored, before = np.zeros(len(session.game.scores), dtype=int), session.game.scores
    scored += before
    while not session.over:
        games = session.game.match_score if game == "match" else None
        session.answer()
        now = session.game.scores
        if game == "match" and session.game.match_score != games and not session.game.over:
            target = session.game.rules.target
            won = max(range(2), key=lambda side: session.game.match_score[side] - games[side])
            scored[won] += target - before[won]
            scored[1 - won] += sum(event.points for event in session.turns[-1].events if event.seat != won)
            before = (0, 0)
            continue
        scored += np.subtract(now, before)
        before = now
    for seat, side in enumerate(session.game.sides):
        points = review_payload(session, seat, Review(()))["points"].values()
        mine, theirs = (sum(column) for column in zip(*points, strict=True))
        assert (mine, theirs) == (scored[side], scored.sum() - scored[side])


@pytest.mark.parametrize(("game", "phase", "seed"), [("six", "pegging", 7), ("table-top", "placing", 3)])
def test_review_of_the_experts_choices_costs_nothing(game: str, phase: str, seed: int) -> None:
    session = session_of(game, "expert", seed=seed)
    session.go_on()
    played = [one for one in review(session, 0).decisions if one.phase == phase]
    assert len(played) > 10
    assert max(one.loss for one in played) == 0
    for one in played:
        assert one.best == one.did or game == "six"  # with hands there are cards of equal value


def test_review_names_the_costliest_decisions() -> None:
    worse = session_of("six", "random", seed=7)
    worse.go_on()
    looked = review(worse, 0)
    assert set(looked.by_phase) == {"discarding", "pegging"}
    n, loss = looked.by_phase["discarding"]
    losses = [one.loss for one in looked.decisions if one.phase == "discarding"]
    assert (n, loss) == (len(losses), pytest.approx(np.mean(losses)))
    assert loss > 0.01
    assert [one.loss for one in looked.worst] == sorted(o.loss for o in looked.decisions)[:-4:-1]
    found = choices(worse.turns[looked.worst[0].turn].view)
    taken = worse.turns[looked.worst[0].turn].actions
    did = next(one for one in found if actions_of(one) == frozenset(taken))
    assert found[0].win - did.win == pytest.approx(looked.worst[0].loss)


def test_luck_has_mean_zero_and_lowers_the_variance_of_wins() -> None:
    """`rule_based` wins some 62 % against `greedy`; without luck, 12 games show it."""
    won, luck = [], []
    for seed in range(12):
        session = session_of("six", "rule_based", "greedy", seed=seed)
        session.go_on()
        mine = review(session, 0).luck
        assert seed or review(session, 1).luck == pytest.approx(-mine)
        won.append(session.winner == 0)
        luck.append(mine)
    error = np.std(luck) / len(luck) ** 0.5
    assert abs(np.mean(luck)) < 3 * error
    rest = np.array(won) - luck
    assert np.std(rest) < 0.5 * np.std(won)
    assert np.mean(rest) == pytest.approx(0.62, abs=0.1)


def test_luck_is_reported_for_finished_games_of_two_sides() -> None:
    session = session_of("six")
    session.answer()
    session.resign(0)
    assert review(session, 0).luck is None
    alone = session_of("three", "rule_based")
    alone.go_on()
    assert review(alone, 0).luck is None


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("AS", "you do not hold AS"),
        ("5", "say which"),
        ("5H 5H", "two different cards to discard"),
        ("5H", "two different cards to discard"),
        ("hello", "you do not hold 'hello'"),
        ("", "two different cards to discard"),
    ],
)
def test_typed_cards_not_held_are_answered_with_the_hand(typed: str, message: str) -> None:
    hand, game, family = parse_cards("5H 5D JC 4S 6S KH"), Game("hoyle"), table_game("six").family
    rest = [card for card in range(52) if card not in hand]
    dealt = [card for pair in zip(hand, rest[:6], strict=True) for card in pair]
    game.reset(dealer=1, decks=[dealt + rest[6:]])
    view = game.view(0)
    with pytest.raises(ValueError, match=message) as error:
        family.read(typed, view)
    if "which" not in message:
        assert "you hold 5H 5D JC 4S 6S KH" in str(error.value)
    assert family.read("k, j", view) == tuple(parse_cards("KH JC"))


def test_typed_places_count_rows_and_columns_from_one() -> None:
    session = sit_down(table_game("table-top"), 0, "greedy", seed=1)
    session.go_on()
    view = session.game.view(0)
    open_cell = next(a for a in session.game.legal_actions if a < 25)
    row, column = divmod(open_cell, 5)
    assert session.family.read(f"{row + 1} {column + 1}", view) == (open_cell,)
    assert session.family.read("crib", view) == (25,)
    card = format_card(int(view["card"]))
    for typed, message in (("33", "is taken"), ("zz", "is not a place"), ("61", "is not a place")):
        with pytest.raises(ValueError, match=message) as error:
            session.family.read(typed, view)
        assert f"you hold {card}" in str(error.value)


def test_sit_down_refuses_agents_of_other_games() -> None:
    game = table_game("ship-partners")
    with pytest.raises(ValueError, match=r"equilibrium does not play .*: it plays five_card, hoyle"):
        sit_down(game, 0, "equilibrium")
    with pytest.raises(ValueError, match="equilibrium does not play"):
        sit_down(game, None, "greedy", "equilibrium")
    with pytest.raises(ValueError, match="does not play"):  # declares no games
        sit_down(game, 0, "expert/equilibrium")
    assert sit_down(table_game("five"), 0, "equilibrium").seats[1] is not None


def test_table_agents_generator_does_not_reveal_the_deals() -> None:
    """A generator handed to a player does not reveal the generator of the deals."""
    handed: list[Any] = []

    class Spy:
        name = "spy"

        def act(self, views: Any, rng: np.random.Generator) -> Any:
            handed.append(rng.bit_generator.seed_seq)
            return load_agent("greedy").act(views, rng)

    for _ in range(2):
        Session.begin(table_game("six"), (Spy(), Spy()), seed=11).answer()
    deals = np.random.SeedSequence(11).spawn(1)[0]
    assert deals.entropy not in [handed[0].entropy, *handed[0].entropy]
    assert handed[0].entropy == handed[-1].entropy


def test_names_of_players_are_relative_to_the_viewer() -> None:
    def sat(game: str, seat: int, *agents: str) -> Session:
        return sit_down(table_game(game), seat, *agents, seed=1)

    across = ["partner (greedy)", "right (rule_based)", "you", "left (rule_based)"]
    assert names(sat("partners", 2, "rule_based", "greedy"), 2) == across
    assert names(session_of("six"), None) == ["greedy 1", "greedy 2"]
    assert names(sat("three", 1, "greedy"), 1) == ["right (greedy)", "you", "left (greedy)"]
    alone = ["you", "left (greedy)", "across (greedy)", "right (greedy)"]
    assert names(sat("cut-throat", 0, "greedy"), 0) == alone
    partners = ["you and partner (random)", "left (greedy) and right (greedy)"]
    assert side_names(sat("four", 0, "greedy", "random"), 0) == partners
    assert side_names(sat("partners", 0, "greedy")) == ["rows", "columns"]


@pytest.mark.parametrize(
    ("game", "preferred", "expected"),
    [
        ("six", "expert", "expert"),
        ("three", "expert", "learned"),
        ("four", "master", "learned"),
        ("cut-throat", "expert", "rule_based"),
        ("three", "casual", "casual"),
        ("three", "greedy", "greedy"),
    ],
)
def test_usual_opponent_plays_the_game(game: str, preferred: str, expected: str) -> None:
    assert usual_opponent(preferred, table_game(game)) == expected
