"""The rollout policy of the pegging expert, by self-play, and how players choose a card.

`python -m research.tables rollout_policy` (about three minutes on one core): for each two-hand game
the program draws deals, and both seats discard as `rule_based` does. This gives the rate at which a
role keeps each holding that it is dealt, and the preference for holdings of a single suit.
Both seats then peg by the rollout policy, with a temperature so that every card occurs. This gives
the points after each card. The tables learn their mean by stochastic gradient descent, in passes of
falling step.

`python -m research.tables hands_kept` (some five CPU minutes): `expert`, `learned` and `rule_based`
discard from drawn hands. The table holds the mean of their rates of keeping each holding that they
are dealt.

`python -m research.tables choices` (some six CPU minutes): `expert`, `learned` and `rule_based`
each play games against themselves. The tables, which begin as those of the rollout policy, learn to
predict all their choices in the pegging: a softmax over the values, with the temperature of the
belief, minimises the cross entropy of the choices. A tenth is held out, which shows how well the
tables predict choices that they have not seen. The values then no longer mean points after a card.
But they predict other players far better, and `expert` rolls out with them, too. Tables of
`expert`'s choices alone gain more against `expert` and lose against `rule_based`.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
from crib_agents.data.tables import CHOICES, DEALT, HANDS_KEPT, ROLES, ROLLOUT_POLICY, load
from crib_agents.expert import belief
from crib_agents.expert.belief import SIZE, TABLES, all_shared_values, replay, softmax, write_places
from crib_agents.expert.discard import SUITS
from crib_agents.expert.pegging import SCRATCH, SCRATCH_T, UNIT
from crib_agents.knowledge import pegging
from crib_agents.rule_based import default_weights
from crib_training.exploit.queries import with_choice
from crib_training.progress import steps
from numba import float64, int64, void

from crib_env.arrays import Array
from crib_env.engine import stack
from crib_env.engine.hands.records import PEGGING
from crib_env.engine.jit import entry, kernel
from crib_env.engine.ranks import RANKS, pips
from crib_env.engine.record import NONE, TABLE_T
from crib_env.engine.rng import next_word
from crib_env.engine.show import show_table
from crib_env.engine.two_hand import VIEWS_T
from crib_env.policy import Agent
from crib_env.rules import TwoHandRules
from crib_env.settings import Count, Seed
from research.tables import dealing
from research.tables.maker import makes

DEALER = 0
PONE = 1
PLAYS = 8  # the most cards played in a deal
TEMPERATURE = 0.5  # of the softmax that self-play draws cards by, in points
WORDS_DRAWN = float(1 << 32)  # how many words the generator draws from
STEPS = (0.05, 0.03, 0.02, 0.02, 0.01, 0.01, 0.005, 0.005, 0.002, 0.002, 0.001)


@entry(void(VIEWS_T, TABLE_T, float64[::1], int64[::1], int64[:, ::1], int64[:, ::1]))
def keep_hands(views, table, weights, rng, kept, one_suit):
    """Deal, discard by `rule_based`, and write the holdings kept, dealer's and pone's.

    Shapes: kept int64[deals, 2]; one_suit int64[deals, 2].
    """
    n = views[0]["dealt"]
    for i in range(kept.shape[0]):
        dealing.deal_hands(views, rng)
        for role in range(2):
            pair = dealing.best_pair(views[role], table, weights)
            counted = 0
            suits = 0
            for j in range(n):
                card = views[role]["hand"][j]
                if card != pair >> 6 and card != pair & 63:
                    counted += 1 << (4 * (card >> 2))
                    suits |= 1 << (card & 3)
            kept[i, role] = pegging.number(counted)
            one_suit[i, role] = suits & (suits - 1) == 0


@kernel
def choose(p, seat, held, hands, weights, shared, chance, rng):
    """Draw a rank for the seat to play from a softmax over the rollout policy's values."""
    listed = hands[held, pegging.LISTED]
    n = hands[held, pegging.DISTINCT]
    if n == 1:
        return listed
    all_shared_values(p, seat, weights, shared)
    softmax(p, seat, held, 0, shared, hands, weights, TEMPERATURE, chance)
    return draw_rank(listed, n, chance, rng)


