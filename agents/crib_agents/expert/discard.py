"""Discarding: the mean hand, mean crib, expected pegging and value of every pair.

The mean hand is exact over the unseen starters. The pegging is the mean of hands with the kept
ranks. Far from the end a pair's value is linear in these and in the mean crib.

The other seat's discard rates are a table of `MODEL`: how often its role discards a pair of given
ranks, of one suit or of two, when it could. Over the pairs still possible once this seat has seen
its own cards, these weights are the probabilities. The mean crib is exact under these rates,
nobs and flushes included; in the distribution these two are independent of the ranks. The rates
alone are not enough: if this seat holds the sevens, the other's eights and nines make no runs and
are discarded more often. So the difference from measured cribs is added for each pair.

If a seat may go out in this deal or the next, `expected_win` computes the value by the order of
counting. The pegging, both hands and the crib are assumed independent (see `deal_points`). So the
value is computed backwards, stage by stage: before the dealer's counts, before pone's, before the
pegging.
"""

from __future__ import annotations

from functools import cache
from math import floor

import numpy as np
from numba import float32, float64, int64, void

from crib_agents.data.tables import ENDGAME, load
from crib_agents.expert.endgame import ROWS, before_at, dealt_within_reach, in_game
from crib_agents.kernels.two_hand import card_of, cell, game_of, sort_dealt
from crib_agents.knowledge.deal_points import COUNT_SIZE, JACK_TURNED, MODEL_T, MOST_PLAY, PLAY_SIZE, load_model_for
from crib_agents.knowledge.pegging import FIRST, number
from crib_agents.knowledge.winning import after_deal, group_by_win_table, slope
from crib_env.arrays import Doubles, Floats
from crib_env.engine.hands.counting import ALL_RANKS, count_hand
from crib_env.engine.jit import entry, kernel
from crib_env.engine.ranks import DECK, RANKS
from crib_env.engine.record import NONE, TABLE_T, array_of
from crib_env.engine.show import JACK, KEYS, show_table
from crib_env.engine.two_hand import HAND, VIEWS_T
from crib_env.policy import Actions, Views

SUITS = 4
FLUSH = 5  # cards, and points, of a flush of the crib with the starter


@kernel
def weigh_pairs(discard_rate, m, s):
    """Weigh every pair that the other seat may discard, once for all of this seat's pairs.

    Fills, as probabilities divided by the number of starters then left, ``s["ranks"][r, t]`` of its
    ranks r <= t; and as probabilities ``s["starter"][suit]`` of the starter's suit,
    ``s["both"][suit]`` of a pair in one suit, ``s["flush"][suit]`` of that and a starter in it too,
    ``s["nob"]`` of its discarding the jack of the starter's suit.
    """
    n = 0
    for card in range(DECK):
        if m >> card & 1:
            s["unseen"][n] = card
            n += 1
    for r in range(RANKS):
        for t in range(RANKS):
            s["ranks"][r, t] = 0.0
    for suit in range(SUITS):
        s["starter"][suit] = 0.0
        s["both"][suit] = 0.0
        s["in_suit"][suit] = 0
    for i in range(n):
        s["in_suit"][s["unseen"][i] & 3] += 1
    total = 0.0
    nob = 0.0
    for i in range(n):
        x = s["unseen"][i]
        for j in range(i + 1, n):
            y = s["unseen"][j]
            w = discard_rate[cell(x, y)]
            total += w
            s["ranks"][x >> 2, y >> 2] += w
            s["starter"][x & 3] += w  # for now, the cards that leave the suit
            s["starter"][y & 3] += w
            alike = 1 if x & 3 == y & 3 else 0
            if alike:
                s["both"][x & 3] += w
            if x >> 2 == JACK:
                nob += w * (s["in_suit"][x & 3] - 1 - alike)
            if y >> 2 == JACK:
                nob += w * (s["in_suit"][y & 3] - 1 - alike)
    starters = n - 2
    s["nob"] = nob / (total * starters)
    for suit in range(SUITS):
        of_suit = s["in_suit"][suit]
        s["starter"][suit] = (of_suit - s["starter"][suit] / total) / starters
        s["both"][suit] /= total
        s["flush"][suit] = s["both"][suit] * (of_suit - 2) / starters
    for r in range(RANKS):
        for t in range(r, RANKS):
            s["ranks"][r, t] /= total * starters


