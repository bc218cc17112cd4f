"""The tables of the end of a game, by self-play in which both seats play to win.

Both seats need 1 to `REACH` points. Hands are drawn by the rates at which `expert` keeps them at
such scores, and both seats peg by the rollout policy of the end. After the pegging the value of the
deal is computed from both hands, the mean crib and the values found for the next deal.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from crib_agents.data.tables import DEALT, ENDGAME, ENDGAME_WIN, ROLES, ROLLOUT_POLICY, load
from crib_agents.expert import belief
from crib_agents.expert.belief import SIZE, STANDINGS, TABLES, endgame_value, find_standing, softmax_of, write_places
from crib_agents.expert.discard import BEFORE_UNIT, WIN_VALUE, rank_discards
from crib_agents.expert.endgame import (
    CLASS,
    CLASSES,
    EDGE,
    REACH,
    ROWS,
    STANDINGS_SIZE,
    STEP,
    STEPS,
    TABLE_SETS,
    before_at,
    dealt_within_reach,
    pair_class,
    standing_at,
    standings,
)
from crib_agents.expert.pegging import ENDGAME_UNIT, SCRATCH, SCRATCH_T
from crib_agents.knowledge import pegging
from crib_agents.knowledge.deal_points import COUNT_SIZE, Outcomes, load_outcomes
from crib_agents.knowledge.winning import WON, probabilities, solve
from crib_training.progress import steps
from numba import float32, float64, int64

from crib_env.arrays import Array, Floats
from crib_env.engine.hands.records import GAME
from crib_env.engine.jit import entry, kernel
from crib_env.engine.ranks import DECK, RANKS, multiset_number
from crib_env.engine.record import NONE, TABLE_T
from crib_env.engine.rng import below, next_word
from crib_env.engine.show import FOUR, JACK, KEYS, show_table
from crib_env.rules import TwoHandRules
from crib_env.settings import Count, Seed
from research.tables.dealing import both_games, discard_views, generator, ways_dealt
from research.tables.deals import shrunk
from research.tables.maker import makes
from research.tables.rollouts import PLAYS, WORDS_DRAWN, draw_rank, next_player, of_size

PONE, DEALER = 0, 1
TEMPERATURE = 0.02  # of the softmax that self-play draws cards by, in games


@kernel
def drawn_hand(rng, summed):
    """Draw a hand by cumulative rates, float64[hands], that end at 1; return its index."""
    at = next_word(rng) / WORDS_DRAWN
    low = 0
    high = summed.shape[0] - 1
    while low < high:
        middle = (low + high) // 2
        if summed[middle] > at:
            high = middle
        else:
            low = middle + 1
    return low


@kernel
def chance_of_both(first, second):
    """Return the share of the ways to deal ``second`` that dealing ``first`` leaves, by ranks."""
    chance = 1.0
    for r in range(RANKS):
        n = second >> (4 * r) & 15
        if n > 0:
            left = 4 - (first >> (4 * r) & 15)
            for i in range(n):
                chance *= max(left - i, 0) / (4.0 - i)
    return chance


@kernel
def drawn_starter(rng, used):
    """Draw a starter from the unused cards and return its rank."""
    while True:
        r = below(rng, RANKS)
        if below(rng, 4) >= (used >> (4 * r) & 15):
            return r


@kernel
def drawn_suits(rng, counted, size, starter, suited):
    """Draw a hand's suits; return the points of flush and nob. ``suited``: a flush's odds ratio."""
    points = 0
    alike = 0
    for r in range(RANKS):
        alike |= (counted >> (4 * r) & 15) > 1
    if starter != JACK and below(rng, 4) < (counted >> (4 * JACK) & 15):
        points += 1
    if not alike:
        drawn = 4.0 / 4.0**size
        odds = suited * drawn / (1.0 - drawn)
        if next_word(rng) / WORDS_DRAWN < odds / (1.0 + odds):
            points += size + (1 if below(rng, 4) == 0 else 0)
    return points


@kernel
def deal_value(pone, dealer, pone_count, dealer_count, win, crib):
    """Return pone's value after the pegging: pone counts first, then the dealer."""
    if pone <= 0:
        return 1.0
    if dealer <= 0:
        return 0.0
    if pone_count >= pone:
        return 1.0
    if dealer_count >= dealer:
        return 0.0
    total = 0.0
    for points in range(COUNT_SIZE):
        left = dealer - dealer_count - points
        if left > 0 and crib[points] > 0.0:
            total += crib[points] * (1.0 - win[left, pone - pone_count])
    return total


