"""H1-H12, six-card cribbage, through the public environment.

Every expected figure is worked by hand from the words of seeds/. Pone is player_0.
"""

from __future__ import annotations

from itertools import permutations
from random import Random

import numpy as np
import pytest

from crib_env import IllegalActionError, observation_layout, parse_card, parse_cards, pegging_v0
from crib_env.events import read_log
from crib_env.rules import Rules
from decks import shuffled
from stacked import Table, deal, first_dealer, in_play, in_show, legal, make

LAYOUT = observation_layout("six_card_v0")
AGENTS = ("player_0", "player_1")


# ---------------------------------------------------------------- H1, H2: the deal


@pytest.mark.parametrize("dealer", [0, 1])
def test_h1_six_cards_each_dealt_singly_pone_first(dealer: int) -> None:
    deck = shuffled(1)
    env = make("hoyle")
    env.reset(options={"decks": [deck], "dealer": dealer})
    pone_agent, dealer_agent = AGENTS[1 - dealer], AGENTS[dealer]
    assert env.agent_selection == pone_agent
    assert legal(env, pone_agent) == set(deck[0:12:2])
    env.step(deck[0])
    assert env.agent_selection == pone_agent
    assert legal(env, pone_agent) == set(deck[2:12:2])
    env.step(deck[2])
    assert env.agent_selection == dealer_agent
    assert legal(env, dealer_agent) == set(deck[1:12:2])
    env.step(deck[1])
    env.step(deck[3])
    assert env.agent_selection == pone_agent
    assert legal(env, pone_agent) == set(deck[4:12:2])


@pytest.mark.parametrize("dealer", [0, 1])
def test_h1_the_crib_belongs_to_the_dealer(dealer: int) -> None:
    table = Table(deal("KC 8H 7S 6D / 2H 3H", "9D 4S TC 8C / 2S 3D", "QH"), dealer=dealer).discarded()
    table.finish()
    (crib,) = [event for event in table.env.events if event.reason == "crib"]
    assert (crib.seat, crib.points) == (dealer, 12)  # Q-2-3 four ways, two pairs
    assert set(crib.cards) >= set(parse_cards("2H 3H 2S 3D"))


def test_h1_pones_discard_is_secret_from_the_dealer() -> None:
    deck = shuffled(2)
    env = make("hoyle")
    seen = []
    for first, second in permutations(deck[0:12:2], 2):
        env.reset(seed=0, options={"decks": [deck], "dealer": 1})
        env.step(first)
        after_one = env.observe("player_1")["observation"]
        env.step(second)
        observation, reward, termination, truncation, info = env.last()
        seen.append((observation["observation"].tolist(), observation["action_mask"].tolist(),
                     env.view(1).tobytes(), after_one.tolist(), reward, termination, truncation,
                     info, env.events, env.scores))  # fmt: skip
    assert len(seen) == 30
    assert all(other == seen[0] for other in seen)


def test_h1_dealer_cannot_tell_pones_discard_progress() -> None:
    deck = shuffled(3)
    env = make("hoyle")
    env.reset(seed=0, options={"decks": [deck], "dealer": 1})
    before = env.observe("player_1")["observation"]
    env.step(deck[0])
    assert np.array_equal(env.observe("player_1")["observation"], before)


def test_h1_pone_never_sees_the_dealers_discard() -> None:
    deck = shuffled(4)
    env = make("hoyle")
    seen = []
    for first, second in permutations(deck[1:12:2], 2):
        env.reset(seed=0, options={"decks": [deck], "dealer": 1})
        for card in (deck[0], deck[2], first, second):
            env.step(card)
        seen.append((env.observe("player_0")["observation"].tolist(), env.view(0).tobytes()))
    assert len(seen) == 30
    assert all(other == seen[0] for other in seen)


