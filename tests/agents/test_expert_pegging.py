"""The pegging half of `expert`: the rules it searches by, its belief, its judgement, its cards.

Its results are compared with `reference.pegging`, plain Python that takes one hypothetical hand at
a time; the course of the play is compared with the engine.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import chain, combinations, product
from typing import Any

import numpy as np
import pytest
from crib_agents import PhasedAgent, RandomAgent
from crib_agents.analyze import pegging_view
from crib_agents.data.tables import DEALT, ENDGAME_BELIEF, load
from crib_agents.expert import belief, endgame, pegging
from crib_agents.expert.pegging import MY_POINTS, POINTS_NOW, SCRATCH, THEIR_POINTS, WIN_VALUE, findings, read_tables
from crib_agents.kernels.two_hand import cell
from crib_agents.knowledge import deal_points
from crib_agents.knowledge.deal_points import COUNT_SIZE
from crib_agents.knowledge.pegging import (
    COUNTED,
    DISTINCT,
    EMPTY,
    FIRST,
    HOLDINGS,
    LISTED,
    LOWEST,
    ME,
    POSITION,
    THEM,
    begin_play,
    holdings,
    next_turn,
    number,
    put,
)
from crib_agents.knowledge.winning import win_table
from crib_training.evaluation.duplicate import estimate, play_pairs

from compiled import SLOW
from crib_env import Game, find_agent, format_card
from crib_env.engine.hands.records import GAME, PEGGING, PEGGING_ONLY
from crib_env.engine.record import NONE
from crib_env.engine.two_hand import HAND, VIEW
from crib_env.rules import PRESETS
from reference import scoring
from reference.pegging import NUMBERS, Pegging, Position
from research.tables.rollouts import keeping_rates
from stacked import Lanes
from two_hand_views import choose

GAMES = ("hoyle", "five_card")

every_game = pytest.mark.parametrize("game", GAMES)


def expert_at_the_table(game: str, episode: str, lanes: int, seed: int) -> Lanes:
    """Return deals in which `rule_based` has discarded for both."""
    table = Lanes(PRESETS[game], lanes, seed, episode=episode)
    rng = np.random.default_rng(seed)
    for _ in range(4):
        table.step(table.running(), find_agent("rule_based").act(table.views(table.running()), rng))
    return table


def playing(hand: str, starter: str = "AH", discarded: str = "8C 9D", **given: Any) -> Any:
    """Return the view of pone to play."""
    return pegging_view(hand, starter=starter, discarded=discarded, dealer=False, **given)[0]


def plays(view: Any) -> str:
    """Return the card the expert plays, as text."""
    return format_card(choose(find_agent("expert"), view))


# --- holdings ------------------------------------------------------------------------------------


def test_holdings_are_numbered_without_gaps_and_know_their_cards() -> None:
    rows = holdings()
    assert rows.shape[0] == HOLDINGS == len(NUMBERS) == 1 + 13 + 91 + 455 + 1820
    for held, n in NUMBERS.items():
        row = rows[n]
        assert FIRST[len(held)] <= n < FIRST[len(held) + 1]
        assert number(int(row[COUNTED])) == n
        assert row[LOWEST] == (min(min(r + 1, 10) for r in held) if held else EMPTY)
        listed = [int(row[LISTED]) >> (4 * k) & 15 for k in range(row[DISTINCT])]
        assert listed == sorted(set(held))
        for r in listed:
            rest = list(held)
            rest.remove(r)
            assert row[r] == NUMBERS[tuple(rest)]


# --- the course of the play ----------------------------------------------------------------------


@every_game
def test_h4_h5_h6_h7_f4_f5_the_course_is_the_engines(game: str) -> None:
    """Random play: the same count, turn, line, cards left, go and points after every card.

    Started near the target, so that games end in the play too (C5).
    """
    lanes = 10 if SLOW else 200
    table = expert_at_the_table(game, "pegging", lanes, seed=31)
    rng = np.random.default_rng(32)
    target = PRESETS[game].target
    states = table.states
    states["scores"] = target - rng.integers(1, 9, size=(lanes, 2))
    positions = np.zeros(lanes, dtype=POSITION)
    for p, state in zip(positions, states, strict=True):
        begin_play(p, PRESETS[game].dealt - 2)
        p["needs"] = target - state["scores"]
    single = int(PRESETS[game].single_count)
    out = 0
    while len(running := table.running()):
        cards = RandomAgent().act(table.views(running), rng)
        seats = states["to_move"][running].copy()
        table.step(running, cards)
        for lane, card, seat in zip(running, cards, seats, strict=True):
            p, state = positions[lane], states[lane]
            lowest = [
                min((scoring.value(int(c)) for c in held_cards(state, s)), default=EMPTY) for s in (seat, 1 - seat)
            ]
            put(p, seat, int(card) >> 2)
            turn = next_turn(p, single, *lowest)
            assert p["needs"].clip(min=0).tolist() == (target - state["scores"]).tolist()
            assert (turn == NONE) == bool(state["over"])
            out += state["winner"] != NONE
            if turn != NONE:
                line = [int(c) >> 2 for c in state["pile"][state["pile_from"] : state["pile_n"]]]
                assert turn == state["to_move"]
                assert (p["count"], p["n"], p["go"]) == (state["count"], len(line), state["go"])
                assert p["sequence"] == sum(r << 4 * i for i, r in enumerate(reversed(line)))
                assert p["left"].tolist() == [len(held_cards(state, s)) for s in range(2)]
                for s in range(2):
                    held = [scoring.value(c) for c in held_cards(state, s)]
                    assert p["least"][s] <= min(held, default=EMPTY)
    assert out > 0


def held_cards(state: Any, seat: int) -> list[int]:
    """Return the cards a seat still holds."""
    dealt = state["dealt"][HAND * seat : HAND * (seat + 1)]
    return [int(c) for i, c in enumerate(dealt) if int(state["held"][seat]) >> i & 1]


# --- belief, search and judgement against the reference ------------------------------------------


def standing_of(view: Any, is_dealer: int, count: int, needs: tuple[int, int]) -> float:
    """Return a role's standing, by the points of its hand and the needs of pone and the dealer."""
    dealt = int(view["dealt"])
    judged, outcomes = win_table(dealt, 121, GAME), deal_points.load_outcomes(dealt)
    other = outcomes.pone_hand if is_dealer else outcomes.dealer_hand
    total = 0.0
    for points, chance in enumerate(other):
        pone, dealer = (points, count) if is_dealer else (count, points)
        if pone >= needs[0] or dealer >= needs[1]:
            total += chance * ((pone >= needs[0]) != is_dealer)
            continue
        left = needs[0] - pone, needs[1] - dealer
        total += chance * sum(p * judged[is_dealer, left[0], max(0, left[1] - c)] for c, p in enumerate(outcomes.crib))
    return total