endgame_softmax = softmax_of(endgame_value)  # the policy of self-play


@kernel
def peg_deal(p, s, needs, held, counts, single, hands, weights, rng, places, plays_of):
    """Peg ``held``; write a row of ``places`` per card that does not win; return how many."""
    pegging.begin_play(p, plays_of)
    p["needs"][PONE] = needs[PONE]
    p["needs"][DEALER] = needs[DEALER]
    seat = PONE
    plays = 0
    while seat != NONE:
        now = held[seat]
        n = hands[now, pegging.DISTINCT]
        r = hands[now, pegging.LISTED] & 15
        if n > 1:
            endgame_softmax(p, seat, now, counts[seat], s, hands, weights, TEMPERATURE, s["chance"])
            r = draw_rank(hands[now, pegging.LISTED], n, s["chance"], rng)
        pegging.put(p, seat, r)
        held[seat] = hands[now, r]
        if p["needs"][seat] > 0:
            write_places(p, seat, held[seat], places[plays])
            standing, key = find_standing(p, seat, 0, counts[seat], s, weights)
            for t in range(TABLES):
                places[plays, t] += belief.ENDGAME + SIZE * key
            places[plays, TABLES] = seat
            places[plays, TABLES + 1] = int(standing * 1e9)
            plays += 1
        seat = next_player(p, seat, held, single, hands)
    return plays


SUMS = 6  # of a hand's deals: how many, values, standings, their squares, their products


@kernel
def add_deal(row, value, standing):
    """Add a deal's value, and a hand's standing before it, to the sums of that hand."""
    row[0] += 1.0
    row[1] += value
    row[2] += standing
    row[3] += value * value
    row[4] += standing * standing
    row[5] += value * standing


@entry(
    float64(
        int64[:, ::1], int64[:, ::1], float32[::1], float64[:, :, ::1], float64[::1],
        float64[:, ::1], float64[::1], TABLE_T, int64[::1], int64, int64, int64, float64,
        pegging.POSITIONS_T, SCRATCH_T,
        int64[:, ::1], int64[:, ::1], float64[:, :, ::1], float64[:, ::1],
    )
)  # fmt: skip
def play_endgames(
    needs, hands, weights, kept, suited, win, crib, table, rng, size, single, heels, rate,
    positions, scratch, places, dealt, before, mean,
):  # fmt: skip
    """Play a deal from each pair of ``needs``, int64[deals, 2] (pone's, the dealer's).

    ``kept``, float64[2, classes, hands], holds cumulative rates of the hands that pone and the
    dealer keep. A ``rate`` above 0 moves the tables towards the deals' values. ``before``,
    float64[ROWS, hands, SUMS], adds up values and standings of each hand, and ``mean``,
    float64[EDGE, EDGE], pone's values. Returns the mean squared error of the cards' values.
    """
    p = positions[0]
    s = scratch[0]
    s["i_deal"] = 0  # ME is pone
    held = dealt[0]
    counts = dealt[1]
    left = dealt[2]
    first = pegging.FIRST[size]
    squares = 0.0
    cards = 0
    for i in range(needs.shape[0]):
        left[PONE] = needs[i, PONE]
        left[DEALER] = needs[i, DEALER]
        while True:
            of_pone = drawn_hand(rng, kept[PONE, pair_class(left[PONE], left[DEALER])])
            of_dealer = drawn_hand(rng, kept[DEALER, pair_class(left[DEALER], left[PONE])])
            held[PONE] = first + of_pone
            held[DEALER] = first + of_dealer
            chance = chance_of_both(hands[held[PONE], pegging.COUNTED], hands[held[DEALER], pegging.COUNTED])
            if next_word(rng) / WORDS_DRAWN < chance:
                break
        starter = drawn_starter(rng, hands[held[PONE], pegging.COUNTED] + hands[held[DEALER], pegging.COUNTED])
        key = KEYS[starter] + (FOUR if size == 3 else 0)
        for seat in range(2):
            counts[seat] = table[key + hands[held[seat], pegging.KEY]]
            counts[seat] += drawn_suits(rng, hands[held[seat], pegging.COUNTED], size, starter, suited[seat])
        of_needs_pone = weights[STANDINGS + standing_at(0, counts[0], left[0], left[1])]
        of_needs_dealer = weights[STANDINGS + standing_at(1, counts[1], left[0], left[1])]
        if starter == JACK:
            left[DEALER] -= heels
        value = 0.0
        if left[DEALER] > 0:
            plays = peg_deal(p, s, left, held, counts, single, hands, weights, rng, places, size)
            value = deal_value(p["needs"][PONE], p["needs"][DEALER], counts[0], counts[1], win, crib)
            for k in range(plays):
                target = value if places[k, TABLES] == PONE else 1.0 - value
                error = target - places[k, TABLES + 1] * 1e-9
                for t in range(TABLES):
                    error -= weights[places[k, t]]
                if rate > 0.0:
                    for t in range(TABLES):
                        weights[places[k, t]] += rate * error
                squares += error * error
                cards += 1
        mean[needs[i, 0], needs[i, 1]] += value
        if dealt_within_reach(needs[i, 0], needs[i, 1]):
            row = before[before_at(0, needs[i, 0], needs[i, 1]), of_pone]
            add_deal(row, value, of_needs_pone)
            row = before[before_at(1, needs[i, 1], needs[i, 0]), of_dealer]
            add_deal(row, 1.0 - value, of_needs_dealer)
    return squares / max(cards, 1)


