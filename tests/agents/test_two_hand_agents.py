"""The agents of the two-hand games: their choices against slow definitions, and their strength.

Positions are built with the public environment on stacked decks. What `rule_based` expects of a
discard is checked against `tests/reference`, which counts by literal definition.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from crib_agents import GreedyAgent, RandomAgent, RuleBasedAgent
from crib_agents.data import tables
from crib_training.evaluation.duplicate import estimate, play_pairs
from hypothesis import given, settings
from hypothesis import strategies as st

from compiled import SLOW, as_entry
from crib_env import format_card, parse_cards
from crib_env.engine.family import family_for, find_family
from crib_env.engine.fingerprint import fingerprint
from crib_env.engine.hands.counting import certain_points, least_pip, sequence_of, starters_total
from crib_env.engine.hands.records import DISCARD
from crib_env.engine.record import NONE
from crib_env.engine.show import show_table
from crib_env.engine.two_hand import VIEW
from crib_env.policy import Agent, CompiledAgent, compile_policy
from crib_env.rules import PRESETS, Rules
from reference import scoring
from stacked import Lanes, Table, deal
from two_hand_views import after_discards, choose, dealt, discard_view, legal_cards

GAMES = ("hoyle", "five_card")
AGENTS = (RandomAgent, GreedyAgent, RuleBasedAgent)

every_game = pytest.mark.parametrize("game", GAMES)


def run_kernel(kernel: Any, view: Any, *args: Any) -> int:
    """Call a kernel on one view: compiled code takes a record of an array."""
    return int(as_entry(kernel)(np.array([view], dtype=VIEW)[0], *args))


def discarded_pair(agent: Agent, cards: list[int], game: str, dealer: bool) -> tuple[int, int]:
    """Return the two cards the agent discards, in order."""
    view = discard_view(cards, game, dealer)
    first = choose(agent, view)
    return first, choose(agent, after_discards(view, first))


# --- every agent ---------------------------------------------------------------------------------


def test_compiled_code_can_be_kept_on_disk() -> None:
    """An agent whose code cannot be stored costs seconds at every start."""
    for make in AGENTS:
        for name, act in make.acts.items():
            assert fingerprint(compile_policy(act, find_family(name)).function), name


def test_compiled_for_rewards_and_suits_is_one_function() -> None:
    families = (family_for("two_hand"), family_for("two_hand", "expected"), family_for("two_hand", suits="ranks"))
    assert len({RuleBasedAgent().compiled_for(family) for family in families}) == 1


# --- greedy --------------------------------------------------------------------------------------


def as_it_stands(kept: tuple[int, ...]) -> int:
    """Return the points of a kept hand without a starter, by the reference."""
    held = list(kept)
    flush = len(held) if len({scoring.suit(c) for c in held}) == 1 else 0
    return scoring.fifteens(held) + scoring.pairs(held) + scoring.runs(held) + flush


@every_game
@settings(max_examples=25, deadline=None)
@given(data=st.data(), dealer=st.booleans())
def test_greedy_keeps_the_best_hand_as_it_stands(game: str, data: st.DataObject, dealer: bool) -> None:
    cards = data.draw(dealt(game))
    pair = discarded_pair(GreedyAgent(), cards, game, dealer)
    points = {
        discarded: as_it_stands(tuple(c for c in cards if c not in discarded))
        for discarded in combinations(sorted(cards), 2)
    }
    ties = [discarded for discarded, p in points.items() if p == max(points.values())]
    assert sorted(pair) == list(max(ties, key=lambda discarded: discarded[::-1]))  # of equals the higher


def sure_points(view: Any, card: int) -> int:
    """Return the certain points of playing the card now, by the reference's play scores."""
    line = [int(c) for c in view["pile"][view["pile_from"] : view["pile_n"]]] + [card]
    count = sum(scoring.value(c) for c in line)
    points = sum(scoring.score_play([scoring.rank(c) for c in line], count))
    if count == 31:
        return points + (1 if view["go"] else 2)
    last = int(view["pile_n"]) - 1
    played_last = len(line) > 1 and int(view["pile_seats"]) >> 2 * last & 1 == 0
    if view["go"] or not (view["held_n"][1] == 0 or played_last):
        return points
    rest = [int(c) for c in view["hand"] if c not in (card, NONE)]
    if view["single_count"] and any(count + scoring.value(c) <= 31 for c in rest):
        return points  # the point is for the last card, and this one is not
    return points + 1


def pegging_views(rules: Rules, lanes: int, seed: int) -> list[Any]:
    """Return every view of a seat to play in deals played at random."""
    rng = np.random.default_rng(seed)
    table = Lanes(rules, lanes, seed, episode="deal")
    found: list[Any] = []
    while len(running := table.running()):
        views = table.views(running)
        found += [view.copy() for view in views if view["phase"] != DISCARD]
        table.step(running, RandomAgent().act(views, rng))
    return found