@kernel
def fill_crib(table, s, unseen, low, high, smallest, crib):
    """Fill ``crib`` (float64[30]) with the probabilities of its points for a discarded pair."""
    for points in range(COUNT_SIZE):
        crib[points] = 0.0
    pair = KEYS[low >> 2] + KEYS[high >> 2]
    for r in range(RANKS):
        for t in range(r, RANKS):
            chance = s["ranks"][r, t]
            if chance == 0.0:
                continue
            key = pair + KEYS[r] + KEYS[t]
            left = unseen - (1 << (4 * r)) - (1 << (4 * t))
            for k in range(RANKS):
                crib[table[key + KEYS[k]]] += chance * (left >> (4 * k) & 15)
    nob = s["nob"]
    if low >> 2 == JACK:
        nob += s["starter"][low & 3]
    if high >> 2 == JACK:
        nob += s["starter"][high & 3]
    add(crib, 1, nob)
    if low & 3 == high & 3:
        flush = s["flush"][low & 3]
        add(crib, FLUSH, flush)
        if smallest < FLUSH:
            add(crib, FLUSH - 1, s["both"][low & 3] - flush)


@kernel
def add(count, points, chance):
    """Add ``points``, made with probability ``chance``, to a count's probabilities, float64[30]."""
    for i in range(COUNT_SIZE - 1 - points, -1, -1):
        moved = chance * count[i]
        count[i] -= moved
        count[i + points] += moved


@kernel
def shift(count, by):
    """Raise the mean of a count (its probabilities, float64[30]) by ``by`` points, -1 to 1."""
    if by >= 0.0:
        add(count, 1, by)
        return
    for i in range(1, COUNT_SIZE):
        moved = -by * count[i]
        count[i] -= moved
        count[i - 1] += moved


@kernel
def mean(count):
    """Return the mean of a count given by its probabilities, float64[30]."""
    total = 0.0
    for points in range(COUNT_SIZE):
        total += points * count[points]
    return total


BEFORE_PLAY = PLAY_SIZE + 1  # scores after the pegging that matter, and one to interpolate
BEFORE_HANDS = BEFORE_PLAY + COUNT_SIZE
TOTAL_SIZE = 2 * COUNT_SIZE - 1


@kernel
def after_shift(points, shift):
    """Return the effective points needed by a seat that pegs ``shift`` more than its role does."""
    return points * points / (points + shift) if shift > 0.0 else points - shift


@kernel
def between(x, y, far, pone_near, dealer_near, near):
    """Interpolate between four values: by ``x`` from far to near for pone, ``y`` for the dealer."""
    return (1.0 - x) * ((1.0 - y) * far + y * dealer_near) + x * ((1.0 - y) * pone_near + y * near)


@kernel
def within(win_table, i_deal, pone, dealer):
    """Return the value of the end of the deal, with needs clipped to the table."""
    last = win_table.shape[1] - 1
    return after_deal(win_table, i_deal, min(pone, last), min(dealer, last))


@kernel
def fill_stages(win_table, i_deal, pone, dealer, plays, s):
    """Fill ``s["after_pegging"][i, j]``: the value after pone pegs i and the dealer j.

    Both are below ``plays``.
    """
    total = s["total"]
    for t in range(TOTAL_SIZE):
        total[t] = 0.0
    for h in range(COUNT_SIZE):
        if s["dealer_hand"][h] > 0.0:
            for c in range(COUNT_SIZE):
                total[h + c] += s["dealer_hand"][h] * s["crib"][c]
    for j in range(min(plays, dealer)):
        for i in range(min(plays - 1 + COUNT_SIZE, pone)):
            value = 0.0
            for t in range(TOTAL_SIZE):
                if total[t] > 0.0:
                    value += total[t] * within(win_table, i_deal, pone - i, dealer - j - t)
            s["after_hand"][i, j] = value
        won = within(win_table, i_deal, 0, dealer - j)
        for i in range(min(plays, pone)):
            value = 0.0
            for h in range(COUNT_SIZE):
                if s["pone_hand"][h] > 0.0:
                    after = won if h >= pone - i else s["after_hand"][i + h, j]
                    value += s["pone_hand"][h] * after
            s["after_pegging"][i, j] = value


