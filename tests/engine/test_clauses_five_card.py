"""F1-F7, five-card cribbage, through the public environment.

Every expected figure is worked by hand from the words of seeds/. Pone is player_0.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from crib_training.evaluation.chunks import Setup

from crib_env import (
    Game,
    GameBatch,
    Rules,
    discard_v0,
    five_card_v0,
    format_card,
    observation_layout,
    parse_cards,
    six_card_v0,
)
from decks import shuffled
from stacked import Deal, Table, deal, in_play, in_show, legal, make

LAYOUT = observation_layout("five_card_v0")
AGENTS = ("player_0", "player_1")


def five(*deals: Deal, scores: tuple[int, int] | None = (0, 0), **keywords: Any) -> Table:
    """Return a table of five-card cribbage; scores of None leave F1's three points in place."""
    return Table(*deals, game="five_card", scores=scores, **keywords)


# ---------------------------------------------------------------- F1


@pytest.mark.parametrize("episode", ["deal", "game"])
@pytest.mark.parametrize("dealer", [0, 1])
def test_f1_pone_pegs_three_for_last_before_the_first_deal(dealer: int, episode: str) -> None:
    env = make("five_card", episode=episode)
    env.reset(seed=0, options={"dealer": dealer})
    assert env.scores[1 - dealer] == 3
    assert env.scores[dealer] == 0
    (event,) = env.events
    assert (event.seat, event.points, event.reason, event.cards) == (1 - dealer, 3, "for_last", ())


def test_f1_given_scores_add_no_three_for_last() -> None:
    env = make("five_card")
    env.reset(seed=0, options={"dealer": 1, "scores": (10, 20)})
    assert env.scores == (10, 20)
    assert env.events == []


def test_f1_deals_alternate_and_three_for_last_is_pegged_once_a_game() -> None:
    env = make("five_card")
    env.reset(seed=1, options={"dealer": 0})
    rng, dealers, events = Random(1), [], list(env.events)
    while not any(env.terminations.values()):
        if all(env.view(seat)["hand_n"] == 5 for seat in (0, 1)):
            dealers.append(env.dealer)
        env.step(rng.choice(sorted(legal(env, env.agent_selection))))
        events += env.events
    assert len(dealers) > 3
    assert dealers == [i % 2 for i in range(len(dealers))]
    assert [event.reason for event in events].count("for_last") == 1


# ---------------------------------------------------------------- F2, F3


@pytest.mark.parametrize("dealer", [0, 1])
def test_f2_five_cards_each_dealt_singly_pone_first_then_the_starter(dealer: int) -> None:
    deck = shuffled(6)
    env = make("five_card")
    env.reset(options={"decks": [deck], "dealer": dealer})
    pone = AGENTS[1 - dealer]
    assert legal(env, pone) == set(deck[0:10:2])
    env.step(deck[0])
    env.step(deck[2])
    assert legal(env, AGENTS[dealer]) == set(deck[1:10:2])
    env.step(deck[1])
    assert not env.observe(pone)["observation"][LAYOUT["starter"]].any()
    env.step(deck[3])
    assert env.agent_selection == pone
    assert legal(env, pone) == set(deck[4:10:2])  # three-card hands
    shown = env.observe(pone)["observation"][LAYOUT["starter"]]
    assert np.flatnonzero(shown).tolist() == [deck[10]]
    assert env.view(0)["held_n"][1] == env.view(1)["held_n"][1] == 3


def test_f2_the_dealer_counts_a_crib_of_four() -> None:
    table = five(deal("TC 9C 8C / 2H 3H", "TD KH 5S / 2S 3D", "QD")).discarded()
    table.finish()
    (crib,) = [event for event in table.env.events if event.reason == "crib"]
    assert (crib.seat, crib.points) == (1, 12)  # Q-2-3 four ways, two pairs
    assert set(crib.cards) >= set(parse_cards("2H 3H 2S 3D"))


HEELS = deal("2C 3D 8H / KC KD", "AC 4D 6H / QC KH", "JD")


