"""The tables of the end of a game, by self-play in which both seats play to win.

Both seats need 1 to `REACH` points. Hands come from the rates at which the expert keeps them at
such scores, and both seats peg by the rollout policy of the end. A deal's worth is exact once both
hands are known: cribs are averages, and the next deal has the value found for its score.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
from crib_agents.data.tables import (
    DEALT,
    ENDGAME,
    ENDGAME_WIN,
    ROLES,
    ROLLOUT_POLICY,
    load,
)
from crib_agents.expert.belief import (
    ENDGAME as ENDGAME_TABLES,
)
from crib_agents.expert.belief import (
    SIZE,
    STANDINGS,
    TABLES,
    endgame_base,
    endgame_softmax,
    write_places,
)
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
    pair_class,
    standing_at,
    standings,
)
from crib_agents.expert.pegging import ENDGAME_UNIT, SCRATCH, SCRATCH_T
from crib_agents.knowledge.measured import COUNT_SIZE, Outcomes, load_outcomes
from crib_agents.knowledge.pegging import (
    COUNTED,
    DISTINCT,
    FIRST,
    KEY,
    LISTED,
    LOWEST,
    MOST,
    OF_SIZE,
    POSITION,
    POSITIONS_T,
    begin_play,
    go_on,
    holdings,
    put,
)
from crib_agents.knowledge.winning import WON, probabilities, solve
from crib_training.progress import steps
from numba import float32, float64, int64

from crib_env.arrays import Array
from crib_env.engine.hands.records import GAME
from crib_env.engine.jit import entry, kernel
from crib_env.engine.ranks import DECK, RANKS, multiset_number
from crib_env.engine.record import NONE, TABLE_T
from crib_env.engine.rng import below, next_word
from crib_env.engine.show import FOUR, JACK, KEYS, show_table
from crib_env.rules import TwoHandRules
from crib_env.settings import Count, Seed
from research.tables.dealing import both_games, discard_views, generator
from research.tables.deals import shrunk
from research.tables.maker import makes

PONE, DEALER = 0, 1
PLAYS = 8
WORDS_DRAWN = float(1 << 32)


@kernel
def drawn_hand(rng, summed):
    """Return the index of a hand drawn by summed rates, float64[hands], the last of them 1."""
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
    """Return how likely the cards ``second`` are still there once ``first`` are dealt, by ranks."""
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
    """Return the rank of a starter drawn from the cards left over."""
    while True:
        r = below(rng, RANKS)
        if below(rng, 4) >= (used >> (4 * r) & 15):
            return r


@kernel
def drawn_suits(rng, counted, size, starter, suited):
    """Draw suits for a hand's ranks and return what flush and nobs count; ``suited``: its odds."""
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
    """Return the value to pone of the end of the pegging: pone counts first, then the dealer."""
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


@kernel
def peg_deal(p, s, needs, held, counts, single, hands, weights, rng, places, plays_of):
    """Peg a deal; return how many cards were played. ``places`` gets each card's entries."""
    begin_play(p, plays_of)
    p["needs"][PONE] = needs[PONE]
    p["needs"][DEALER] = needs[DEALER]
    mine = held[PONE]
    theirs = held[DEALER]
    seat = PONE
    plays = 0
    while seat != NONE:
        now = mine if seat == PONE else theirs
        n = hands[now, DISTINCT]
        r = hands[now, LISTED] & 15
        if n > 1:
            endgame_softmax(p, seat, now, counts[seat], s, hands, weights, s["chance"])
            draw = next_word(rng) / WORDS_DRAWN
            best = 0
            taken = NONE
            for k in range(n):
                draw -= s["chance"][k]
                if draw < 0.0 and taken == NONE:
                    taken = k
                if s["chance"][k] > s["chance"][best]:
                    best = k
            r = hands[now, LISTED] >> (4 * (best if taken == NONE else taken)) & 15
        put(p, seat, r)
        rest = hands[now, r]
        if p["needs"][seat] > 0:
            write_places(p, seat, rest, places[plays])
            standing, base = endgame_base(p, seat, 0, counts[seat], s, weights)
            for t in range(TABLES):
                places[plays, t] += base
            places[plays, TABLES] = seat
            places[plays, TABLES + 1] = int(standing * 1e9)
            plays += 1
        if seat == PONE:
            mine = rest
            seat = go_on(p, single, hands[rest, LOWEST], hands[theirs, LOWEST])
        else:
            theirs = rest
            seat = go_on(p, single, hands[rest, LOWEST], hands[mine, LOWEST])
    return plays


