"""AIVAT: every term has mean zero, by slow enumeration; adjusted means agree with plain ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from crib_agents import GreedyAgent, RandomAgent, RuleBasedAgent
from crib_training.evaluation.aivat import (
    DISCARD,
    KINDS,
    REFERENCE,
    STARTER,
    TERMS,
    DealLog,
    Deals,
    Reference,
    ReferenceOutcomes,
    shipped_outcomes,
    usual_reference,
    win_table,
)
from crib_training.evaluation.duplicate import Pairs, estimate, play_pairs
from crib_training.evaluation.figures import adjusted_shares, figures, points_more

from crib_env.batch import GameBatch
from crib_env.engine.two_hand import HAND
from crib_env.game import Game
from crib_env.policy import find_agent
from crib_env.rules import PRESETS, Rules, TwoHandRules
from reference.scoring import score_show
from research.aivat import plain_and_correction, reduction
from research.tables.reference_deals import measure

Array = npt.NDArray[Any]

HOYLE, FIVE = TwoHandRules.preset("hoyle"), TwoHandRules.preset("five_card")
both_games = pytest.mark.parametrize("rules", [HOYLE, FIVE], ids=lambda rules: rules.name)
JACK = 10


def made_of(deals: int, **fields: Any) -> Deals:
    """Return deals at 0-0 with seat 0 as pone by default."""
    given = {"lane": np.arange(deals), "dealer": np.ones(deals), "scores": np.zeros((deals, 2)), **fields}
    return Deals(
        **{
            name: np.array(np.broadcast_to(values, (deals, *np.shape(values)[1:])), dtype=np.int64, order="C")
            for name, values in given.items()
        }
    )


def some_deals(rules: TwoHandRules, deals: int, seed: int) -> Deals:
    """Return deals whose discards are drawn: two slots of each seat."""
    rng = np.random.default_rng(seed)
    n = rules.dealt
    dealt = np.zeros((deals, 2 * HAND), dtype=np.int64)
    starter = np.zeros(deals, dtype=np.int64)
    for i in range(deals):
        deck = rng.permutation(52)
        dealt[i, :n], dealt[i, HAND : HAND + n], starter[i] = deck[:n], deck[n : 2 * n], deck[-1]
    discarded = [[sum(1 << s for s in rng.choice(n, 2, replace=False)) for _ in range(2)] for _ in range(deals)]
    return made_of(deals, dealt=dealt, starter=starter, discarded=discarded)


def hand_of(rules: TwoHandRules, deals: Deals, i: int, seat: int) -> list[int]:
    return [int(card) for card in deals.dealt[i, HAND * seat : HAND * seat + rules.dealt]]


def shows(rules: TwoHandRules, deals: Deals, i: int, discarded: Any, starter: int) -> list[int]:
    """Return the points of pone's hand, the dealer's hand and the crib, counted slowly."""
    hands: list[list[int]] = [[], []]
    crib = []
    for seat in range(2):
        for slot, card in enumerate(hand_of(rules, deals, i, seat)):
            (crib if int(discarded[seat]) >> slot & 1 else hands[seat]).append(card)
    counted = [score_show(hand, starter, False, rules.name) for hand in hands]
    return [*counted, score_show(crib, starter, True, rules.name)]


def slow_reference(rules: TwoHandRules, deals: Deals, i: int) -> tuple[list[int], list[tuple[int, int]]]:
    """Return `rule_based`'s discards in a deal, and the seat and points of each card played."""
    agent, rng = RuleBasedAgent(), np.random.default_rng(0)
    dealt = [
        card for pair in zip(hand_of(rules, deals, i, 0), hand_of(rules, deals, i, 1), strict=True) for card in pair
    ]
    rest = [card for card in range(52) if card not in dealt]
    game = Game(replace(rules, target=200, for_last=0), episode="deal")
    game.reset(decks=np.array([dealt + rest]), dealer=1)
    pegs = []
    discarded = [0, 0]
    while not game.over:
        view = np.array([game.view(game.seat)])
        playing = int(view["phase"][0]) == 1
        view["starter"] = -1
        seat = game.seat
        discarded = [int(mask) for mask in game.states["discarded"][0]] if playing else discarded
        events = game.step(int(agent.act(view, rng)[0]))
        if playing:
            made = sum(e.points for e in events if e.reason not in ("hand", "crib", "heels"))
            pegs.append((seat, made))
    return discarded, pegs


def starters_of(rules: TwoHandRules, deals: Deals, i: int) -> list[int]:
    dealt = hand_of(rules, deals, i, 0) + hand_of(rules, deals, i, 1)
    return [card for card in range(52) if card not in dealt]