# Multiples of the deals, by the larger need of the two seats.
MORE_DEALS = np.array([0] + [500] * 2 + [100] * 2 + [25] * 4 + [1] * (REACH - 8))
PRIOR = 0.1  # the weight of the rates far from the end in a round, in samples of each hand
# Points to make between which the win table changes to that of average deals, by cards dealt.
FADE = {6: (10, 18), 5: (6, 10)}
MOST_BEYOND = 1.0  # the most that a hand can win beyond its standing
FALLING = (0.05, 0.03, 0.02, 0.02, 0.01, 0.01, 0.005, 0.005, 0.002, 0.001)
LAST = 4  # multiple of the deals after the last round
AGAIN = (0.005, 0.002)  # rates of the passes in a round of fictitious play
KEPT_DIGITS = 4
LEAST_KEPT = 0.0005  # of any hand, so that no belief rules it out
SHARE_DIGITS = 3


class SelfPlay:
    """Deals of one game near its end, by the hands kept, the rollout policy and the win table.

    Shapes: rates float64[2, classes, hands], the rates at which pone and the dealer keep each hand;
    tables float32[sets * SIZE]; win float64[EDGE, EDGE], pone's probability at a deal's start.
    """

    def __init__(
        self, rules: TwoHandRules, rates: Array, tables: Array, win: Array, seed: np.random.SeedSequence
    ) -> None:
        self.rules, self.outcomes, self.win = rules, load_outcomes(rules.dealt), win
        self.size = rules.dealt - 2
        self.suited = load(ROLLOUT_POLICY)["suited"][DEALT.index(rules.dealt)].copy()
        self.rng = generator(seed)
        self.keep(rates)
        self.weights = np.zeros(STANDINGS + STANDINGS_SIZE, dtype=np.float32)
        self.weights[belief.ENDGAME : belief.ENDGAME + len(tables)] = tables
        self.weights[STANDINGS:] = standings(win, self.outcomes)
        scratch = np.zeros(1, dtype=SCRATCH)
        scratch["endgame"] = True
        self.arrays = (
            np.zeros(1, dtype=pegging.POSITION),
            scratch,
            np.zeros((PLAYS, TABLES + 2), dtype=np.int64),
            np.zeros((3, 2), dtype=np.int64),
        )

    def play(self, needs: Array, rate: float = 0.0) -> tuple[float, Array, Array]:
        """Play deals from ``needs``, int64[deals, 2]; return the error, ``before`` and ``mean``."""
        before = np.zeros((ROWS, pegging.OF_SIZE[self.size], SUMS))
        mean = np.zeros((EDGE, EDGE))
        error = play_endgames(
            np.ascontiguousarray(needs), pegging.holdings(), self.weights, self.kept, self.suited,
            self.win, self.outcomes.crib, show_table(), self.rng, self.size,
            self.rules.single_count, self.rules.heels, rate, *self.arrays, before, mean,
        )  # fmt: skip
        return error, before, mean

    @property
    def tables(self) -> Array:
        """The rollout policy's tables, as fitted so far."""
        return self.weights[belief.ENDGAME : STANDINGS]

    def fit(self, deals: int, rates: Sequence[float], rng: np.random.Generator) -> list[float]:
        """Fit the tables further; return the mean squared error of each pass."""
        return [self.play(needs_drawn(deals, rng), rate)[0] for rate in steps(rates, f"{self.rules.name}, passes")]

    def keep(self, rates: Array) -> None:
        """Set the rates by which hands are drawn, float64[2, classes, hands]."""
        summed = np.cumsum(rates * ways_dealt(self.size), axis=-1)
        self.kept = np.ascontiguousarray(summed / summed[..., -1:])

    def solve_backwards(self, deals: int) -> tuple[Array, Array, Array]:
        """Return the two arrays of `smoothed` for hands before the pegging, and the win table.

        It starts at the last hole, so a deal ends at a score with a known value. More ``deals`` are
        played where both need few points.
        """
        found = np.zeros((ROWS, pegging.OF_SIZE[self.size], SUMS))
        self.win = self.win.copy()
        for both in steps(range(2, 2 * REACH + 1), f"{self.rules.name}, points to make"):
            a, b = needs_of(both)
            times = deals * MORE_DEALS[np.maximum(a, b)]
            _, rows, mean = self.play(np.repeat(np.stack([a, b], axis=1), times, axis=0))
            found += rows
            self.win[a, b] = mean[a, b] / times
        before, share = smoothed(found, self.size)
        return before.clip(-MOST_BEYOND, MOST_BEYOND), share, monotone(self.win)