@entry(
    float64(
        int64[:, ::1], int64[:, ::1], float32[::1], float64[:, :, ::1], float64[::1],
        float64[:, ::1], float64[::1], TABLE_T, int64[::1], int64, int64, int64, float64,
        POSITIONS_T, SCRATCH_T,
        int64[:, ::1], int64[:, ::1], float64[:, :, ::1], float64[:, ::1],
    )
)  # fmt: skip
def play_endgames(
    needs, hands, weights, kept, suited, win, crib, table, rng, size, single, heels, rate,
    positions, scratch, places, dealt, before, mean,
):  # fmt: skip
    """Play a deal from each pair of ``needs``, int64[deals, 2] (pone's, the dealer's).

    ``kept``, float64[2 * classes, hands], sums the rates of hands kept by pone and by the dealer.
    A ``rate`` above 0 moves the tables towards the deals' values. ``before``, float64[ROWS, hands,
    3], and ``mean``, float64[EDGE, EDGE], sum what the deals brought beyond the standing, and
    pone's values. Returns the mean squared error of the cards' values.
    """
    p = positions[0]
    s = scratch[0]
    s["i_deal"] = 0  # ME is pone
    held = dealt[0]
    counts = dealt[1]
    left = dealt[2]
    first = FIRST[size]
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
            chance = chance_of_both(hands[held[PONE], COUNTED], hands[held[DEALER], COUNTED])
            if next_word(rng) / WORDS_DRAWN < chance:
                break
        starter = drawn_starter(rng, hands[held[PONE], COUNTED] + hands[held[DEALER], COUNTED])
        key = KEYS[starter] + (FOUR if size == 3 else 0)
        for seat in range(2):
            counts[seat] = table[key + hands[held[seat], KEY]]
            counts[seat] += drawn_suits(
                rng, hands[held[seat], COUNTED], size, starter, suited[seat]
            )
        of_needs_pone = weights[s["standings"] + standing_at(0, counts[0], left[0], left[1])]
        of_needs_dealer = weights[s["standings"] + standing_at(1, counts[1], left[0], left[1])]
        if starter == JACK:
            left[DEALER] -= heels
        value = 0.0
        if left[DEALER] > 0:
            plays = peg_deal(p, s, left, held, counts, single, hands, weights, rng, places, size)
            value = deal_value(
                p["needs"][PONE], p["needs"][DEALER], counts[0], counts[1], win, crib
            )
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
        row = before[before_at(0, needs[i, 0], needs[i, 1]), of_pone]
        more = value - of_needs_pone
        row[0] += 1.0
        row[1] += more
        row[2] += more * more
        row = before[before_at(1, needs[i, 1], needs[i, 0]), of_dealer]
        more = 1.0 - value - of_needs_dealer
        row[0] += 1.0
        row[1] += more
        row[2] += more * more
    return squares / max(cards, 1)


# Times the deals, by the most points that a seat needs.
MORE_DEALS = np.array([0] + [75] * 2 + [30] * 2 + [12] * 4 + [1] * (REACH - 8))
PRIOR = 2.0  # samples of each hand that the rates far from the end are worth
MOST_BEYOND = 1.0  # what a hand can win beyond its standing
FALLING = (0.05, 0.03, 0.02, 0.02, 0.01, 0.01, 0.005, 0.005, 0.002, 0.001)
KEPT_DIGITS = 4