def with_every_starter(rules: TwoHandRules, deals: Deals, i: int) -> Deals:
    cards = starters_of(rules, deals, i)
    one = {name: getattr(deals, name)[i : i + 1] for name in ("dealt", "discarded", "scores")}
    return made_of(len(cards), starter=np.array(cards), **one)


@both_games
def test_aivat_starter_term_is_the_count_less_its_mean(rules: TwoHandRules) -> None:
    reference = usual_reference(rules)
    assert reference is not None
    deals = some_deals(rules, 6, seed=1)
    deals.scores[3:] = rules.target - 9, rules.target - 14  # where the game may end in the deal
    for i in range(6):
        every = with_every_starter(rules, deals, i)
        points, probabilities = reference.terms(rules, every, np.random.SeedSequence(0))
        counted = np.array([shows(rules, deals, i, deals.discarded[i], c) for c in every.starter])
        heels = np.where(every.starter // 4 == JACK, 2, 0)
        slow = np.zeros((len(counted), KINDS))
        slow[:, 1], slow[:, 4], slow[:, 5], slow[:, 3] = *counted.T, heels
        assert points[:, STARTER] == pytest.approx(slow - slow.mean(axis=0))
        assert abs(probabilities[:, STARTER].mean()) < 1e-12
        assert np.abs(probabilities[:, STARTER]).max() > 0.001


def slow_outcomes(rules: TwoHandRules, deals: Deals) -> tuple[ReferenceOutcomes, Array]:
    """Return the outcomes of deals, counted slowly, and each deal's mean points of each kind."""
    ends, reached = np.zeros((70, 100)), np.zeros((70, 100))
    means = np.zeros((len(deals.lane), KINDS))
    counted = 0
    for i in range(len(deals.lane)):
        discarded, pegs = slow_reference(rules, deals, i)
        starters = starters_of(rules, deals, i)
        for starter in starters:
            pone_hand, dealer_hand, crib = shows(rules, deals, i, discarded, starter)
            heels = 2 if starter // 4 == JACK else 0
            made = [0, heels]
            for seat, points in [*pegs, (0, pone_hand)]:
                if seat == 0:
                    for hole in range(made[0] + 1, made[0] + points + 1):
                        reached[hole, made[1]] += 1
                made[seat] += points
            made[1] += dealer_hand + crib
            ends[made[0], made[1]] += 1
            play = [sum(p for seat, p in pegs if seat == who) for who in range(2)]
            means[i] += [play[0], pone_hand, 0, play[1] + heels, dealer_hand, crib]
            counted += 1
        means[i] /= len(starters)
    return ReferenceOutcomes(counted, means.mean(axis=0), ends, reached), means


@both_games
def test_aivat_reference_term_has_mean_zero_over_enumerated_deals(rules: TwoHandRules) -> None:
    """If only ten deals exist, all of them counted slowly: at any score."""
    deals = some_deals(rules, 10, seed=2)
    outcomes, means = slow_outcomes(rules, deals)
    reference = Reference(RuleBasedAgent(), outcomes, redraws=0)
    rng = np.random.default_rng(3)
    far = rules.target, rules.target
    largest = []
    for needs in (far, (1, 1), (5, 9), (12, 3), (20, 21), *rng.integers(1, 40, (5, 2)).tolist()):
        deals.scores[:] = rules.target - np.array(needs)
        points, probabilities = reference.terms(rules, deals, np.random.SeedSequence(0))
        assert points[:, REFERENCE] == pytest.approx(means - outcomes.points)
        assert abs(probabilities[:, REFERENCE].mean()) < 1e-12
        largest.append(np.abs(probabilities[:, REFERENCE]).max())
    assert np.mean(np.array(largest) > 0.001) > 0.5


def test_aivat_probabilities_agree_with_reference_games() -> None:
    agent, games = RuleBasedAgent(), 2_000
    outcomes = shipped_outcomes(HOYLE)
    wins = win_table(outcomes, HOYLE.target)
    for needs in ((121, 121), (31, 26), (8, 10)):
        play = GameBatch(HOYLE, games, seed=5)
        play.reset(dealer=1, scores=(HOYLE.target - needs[0], HOYLE.target - needs[1]))
        for _ in play.play(agent, np.random.default_rng(0)):
            pass
        won = estimate(play.states["winner"] == 0)
        assert abs(won.mean - wins[needs]) < 2 * won.ci95


def row(deals: Deals, i: int) -> Deals:
    return Deals(**{name: getattr(deals, name)[i : i + 1] for name in Deals.__annotations__})


@both_games
def test_aivat_discard_term_has_mean_zero_over_the_other_hand(rules: TwoHandRules) -> None:
    """One hand, discarded badly, against hands drawn by another generator."""
    reference = Reference(RuleBasedAgent(), shipped_outcomes(rules), redraws=2)
    one = some_deals(rules, 1, seed=7)
    agent = RuleBasedAgent()
    rng = np.random.default_rng(5)
    n, hands = rules.dealt, 1000
    rest = [card for card in range(52) if card not in hand_of(rules, one, 0, 0)]
    dealt = np.repeat(one.dealt, hands, axis=0)
    starter = np.zeros(hands, dtype=np.int64)
    for i in range(hands):
        drawn = rng.permutation(rest)
        dealt[i, HAND : HAND + n], starter[i] = drawn[:n], drawn[n]
    discarded = np.repeat(one.discarded, hands, axis=0)
    # The dealer discards as the reference does, so that the term is pone's alone.
    games = GameBatch(rules, hands, episode="deal", seed=1)
    games.reset(dealer=1)
    games.states["dealt"] = dealt
    for _ in range(4):
        lanes = games.running()
        games.step(lanes, agent.act(games.views(lanes), rng))
    discarded[:, 1] = games.states["discarded"][:, 1]
    deals = made_of(
        hands,
        dealt=dealt,
        starter=starter,
        discarded=discarded,
        scores=np.array([[rules.target - 30, rules.target - 33]]),
    )
    # The same hands meet again, so the deals draw different redraws.
    found_one_by_one = [
        reference.terms(rules, row(deals, i), seed_seq)
        for i, seed_seq in enumerate(np.random.SeedSequence(6).spawn(hands))
    ]
    points, probabilities = map(np.concatenate, zip(*found_one_by_one, strict=True))
    more = points[:, DISCARD, :3].sum(axis=1) - points[:, DISCARD, 3:].sum(axis=1)
    for term in (more, probabilities[:, DISCARD]):
        found = estimate(term)
        assert abs(found.mean) < 2 * found.ci95
        assert term.std() > 0.01


def test_aivat_discard_term_is_zero_for_the_references_discards() -> None:
    reference = usual_reference(HOYLE)
    assert reference is not None
    agent = RuleBasedAgent()
    pairs = play_pairs(HOYLE, "deal", agent, agent, 50, 1, reference=reference)
    assert pairs.points_correction is not None
    assert not pairs.points_correction[:, :, DISCARD].any()
    assert pairs.points_correction[:, :, REFERENCE].any()
    # The same hands in the same roles: both agents get the same correction.
    first, second = (pairs.points_correction[:, 0, REFERENCE], pairs.points_correction[:, 1, REFERENCE])
    assert (first == second[:, ::-1]).all()


def test_aivat_luck_cancels_between_equal_agents() -> None:
    """The redrawn hands are the same too: duplicate deals of one agent do not differ."""
    agent = GreedyAgent()
    for episode in ("deal", "game"):
        pairs = play_pairs(HOYLE, episode, agent, agent, 40, 1, reference=usual_reference(HOYLE))
        assert pairs.won_correction is not None
        assert pairs.won_correction[:, :, DISCARD].any()
        assert pairs.won_correction.sum(axis=1) == pytest.approx(0, abs=1e-12)


# ---------------------------------------------------------------- deals that were played


@pytest.mark.parametrize("rules", [HOYLE, FIVE, replace(HOYLE, heels=5)])
def test_deal_log_records_the_starting_score(rules: TwoHandRules) -> None:
    games = GameBatch(rules, 50, seed=3)
    games.reset()
    log, agent = DealLog(), RuleBasedAgent()
    began: dict[tuple[int, int], Any] = {}
    running = games.running()
    while len(running):
        for lane in running:
            s = games.states[lane]
            key = int(lane), int(s["deals"])
            began.setdefault(key, (tuple(s["scores"]), int(s["dealer"]), tuple(s["dealt"])))
        games.ask(agent, running, np.random.default_rng(0))
        log.note(games, running)
        running = games.running(running)
    deals = log.deals()
    assert len(deals.lane) == len(began)
    assert (deals.starter // 4 == JACK).any()
    number = np.zeros(50, dtype=np.int64)
    for i, lane in enumerate(deals.lane):
        number[lane] += 1
        scores, dealer, dealt = began[int(lane), int(number[lane])]
        assert tuple(deals.scores[i]) == scores
        assert (deals.dealer[i], tuple(deals.dealt[i])) == (dealer, dealt)
        assert [mask.bit_count() for mask in map(int, deals.discarded[i])] == [2, 2]


# ---------------------------------------------------------------- results


def agree(pairs: Pairs, episode: str, terms: int = len(TERMS)) -> tuple[float, float]:
    """Return the adjusted mean's difference in standard errors, and the factor of pairs saved."""
    plain, luck = plain_and_correction(episode, pairs)
    found = reduction(plain, luck[..., :terms].sum(axis=-1), pairs.first_dealt)
    return found.apart, found.fewer


@both_games
def test_aivat_adjusted_mean_agrees_and_needs_fewer_pairs(rules: TwoHandRules) -> None:
    agents = RuleBasedAgent(), GreedyAgent()
    for episode, least in (("game", 1.5), ("deal", 1.2)):
        pairs = play_pairs(rules, episode, *agents, 200, 3, reference=usual_reference(rules))
        apart, fewer = agree(pairs, episode)
        assert abs(apart) < 3
        assert fewer > least


def test_aivat_narrows_the_intervals_of_hands_and_cribs() -> None:
    """Pegging intervals stay: from its cards an agent pegs other points than the reference."""
    reference = usual_reference(HOYLE)
    agents = find_agent("expert"), GreedyAgent()
    deals = play_pairs(HOYLE, "deal", *agents, 150, 5, reference=reference)
    assert deals.points_correction is not None
    plain = points_more(deals)
    adjusted = points_more(deals, deals.points - deals.points_correction.sum(axis=2))
    ratio = adjusted.var(axis=0)[:, :2] / plain.var(axis=0)[:, :2]
    assert (ratio[:, 0] < 1.1).all()
    assert (ratio[:, 1] < 0.5).all()
    assert adjusted[:, 1, 2].var() < 0.6 * plain[:, 1, 2].var()  # pone has no crib
    found = figures(HOYLE, ("a", "b"), play_pairs(HOYLE, "game", *agents, 4, 5, reference=reference), deals)
    margins = [one.sum(axis=(1, 2)).var() for one in (plain, adjusted)]
    assert found["adjusted"]["times_fewer_pairs"]["margin_per_deal"] == pytest.approx(margins[0] / margins[1])


@pytest.mark.slow
def test_aivat_with_a_bad_reference_stays_unbiased() -> None:
    """The reference discards and plays at random, so its points say little about the cards."""
    bad = RandomAgent()
    reference = Reference(bad, measure(HOYLE, bad, 8000, np.random.SeedSequence(1)), redraws=2)
    agents = RuleBasedAgent(), GreedyAgent()
    for episode in ("game", "deal"):
        pairs = play_pairs(HOYLE, episode, *agents, 400, 4, reference=reference)
        good = play_pairs(HOYLE, episode, *agents, 400, 4, reference=usual_reference(HOYLE))
        assert (good.won == pairs.won).all()
        apart, fewer = agree(pairs, episode)
        assert abs(apart) < 3
        assert fewer < agree(good, episode)[1]


def test_aivat_unmeasured_rules_have_no_reference_term() -> None:
    flushes = replace(HOYLE, name="house", flush_size=5)
    assert shipped_outcomes(replace(HOYLE, name="short", target=61)).exact
    for rules, known in ((HOYLE, True), (flushes, False)):
        pairs = play_pairs(rules, "game", RuleBasedAgent(), GreedyAgent(), 20, 1, reference=usual_reference(rules))
        assert pairs.won_correction is not None
        assert pairs.won_correction[..., REFERENCE].any() == known
        assert pairs.won_correction[..., STARTER].any()


def test_aivat_without_duplicates_each_game_has_other_deals_and_dealers_alternate() -> None:
    agents = RuleBasedAgent(), RuleBasedAgent()
    same = play_pairs(HOYLE, "deal", *agents, 100, 1)
    other = play_pairs(HOYLE, "deal", *agents, 100, 1, duplicate=False)
    assert (same.points[:, 0, 0] == same.points[:, 1, 1]).all()
    assert (other.points[:, 0, 0] != other.points[:, 1, 1]).any(axis=1).mean() > 0.9
    assert (other.first_dealt == [True, False]).all()


def test_aivat_figures_have_both_means_or_none() -> None:
    agents = RuleBasedAgent(), GreedyAgent()
    names = ("a", "b")

    def played(rules: Rules, reference: Reference | None) -> dict[str, Any]:
        games, deals = (play_pairs(rules, episode, *agents, 60, 2, reference=reference) for episode in ("game", "deal"))
        found = figures(rules, names, games, deals)
        if reference is not None:
            mean = float(adjusted_shares(games).mean())
            assert found["adjusted"]["won"]["mean"] == pytest.approx(mean)
            assert abs(mean - games.shares_won.mean()) < 0.2
        return found

    plain, both = played(HOYLE, None), played(HOYLE, usual_reference(HOYLE))
    assert plain["adjusted"] is None
    for figure, value in plain.items():
        assert figure == "adjusted" or both[figure] == value
    for found in (both, both["adjusted"]):
        by_role = sum(kind["mean"] for role in found["more_per_deal"].values() for kind in role.values())
        assert found["margin_per_deal"]["mean"] == pytest.approx(by_role / 2)
    assert usual_reference(PRESETS["table_top"]) is None