def test_f3_jack_turned_up_pegs_the_dealer_two() -> None:
    table = five(HEELS)
    assert table.discard() == ["d heels 2"]
    assert table.scores == (0, 2)


@pytest.mark.parametrize(("score", "pegged"), [(59, "d heels 2"), (60, "d heels 1")])
def test_f3_heels_can_win_the_game(score: int, pegged: str) -> None:
    table = five(HEELS, scores=(60, score), episode="game")
    assert table.discard() == [pegged]
    assert table.over
    assert table.scores == (60, 61)
    assert table.env._cumulative_rewards == {"player_0": -1.0, "player_1": 1.0}


# ---------------------------------------------------------------- F4, F5: the play

AT_31 = deal("KC 9D 5H / 2C 4D", "QD 2S 8C / 4H 6H", "6C")
STUCK = deal("TC 9C 8C / 4H 6S", "TD KH 5S / 8D QC", "2D")


def test_f4_f5_play_ends_for_the_deal_at_31_which_pegs_two_and_no_last() -> None:
    table = five(AT_31).discarded()
    pegged = table.play("p:KC d:QD p:9D d:2S")
    assert in_play(pegged) == ["d thirty_one 2"]
    assert table.over  # counted, with the 5 and the 8 unplayed
    # K 9 5 and the 6: K-5, 9-6. Q 2 8 6: nothing. 2 4 4 6 6: a pair, a pair; no fifteen, all even.
    assert in_show(pegged) == ["p hand 4", "d crib 4"]
    assert table.scores[1] == 2 + 4


def test_f4_play_ends_for_the_deal_when_neither_can_play() -> None:
    table = five(STUCK).discarded()
    assert table.play("p:TC d:TD") == ["d pair 2"]
    pegged = table.play("p:9C")  # 29; 8, K and 5 are too high
    assert in_play(pegged) == ["p last 1"]
    # T 9 8 of clubs: run and flush. T K 5: T-5, K-5. The crib and the 2 are even and pairless.
    assert in_show(pegged) == ["p hand 6", "d hand 4"]
    assert table.over


@pytest.mark.parametrize(
    ("pone", "dealer", "moves", "pegged"),
    [
        ("7C 8D AH", "8C KD KH", "p:7C d:8C", ["d fifteen 2"]),
        ("7C 7D AH", "7H KD KH", "p:7C d:7H p:7D", ["d pair 2", "p pair 6"]),
        ("7C 7D AH", "7H 7S KH", "p:7C d:7H p:7D d:7S", ["d pair 2", "p pair 6", "d pair 12"]),
        ("AC 5D 2H", "3H 4S KH", "p:AC d:3H p:5D d:4S p:2H", ["d run 3", "p fifteen 2", "p run 5"]),
        ("5C 5D AH", "5H KD KH", "p:5C d:5H p:5D", ["d pair 2", "p fifteen 2", "p pair 6"]),
        ("TC JD AH", "JH 9D KH", "p:TC d:JH", []),
    ],
)
def test_f4_cards_in_play_score_as_in_six_card(pone: str, dealer: str, moves: str, pegged: list[str]) -> None:
    table = five(deal(f"{pone} / QC QD", f"{dealer} / QH QS", "6C")).discarded()
    assert table.play(moves) == pegged


def test_f4_card_past_31_is_illegal_and_a_legal_card_must_be_played() -> None:
    table = five(deal("KC 5D 9H / 2C 2D", "QD 6H 7S / 2H 2S", "AC")).discarded()
    assert table.play("p:KC d:QD p:5D") == []  # 25
    assert table.to_move == "d"
    assert table.legal == {"6H"}


def test_f5_go_pegs_nothing_at_once_and_the_last_card_pegs_one() -> None:
    table = five(deal("KC 9H AD / 2C 4D", "QD 8S 7C / 4H 6H", "3C")).discarded()
    assert table.play("p:KC d:QD") == []
    assert table.play("p:9H") == []  # 29: the dealer says go, and pone holds an ace
    assert table.to_move == "p"
    assert in_play(table.play("p:AD")) == ["p last 1"]