@kernel
def draw_rank(listed, n, chance, rng):
    """Draw one of ``n`` ranks by their probabilities."""
    draw = next_word(rng) / WORDS_DRAWN
    best = 0
    for k in range(n):
        draw -= chance[k]
        if draw < 0.0:
            return listed >> (4 * k) & 15
        if chance[k] > chance[best]:
            best = k
    return listed >> (4 * best) & 15  # rounding left the draw without a rank


@kernel
def next_player(p, seat, held, single, hands):
    """Peg the go or last point if ``seat`` has earned it; return the next player.

    ``held``: the holdings of both seats.
    """
    return pegging.next_turn(p, single, hands[held[seat], pegging.LOWEST], hands[held[1 - seat], pegging.LOWEST])


@entry(
    float64(
        int64[:, ::1], int64[:, ::1], float64[::1], int64[::1], int64, int64, float64,
        pegging.POSITIONS_T, int64[:, ::1], int64[:, ::1], float64[::1], float64[::1],
    )
)  # fmt: skip
def self_play(kept, hands, weights, rng, size, single, rate, positions, places, needs, shared, chance):
    """Play every deal of ``kept`` and move the tables towards the points that followed each card.

    ``kept``, int64[deals, 2], has the holdings of the dealer and of pone, of ``size`` cards;
    ``rate`` is the step for each table. Returns the mean squared error of the cards' values, each
    before its update.
    """
    p = positions[0]
    held = stack.ints(2)
    squares = 0.0
    cards = 0
    for i in range(kept.shape[0]):
        pegging.begin_play(p, size)
        held[DEALER] = kept[i, DEALER]
        held[PONE] = kept[i, PONE]
        seat = PONE
        plays = 0
        while seat != NONE:
            r = choose(p, seat, held[seat], hands, weights, shared, chance, rng)
            pegging.put(p, seat, r)
            held[seat] = hands[held[seat], r]
            write_places(p, seat, held[seat], places[plays])
            places[plays, TABLES] = seat
            needs[plays, DEALER] = p["needs"][DEALER]
            needs[plays, PONE] = p["needs"][PONE]
            plays += 1
            seat = next_player(p, seat, held, single, hands)
        for k in range(plays):
            seat = places[k, TABLES]
            other = 1 - seat
            error = float(needs[k, seat] - p["needs"][seat] - needs[k, other] + p["needs"][other])
            for t in range(TABLES):
                error -= weights[places[k, t]]
            for t in range(TABLES):
                weights[places[k, t]] += rate * error
            squares += error * error
            cards += 1
    return squares / cards


def suited_odds(kept: Array, one_suit: Array, size: int) -> Array:
    """Return the odds ratio of a single suit in kept hands against random cards, float64[2].

    Among hands whose ranks are all different; others cannot be of one suit.
    """
    can_be = pegging.holdings()[kept, pegging.DISTINCT] == size
    share = one_suit.sum(axis=0) / can_be.sum(axis=0)
    drawn = SUITS / SUITS**size
    odds: Array = share / (1 - share) / (drawn / (1 - drawn))
    return odds


def of_size(size: int) -> slice:
    """Return the numbers of the holdings of ``size`` cards."""
    return slice(int(pegging.FIRST[size]), int(pegging.FIRST[size + 1]))


def keeping_rates(kept: Array, size: int) -> Array:
    """Return each role's rate of keeping each dealt holding of ``size`` cards; the mean is 1."""
    here, ways = of_size(size), dealing.ways_dealt(size)
    rates = np.zeros((len(ROLES), pegging.HOLDINGS))
    for role in range(len(ROLES)):
        seen = np.bincount(kept[:, role], minlength=pegging.HOLDINGS)[here] + 0.5
        rates[role, here] = seen / ways * (ways.sum() / seen.sum())
    return rates


def fit_rollouts(kept: Array, rules: TwoHandRules, rng: Array) -> tuple[Array, list[float]]:
    """Return the fitted tables, float64[SIZE], and the mean squared error of each pass."""
    tables = np.zeros(SIZE)
    scratch = (
        np.zeros(1, dtype=pegging.POSITION),
        np.zeros((PLAYS, TABLES + 1), dtype=np.int64),
        np.zeros((PLAYS, 2), dtype=np.int64),
        np.zeros(RANKS),
        np.zeros(pegging.MOST),
    )
    size = rules.dealt - 2
    errors = [
        self_play(kept, pegging.holdings(), tables, rng, size, rules.single_count, step, *scratch)
        for step in steps(STEPS, f"{rules.name}, passes")
    ]
    return tables, errors