def slopes(found: Array) -> Array:
    """Return the share of the standing in a hand's value, float64[ROWS], 0 to 1.

    It is the slope of values by standings within one hand. With one to make each it is near 0,
    because a seat pegs first. Far from the end it is 1.
    """
    n, value, standing, _, squares, products = np.moveaxis(found, -1, 0)
    dealt = np.maximum(n, 1.0)
    scatter = (squares - standing**2 / dealt).sum(axis=1)
    common = (products - standing * value / dealt).sum(axis=1)
    share: Array = (common / np.maximum(scatter, 1e-9)).clip(0.0, 1.0)
    return share


def smoothed(found: Array, size: int) -> tuple[Array, Array]:
    """Return the value added to the standing's share, float64[ROWS, hands], and the `slopes`.

    A hand's difference from the row's mean is the same in a class of needs; see `shrunk`.
    """
    share = slopes(found)
    n, value, standing, value_2, standing_2, product = np.moveaxis(found, -1, 0)
    by = share[:, None]
    total = value - by * standing
    squares = value_2 - 2 * by * product + by**2 * standing_2
    level = (total.sum(axis=1) / n.sum(axis=1))[:, None]
    centred = np.stack([n, total - n * level, squares - 2 * level * total + n * level**2], axis=-1)
    needs = np.array([CLASS[np.flatnonzero(STEP[1:] == step)[0] + 1] for step in range(STEPS)])
    of_row = (CLASSES * needs[:, None] + needs).ravel()
    group = np.concatenate([of_row, CLASSES * CLASSES + of_row])  # by role
    added = np.zeros(found.shape[:2])
    for one in np.unique(group):
        rows = group == one
        added[rows] = shrunk(size, centred[rows].sum(axis=0))[0]
    return level + added, share


def needs_of(both: int) -> tuple[Array, Array]:
    """Return the needs of pone and the dealer that add up to ``both``."""
    pone = np.arange(max(1, both - REACH), min(REACH, both - 1) + 1)
    return pone, both - pone


def share_of_needs() -> Array:
    """Return the shares of deals for 1 to `REACH` points to make: more for few points."""
    share: Array = 1.0 / (3.0 + np.arange(REACH))
    share /= share.sum()
    return share


def needs_drawn(deals: int, rng: np.random.Generator) -> Array:
    """Return drawn needs of pone and the dealer, int64[deals, 2]."""
    return rng.choice(np.arange(1, EDGE), size=(deals, 2), p=share_of_needs())


def monotone(win: Array) -> Array:
    """Return a win table in which a point more never hurts; this averages out noise."""
    win = win.copy()
    inner = win[1:, 1:]
    for axis, sign in ((1, 1), (0, -1)):
        at = np.moveaxis(sign * inner, axis, 1)
        up = np.maximum.accumulate(at, axis=1)
        down = np.minimum.accumulate(at[:, ::-1], axis=1)[:, ::-1]
        inner[:] = np.moveaxis(sign * (up + down) / 2, 1, axis)
    inner[:] = np.minimum.accumulate(np.maximum.accumulate(inner, axis=1), axis=0)
    return win