def reference_of(view: Any, needs: tuple[int, int]) -> Pegging:
    """Return the slow expert for a view: its tables, and the value of an end by direct counting.

    ``needs``: the points that this seat and the other needed before the lead.
    """
    tables, kept, suited = read_tables(int(view["dealt"]))
    mine_deals = bool(view["dealer"] == 0)
    other = 0 if mine_deals else 1
    judged = win_table(int(view["dealt"]), int(view["target"]), int(view["episode"]))
    pile = [int(c) for c in view["pile"][: view["pile_n"]]]
    own = [int(c) for c in view["hand"][: view["hand_n"]]]
    own += [c for i, c in enumerate(pile) if int(view["pile_seats"]) >> 2 * i & 1 == 0]
    starter = int(view["starter"])
    game = "hoyle" if view["dealt"] == 6 else "five_card"
    own_points = scoring.score_show(own, starter, False, game)

    @cache
    def crib() -> list[float]:
        return crib_probabilities(view, game)

    def value(end: Position, whole: tuple[int, ...]) -> float:
        needs = [max(n, 0) for n in end.needs]
        by_role = needs[::-1] if mine_deals else needs  # pone's, the dealer's
        of_ranks = [4 * r for r in whole] + [starter & ~3]
        ranks = scoring.fifteens(of_ranks) + scoring.pairs(of_ranks) + scoring.runs(of_ranks)

        def by_counts(theirs: int) -> float:
            counts = (theirs, own_points) if mine_deals else (own_points, theirs)
            if view["episode"] == PEGGING_ONLY:
                counts = (0, 0)
            if 0 in by_role:
                return float(judged[int(mine_deals), by_role[0], by_role[1]])
            pone = by_role[0] - counts[0]
            if pone <= 0:
                return float(judged[int(mine_deals), 0, by_role[1]])
            dealer = by_role[1] - counts[1]
            if dealer <= 0:
                return float(judged[int(mine_deals), pone, 0])
            if view["episode"] == PEGGING_ONLY:
                return float(judged[int(mine_deals), pone, dealer])
            return float(sum(p * judged[int(mine_deals), pone, max(0, dealer - c)] for c, p in enumerate(crib())))

        flush, nob = in_suits(view, whole)
        odds = suited[other] * flush
        flush = odds / (1 - flush + odds)
        return sum(
            (flush if in_one else 1 - flush)
            * (nob if jack else 1 - nob)
            * by_counts(ranks + int(view["flush_size"]) * in_one + jack)
            for in_one in range(2)
            for jack in range(2)
        )

    if view["episode"] != GAME or max(needs) > endgame.REACH:
        return Pegging(tables[: belief.SIZE], kept[other], belief.TEMPERATURE, belief.FLOOR, belief.UNLIKELY, value)

    @cache
    def standing(seat: int, whole: tuple[int, ...], mine: int, theirs: int) -> tuple[float, Any]:
        of_ranks = [4 * r for r in whole] + [starter & ~3]
        count = (
            own_points
            if seat == ME
            else (scoring.fifteens(of_ranks) + scoring.pairs(of_ranks) + scoring.runs(of_ranks))
        )
        is_dealer = int(mine_deals == (seat == ME))
        pone_first = (theirs, mine) if is_dealer else (mine, theirs)
        found = float(np.float32(standing_of(view, is_dealer, count, pone_first)))
        classes = 5 * endgame.CLASS[mine] + endgame.CLASS[theirs]
        key = 3 * classes + int(found > 0.25) + int(found > 0.75)
        at = belief.ENDGAME + belief.SIZE * key
        return found, tables[at : at + belief.SIZE]

    def lead(position: Position, rank: int) -> float:
        """Read the share of a rank among the leads of the other seat's hand."""
        whole = position.whole[THEM]
        mine, theirs = position.needs[THEM], position.needs[ME]
        found, _ = standing(THEM, whole, mine, theirs)
        key = 3 * (5 * endgame.CLASS[mine] + endgame.CLASS[theirs])
        key += int(found > 0.25) + int(found > 0.75)
        row = NUMBERS[whole] - min(n for held, n in NUMBERS.items() if len(held) == len(whole))
        share = leads[game_number, key, row, sorted(set(whole)).index(rank)]
        return float(np.float32(share / 255.0))

    leads = load(ENDGAME_BELIEF)["leads"]
    game_number = DEALT.index(int(view["dealt"]))
    by_points = Pegging(tables[: belief.SIZE], None, belief.ENDGAME_POINTS, 0.0, belief.UNLIKELY, value)
    before = [min(30, n) for n in needs]
    if starter >> 2 == 10:  # heels came after the discards
        of_dealer = ME if mine_deals else THEM
        before[of_dealer] = min(30, needs[of_dealer] + 2)
    row = 2 + 25 * other + 5 * endgame.CLASS[before[1]] + endgame.CLASS[before[0]]
    return Pegging(
        tables, kept[row], belief.ENDGAME_TEMPERATURE, belief.FLOOR, belief.UNLIKELY, value, standing, by_points, lead
    )