def test_f5_31_after_a_go_still_pegs_two() -> None:
    table = five(deal("KC 9H 2D / 4C 6D", "QD 8S 7C / 4H 6H", "3C")).discarded()
    assert in_play(table.play("p:KC d:QD p:9H p:2D")) == ["p thirty_one 2"]


def test_f5_the_player_left_alone_scores_as_usual() -> None:
    table = five(deal("KC AD AS / 4C 6D", "QD 9S 8C / 4H 6H", "3C")).discarded()
    assert table.play("p:KC d:QD p:AD") == []  # 21
    assert table.play("d:9S") == []  # 30: pone holds an ace
    assert in_play(table.play("p:AS")) == ["p thirty_one 2"]
    table = five(deal("KC 8D AS / 4C 6D", "QD 9S TC / 4H 6H", "3C")).discarded()
    table.play("p:KC d:QD p:8D")  # 28: the dealer says go
    assert in_play(table.play("p:AS")) == ["p last 1"]


def test_f5_last_is_pegged_when_all_cards_are_played() -> None:
    table = five(deal("2C 4D 9H / KC KD", "3S 6C AD / QH QS", "8C")).discarded()
    moves = "p:2C d:3S p:9H d:6C p:4D"  # 2, 5, 14, 20, 24: no run of the last three or more
    assert table.play(moves) == []
    assert in_play(table.play("d:AD")) == ["d last 1"]  # 25


# ---------------------------------------------------------------- F6: the show


def hand_of_three(hand: str, starter: str) -> list[str]:
    """Return what pone's three cards peg in the show, with fillers elsewhere."""
    fillers = parse_cards("KD KH KS 9D 9H 9S 7D 7H")
    used = parse_cards(f"{hand} {starter}")
    spare = [format_card(card) for card in fillers if card not in used]
    table = five(
        deal(f"{hand} / {spare[0]} {spare[3]}", f"{spare[1]} {spare[4]} {spare[6]} / {spare[2]} {spare[5]}", starter)
    ).discarded()
    return [peg for peg in in_show(table.finish()) if peg.startswith("p")]


@pytest.mark.parametrize(
    ("hand", "starter", "points"),
    [
        ("2C 4C 8C", "QD", 3),  # a flush of the three cards
        ("2C 4C 8C", "QC", 4),  # and the starter
        ("2C 4C 8D", "QC", 0),  # which completes none
        ("2C 4C QD", "8C", 0),
        ("5C 5D JH", "5H", 15),  # J-5 three ways, 5-5-5; pair royal; nobs
        ("AC 2D 3H", "4S", 4),
        ("6C 7D 8H", "8S", 12),  # 7-8 twice; a pair; two runs of three
        ("5C 5D 5H", "5S", 20),  # 5-5-5 four ways; a double pair royal
        ("AC 3D 5H", "6S", 2),  # 1-3-5-6
        ("JC 2D 4H", "8C", 1),
        ("2C 4D 8H", "JC", 0),
    ],
)
def test_f6_three_cards_and_the_starter_score(hand: str, starter: str, points: int) -> None:
    assert hand_of_three(hand, starter) == ([f"p hand {points}"] if points else [])


@pytest.mark.parametrize(
    ("crib", "starter", "points"),
    [
        ("AC 2D 3H 4S", "5C", 7),  # a run of five, which is fifteen too
        ("2C 4C 8C QC", "6D", 0),  # four of one suit are nothing in the crib
        ("2C 4C 8C QC", "6C", 5),
        ("JC 2D 4H 8S", "6C", 1),
        ("5C 5D 5H JS", "5S", 29),
    ],
)
def test_f6_the_crib_of_four_and_the_starter_scores(crib: str, starter: str, points: int) -> None:
    first, second, third, fourth = crib.split()
    table = five(deal(f"TC 9D 7S / {first} {second}", f"TD 9H 7C / {third} {fourth}", starter)).discarded()
    shown = [peg for peg in table.finish() if "crib" in peg]
    assert shown == ([f"d crib {points}"] if points else [])