@makes(ROLLOUT_POLICY)
def rollout_policy(deals: Count = 4_000_000, seed: Seed = 2025) -> dict[str, Any]:
    """Fit the pegging expert's rollout policy by self-play.

    Args:
        deals: deals of each game.
    """
    tables, rates, odds = [], [], []
    for rules, seed_seq in dealing.both_games(seed):
        started = time.perf_counter()
        rng = dealing.generator(seed_seq)
        kept, one_suit = np.zeros((2, deals, len(ROLES)), dtype=np.int64)
        keep_hands(dealing.discard_views(rules), show_table(), default_weights(), rng, kept, one_suit)
        learned, errors = fit_rollouts(kept, rules, rng)
        tables.append(np.round(learned * UNIT).astype(np.int16))
        rates.append(keeping_rates(kept, rules.dealt - 2).astype(np.float32))
        odds.append(suited_odds(kept, one_suit, rules.dealt - 2).round(3))
        print(
            f"{rules.name}: {time.perf_counter() - started:.0f} s, mean squared error of the "
            "points to follow by pass " + " ".join(f"{error:.3f}" for error in errors)
        )
        print(f"odds of one suit, times those of cards drawn: dealer {odds[-1][DEALER]:.2f}, pone {odds[-1][PONE]:.2f}")
    kept, suited = (np.stack(found)[:, ::-1] for found in (rates, odds))
    return {"tables": np.stack(tables), "kept": kept, "suited": suited}


DEALS_AT_ONCE = 50_000


def hands_of(rules: TwoHandRules, agent: Agent, deals: int, seed: np.random.SeedSequence) -> Array:
    """Return the holdings that an agent keeps as dealer and as pone, int64[deals, 2]."""
    found = []
    title = f"hands of {agent.name}"
    for games, rng in dealing.batches(rules, deals, DEALS_AT_ONCE, seed, title, episode="deal"):
        games.reset(dealer=DEALER)
        dealing.let_discard(games, agent, rng)
        found.append(np.stack([dealing.kept_hands(games, seat) for seat in (DEALER, PONE)], axis=1))
    held: Array = np.concatenate(found) + int(pegging.FIRST[rules.dealt - 2])
    return held


@makes(HANDS_KEPT)
def hands_kept(agents: str = "expert,learned,rule_based", deals: Count = 400_000, seed: Seed = 2037) -> dict[str, Any]:
    """Measure how often each hand is kept, of the times it is dealt.

    Args:
        agents: built-in names joined by commas; `expert` discards by the present tables.
        deals: deals of each game and agent.
    """
    players, rates = dealing.players_named(agents), []
    for rules, seed_seq in dealing.both_games(seed):
        of_each = [
            keeping_rates(hands_of(rules, player, deals, one), rules.dealt - 2)
            for player, one in zip(players, seed_seq.spawn(len(players)), strict=True)
        ]
        rates.append(np.mean(of_each, axis=0)[::-1].astype(np.float32))
    return {"kept": np.stack(rates)}


INTS, FLOATS = int64[::1], float64[::1]
CHOICE_STEPS = (0.1, 0.1, 0.05, 0.05, 0.02, 0.01, 0.005)
LANES = 2000
HELD_OUT = 10  # one choice in this many is held out
DEALS_A_GAME = {6: 9, 5: 7}
NEVER = 1e-9  # the least probability in a logarithm