def unseen_ids(view: Any) -> list[int]:
    """Return the cards the seat has not seen."""
    seen = {int(c) for field in ("hand", "discarded", "pile") for c in view[field]}
    return [c for c in range(52) if c not in seen and c != view["starter"]]


@cache
def draws(ranks: tuple[int, ...], unseen: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return every set of unseen cards that has these ranks."""
    by_rank = [combinations([c for c in unseen if c >> 2 == r], n) for r, n in Counter(ranks).items()]
    return [tuple(chain.from_iterable(cards)) for cards in product(*by_rank)]


def in_suits(view: Any, whole: tuple[int, ...]) -> tuple[float, float]:
    """Return the probabilities that the other's hand is of one suit and that it holds nobs.

    Its unplayed ranks may be any set of unseen cards, all sets with equal probability.
    """
    pile = enumerate(view["pile"][: view["pile_n"]])
    played = [int(c) for i, c in pile if int(view["pile_seats"]) >> 2 * i & 1]
    left = tuple((Counter(whole) - Counter(c >> 2 for c in played)).elements())
    hands = [(*played, *drawn) for drawn in draws(left, tuple(unseen_ids(view)))]
    his_nob = 40 + int(view["starter"] & 3)
    one_suit = [len({c & 3 for c in hand}) == 1 for hand in hands]
    return sum(one_suit) / len(hands), sum(his_nob in hand for hand in hands) / len(hands)


def crib_probabilities(view: Any, game: str) -> list[float]:
    """Return the probability of each crib score, by the other seat's discard rates."""
    discard_rate, excess = deal_points.discard_rates(int(view["dealt"]))
    dealer = int(view["dealer"] == 0)
    discarded = sorted(int(c) for c in view["discarded"])
    probabilities = np.zeros(COUNT_SIZE)
    for x, y in combinations(unseen_ids(view), 2):
        points = scoring.score_show([*discarded, x, y], int(view["starter"]), True, game)
        probabilities[points] += discard_rate[1 - dealer, cell(x, y)]
    probabilities /= probabilities.sum()
    beyond = excess[dealer, cell(*discarded)]
    assert -1 <= beyond <= 1
    moved = abs(beyond) * probabilities
    moved[0 if beyond < 0 else -1] = 0
    return [float(c) for c in probabilities - moved + np.roll(moved, int(np.sign(beyond)))]


def unseen_of(view: Any) -> Counter[int]:
    """Return how many cards of each rank the seat has not seen."""
    seen = [int(c) for field in ("hand", "discarded", "pile") for c in view[field] if c != NONE]
    seen.append(int(view["starter"]))
    return Counter({r: 4 - sum(c >> 2 == r for c in seen) for r in range(13)})


def slow_belief(view: Any) -> tuple[Pegging, list[tuple[float, Position]], list[int]]:
    """Return the slow expert, its hypotheses with their weights, and the ranks to choose from."""
    slow = reference_of(view, (endgame.REACH + 1, endgame.REACH + 1))
    pile = [int(c) >> 2 for c in view["pile"][: view["pile_n"]]]
    played = [(ME if int(view["pile_seats"]) >> 2 * i & 1 == 0 else THEM, r) for i, r in enumerate(pile)]
    hand = [int(c) >> 2 for c in view["hand"][: view["hand_n"]]]
    whole = tuple(sorted(hand + [r for seat, r in played if seat == ME]))
    lead = THEM if view["dealer"] == 0 else ME
    nobody_out = (1 << 20, 1 << 20)
    start = Position(bool(view["single_count"]), (whole, ()), nobody_out, turn=lead)
    needs = tuple(int(view["target"] - s) for s in view["scores"])
    unseen, left = unseen_of(view), int(view["held_n"][1])
    anyone = next(position for _, position in slow.belief(start, played, unseen, left))
    before = needs[ME] + (1 << 20) - anyone.needs[ME], needs[THEM] + (1 << 20) - anyone.needs[THEM]
    slow, start = reference_of(view, before), replace(start, needs=before)
    hypotheses = [
        (weight, replace(position, needs=needs)) for weight, position in slow.belief(start, played, unseen, left)
    ]
    legal = sorted({r for i, r in enumerate(hand) if int(view["legal"]) >> i & 1})
    return slow, hypotheses, legal


def slow_findings(view: Any) -> dict[int, tuple[float, ...]]:
    """Return the reference's values for each rank that may be played."""
    slow, hypotheses, legal = slow_belief(view)
    pile = [int(c) >> 2 for c in view["pile"][: view["pile_n"]]]
    theirs = tuple(r for i, r in enumerate(pile) if int(view["pile_seats"]) >> 2 * i & 1)
    return {r: slow.findings(hypotheses, r, theirs) for r in legal}


@pytest.mark.parametrize(
    ("game", "episode"), [("hoyle", "deal"), ("hoyle", "game"), ("five_card", "game"), ("five_card", "pegging")]
)
def test_pegging_values_agree_with_the_reference(game: str, episode: str) -> None:
    """Belief, replies, playing out, counting and judging, wherever random play leads.

    With two cards or fewer in the other's hand no hypothesis is left out, and in a game scores are
    such that either seat may go out in the play or in the count.
    """
    table = expert_at_the_table(game, episode, 2, seed=41)
    rng = np.random.default_rng(42)
    if episode != "deal":
        table.states["scores"] = PRESETS[game].target - rng.integers(1, 30, (len(table.states), 2))
    compared = 0
    while len(lanes := table.running()[table.states["phase"][table.running()] == PEGGING]):
        views = table.views(lanes)
        found = findings(views)
        for view, cards in zip(views, found, strict=True):
            assert np.isnan(cards[int(view["hand_n"]) :]).all()
            if view["held_n"][1] > 2:
                continue
            slow = slow_findings(view)
            for i in range(int(view["hand_n"])):
                if int(view["legal"]) >> i & 1:
                    value, now, mine, theirs = slow[int(view["hand"][i]) >> 2]
                    assert cards[i, WIN_VALUE] == pytest.approx(value, abs=1e-9)
                    assert cards[i, POINTS_NOW] == now
                    assert cards[i, MY_POINTS] == pytest.approx(mine, abs=1e-9)
                    assert cards[i, THEIR_POINTS] == pytest.approx(theirs, abs=1e-9)
                    compared += 1
                else:
                    assert np.isnan(cards[i]).all()
        table.step(lanes, RandomAgent().act(views, rng))
        if episode == "game" and (table.states["deals"] > 1).any():
            break
    assert compared > 10


# --- an agent ------------------------------------------------------------------------------------


def test_expert_plays_the_card_of_highest_value() -> None:
    lanes = 4 if SLOW else 50
    views = expert_at_the_table("hoyle", "deal", lanes, seed=73).views(np.arange(lanes))
    found = findings(views)[:, :, WIN_VALUE]
    cards = pegging.choose(views)
    best = [v["hand"][f == np.nanmax(f)].max() for v, f in zip(views, found, strict=True)]
    assert cards.tolist() == best


# --- what players are taught ---------------------------------------------------------------------


@pytest.mark.parametrize("hand", ["5C TD JS QH", "5C 6D TS QH", "4C 5D JS KH", "2C 5D 5S TH"])
def test_expert_does_not_lead_a_five(hand: str) -> None:
    """Sixteen cards of fifty-two make fifteen of it."""
    assert plays(playing(hand))[0] != "5"


def test_expert_makes_a_pair_royal() -> None:
    """Two points were pegged on our seven; the third seven pegs six."""
    assert plays(playing("7D KS 2H", pile="7C (7H)"))[0] == "7"


def test_expert_refuses_a_view_of_a_seat_that_is_not_to_move() -> None:
    game = Game("hoyle")
    game.reset(seed=1)
    waiting = np.array([game.view(1 - game.seat)])
    with pytest.raises(ValueError, match=r"expert was given view 0 of seat \d, which is not to move"):
        find_agent("expert").act(waiting, np.random.default_rng(0))


def test_expert_takes_a_winning_card() -> None:
    """At 119 the eight makes fifteen and wins; a run of three would bring more points later."""
    view = playing("8D 6S KH", pile="2C (5H)", scores=(119, 119), discarded="9C TD")
    assert plays(view) == "8D"
    found = findings(np.array([view], dtype=VIEW))[0]
    assert found[0, WIN_VALUE] == 1.0
    assert found[0, POINTS_NOW] == 2
    assert (found[1:3, WIN_VALUE] < 1.0).all()


def test_expert_leads_safely_near_the_end() -> None:
    """The ten is led; where two points win for either seat, the ace is.

    On an ace the dealer can make a pair and no fifteen.
    """
    cards = {"hand": "AH 5H 3D TC", "discarded": "6D TS", "starter": "AC"}
    assert plays(playing(**cards)) == "TC"
    assert plays(playing(**cards, scores=(119, 119))) == "AH"


# --- strength ------------------------------------------------------------------------------------


@pytest.mark.slow
@every_game
def test_expert_pegs_more_than_rule_based(game: str) -> None:
    """With the same discards: the interval of more points per deal lies above ``least``."""
    least = {"hoyle": 0.2, "five_card": 0.02}[game]
    pairs = play_pairs(
        PRESETS[game], "pegging", PhasedAgent("rule_based", "expert"), find_agent("rule_based"), 3000, seed=81
    )
    made = pairs.points.sum(axis=3)
    more = estimate((made[:, :, 0] - made[:, :, 1]).mean(axis=1))
    assert more.mean - more.ci95 > least


# --- the data ------------------------------------------------------------------------------------


def test_keeping_rates_are_by_the_ways_a_holding_can_be_dealt() -> None:
    """Four fives can be dealt in one way, A-2-3-4 in 256: kept as often, 256 times the rate."""
    fives, run = NUMBERS[(4, 4, 4, 4)], NUMBERS[(0, 1, 2, 3)]
    kept = np.array([[fives, run], [run, fives]] * 100)
    rates = keeping_rates(kept, 4)
    assert rates[:, fives] == pytest.approx(256 * rates[:, run])
    assert (rates[:, : FIRST[4]] == 0).all()


# --- the other seat's answers near the end of a game ----------------------------------------------


SEEN = ("dealt", "target", "single_count", "heels", "episode", "dealer", "starter", "pile_n", "pile_from", "pile_seats")


def first_cards(game: str, lanes: int) -> Lanes:
    """Return games in which both have discarded and some have led."""
    table = Lanes(PRESETS[game], lanes, 4, episode="game")
    agent, rng = find_agent("rule_based"), np.random.default_rng(4)
    for _ in range(4):
        table.step(table.running(), agent.act(table.views(table.running()), rng))
    some = table.running()[::2].copy()
    table.step(some, agent.act(table.views(some), rng))
    return table


@pytest.mark.parametrize("game", ["hoyle", "five_card"])
def test_see_from_there_is_the_other_seats_view(game: str) -> None:
    """The fields that belief reads equal the engine's, except its own cards."""
    table = first_cards(game, 40)
    lanes = table.running()
    views = table.views(lanes)
    seen, heard = np.zeros(len(lanes), dtype=VIEW), np.zeros(1, dtype=POSITION)
    cards = find_agent("greedy").act(views, np.random.default_rng(2))
    before = views.copy()
    table.step(lanes, cards)
    answered = 0
    for v, card, mirrored, lane in zip(before, cards, seen, lanes, strict=True):
        if lane not in table.running():
            continue
        (there,) = table.views(np.array([lane]))
        if there["phase"] != PEGGING or there["hand_n"] + (v["hand_n"] - 1) == 0:
            continue
        heard[0]["needs"][[ME, THEM]] = v["target"] - there["scores"][[1, 0]]
        pegging.see_from_there(v, card >> 2, heard[0], mirrored)
        for name in SEEN:
            assert mirrored[name] == there[name], name
        assert (mirrored["scores"] == there["scores"]).all()
        assert mirrored["held_n"][THEM] == there["held_n"][THEM] == v["hand_n"] - 1
        n = there["pile_n"]
        assert (mirrored["pile"][:n] >> 2 == there["pile"][:n] >> 2).all()
        assert mirrored["hand_n"] == mirrored["discarded_n"] == 0
        answered += 1
    assert answered > 30


@pytest.mark.skipif(SLOW, reason="searches thousands of replies")
@pytest.mark.parametrize(
    ("hand", "starter", "discarded", "scores", "good"),
    [
        # Played out over 1,500 deals each, the 4 wins 32 %, and the ten 21 %.
        ("QD TC 3C 4S", "6H", "KC TD", (120, 120), "4S"),
        ("5D 3D KD 2D", "7C", "AD JD", (119, 118), "2D"),  # 86 % and 67 for the five
        ("KH JH 4D KS", "AC", "QC QS", (119, 118), "JH 4D"),  # 43 and 39 %, 35 for the kings
    ],
)
def test_expert_leads_a_card_whose_answer_is_good(
    hand: str, starter: str, discarded: str, scores: Any, good: str
) -> None:
    view = pegging_view(hand, discarded=discarded, starter=starter, dealer=False, scores=scores)[0]
    assert format_card(choose(find_agent("expert"), view)) in good.split()


@pytest.mark.parametrize(
    ("needs", "pile_n", "searched"),
    [
        ((pegging.NEAR, 1), 0, True),
        ((1, pegging.NEAR), pegging.LAST, True),
        ((pegging.NEAR + 1, 1), 0, False),
        ((1, pegging.NEAR + 1), 0, False),
        ((1, 1), pegging.LAST + 1, False),
    ],
)
def test_searches_replies_near_the_end_to_the_first_cards(needs: tuple[int, int], pile_n: int, searched: bool) -> None:
    view, scratch = np.zeros(1, dtype=VIEW), np.zeros(1, dtype=SCRATCH)
    view["target"], view["pile_n"] = 121, pile_n
    view["scores"][:] = 121 - np.array(needs)
    assert not pegging.searches_replies(view[0], scratch[0])
    scratch["endgame"] = True
    assert bool(pegging.searches_replies(view[0], scratch[0])) is searched