def test_f6_order_is_pone_dealer_crib() -> None:
    table = five(deal("TC 9C 8C / 2H 3H", "TD KH 5S / 2S 3D", "QD")).discarded()
    table.play("p:TC d:TD")
    # T 9 8 of clubs and the Q: run, flush. T K 5 Q: three fifteens. 2 2 3 3 Q: 8 and two pairs.
    assert in_show(table.play("p:9C")) == ["p hand 6", "d hand 6", "d crib 12"]


# ---------------------------------------------------------------- F7

LEVEL = deal("2C KD 9H / QH QS", "2D KS 9C / TH TS", "4C")  # the second card pegs 2


@pytest.mark.parametrize(("score", "over"), [(58, False), (59, True), (60, True)])
def test_f7_61_wins_at_once_and_need_not_be_reached_exactly(score: int, over: bool) -> None:
    table = five(LEVEL, scores=(60, score), episode="game").discarded()
    table.play("p:2C d:2D")
    assert table.over is over
    assert table.scores == (60, min(score + 2, 61))
    if over:
        assert table.env._cumulative_rewards == {"player_0": -1.0, "player_1": 1.0}


def test_f7_pone_counts_out_before_the_dealer() -> None:
    table = five(STUCK, scores=(54, 55), episode="game").discarded()
    pegged = table.play("p:TC d:TD p:9C")  # the dealer's pair makes 57, pone's last 55
    assert pegged[1:] == ["p last 1", "p hand 6"]
    assert table.scores == (61, 57)
    table = five(STUCK, scores=(53, 55), episode="game").discarded()
    assert table.play("p:TC d:TD p:9C")[1:] == ["p last 1", "p hand 6", "d hand 4"]
    assert table.scores == (60, 61)


def test_f7_five_card_game_is_61() -> None:
    env = make("five_card")
    for seed in range(20):
        env.reset(seed=seed)
        rng = Random(seed)
        while not any(env.terminations.values()):
            assert max(env.scores) < 61, f"seed {seed}"
            env.step(rng.choice(sorted(legal(env, env.agent_selection))))
        assert max(env.scores) == 61, f"seed {seed}"
        assert min(env.scores) < 61, f"seed {seed}"


def test_f7_a_match_is_refused_unless_it_is_a_house_rule() -> None:
    """In every form; the message shows how to write such a rule."""
    wanted = r"five_card has no match .*'five_card\[match_target=7\]'"
    for form in ("env", "gym_env", "sb3_env", "vector_env", "torch_env"):
        with pytest.raises(ValueError, match=wanted):
            getattr(five_card_v0, form)(episode="match")
    for module in (six_card_v0, discard_v0):
        with pytest.raises(ValueError, match=wanted):
            module.env(rules="five_card", episode="match")
    with pytest.raises(ValueError, match=wanted):
        Game("five_card", episode="match")
    with pytest.raises(ValueError, match=wanted):
        GameBatch("five_card", 2, episode="match")
    line = Game("five_card[match_target=7]", episode="match", seed=1).notation()
    with pytest.raises(ValueError, match=wanted):
        Game.from_notation(line.replace("[match_target=7]", "", 1))
    with pytest.raises(ValueError, match=wanted):
        Setup(agents=("random", "greedy"), env="five_card_v0", episode="match")


@pytest.mark.parametrize(("changes", "points"), [({}, 1), ({"skunk_points": 2, "double_skunk_points": 4}, 2)])
def test_f7_a_match_by_a_house_rule_has_the_skunks_that_it_states(changes: dict[str, int], points: int) -> None:
    """The dealer's pair of twos wins by 61 to 30."""
    rules = Rules.preset("five_card", match_target=7, **changes)
    table = Game(rules, episode="match", seed=1)
    table.reset(decks=[LEVEL.deck, list(range(52))], dealer=1, scores=(30, 59))
    for card in parse_cards("QH QS TH TS 2C 2D"):
        table.step(card)
    assert table.match_score == (0, points)
    assert Rules.preset("five_card").skunks(61) == 0
    assert rules.skunks(31) == points - 1
