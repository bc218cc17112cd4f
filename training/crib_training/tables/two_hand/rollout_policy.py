"""Fit the pegging expert's rollout policy, ``rollout_policy.npz``, by self-play.

Run ``crib tables rollout_policy`` (about three minutes on one core). For each two-hand game the
program draws deals, and both seats discard as `rule_based` does. This gives the probability that a
role keeps a holding that it was dealt, and the preference for holdings of a single suit. Both seats
then peg by the rollout policy, with a temperature so that every card occurs. This gives the points
after each card. The tables learn their mean by stochastic gradient descent, in passes of falling
step.
"""

from __future__ import annotations

import math
import time

import numpy as np
from crib_agents.data.tables import RANKS, REFLEX, ROLES, save
from crib_agents.expert.belief import (
    SIZE,
    TABLES,
    all_shared_values,
    softmax,
    write_places,
)
from crib_agents.expert.discard import SUITS
from crib_agents.expert.pegging import UNIT
from crib_agents.knowledge.pegging import (
    COUNTED,
    DISTINCT,
    ENDLESS,
    FIRST,
    HOLDINGS,
    LISTED,
    LOWEST,
    MOST,
    POSITION,
    POSITIONS_T,
    begin_play,
    go_on,
    holdings,
    number,
    put,
)
from crib_agents.rule_based import default_weights
from numba import float64, int64, void

from crib_env.arrays import Array
from crib_env.engine.jit import entry, kernel
from crib_env.engine.record import NONE, TABLE_T
from crib_env.engine.rng import next_word
from crib_env.engine.show import show_table
from crib_env.engine.two_hand import VIEWS_T
from crib_env.rules import TwoHandRules
from crib_env.settings import Count, NewFile, Seed, checked_dataclass
from crib_training.progress import steps
from crib_training.tables.files import made_by
from crib_training.tables.two_hand.dealing import (
    best_pair,
    both_games,
    deal_hands,
    discard_views,
    generator,
)

DEALER = 0
PONE = 1
PLAYS = 8  # the most cards played in a deal
WORDS_DRAWN = float(1 << 32)  # how many words the generator draws from
STEPS = (0.05, 0.03, 0.02, 0.02, 0.01, 0.01, 0.005, 0.005, 0.002, 0.002, 0.001)


@entry(void(VIEWS_T, TABLE_T, float64[::1], int64[::1], int64[:, ::1], int64[:, ::1]))
def keep_hands(views, table, weights, rng, kept, one_suit):
    """Deal, discard by `rule_based`, and write the holdings kept, dealer's and pone's.

    Shapes: kept int64[deals, 2]; one_suit int64[deals, 2].
    """
    n = views[0]["dealt"]
    for i in range(kept.shape[0]):
        deal_hands(views, rng)
        for role in range(2):
            pair = best_pair(views[role], table, weights)
            counted = 0
            suits = 0
            for j in range(n):
                card = views[role]["hand"][j]
                if card != pair >> 6 and card != pair & 63:
                    counted += 1 << (4 * (card >> 2))
                    suits |= 1 << (card & 3)
            kept[i, role] = number(counted)
            one_suit[i, role] = suits & (suits - 1) == 0


@kernel
def choose(p, seat, held, hands, weights, shared, chance, rng):
    """Draw a rank for the seat to play from a softmax over the rollout policy's values."""
    listed = hands[held, LISTED]
    n = hands[held, DISTINCT]
    if n == 1:
        return listed
    all_shared_values(p, seat, weights, 0, shared)
    softmax(p, held, hands, weights, 0, shared, chance)
    draw = next_word(rng) / WORDS_DRAWN
    best = 0
    for k in range(n):
        draw -= chance[k]
        if draw < 0.0:
            return listed >> (4 * k) & 15
        if chance[k] > chance[best]:
            best = k
    return listed >> (4 * best) & 15  # the draw fell into what rounding left


@entry(
    float64(
        int64[:, ::1], int64[:, ::1], float64[::1], int64[::1], int64, int64, float64,
        POSITIONS_T, int64[:, ::1], int64[:, ::1], float64[::1], float64[::1],
    )
)  # fmt: skip
def self_play(
    kept, hands, weights, rng, size, single, rate, positions, places, made, shared,
    chance,
):  # fmt: skip
    """Play every deal of ``kept`` and move the tables towards the points that followed each card.

    Args:
        kept: int64[deals, 2], holdings of the dealer and of pone.
        hands: `holdings`.
        weights: float64[SIZE], the tables, updated.
        rng: int64[4], the generator.
        size: cards in a hand. single: 1 if the pegging ends with its first count (F4).
        rate: the step, for each table.
        positions: one `POSITION`, scratch.
        places, made: scratch, int64[PLAYS, TABLES + 1], int64[PLAYS, 2].
        shared, chance: scratch, float64[RANKS], float64[MOST].

    Returns:
        the mean squared error of a card's value as the tables had it before they learned of it.
    """
    p = positions[0]
    squares = 0.0
    cards = 0
    for i in range(kept.shape[0]):
        begin_play(p, size)
        dealers = kept[i, DEALER]
        pones = kept[i, PONE]
        seat = PONE
        plays = 0
        while seat != NONE:
            held = dealers if seat == DEALER else pones
            r = choose(p, seat, held, hands, weights, shared, chance, rng)
            put(p, seat, r)
            rest = hands[held, r]
            write_places(p, seat, rest, places[plays])
            places[plays, TABLES] = seat
            made[plays, DEALER] = ENDLESS - p["needs"][DEALER]
            made[plays, PONE] = ENDLESS - p["needs"][PONE]
            plays += 1
            if seat == DEALER:
                dealers = rest
                seat = go_on(p, single, hands[rest, LOWEST], hands[pones, LOWEST])
            else:
                pones = rest
                seat = go_on(p, single, hands[rest, LOWEST], hands[dealers, LOWEST])
        for k in range(plays):
            seat = places[k, TABLES]
            other = 1 - seat
            error = float(ENDLESS - p["needs"][seat] - made[k, seat])
            error -= ENDLESS - p["needs"][other] - made[k, other]
            for t in range(TABLES):
                error -= weights[places[k, t]]
            for t in range(TABLES):
                weights[places[k, t]] += rate * error
            squares += error * error
            cards += 1
    return squares / cards