def win_beyond(win: Array, outcomes: Outcomes) -> Array:
    """Return ``win`` less the value of average deals, score by score, float64[EDGE, EDGE]."""
    beyond = np.zeros((EDGE, EDGE))
    for both in range(2, 2 * REACH + 1):
        at = needs_of(both)
        beyond[at] = (win - solve(outcomes, REACH, beyond)[..., WON].sum(axis=-1))[at]
    return beyond


def faded(beyond: Array, dealt: int) -> Array:
    """Return ``beyond`` fading to 0 between the needs of `FADE`, where deals are average again.

    Without the fade the table is 2 to 3 points off played games: at 24-24 to make with six cards,
    and at 12-12 with five.
    """
    near, far = FADE[dealt]
    needs = np.arange(EDGE)
    most = np.maximum(needs[:, None], needs)
    return np.asarray(beyond * np.clip((far - most) / (far - near), 0.0, 1.0))


def dealt_views(rules: TwoHandRules, role: int, key: int, hands: int, rng: np.random.Generator) -> Array:
    """Return views of a role about to discard, both needs in the class ``key``."""
    views = np.repeat(discard_views(rules)[[1 - role]], hands, axis=0)
    deck = np.tile(np.arange(DECK), (hands, 1))
    views["hand"][:, : rules.dealt] = rng.permuted(deck, axis=1)[:, : rules.dealt]
    views["episode"] = GAME
    share = share_of_needs()
    for seat, wanted in enumerate(divmod(key, CLASSES)):
        needs = 1 + np.flatnonzero(CLASS[1:] == wanted)
        chance = share[needs - 1] / share[needs - 1].sum()
        views["scores"][:, seat] = rules.target - rng.choice(needs, hands, p=chance)
    return views


def plain_rates(rules: TwoHandRules) -> Array:
    """Return the rate at which each role keeps a hand far from the end, float64[2, hands]."""
    rates: Array = load(ROLLOUT_POLICY)["kept"][DEALT.index(rules.dealt), :, of_size(rules.dealt - 2)]
    return rates


def kept_rates(rules: TwoHandRules, hands: int, before: Floats, share: Floats, rng: np.random.Generator) -> Array:
    """Return the expert's rates of keeping each hand, float64[2, classes, hands], by role.

    It discards by ``before`` and ``share`` in the form of `read_before`. Rates from few samples
    shrink towards those far from the end.
    """
    size = rules.dealt - 2
    ways, plain = ways_dealt(size), plain_rates(rules)
    rates = np.repeat(plain[:, None], CLASSES * CLASSES, axis=1)
    pairs = np.array(list(combinations(range(rules.dealt), 2)))
    for role in range(len(ROLES)):
        expected = plain[role] * ways
        expected *= PRIOR * len(ways) / expected.sum()
        for key in range(CLASSES * CLASSES):
            views = dealt_views(rules, role, key, hands, rng)
            ranked = rank_discards(views, ends=(before, share))[1]
            values = ranked[:, : len(pairs), WIN_VALUE]
            dealt = np.sort(views["hand"][:, : rules.dealt], axis=1) // 4
            keep = np.ones(dealt.shape, dtype=bool)
            np.put_along_axis(keep, pairs[values.argmax(axis=1)], False, axis=1)
            at = multiset_number(dealt[keep].reshape(hands, size))
            seen = np.bincount(at, minlength=len(ways)) + expected
            rates[role, key] = seen / ways * (ways.sum() / seen.sum())
    return rates


def win_now(rules: TwoHandRules) -> Array:
    """Return pone's probability of winning at a deal's start by the present win table."""
    return np.ascontiguousarray(probabilities(rules.dealt, REACH)[0, ..., WON].sum(axis=-1))


def widened(rows: Array) -> Array:
    """Pad rows of a game's hands to the number of hands with six cards dealt."""
    return np.pad(rows, [(0, 0)] * (rows.ndim - 1) + [(0, pegging.OF_SIZE[pegging.MOST] - rows.shape[-1])])