@kernel
def before_pegging(win_table, i_deal, pone, dealer, model, s, i, j):
    """Return the value with ``pone - i`` and ``dealer - j`` points to make, 0 <= i, j <= 1."""
    a = pone - i
    b = dealer - j
    if a <= 0:
        # If neither needs more points, pone wins, because pone leads.
        return within(win_table, i_deal, 0, max(b, 1))
    if b <= 0:
        return within(win_table, i_deal, a, 0)
    value = 0.0
    for p in range(min(PLAY_SIZE, a)):
        for d in range(min(PLAY_SIZE, b)):
            if model["pegging"][p, d] > 0.0:
                value += model["pegging"][p, d] * s["after_pegging"][i + p, j + d]
    if a <= MOST_PLAY:
        for d in range(min(PLAY_SIZE, b)):
            value += model["pone_out"][a, d] * within(win_table, i_deal, 0, b - d)
    if b <= MOST_PLAY:
        for p in range(min(PLAY_SIZE, a)):
            value += model["dealer_out"][b, p] * within(win_table, i_deal, a - p, 0)
    return value


@kernel
def expected_win(win_table, i_deal, pone, dealer, model, pone_more, dealer_more, s):
    """Return the value of the deal to this seat before the pegging.

    ``pone`` and ``dealer`` are the points to make, ``pone_more`` and ``dealer_more`` the expected
    pegging of each beyond the mean of its role. ``s`` holds the probabilities of the counts.
    """
    to_pone = after_shift(float(pone), pone_more)
    to_dealer = after_shift(float(dealer), dealer_more)
    a = floor(to_pone) + 1
    b = floor(to_dealer) + 1
    x = a - to_pone
    y = b - to_dealer
    fill_stages(win_table, i_deal, a, b, BEFORE_PLAY, s)
    far = before_pegging(win_table, i_deal, a, b, model, s, 0, 0)
    pone_near = before_pegging(win_table, i_deal, a, b, model, s, 1, 0)
    dealer_near = before_pegging(win_table, i_deal, a, b, model, s, 0, 1)
    near = before_pegging(win_table, i_deal, a, b, model, s, 1, 1)
    return between(x, y, far, pone_near, dealer_near, near)


PAIRS = 15  # of six cards; ten of five
# Points to make within which a seat may well go out in this deal or the next. Beyond, choosing by
# the linear value costs a hundredth of a percent of a game or less.
NEAR = 50
SWING = 10  # points each way over which values are taken as linear, farther from the end

# The columns of the findings on a pair to discard.
HAND_MEAN = 0  # mean points of the hand kept
CRIB_MEAN = 1  # mean points of the crib, less than 0 if it is the other's
OWN_PEGS = 2  # points that this seat is expected to peg
OTHER_PEGS = 3  # points that the other seat is expected to peg
WIN_VALUE = 4  # the value of the pair, 0 to 1
COLUMNS = 5
BEFORE_UNIT = 1000.0  # the file's units per game

SCRATCH = np.dtype(
    [
        ("cards", np.int64, (HAND,)),
        ("unseen", np.int64, (DECK,)),
        ("in_suit", np.int64, (SUITS,)),
        ("ranks", np.float64, (RANKS, RANKS)),
        ("starter", np.float64, (SUITS,)),
        ("both", np.float64, (SUITS,)),
        ("flush", np.float64, (SUITS,)),
        ("nob", np.float64),
        ("pone_hand", np.float64, (COUNT_SIZE,)),
        ("dealer_hand", np.float64, (COUNT_SIZE,)),
        ("crib", np.float64, (COUNT_SIZE,)),
        ("total", np.float64, (TOTAL_SIZE,)),
        ("after_hand", np.float64, (BEFORE_HANDS, BEFORE_PLAY)),
        ("after_pegging", np.float64, (BEFORE_PLAY, BEFORE_PLAY)),
    ],
    align=True,
)
SCRATCH_T = array_of(SCRATCH)