def keep_some(rules: TwoHandRules, deals: int, rng: Array) -> tuple[Array, Array]:
    """Return the kept hands of the dealer and of pone in random deals, int64[deals, 2]."""
    kept, one_suit = np.zeros((2, deals, len(ROLES)), dtype=np.int64)
    keep_hands(discard_views(rules), show_table(), default_weights(), rng, kept, one_suit)
    return kept, one_suit


def suited_odds(kept: Array, one_suit: Array, size: int) -> Array:
    """Return the odds ratio of a single suit in kept hands against random cards.

    Among hands whose ranks are all different; others cannot be of one suit.

    Shapes: the result float64[2].
    """
    can_be = holdings()[kept, DISTINCT] == size
    share = one_suit.sum(axis=0) / can_be.sum(axis=0)
    drawn = SUITS / SUITS**size
    odds: Array = share / (1 - share) / (drawn / (1 - drawn))
    return odds


def keeping_rates(kept: Array, size: int) -> Array:
    """Return the probability of keeping each holding of ``size`` cards that is dealt.

    Shapes: kept int64[deals, 2]; the result float64[2, HOLDINGS].
    """
    of_size = slice(int(FIRST[size]), int(FIRST[size + 1]))
    ways = np.array([
        math.prod(math.comb(4, int(counted) >> (4 * r) & 15) for r in range(RANKS))
        for counted in holdings()[of_size, COUNTED]
    ])  # fmt: skip
    rates = np.zeros((len(ROLES), HOLDINGS))
    for role in range(len(ROLES)):
        seen = np.bincount(kept[:, role], minlength=HOLDINGS)[of_size] + 0.5
        rates[role, of_size] = seen / ways * (ways.sum() / seen.sum())
    return rates


def fit(kept: Array, rules: TwoHandRules, rng: Array) -> tuple[Array, list[float]]:
    """Return the fitted tables, float64[SIZE], and the mean squared error of each pass."""
    tables = np.zeros(SIZE)
    scratch = (
        np.zeros(1, dtype=POSITION),
        np.zeros((PLAYS, TABLES + 1), dtype=np.int64),
        np.zeros((PLAYS, 2), dtype=np.int64),
        np.zeros(RANKS),
        np.zeros(MOST),
    )
    size = rules.dealt - 2
    errors = [
        self_play(kept, holdings(), tables, rng, size, rules.single_count, step, *scratch)
        for step in steps(STEPS, f"{rules.name}, passes")
    ]
    return tables, errors


@checked_dataclass(frozen=True, kw_only=True)
class Settings:
    """Fit the pegging expert's rollout policy by self-play.

    Attributes:
        deals: deals of each game.
        seed: fixes all random numbers.
        out: the file to write.
    """

    deals: Count = 4_000_000
    seed: Seed = 2025
    out: NewFile = REFLEX.path


def run(settings: Settings) -> None:
    """Fit both games' tables, print how well they predict, and write the file."""
    tables, rates, suited = [], [], []
    for rules, seed in both_games(settings.seed):
        started = time.perf_counter()
        rng = generator(seed)
        kept, one_suit = keep_some(rules, settings.deals, rng)
        learned, errors = fit(kept, rules, rng)
        tables.append(np.round(learned * UNIT).astype(np.int16))
        rates.append(keeping_rates(kept, rules.dealt - 2).astype(np.float32))
        suited.append(suited_odds(kept, one_suit, rules.dealt - 2).round(3))
        print(f"{rules.name}: {time.perf_counter() - started:.0f} s, mean squared error of the "
              "points to follow by pass "
              + " ".join(f"{error:.3f}" for error in errors))  # fmt: skip
        print(f"odds of one suit, times those of cards drawn: dealer {suited[-1][DEALER]:.2f}, "
              f"pone {suited[-1][PONE]:.2f}")  # fmt: skip
    save(REFLEX, settings.out, made_by=made_by(REFLEX, settings), tables=np.stack(tables),
         kept=np.stack(rates)[:, ::-1], suited=np.stack(suited)[:, ::-1])  # fmt: skip