@pytest.mark.parametrize(
    "rules",
    [PRESETS["hoyle"], PRESETS["five_card"], Rules.preset("hoyle", single_count=True)],
    ids=["hoyle", "five_card", "six cards, one count"],
)
def test_certain_points_are_those_of_the_rules_and_greedy_pegs_most_of_them(rules: Rules) -> None:
    """H4 to H7, F4 and F5, the points for a go and for last included; of equals the higher card."""
    views = pegging_views(rules, 20 if SLOW else 60, seed=20)
    chosen = GreedyAgent().act(np.array(views), np.random.default_rng(0))
    for view, action in zip(views, chosen, strict=True):
        line, sure = run_kernel(sequence_of, view), {}
        for card in legal_cards(view):
            at = view["hand"].tolist().index(card)
            sure[card] = sure_points(view, card)
            assert run_kernel(certain_points, view, at, line) == sure[card]
        assert action == max(sure, key=lambda card: (sure[card], card))


# --- rule_based: discarding ---------------------------------------------------------------------


@cache
def stored_cribs() -> Any:
    """Return the mean cribs by game, role and ranks, read from the file without our reader."""
    return np.load(tables.CRIB_TABLES.path)["crib"]


def expected_value(cards: list[int], discarded: tuple[int, int], game: str, dealer: bool) -> float:
    """Return the mean of the kept hand over all unseen starters and the mean crib, slowly."""
    kept = [c for c in cards if c not in discarded]
    unseen = [c for c in range(52) if c not in cards]
    hand = sum(scoring.score_show(kept, s, False, game) for s in unseen) / len(unseen)
    low, high = sorted(discarded)
    a, b = scoring.rank(low), scoring.rank(high)
    chart = stored_cribs()[("hoyle", "five_card").index(game), int(dealer)]
    crib = chart[b][a] if scoring.suit(low) == scoring.suit(high) else chart[a][b]
    return hand + crib if dealer else hand - crib


@every_game
@settings(max_examples=15, deadline=None)
@given(data=st.data(), dealer=st.booleans())
def test_rule_based_discards_the_pair_of_highest_expectation(game: str, data: st.DataObject, dealer: bool) -> None:
    cards = data.draw(dealt(game))
    values = {discarded: expected_value(cards, discarded, game, dealer) for discarded in combinations(sorted(cards), 2)}
    low, high = sorted(discarded_pair(RuleBasedAgent(), cards, game, dealer))
    assert values[low, high] == pytest.approx(max(values.values()), abs=1e-9)


@every_game
def test_rule_based_second_discard_is_best_for_the_first(game: str) -> None:
    """For any first discard, the second card is the best one to go with it."""
    cards = parse_cards("5H 5D 7C 8S KD" if game == "five_card" else "5H 5D 7C 8S KD AC")
    for discarded in cards:
        values = {other: expected_value(cards, (discarded, other), game, True) for other in cards if other != discarded}
        second = choose(RuleBasedAgent(), after_discards(discard_view(cards, game, True), discarded))
        assert values[second] == pytest.approx(max(values.values()), abs=1e-9)


@pytest.mark.parametrize(
    ("cards", "game"),
    [
        ("5H 6H JH KH 2C 9D", "hoyle"),  # a flush of four and a jack of its suit
        ("JC JD JH JS 5C 5D", "hoyle"),
        ("5H 6H JH KH 2H 9H", "hoyle"),  # all one suit
        ("5H 6H JH KC 2D", "five_card"),  # a flush of three
        ("AH 2H 3H 4H 5H", "five_card"),
    ],
)
def test_rule_based_counts_flushes_and_nobs(cards: str, game: str) -> None:
    hand = parse_cards(cards)
    view = discard_view(hand, game, dealer=True)
    unseen = [c for c in range(52) if c not in hand]
    for low, high in combinations(sorted(hand), 2):
        kept = [c for c in hand if c not in (low, high)]
        slowly = sum(scoring.score_show(kept, s, False, game) for s in unseen)
        assert run_kernel(starters_total, view, show_table(), low, high) == slowly


@every_game
@pytest.mark.parametrize("make", [GreedyAgent, RuleBasedAgent])
@settings(max_examples=20, deadline=None)
@given(data=st.data(), dealer=st.booleans())
def test_discard_decisions_agree_for_any_card_order(
    game: str, make: type[CompiledAgent], data: st.DataObject, dealer: bool
) -> None:
    cards = data.draw(dealt(game))
    pairs = set()
    for order in (cards, cards[::-1], sorted(cards), cards[2:] + cards[:2]):
        first, second = discarded_pair(make(), order, game, dealer)
        pairs.add((first, second))
        view = discard_view(order, game, dealer)
        assert choose(make(), after_discards(view, second)) == first  # the pair, laid the other way
    assert len(pairs) == 1


# --- rule_based: the play ------------------------------------------------------------------------


OTHERS = "8C 9D QS KH / 2S 3D"
SEVEN_OR_NINE = "7D 9D TD AS / QS 3D"