@kernel
def fill_columns(v, win_table, model, before, share, table, near, s, columns):
    """Fill ``columns`` (float64[15, COLUMNS]) for every pair the seat of ``v`` was dealt.

    Row k is the k-th pair of ``itertools.combinations`` of its sorted cards. It depends neither on
    a card already discarded nor on the order of the cards in the view.
    """
    n = sort_dealt(v, s["cards"])
    i_deal = 1 - v["dealer"]
    mine = v["target"] - v["scores"][0]
    theirs = v["target"] - v["scores"][1]
    pone = theirs if i_deal else mine
    dealer = mine if i_deal else theirs
    unseen = (1 << DECK) - 1
    dealt = 0  # of each rank, four bits a rank
    for k in range(n):
        unseen ^= 1 << s["cards"][k]
        dealt += 1 << (4 * (s["cards"][k] >> 2))
    ranks = ALL_RANKS - dealt
    weigh_pairs(model["discard_rate"][1 - i_deal], unseen, s)
    hand = s["dealer_hand"] if i_deal else s["pone_hand"]
    other = s["pone_hand"] if i_deal else s["dealer_hand"]
    for points in range(COUNT_SIZE):
        other[points] = model["hand"][1 - i_deal, points]
    # The expected score at the end of the deal, and the value of a point more there for each seat.
    heels = v["heels"] * JACK_TURNED
    by_pone = int(model["mean_pegs"][0] + model["mean_hand"][0])
    by_dealer = int(model["mean_pegs"][1] + heels + model["mean_hand"][1] + model["mean_crib"])
    level = after_deal(win_table, i_deal, pone - by_pone, dealer - by_dealer)
    pone_point = slope(win_table, i_deal, pone - by_pone, dealer - by_dealer, 0, SWING)
    dealer_point = slope(win_table, i_deal, pone - by_pone, dealer - by_dealer, 1, SWING)
    if in_game(v):  # An average deal keeps the value of the score before it.
        level = after_deal(win_table, 1 - i_deal, dealer, pone)
        level -= pone_point * (model["mean_pegs"][0] + model["mean_hand"][0] - by_pone)
        level -= dealer_point * (model["mean_pegs"][1] + heels + model["mean_hand"][1] + model["mean_crib"] - by_dealer)
    at_end = in_game(v) and dealt_within_reach(mine, theirs)
    lost = 0.0  # the value of a lost game
    span = 0.0  # the value of a won game, less that
    before_row = 0
    if at_end:
        pone_out = after_deal(win_table, i_deal, 0, dealer)
        dealer_out = after_deal(win_table, i_deal, pone, 0)
        lost = pone_out if i_deal else dealer_out
        span = (dealer_out if i_deal else pone_out) - lost
        before_row = ROWS * game_of(v) + before_at(i_deal, mine, theirs)
    k = 0
    for i in range(n):
        for j in range(i + 1, n):
            row = columns[k]
            k += 1
            low = s["cards"][i]
            high = s["cards"][j]
            kept = dealt - (1 << (4 * (low >> 2))) - (1 << (4 * (high >> 2)))
            at = number(kept) - FIRST[n - 2]
            count_hand(v, table, low, high, 1.0 / (DECK - n), hand)
            fill_crib(table, s, ranks, low, high, v["crib_flush_size"], s["crib"])
            shift(s["crib"], model["excess"][i_deal, cell(low, high)])
            crib = mean(s["crib"])
            row[HAND_MEAN] = mean(hand)
            row[CRIB_MEAN] = crib if i_deal else -crib
            row[OWN_PEGS] = model["pegs"][i_deal, at, 0]
            row[OTHER_PEGS] = model["pegs"][i_deal, at, 1]
            if at_end:
                fill_stages(win_table, i_deal, pone, dealer, 1, s)
                standing = s["after_pegging"][0, 0] - lost
                row[WIN_VALUE] = lost + share[before_row] * standing + span * before[before_row, at]
            elif min(mine, theirs) <= near:
                more = row[OWN_PEGS] - model["mean_pegs"][i_deal]
                let = row[OTHER_PEGS] - model["mean_pegs"][1 - i_deal]
                row[WIN_VALUE] = expected_win(
                    win_table, i_deal, pone, dealer, model, let if i_deal else more, more if i_deal else let, s
                )
            else:
                own = row[HAND_MEAN] + row[OWN_PEGS]
                others = model["mean_hand"][1 - i_deal] + row[OTHER_PEGS]
                pone_more = (others if i_deal else own) - by_pone
                dealer_more = (own if i_deal else others) + heels + crib - by_dealer
                row[WIN_VALUE] = level + pone_point * pone_more + dealer_point * dealer_more
    return k