@entry(void(VIEWS_T, INTS, int64[:, ::1], FLOATS, float64, pegging.POSITIONS_T, SCRATCH_T, INTS, FLOATS))
def learn(views, ranks, hands, weights, rate, positions, scratch, places, found):
    """Measure how well the tables predict choices, and move the tables towards each choice.

    The views are of seats with a choice, and ``ranks`` their choices. A ``rate`` of 0 learns
    nothing. ``found`` receives the mean cross entropy of the choices, and the share of choices that
    were the likeliest.
    """
    p = positions[0]
    s = scratch[0]
    found[0] = 0.0
    found[1] = 0.0
    for i in range(views.shape[0]):
        v = views[i]
        replay(v, p, 0, s, hands, weights)
        held = pegging.number(pegging.held_ranks(v))
        all_shared_values(p, pegging.ME, weights, s["shared"])
        softmax(p, pegging.ME, held, 0, s["shared"], hands, weights, belief.TEMPERATURE, s["chance"])
        listed = hands[held, pegging.LISTED]
        likeliest = 0
        for k in range(hands[held, pegging.DISTINCT]):
            if s["chance"][k] > s["chance"][likeliest]:
                likeliest = k
            r = listed >> (4 * k) & 15
            if pips(r) <= 31 - p["count"]:
                error = (1.0 if r == ranks[i] else 0.0) - s["chance"][k]
                pegging.copy(p, positions[1])
                pegging.put(positions[1], pegging.ME, r)
                write_places(positions[1], pegging.ME, hands[held, r], places)
                for t in range(TABLES):
                    weights[places[t]] += rate * error
                if r == ranks[i]:
                    found[0] -= math.log(max(s["chance"][k], NEVER))
        found[1] += listed >> (4 * likeliest) & 15 == ranks[i]
    found[0] /= views.shape[0]
    found[1] /= views.shape[0]


def choices_of(rules: TwoHandRules, agent: Agent, deals: int, seed_seq: np.random.SeedSequence) -> tuple[Array, Array]:
    """Play games of an agent with itself; return the views with a choice, and the ranks chosen."""
    views, ranks = [], []
    n = max(1, deals // DEALS_A_GAME[rules.dealt])
    n = n // LANES * LANES or n
    for games, rng in dealing.batches(rules, n, LANES, seed_seq, f"games of {agent.name}"):
        games.reset()
        lanes = games.running()
        while len(lanes):
            seen = games.views(lanes)
            actions = agent.act(seen, rng)
            has_choice = (seen["phase"] == PEGGING) & with_choice(seen)
            views.append(seen[has_choice])
            ranks.append(actions[has_choice] >> 2)
            bad = games.step(lanes, actions)
            assert bad is None, games.why_illegal(lanes[bad], actions[bad])
            lanes = games.running(lanes)
    return np.concatenate(views), np.concatenate(ranks)


def fit_choices(dealt: int, views: Array, ranks: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return the game's tables, float64[SIZE], and the figures of held-out choices by pass."""
    weights = load(ROLLOUT_POLICY)["tables"][DEALT.index(dealt)] / UNIT
    positions, scratch = np.zeros(2, dtype=pegging.POSITION), np.zeros(1, dtype=SCRATCH)
    places, found = np.zeros(TABLES, dtype=np.int64), np.zeros(2)
    order = rng.permutation(len(views))
    apart, learned = order[::HELD_OUT], np.delete(order, np.s_[::HELD_OUT])
    predicted = []
    for rate in (0.0, *CHOICE_STEPS):
        if rate > 0:
            some = rng.permutation(learned)
            learn(views[some], ranks[some], pegging.holdings(), weights, rate, positions, scratch, places, found)
        learn(views[apart], ranks[apart], pegging.holdings(), weights, 0.0, positions, scratch, places, found)
        predicted.append(found.copy())
    return weights, np.array(predicted)


@makes(CHOICES)
def choices(agents: str = "expert,learned,rule_based", deals: Count = 40_000, seed: Seed = 2031) -> dict[str, Any]:
    """Learn how players choose a card, from agents that play themselves.

    Args:
        agents: built-in names joined by commas; `expert` plays with the present tables.
        deals: about how many deals of each game and agent, 9 a game of six cards and 7 of five;
            more than 2,000 games are rounded down to whole batches of 2,000.
    """
    players, tables = dealing.players_named(agents), []
    for rules, seed_seq in dealing.both_games(seed):
        cards, order = seed_seq.spawn(2)
        played = [
            choices_of(rules, player, deals, one)
            for player, one in zip(players, cards.spawn(len(players)), strict=True)
        ]
        views, ranks = (np.concatenate(arrays) for arrays in zip(*played, strict=True))
        learned, predicted = fit_choices(rules.dealt, views, ranks, np.random.default_rng(order))
        tables.append(np.round(learned * UNIT).astype(np.int16))
        print(
            f"{rules.name}: {len(views)} choices; of those held out the likeliest was chosen "
            + ", ".join(f"{100 * hit:.1f}" for _, hit in predicted)
            + " % by pass, at a cross "
            "entropy of " + ", ".join(f"{loss:.3f}" for loss, _ in predicted)
        )
    return {"tables": np.stack(tables)}