class SelfPlay:
    """Deals of one game near its end, by the hands kept, the rollout policy and the win table.

    Args:
        rules: of the game.
        rates: how likely pone and the dealer keep each hand, float64[2, classes, hands].
        tables: the rollout policy's tables of the end, float32[sets * SIZE].
        win: pone's chance of winning at a deal's start, float64[EDGE, EDGE].
        seed: of the cards and choices.
    """

    def __init__(
        self, rules: TwoHandRules, rates: Array, tables: Array, win: Array,
        seed: np.random.SeedSequence,
    ) -> None:  # fmt: skip
        self.rules, self.outcomes, self.win = rules, load_outcomes(rules.dealt), win
        self.size = rules.dealt - 2
        self.suited = load(ROLLOUT_POLICY)["suited"][DEALT.index(rules.dealt)].copy()
        self.rng = generator(seed)
        summed = np.cumsum(rates * ways_dealt(self.size), axis=-1)
        self.kept = np.ascontiguousarray(summed / summed[..., -1:])
        self.weights = np.zeros(STANDINGS + STANDINGS_SIZE, dtype=np.float32)
        self.weights[ENDGAME_TABLES : ENDGAME_TABLES + len(tables)] = tables
        self.weights[STANDINGS:] = standings(win, self.outcomes)
        scratch = np.zeros(1, dtype=SCRATCH)
        scratch["endgame"], scratch["standings"] = ENDGAME_TABLES, STANDINGS
        self.arrays = (
            np.zeros(1, dtype=POSITION), scratch,
            np.zeros((PLAYS, TABLES + 2), dtype=np.int64), np.zeros((3, 2), dtype=np.int64),
        )  # fmt: skip

    def play(self, needs: Array, rate: float = 0.0) -> tuple[float, Array, Array]:
        """Play deals from ``needs``, int64[deals, 2]; see `play_endgames` for what returns."""
        before = np.zeros((ROWS, OF_SIZE[self.size], 3))
        mean = np.zeros((EDGE, EDGE))
        error = play_endgames(
            np.ascontiguousarray(needs), holdings(), self.weights, self.kept, self.suited,
            self.win, self.outcomes.crib, show_table(), self.rng, self.size,
            self.rules.single_count, self.rules.heels, rate, *self.arrays, before, mean,
        )  # fmt: skip
        return error, before, mean

    def fit(self, deals: int, rng: np.random.Generator) -> tuple[Array, list[float]]:
        """Return the tables fitted from where they are, and the mean squared error of each pass."""
        errors = [
            self.play(needs_drawn(deals, rng), step)[0]
            for step in steps(FALLING, f"{self.rules.name}, passes")
        ]
        return self.weights[ENDGAME_TABLES : ENDGAME_TABLES + TABLE_SETS * SIZE], errors

    def solve_backwards(self, deals: int) -> tuple[Array, Array]:
        """Return what hands win beyond their standing, float64[ROWS, hands], and the win table.

        From the last hole on: a deal's value is that of the scores where it ends. The fewer points
        both need, the more ``deals`` are played.
        """
        found = np.zeros((ROWS, OF_SIZE[self.size], 3))
        self.win = self.win.copy()
        for both in steps(range(2, 2 * REACH + 1), f"{self.rules.name}, points to make"):
            a, b = needs_of(both)
            times = deals * MORE_DEALS[np.maximum(a, b)]
            _, rows, mean = self.play(np.repeat(np.stack([a, b], axis=1), times, axis=0))
            found += rows
            self.win[a, b] = mean[a, b] / times
        return smoothed(found, self.size).clip(-MOST_BEYOND, MOST_BEYOND), monotone(self.win)


def smoothed(found: Array, size: int) -> Array:
    """Return the mean of each row and hand by their sums, float64[ROWS, hands, 3].

    Rows of one class of needs share what a hand adds to the mean of its row; see `shrunk`.
    """
    n, total = found[..., 0].sum(axis=1), found[..., 1].sum(axis=1)
    level = total / n
    centred = found.copy()
    centred[..., 1] -= found[..., 0] * level[:, None]
    centred[..., 2] += found[..., 0] * level[:, None] ** 2 - 2 * level[:, None] * found[..., 1]
    needs = np.array([CLASS[np.flatnonzero(STEP[1:] == step)[0] + 1] for step in range(STEPS)])
    of_row = (CLASSES * needs[:, None] + needs).ravel()
    group = np.concatenate([of_row, CLASSES * CLASSES + of_row])  # by role
    added = np.zeros(found.shape[:2])
    for one in np.unique(group):
        rows = group == one
        added[rows] = shrunk(size, centred[rows].sum(axis=0))[0]
    means: Array = level[:, None] + added
    return means


def needs_of(both: int) -> tuple[Array, Array]:
    """Return what pone and the dealer need wherever they need so many points together."""
    pone = np.arange(max(1, both - REACH), min(REACH, both - 1) + 1)
    return pone, both - pone


def share_of_needs() -> Array:
    """Return how often deals are drawn for 1 to `REACH` points to make: small ones more often."""
    share: Array = 1.0 / (3.0 + np.arange(REACH))
    share /= share.sum()
    return share


def needs_drawn(deals: int, rng: np.random.Generator) -> Array:
    """Return what pone and the dealer need in deals, int64[deals, 2]."""
    return rng.choice(np.arange(1, EDGE), size=(deals, 2), p=share_of_needs())


def ways_dealt(size: int) -> Array:
    """Return in how many ways each hand of ``size`` cards can be dealt, int64[hands]."""
    of_size = slice(int(FIRST[size]), int(FIRST[size + 1]))
    return np.array([
        math.prod(math.comb(4, int(counted) >> (4 * r) & 15) for r in range(RANKS))
        for counted in holdings()[of_size, COUNTED]
    ])  # fmt: skip


def monotone(win: Array) -> Array:
    """Return a win table in which a point more never hurts: what noise there is is evened out."""
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
    """Return what ``win`` is beyond average deals, score by score, float64[EDGE, EDGE]."""
    beyond = np.zeros((EDGE, EDGE))
    for both in range(2, 2 * REACH + 1):
        at = needs_of(both)
        beyond[at] = (win - solve(outcomes, REACH, beyond)[..., WON].sum(axis=-1))[at]
    return beyond