@pytest.mark.parametrize(
    ("pone", "dealer", "starter", "moves", "cards"),
    [
        *(
            (f"5H {rest} / 7C AD", OTHERS, "6D", "", rest)  # a five is not led
            for rest in ("TS JD KC", "6S 7D 9C", "TS 9S 2C")
        ),
        ("3H 3C TS KD / 7C AD", OTHERS, "6D", "", "3H 3C"),  # a pair is
        # A count of five or of 21 is not left.
        ("4H 7C 9H TH / 2C 3S", "AC 6D 8H JD / 2S 3D", "6C", "p:4H", "6D 8H JD"),
        ("9H 7C 4S TH / 2C 3S", "2D 6D QH 8D / QS 3D", "AC", "p:TH d:2D", "7C 4S"),
        ("8H 9C 4S TH / 6H 3S", SEVEN_OR_NINE, "KC", "p:8H", "7D"),  # fifteen
        ("8H 9C 4S TH / 6H 3S", SEVEN_OR_NINE, "KC", "p:TH d:7D p:4S", "TD"),  # thirty-one
        ("6H 9C 4S TH / 8H 3S", SEVEN_OR_NINE, "KC", "p:6H", "9D"),  # fifteen
        # A pair at 29, which no third can follow.
        ("8H 9C 4S TH / 6H 3S", SEVEN_OR_NINE, "KC", "p:TH d:AS p:9C", "9D"),
        # F4: after the only count a low card has nothing left to be kept for, so it comes last.
        ("AH 9C KD / 2C 3S", "TD 8C 4S / QS 3D", "2D", "", "9C KD"),
    ],
)
def test_rule_based_plays_as_players_do(pone: str, dealer: str, starter: str, moves: str, cards: str) -> None:
    game = {7: "hoyle", 6: "five_card"}[len(pone.split())]  # by the cards kept
    table = Table(deal(pone, dealer, starter), game=game)
    table.discard()
    table.play(moves)
    seat = 0 if table.to_move == "p" else 1
    assert format_card(choose(RuleBasedAgent(), table.env.view(seat))) in cards.split()


@every_game
def test_rule_based_plays_a_card_that_wins(game: str) -> None:
    """One point short of the target, any card that is sure to peg wins; it plays one."""
    met = 0
    for view in pegging_views(PRESETS[game], 20 if SLOW else 100, seed=22):
        view["scores"][0] = view["target"] - 1
        winning = [card for card in legal_cards(view) if sure_points(view, card) > 0]
        if winning:
            met += 1
            assert choose(RuleBasedAgent(), view) in winning
    assert met > 5


def test_rule_based_remembers_the_others_gos() -> None:
    """Unable to play at 28, the other holds neither ace, two nor three in the next count."""
    table = Table(deal("TH 9C 9S AH / 2C 3S", "9D TD TC KD / QS 3D", "2D"))
    table.discard()
    table.play("p:9C d:9D p:TH")  # 28; the dealer cannot play
    view = table.env.view(0)
    assert table.to_move == "p"
    assert view["go"] == 1
    table.play("p:AH")  # 29, and neither can play: a new count
    assert run_kernel(least_pip, table.env.view(0)) == 4


# --- strength ------------------------------------------------------------------------------------


@pytest.mark.skipif(SLOW, reason="thousands of games take compiled code")
@every_game
@pytest.mark.parametrize(
    ("better", "worse", "least"), [(RuleBasedAgent, GreedyAgent, 0.54), (GreedyAgent, RandomAgent, 0.92)]
)
def test_agents_strength_order(
    better: type[CompiledAgent], worse: type[CompiledAgent], least: float, game: str
) -> None:
    """Duplicate pairs, seed 1: the lower end of the interval lies above ``least``."""
    pairs = play_pairs(PRESETS[game], "game", better(), worse(), 1500, seed=1)
    wins = estimate(pairs.shares_won)
    assert wins.mean - wins.ci95 > least, wins


# --- the crib tables -----------------------------------------------------------------------------


# Crib averages of Schell's tables for six cards, own crib and opponent's.
SCHELL: dict[str, tuple[float, float]] = {
    "AA": (5.38, 6.02), "AK": (3.41, 4.30), "23": (7.00, 7.33), "45": (6.48, 7.26),
    "55": (8.79, 9.37), "56": (6.63, 7.47), "5T": (6.66, 7.41), "5J": (7.00, 7.76),
    "5K": (6.66, 7.25), "67": (4.98, 6.42), "78": (6.53, 7.63), "88": (5.45, 6.82),
    "9K": (3.06, 4.03), "TK": (2.84, 3.88), "JJ": (5.33, 6.42), "JQ": (4.81, 5.46),
    "QQ": (4.79, 5.79), "KK": (4.58, 5.65),
}  # fmt: skip


def test_crib_tables_agree_with_schells_averages() -> None:
    pone, dealer = stored_cribs()[0]
    for pair, published in SCHELL.items():
        a, b = sorted("A23456789TJQK".index(rank) for rank in pair)
        assert (dealer[a, b], pone[a, b]) == pytest.approx(published, abs=0.3), pair