def settle(
    game: SelfPlay, kept: Array, hands: int, deals: int, worth: int, rounds: int, rng: np.random.Generator
) -> tuple[Array, Array, Array]:
    """Return the rates of hands kept after some rounds, and the two arrays of `smoothed`.

    Fictitious play: in each round the expert discards against the mean of the rounds before. A
    single round finds discards that win only against a seat that does not answer them.
    """
    number = DEALT.index(game.rules.dealt)
    before, share, game.win = game.solve_backwards(worth)
    for done in range(rounds):
        ends = np.zeros((len(DEALT), ROWS, pegging.OF_SIZE[pegging.MOST]), np.float32), np.ones((len(DEALT), ROWS))
        ends[0][number], ends[1][number] = widened(before), share
        flat = ends[0].reshape(-1, pegging.OF_SIZE[pegging.MOST]), ends[1].ravel().astype(np.float32)
        kept = kept + (kept_rates(game.rules, hands, *flat, rng) - kept) / (done + 1)
        game.keep(kept)
        game.fit(deals, AGAIN, rng)
        before, share, game.win = game.solve_backwards(worth)
        print(
            f"{game.rules.name}, round {done + 1}: pone wins "
            + ", ".join(f"{100 * game.win[n, n]:.1f} % at {n}-{n}" for n in (1, 2, 3, 6, 10)),
            flush=True,
        )
    before, share, _ = game.solve_backwards(LAST * worth)
    return kept, before, share


@makes(ENDGAME)
def endgame(
    hands: Count = 6_000, deals: Count = 1_500_000, worth: Count = 500, rounds: Count = 3, seed: Seed = 2032
) -> dict[str, Any]:
    """Find the hands kept, the play and the values of hands near the end of a game.

    Args:
        hands: hands of each role and class of needs that the expert discards from in a round.
        deals: deals of each game, for a pass of the fit.
        worth: deals from each pair of needs, for the values of hands.
        rounds: rounds of fictitious play.
    """
    made: dict[str, list[Array]] = {"tables": [], "kept": [], "before": [], "share": []}
    for rules, seed_seq in both_games(seed):
        cards, play = seed_seq.spawn(2)
        rng = np.random.default_rng(cards)
        kept = np.repeat(plain_rates(rules)[:, None], CLASSES * CLASSES, axis=1)
        game = SelfPlay(rules, kept, np.zeros(TABLE_SETS * SIZE), win_now(rules), play)
        errors = game.fit(deals, FALLING, rng)
        kept, before, share = settle(game, kept, hands, deals, worth, rounds, rng)
        made["tables"].append(np.round(game.tables * ENDGAME_UNIT).astype(np.int16))
        made["kept"].append(widened(kept.clip(LEAST_KEPT)).round(KEPT_DIGITS).astype(np.float32))
        made["before"].append(np.round(widened(before) * BEFORE_UNIT).astype(np.int16))
        made["share"].append(share.round(SHARE_DIGITS).astype(np.float32))
        print(
            f"{rules.name}: mean squared error of the games won by pass " + " ".join(f"{error:.4f}" for error in errors)
        )
    return {
        "tables": np.stack(made["tables"]).reshape(len(DEALT), TABLE_SETS, SIZE),
        "kept": np.stack(made["kept"]),
        "before": np.stack(made["before"]),
        "share": np.stack(made["share"]),
    }


@makes(ENDGAME_WIN)
def endgame_win(deals: Count = 1_000, seed: Seed = 2033) -> dict[str, Any]:
    """Find pone's probability of winning near the end of a game, less that by average deals.

    Args:
        deals: deals from each pair of needs.
    """
    beyond = []
    held = load(ENDGAME)
    for game, (rules, seed_seq) in enumerate(both_games(seed)):
        kept = held["kept"][game, :, :, : pegging.OF_SIZE[rules.dealt - 2]].astype(np.float64)
        tables = held["tables"][game].ravel() / ENDGAME_UNIT
        *_, win = SelfPlay(rules, kept, tables, win_now(rules), seed_seq).solve_backwards(deals)
        beyond.append(faded(win_beyond(win, load_outcomes(rules.dealt)), rules.dealt))
        print(
            f"{rules.name}: pone wins "
            + ", ".join(f"{100 * win[n, n]:.1f} % at {n}-{n} to make" for n in (1, 3, 6, 10, 20))
        )
    return {"beyond": np.stack(beyond)}