@kernel
def best_pair(v, s, columns):
    """Return the best pair to discard, ``64 * higher + lower`` card id; ties: the higher cards."""
    n = v["hand_n"] + v["discarded_n"]
    discarded = v["discarded"][0] if v["discarded_n"] == 1 else NONE
    best = NONE
    most = 0.0
    k = 0
    for i in range(n):
        for j in range(i + 1, n):
            low = s["cards"][i]
            high = s["cards"][j]
            value = columns[k, WIN_VALUE]
            k += 1
            if discarded != NONE and discarded != low and discarded != high:
                continue
            pair = 64 * high + low
            if best == NONE or value > most or (value == most and pair > best):
                best = pair
                most = value
    return best


@entry(
    void(
        VIEWS_T, int64[::1], float64[:, :, ::1], MODEL_T, float32[:, ::1], float32[::1], TABLE_T,
        int64, SCRATCH_T, float64[:, ::1], float64[:, :, ::1], int64[::1],
    ),
    seconds=6,
)  # fmt: skip
def discard_views(views, rows, win_table, model, before, share, table, near, scratch, bonus, columns, actions):
    """Fill the columns, with a bonus on each pair, and choose the cards, of the views ``rows``.

    All of them are valued by ``win_table``.
    """
    for k in rows:
        pairs = fill_columns(views[k], win_table, model[0], before, share, table, near, scratch[0], columns[k])
        for pair in range(pairs):
            columns[k, pair, WIN_VALUE] += bonus[k, pair]
        actions[k] = card_of(views[k], best_pair(views[k], scratch[0], columns[k]))


@cache
def read_before() -> tuple[Floats, Floats]:
    """Return the values of hands before the pegging, near the end.

    float32[2 * ROWS, hands], games won besides the standing; and float32[2 * ROWS], the share of
    the standing that is added.
    """
    held = load(ENDGAME)
    before = held["before"].reshape(-1, held["before"].shape[-1])
    share = np.ascontiguousarray(held["share"].ravel(), np.float32)
    return np.ascontiguousarray(before / BEFORE_UNIT, np.float32), share


def rank_discards(
    views: Views, near: int = NEAR, bonus: Doubles | None = None, ends: tuple[Floats, Floats] | None = None
) -> tuple[Actions, Doubles]:
    """Return the cards to discard, int64[B], and the columns of every pair [B, 15, COLUMNS]."""
    views = np.ascontiguousarray(views)
    actions = np.empty(len(views), dtype=np.int64)
    columns = np.zeros((len(views), PAIRS, COLUMNS))
    bonus = np.zeros((len(views), PAIRS)) if bonus is None else bonus
    scratch = np.zeros(1, dtype=SCRATCH)
    for win_table, rows in group_by_win_table(views):
        model = load_model_for(views[rows])
        discard_views(
            views, rows, win_table, model, *(ends or read_before()), show_table(), near, scratch,
            bonus, columns, actions,
        )  # fmt: skip
    return actions, columns