def test_h2_starter_is_turned_after_both_discards() -> None:
    deck = shuffled(5)
    env = make("hoyle")
    env.reset(options={"decks": [deck], "dealer": 1})
    for card in (deck[0], deck[2], deck[1], deck[3]):
        for seat, agent in enumerate(AGENTS):
            assert not env.observe(agent)["observation"][LAYOUT["starter"]].any()
            assert env.view(seat)["starter"] == -1
        env.step(card)
    for seat, agent in enumerate(AGENTS):
        shown = env.observe(agent)["observation"][LAYOUT["starter"]]
        assert np.flatnonzero(shown).tolist() == [deck[12]]
        assert env.view(seat)["starter"] == deck[12]


# ---------------------------------------------------------------- H3, H4: the play


def test_h3_pone_leads_and_seats_alternate() -> None:
    table = Table(deal("2C 4D 6H 8S / KC KD", "3C 5D 7H 9S / KH KS", "QC")).discarded()
    for who in "pdpd":
        assert table.to_move == who
        table.play(f"{who}:{min(table.legal, key=parse_card)}")


def test_h3_no_card_may_take_the_count_past_31() -> None:
    table = Table(deal("KC 5D 9H 9S / 2C 2D", "QD 6H 7S 8C / 2H 2S", "AC")).discarded()
    assert table.legal == {"KC", "5D", "9H", "9S"}
    assert table.play("p:KC d:QD p:5D") == []  # 25, and the dealer holds 6, 7, 8
    assert table.legal == {"6H"}
    before = table.env.snapshot().game.position.state.tobytes()
    with pytest.raises(IllegalActionError, match=r"7S.*25.*32.*31.*6H"):
        table.play("d:7S")
    assert table.env.snapshot().game.position.state.tobytes() == before


def test_h3_legal_card_must_be_played() -> None:
    table = Table(deal("KC 5D 9H 9S / 2C 2D", "QD 6H 7S 8C / 2H 2S", "AC")).discarded()
    table.play("p:KC d:QD p:5D")
    assert table.to_move == "d"  # no seat is skipped that holds a card it may play
    with pytest.raises(IllegalActionError, match="got None"):
        table.env.step(None)  # and there is no way to pass
    assert table.play("d:6H") == ["d thirty_one 2"]