def dealt_views(
    rules: TwoHandRules, role: int, key: int, hands: int, rng: np.random.Generator
) -> Array:
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


def kept_rates(rules: TwoHandRules, hands: int, rng: np.random.Generator) -> Array:
    """Return how likely the expert keeps a hand it was dealt, float64[2, classes, hands], by role.

    Few samples are drawn to the rates far from the end.
    """
    size = rules.dealt - 2
    ways = ways_dealt(size)
    plain = load(ROLLOUT_POLICY)["kept"][DEALT.index(rules.dealt), :, FIRST[size] : FIRST[size + 1]]
    rates = np.zeros((len(ROLES), CLASSES * CLASSES, len(ways)))
    pairs = np.array(list(combinations(range(rules.dealt), 2)))
    for role in range(len(ROLES)):
        expected = plain[role] * ways
        expected *= PRIOR * len(ways) / expected.sum()
        for key in range(CLASSES * CLASSES):
            views = dealt_views(rules, role, key, hands, rng)
            values = rank_discards(views)[1][:, : len(pairs), WIN_VALUE]
            dealt = np.sort(views["hand"][:, : rules.dealt], axis=1) // 4
            keep = np.ones(dealt.shape, dtype=bool)
            np.put_along_axis(keep, pairs[values.argmax(axis=1)], False, axis=1)
            at = multiset_number(dealt[keep].reshape(hands, size))
            seen = np.bincount(at, minlength=len(ways)) + expected
            rates[role, key] = seen / ways * (ways.sum() / seen.sum())
    return rates


def win_now(rules: TwoHandRules) -> Array:
    """Return pone's chance of winning at a deal's start by the present win table."""
    return np.ascontiguousarray(probabilities(rules.dealt, REACH)[0, ..., WON].sum(axis=-1))


def widened(rows: Array) -> Array:
    """Return rows of the hands of a game as wide as those of six cards."""
    return np.pad(rows, [(0, 0)] * (rows.ndim - 1) + [(0, OF_SIZE[MOST] - rows.shape[-1])])


@makes(ENDGAME)
def endgame(
    hands: Count = 15_000, deals: Count = 1_500_000, worth: Count = 8_000, seed: Seed = 2032
) -> dict[str, Any]:
    """Find how seats keep and play near the end of a game, and what hands win there.

    Args:
        hands: hands of each role and class of needs that the expert discards from.
        deals: deals of each game, for a pass of the fit.
        worth: deals from each pair of needs, for what hands win.
    """
    made: dict[str, list[Array]] = {"tables": [], "kept": [], "before": []}
    for rules, seed_seq in both_games(seed):
        cards, play = seed_seq.spawn(2)
        rng = np.random.default_rng(cards)
        kept = kept_rates(rules, hands, rng)
        game = SelfPlay(rules, kept, np.zeros(TABLE_SETS * SIZE), win_now(rules), play)
        tables, errors = game.fit(deals, rng)
        before, _ = game.solve_backwards(worth)
        made["tables"].append(np.round(tables * ENDGAME_UNIT).astype(np.int16))
        made["kept"].append(widened(kept).round(KEPT_DIGITS).astype(np.float32))
        made["before"].append(np.round(widened(before) * BEFORE_UNIT).astype(np.int16))
        print(f"{rules.name}: mean squared error of the games won by pass "
              + " ".join(f"{error:.4f}" for error in errors))  # fmt: skip
    return {
        "tables": np.stack(made["tables"]).reshape(len(DEALT), TABLE_SETS, SIZE),
        "kept": np.stack(made["kept"]),
        "before": np.stack(made["before"]),
    }


@makes(ENDGAME_WIN)
def endgame_win(deals: Count = 8_000, seed: Seed = 2033) -> dict[str, Any]:
    """Find how often pone wins near the end of a game, beyond what average deals say.

    Args:
        deals: deals from each pair of needs.
    """
    beyond = []
    held = load(ENDGAME)
    for game, (rules, seed_seq) in enumerate(both_games(seed)):
        kept = held["kept"][game, :, :, : OF_SIZE[rules.dealt - 2]].astype(np.float64)
        tables = held["tables"][game].ravel() / ENDGAME_UNIT
        _, win = SelfPlay(rules, kept, tables, win_now(rules), seed_seq).solve_backwards(deals)
        beyond.append(win_beyond(win, load_outcomes(rules.dealt)))
        print(
            f"{rules.name}: pone wins "
            + ", ".join(f"{100 * win[n, n]:.1f} % at {n}-{n} to make" for n in (1, 3, 6, 10, 20))
        )
    return {"beyond": np.stack(beyond)}