@pytest.mark.parametrize(
    ("ranks", "pegged"),
    [
        ("78", ["fifteen 2"]),
        ("77", ["pair 2"]),
        ("777", ["pair 6"]),
        ("7777", ["pair 12"]),
        ("TJ", []),  # the same value, no pair
        ("787", []),  # the sevens do not lie together
        ("JQK", ["run 3"]),  # the source's three runs
        ("7645", ["run 4"]),
        ("A3542", ["fifteen 2", "run 5"]),
        ("A234567", ["run 7"]),
        ("5675", ["run 3"]),  # the last three are a run again
        ("2879", ["run 3"]),
        ("4556", []),  # the second five is in the way
        ("AQK", []),
        ("8876", ["run 3"]),  # 8-7-6; the first 8 is not of it
        ("344", ["pair 2"]),
        ("3435", ["fifteen 2", "run 3"]),
        ("456", ["fifteen 2", "run 3"]),
        ("555", ["fifteen 2", "pair 6"]),
        ("K9345", ["run 3", "thirty_one 2"]),
    ],
)
def test_h4_last_card_of_these_pegs(ranks: str, pegged: list[str]) -> None:
    suits = {rank: iter("CDHS") for rank in ranks}
    played = [rank + next(suits[rank]) for rank in ranks]
    used = parse_cards(" ".join(played))
    # The other seat holds aces and twos, so no go occurs.
    rest = [f"{card}" for card in ("AS", "AH", "2S", "2H", "AD", "2D") if card not in played]
    hands = [played[0::2], played[1::2]]
    for hand in hands:
        while len(hand) < 4:
            hand.append(rest.pop(0))
    used += parse_cards(" ".join(hands[0] + hands[1]))
    spare = [f"{'A23456789TJQK'[c // 4]}{'CDHS'[c % 4]}" for c in reversed(range(52)) if c not in used and c // 4 != 10]
    table = Table(
        deal(f"{' '.join(hands[0])} / {spare[0]} {spare[1]}", f"{' '.join(hands[1])} / {spare[2]} {spare[3]}", spare[4])
    )
    assert table.discard() == []
    *before, last = (f"{'pd'[i % 2]}:{card}" for i, card in enumerate(played))
    table.play(" ".join(before))
    assert in_play(table.play(last)) == [f"{last[0]} {points}" for points in pegged]


RESET = deal("KC JS AD 9D / 2C 2D", "QH AC 4C 8H / 3H 3S", "7C")


def test_h4_only_cards_since_the_last_reset_count() -> None:
    table = Table(RESET).discarded()
    assert table.play("p:KC d:QH p:JS d:AC") == ["p run 3", "d thirty_one 2"]
    assert table.play("p:AD") == []  # an ace on the ace before the reset is no pair


# ---------------------------------------------------------------- H5-H7: go, 31, last card

GO = deal("KC 9D 2H 4S / 3C 3D", "QD 8C 7H 6S / 5C 5D", "AC")
SAME_PLAYER = deal("KC 8D AH AS / 2C 2D", "QD 9C 9H 7S / 3C 3D", "4C")


def test_h5_go_is_pegged_at_once_and_the_other_plays_on_alone() -> None:
    table = Table(GO).discarded()
    assert table.play("p:KC d:QD") == []
    assert table.play("p:9D") == ["p go 1"]  # 29, and the dealer's lowest is a six
    assert table.scores == (1, 0)
    assert table.to_move == "p"  # the dealer is passed over
    assert table.legal == {"2H"}


def test_h5_one_go_point_a_count_and_the_rest_scores_as_usual() -> None:
    table = Table(SAME_PLAYER).discarded()
    assert table.play("p:KC d:QD p:8D") == ["p go 1"]  # 28 against 9, 9, 7
    assert table.play("p:AH") == []  # 29: no second point
    assert table.play("p:AS") == ["p pair 2"]  # 30: nor a third


def test_h5_player_without_cards_counts_as_unable() -> None:
    table = Table(SAME_PLAYER).discarded()
    table.play("p:KC d:QD p:8D p:AH p:AS")  # pone has no cards left
    assert table.to_move == "d"
    assert table.play("d:9C") == ["d go 1"]  # at once, with two cards to come
    assert table.play("d:9H") == ["d pair 2"]
    assert in_play(table.play("d:7S")) == []  # the count's point is gone, also for the last card


def test_h6_31_scores_two_and_one_after_the_go_point() -> None:
    table = Table(GO).discarded()
    assert table.play("p:KC d:QD p:9D p:2H") == ["p go 1", "p thirty_one 1"]
    table = Table(RESET).discarded()
    assert table.play("p:KC d:QH p:JS d:AC")[-1] == "d thirty_one 2"


def test_h6_31_by_the_last_playable_card_scores_two_not_three() -> None:
    table = Table(deal("KC AD 9H 9S / 2C 2D", "QD TH 7S 8C / 2H 2S", "4C")).discarded()
    assert table.play("p:KC d:QD p:AD d:TH") == ["d thirty_one 2"]


def in_count(env) -> list[int]:
    """Return the bits of the pile that say a card is still in the present count."""
    observation = env.observe("player_0")["observation"]
    return [int(slot[-1]) for slot in observation[LAYOUT["pile"]].reshape(8, -1)]


def test_h7_after_31_the_count_restarts_and_the_other_leads() -> None:
    table = Table(deal("KC 2H 5D 5S / AC AD", "9D TS 4C 4S / AH AS", "6C")).discarded()
    table.play("p:KC d:9D p:2H")
    assert in_count(table.env) == [1, 1, 1, 0, 0, 0, 0, 0]
    assert table.play("d:TS") == ["d thirty_one 2"]
    assert table.to_move == "p"
    assert table.legal == {"5D", "5S"}
    assert table.env.view(0)["count"] == 0
    assert in_count(table.env) == [0] * 8  # all four are out of play
    table.play("p:5D")
    assert in_count(table.env) == [0, 0, 0, 0, 1, 0, 0, 0]


def test_h7_when_neither_can_play_the_other_leads() -> None:
    table = Table(deal("KC 9H 8S 7D / 2C 2D", "QD 8C 7H 6S / 2H 2S", "AC")).discarded()
    assert table.play("p:KC d:QD p:9H") == ["p go 1"]  # 29: pone cannot play either
    assert table.to_move == "d"
    assert table.legal == {"8C", "7H", "6S"}
    assert table.env.view(0)["count"] == 0


ONE_LEFT = deal("KC 9H 2S 8D / 3C 3D", "QD TS JC 9C / 4C 4D", "AC")


def test_h7_player_without_cards_cannot_lead() -> None:
    table = Table(ONE_LEFT).discarded()
    assert table.play("p:KC d:QD p:9H p:2S") == ["p go 1", "p thirty_one 1"]
    assert table.play("d:TS p:8D d:JC") == ["d go 1"]  # 28: pone is out, the nine is too high
    assert table.to_move == "d"  # it played last and would not lead, but pone has no cards
    assert table.legal == {"9C"}


def test_h7_the_last_card_of_the_deal_pegs_one() -> None:
    table = Table(ONE_LEFT).discarded()
    table.play("p:KC d:QD p:9H p:2S d:TS p:8D d:JC")
    assert in_play(table.play("d:9C")) == ["d last 1"]


LAST_IS_31 = deal("KC 8H 7S 6D / 2H 3H", "9D 4S TC 8C / 2S 3D", "QH")


def test_h7_last_card_making_31_pegs_two_only() -> None:
    table = Table(LAST_IS_31).discarded()
    assert table.play("p:KC d:9D p:8H d:4S") == ["d thirty_one 2"]
    assert in_play(table.play("p:7S d:TC p:6D d:8C")) == ["d thirty_one 2"]


# ---------------------------------------------------------------- H8: the show

TO_THE_SHOW = "p:KC d:9D p:8H d:4S p:7S d:TC p:6D d:8C"


def test_h8_order_is_pone_dealer_crib() -> None:
    table = Table(LAST_IS_31).discarded()
    # K 8 7 6 Q: 8-7 and 6-7-8. 9 4 10 8 Q: 8-9-10. 2 3 2 3 Q: Q-2-3 four ways and two pairs.
    assert in_show(table.play(TO_THE_SHOW)) == ["p hand 5", "d hand 3", "d crib 12"]
    assert table.scores == (5, 4 + 3 + 12)
    assert table.over


@pytest.mark.parametrize(
    ("pone", "shown", "scores"),
    [
        (116, ["p hand 5"], (121, 118)),  # the dealer's three would have been enough
        (115, ["p hand 5", "d hand 3"], (120, 121)),  # pone falls short
    ],
)
def test_h8_pone_counts_out_before_the_dealer(pone: int, shown: list[str], scores: tuple[int, int]) -> None:
    table = Table(LAST_IS_31, scores=(pone, 114), episode="game").discarded()
    assert in_show(table.play(TO_THE_SHOW)) == shown
    assert table.over
    assert table.scores == scores
    won = 1.0 if scores[0] == 121 else -1.0
    assert table.env._cumulative_rewards == {"player_0": won, "player_1": -won}


@pytest.mark.parametrize(
    ("hand", "starter", "points"),
    [
        ("2C 4C 8C QC", "6D", 4),
        ("2C 4C 8C QC", "6C", 5),
        ("2C 4C 8C QD", "6C", 0),  # the starter completes no flush
        ("2C 4C 8D QD", "6C", 0),
    ],
)
def test_h8_flush_in_the_hand(hand: str, starter: str, points: int) -> None:
    table = Table(deal(f"{hand} / KH KS", "3D 5H 7D 9S / TH TS", starter)).discarded()
    shown = [peg for peg in in_show(table.finish()) if peg.startswith("p")]
    assert shown == ([f"p hand {points}"] if points else [])


@pytest.mark.parametrize(("starter", "points"), [("6D", 0), ("6C", 5)])
def test_h8_flush_in_the_crib_takes_all_five(starter: str, points: int) -> None:
    table = Table(deal("3D 5H 7D 9S / 2C 4C", "3H 5S 7H 9D / 8C QC", starter)).discarded()
    shown = [peg for peg in in_show(table.finish()) if "crib" in peg]
    assert shown == ([f"d crib {points}"] if points else [])


# ---------------------------------------------------------------- H9-H12: game and match

PAIR = deal("2C KD 9H 7S / QH QS", "2D KS 9C 7H / TH TS", "4C")  # the second card pegs 2


@pytest.mark.parametrize(("score", "over"), [(118, False), (119, True), (120, True)])
def test_h9_the_game_is_won_at_121(score: int, over: bool) -> None:
    table = Table(PAIR, scores=(0, score), episode="game").discarded()
    table.play("p:2C d:2D")
    assert table.over is over
    assert table.scores == (0, min(score + 2, 121))


@pytest.mark.parametrize("first", [0, 1])
def test_h10_the_deal_alternates(first: int) -> None:
    env = make("hoyle")
    env.reset(seed=3, options={"dealer": first})
    rng, dealers = Random(3), []
    while not any(env.terminations.values()):
        view = env.view(0)
        if view["phase"] == 0 and view["hand_n"] == 6 and env.view(1)["hand_n"] == 6:
            dealers.append(env.dealer)
            assert env.agent_selection == AGENTS[1 - env.dealer]
        env.step(rng.choice(sorted(legal(env, env.agent_selection))))
    assert len(dealers) > 5
    assert dealers == [(first + i) % 2 for i in range(len(dealers))]


def test_h10_the_lower_cut_deals_first() -> None:
    env = make("hoyle")
    high = make(Rules.preset("hoyle", first_dealer="high_card"))
    dealers = []
    for seed in range(400):
        env.reset(seed=seed)
        high.reset(seed=seed)
        assert env.dealer == first_dealer(seed, 2), f"seed {seed}"
        assert high.dealer == 1 - env.dealer, f"seed {seed}"
        dealers.append(env.dealer)
    assert 140 < sum(dealers) < 260  # six standard deviations about one half


@pytest.mark.parametrize("next_dealer", ["loser", "winner"])
def test_h10_the_loser_of_a_game_deals_the_next(next_dealer: str) -> None:
    rules = Rules.preset("hoyle", target=31, next_dealer=next_dealer)
    env = make(rules, episode="match")
    env.reset(seed=5)
    rng, games = Random(5), [0, 0]
    changes = 0
    while not any(env.terminations.values()):
        env.step(rng.choice(sorted(legal(env, env.agent_selection))))
        if list(env.game.match_score) != games and not any(env.terminations.values()):
            winner = 0 if env.game.match_score[0] > games[0] else 1
            assert env.dealer == (winner if next_dealer == "winner" else 1 - winner)
            assert env.scores == (0, 0)
            changes += 1
        games = list(env.game.match_score)
    assert changes > 5


@pytest.mark.parametrize(("loser", "points"), [(91, 1), (90, 2), (61, 2), (60, 4), (0, 4), (120, 1)])
def test_h11_skunk_by_more_than_30_counts_two_by_more_than_60_four(loser: int, points: int) -> None:
    table = Table(PAIR, scores=(loser, 119), episode="match").discarded()
    table.play("p:2C d:2D")  # 121 at the dealer's first card
    assert table.env.game.match_score == (0, points)
    assert not table.over
    assert table.scores == (0, 0)  # the next game, dealt by the loser
    assert table.env.dealer == 0


def test_h11_the_match_ends_at_seven_game_points() -> None:
    env = make(Rules.preset("hoyle", target=40), episode="match")
    won = []
    for seed in range(20):
        env.reset(seed=seed)
        rng = Random(seed)
        while not any(env.terminations.values()):
            assert max(env.game.match_score) < 7, f"seed {seed}"
            before = env.game.match_score
            env.step(rng.choice(sorted(legal(env, env.agent_selection))))
        assert max(env.game.match_score) >= 7, f"seed {seed}"
        winner = 0 if env.game.match_score[0] > env.game.match_score[1] else 1
        assert env.game.match_score[winner] > before[winner]
        assert env._cumulative_rewards[AGENTS[winner]] == 1.0
        assert env._cumulative_rewards[AGENTS[1 - winner]] == -1.0
        won.append(env.game.match_score)
    assert len(set(won)) > 1


def test_h12_the_rear_peg_shows_the_previous_score() -> None:
    table = Table(deal("5C 5H KC 9D / 2C 4D", "5D KH 8S 7C / 6C 8D", "QS"), scores=(30, 40), episode="game").discarded()
    table.play("p:5C")
    table.play("d:5D")  # a pair: 40 to 42
    assert table.env.view(1)["scores"].tolist() == [42, 30]
    assert table.env.view(1)["rear"].tolist() == [40, 30]
    table.play("p:5H")  # fifteen, then pair royal: 30 to 32 to 38
    for seat, own in ((0, slice(None)), (1, slice(None, None, -1))):
        assert table.env.view(seat)["scores"][own].tolist() == [38, 42]
        assert table.env.view(seat)["rear"][own].tolist() == [32, 40]


def test_h12_third_peg_keeps_the_games() -> None:
    table = Table(PAIR, scores=(60, 119), episode="match").discarded()
    table.play("p:2C d:2D")
    assert table.env.view(0)["match_score"].tolist() == [0, 4]
    assert table.env.view(1)["match_score"].tolist() == [4, 0]
    observation = table.env.observe("player_1")["observation"]
    assert observation[LAYOUT["match_score"]].tolist() == [1, 1, 1, 1, 0, 0, 0]
    assert not observation[LAYOUT["other_games"]].any()


def test_h8_the_events_of_the_show_name_the_cards_counted() -> None:
    table = Table(LAST_IS_31).discarded()
    table.play(TO_THE_SHOW)
    counted = {(e.reason, e.seat): set(e.cards) - {parse_card("QH")} for e in table.env.events[1:]}
    assert counted == {
        ("hand", 0): set(parse_cards("KC 8H 7S 6D")),
        ("hand", 1): set(parse_cards("9D 4S TC 8C")),
        ("crib", 1): set(parse_cards("2H 3H 2S 3D")),
    }


def test_h8_events_include_counts_of_zero_on_request() -> None:
    """Heels of 0 points name the starter, which the state loses when the next deal begins."""
    table = Table(deal("2C 4D 6H 8S / KC KD", "3C 5S 7D 9H / TC JD", "QC")).discarded()
    table.finish()
    counted = read_log(table.env.game.log, include_zero=True)[-4:]
    # 5-Q and 3-5-7; then a run of four twice and a pair.
    assert [(e.reason, e.seat, e.points) for e in counted] == [
        ("heels", 1, 0),
        ("hand", 0, 0),
        ("hand", 1, 4),
        ("crib", 1, 10),
    ]
    cards = ["QC", "2C 4D 6H 8S", "3C 5S 7D 9H", "KC KD TC JD"]
    assert [set(e.cards) for e in counted] == [set(parse_cards(one)) for one in cards]


def test_h8_pegging_environment_counts_no_hands() -> None:
    env = pegging_v0.raw_env()
    env.reset(seed=2)
    reasons: set[str] = set()
    while not any(env.terminations.values()):
        env.step(min(legal(env, env.agent_selection)))
        reasons |= {event.reason for event in read_log(env.game.log, include_zero=True)}
    assert "last" in reasons
    assert not reasons & {"heels", "hand", "crib"}
