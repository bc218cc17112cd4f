"""Features of a view by the rules alone: numbers of the view, and a row for each legal card.

The other seats' cards and discards, and the card dealt to the crib, are taken as uniform draws from
the unseen cards, less those that a seat has shown it does not hold. A row describes the position
after its card is used: the ranks kept, the card's points, and for each rank that may be played next
its points, this seat's best answer and how likely it is.
"""

from __future__ import annotations

import numpy as np

from crib_env.engine import stack
from crib_env.engine.family import Features, Slice, offsets
from crib_env.engine.hands import counting, encode
from crib_env.engine.hands.counting import IN_SUIT
from crib_env.engine.hands.records import CRIB, DISCARD
from crib_env.engine.jit import kernel
from crib_env.engine.ranks import DECK, RANKS, pair_number, pips
from crib_env.engine.show import JACK, KEYS, pip, read_sum

ROWS_OF_TWO = 6
ROWS_OF_MANY = 5
OTHERS = 3  # seats besides this one
FOURS = 4.0  # points of the pegging are in fours, so that networks see numbers near 1,
EIGHTS = 8.0  # and points of the show in eights
MOST = 29 / EIGHTS  # points of a hand or a crib
PEGGED = 16 / FOURS  # more than any card pegs
EQUAL = 1e-5  # below any difference of two means
WORST = -100.0

STATE = (
    Slice("hand_ranks", RANKS, "for each rank how many cards this seat holds", high=4),
    Slice("discarded_ranks", RANKS, "for each rank how many it has discarded", high=2),
    Slice("unseen_ranks", RANKS, "for each rank the unseen cards, as a share of four"),
)
CARD = (
    Slice("action", 1, "1 + the card; 0 in a row without one", high=encode.ACTIONS),
    Slice("sure", 1, "what the card brings for certain or in the mean, in points: the "
            "sum of `mean_hand`, `mean_crib` and `points_now`", low=-29, high=58),
    Slice("kept", RANKS, "for each rank half the number of cards this seat still holds, "
            "discarding: that it keeps", high=2),
    Slice("card", RANKS, "the rank of the card"),
    Slice("before", RANKS, "the rank played before it in this count; discarding: the rank "
            "discarded with it"),
    Slice("two_before", RANKS, "the rank played before that"),
    Slice("mean_hand", 1, "discarding: the exact mean of the kept hand over every "
            "unseen starter, in eights of points", high=MOST),
    Slice("mean_crib", 1, "discarding: the exact mean of the crib over every card "
            "that may join it, all drawn from the unseen; negative if the crib is not my side's", low=-MOST, high=MOST),
    Slice("discarding", 1, "the card would be discarded"),
    Slice("points_now", 1, "pegging: what the card is sure to peg at once, in fours", high=PEGGED),
    Slice("count", 1, "the count with the card, as a share of 31"),
    Slice("share", RANKS, "for each rank that fits next, four times its share of the cards "
            "that the next seat may hold", high=4),
    Slice("reply", RANKS, "for each such rank what it would peg, in fours", high=PEGGED),
    Slice("risk", RANKS, "for each such rank its points times its share", high=4 * PEGGED),
)  # fmt: skip
TWO = Features(
    STATE,
    ROWS_OF_TWO,
    (
        *CARD,
        Slice("answer", RANKS, "for each such rank the most this seat could then peg", high=PEGGED),
        Slice("alone", 1, "the other plays no more in this count"),
        Slice("fits", 1, "how many of the cards that the other may hold fit, as a share"),
        Slice("mean_reply", 1, "the sum of `risk`", high=4 * PEGGED),
        Slice("mean_answer", 1, "the sum of the best answers times shares", high=4 * PEGGED),
        Slice("scoring", 1, "the share of the cards that would peg"),
    ),
    first=encode.AT.pile,
)
MANY = Features(STATE, ROWS_OF_MANY, (
    *CARD,
    Slice("likely", OTHERS, "what each other seat, to the left, is likely to peg "
            "next, in fours: a seat that can score does, and one that did not could not", high=PEGGED),
    Slice("cannot", OTHERS, "how likely it is that it has no card that fits"),
), first=encode.AT.pile)  # fmt: skip

# Offsets of slices in a row; those that both kinds of rows have are the same.
AT, AT_OF_MANY = offsets(TWO.row), offsets(MANY.row)
ROWS = offsets(STATE).end  # where the rows begin
WIDTH_OF_TWO = TWO.width
WIDTH_OF_MANY = MANY.width


@kernel
def write_features_of_two(v, table, out):
    """Write the features `TWO` of a view into ``out``, float32[TWO.size]."""
    out[:] = 0
    if v["to_move"] == 0:
        return
    ranks_of_state(v, out)
    if v["phase"] == DISCARD:
        pair_rows(v, table, out)
        return
    sequence = counting.sequence_of(v)
    unseen = counting.unseen_ranks(v)
    least = counting.least_pip(v)
    total = holdable(unseen, least)
    is_alone = counting.alone(v)
    points = stack.ints(RANKS)
    answers = stack.ints(RANKS)
    shares = stack.floats(RANKS)
    sums = stack.floats(4)
    for k in range(v["hand_n"]):
        if v["legal"] >> k & 1 == 0:
            continue
        row = out[ROWS + WIDTH_OF_TWO * place_of(v, k) :]
        pegging_row(v, k, sequence, row)
        if is_alone:
            row[AT.alone] = 1.0
        if is_alone or v["count"] + pip(v["hand"][k]) == 31:
            continue
        replies_of_two(v, k, sequence, unseen, least, total, points, answers, shares)
        for r in range(RANKS):
            if shares[r] == 0.0:
                continue
            row[AT.share + r] = 4.0 * shares[r]
            row[AT.reply + r] = points[r] / FOURS
            row[AT.risk + r] = points[r] * shares[r]
            row[AT.answer + r] = answers[r] / FOURS
        sum_replies(points, answers, shares, sums)
        for i in range(4):
            row[AT.fits + i] = sums[i]  # and the three slices after it


@kernel
def write_features_of_many(v, table, out):
    """Write the features `MANY` of a view into ``out``, float32[MANY.size]."""
    out[:] = 0
    if v["to_move"] == 0:
        return
    ranks_of_state(v, out)
    if v["phase"] == DISCARD:
        card_rows(v, table, out)
        return
    sequence = counting.sequence_of(v)
    unseen = counting.unseen_ranks(v)
    known = counting.known_of(v)
    for k in range(v["hand_n"]):
        if v["legal"] >> k & 1 == 0:
            continue
        row = out[ROWS + WIDTH_OF_MANY * place_of(v, k) :]
        pegging_row(v, k, sequence, row)
        count = v["count"] + pip(v["hand"][k])
        if count < 31:
            longer = sequence << 4 | v["hand"][k] >> 2
            replies_of_many(v, longer, count, unseen, known, row)


@kernel
def ranks_of_state(v, out):
    """Write the features `STATE`."""
    for i in range(v["hand_n"]):
        out[v["hand"][i] >> 2] += 1.0
    for i in range(v["discarded_n"]):
        out[RANKS + (v["discarded"][i] >> 2)] += 1.0
    unseen = counting.unseen_ranks(v)
    for r in range(RANKS):
        out[2 * RANKS + r] = (unseen >> (4 * r) & 15) / 4.0


@kernel
def place_of(v, k):
    """Return the row of ``hand[k]``: the number of lower cards that are legal."""
    place = 0
    for i in range(v["hand_n"]):
        place += v["legal"] >> i & 1 if v["hand"][i] < v["hand"][k] else 0
    return place


@kernel
def pegging_row(v, k, sequence, row):
    """Write the row of playing ``hand[k]``: the cards left, the sequence, the certain points."""
    card = v["hand"][k]
    row[AT.action] = 1 + card
    for i in range(v["hand_n"]):
        if i != k:
            row[AT.kept + (v["hand"][i] >> 2)] += 0.5
    longer = sequence << 4 | card >> 2
    for i in range(min(3, v["pile_n"] - v["pile_from"] + 1)):
        row[AT.card + RANKS * i + (longer >> (4 * i) & 15)] = 1.0
    row[AT.sure] = counting.certain_points(v, k, sequence)
    row[AT.points_now] = row[AT.sure] / FOURS
    row[AT.count] = (v["count"] + pip(card)) / 31.0


@kernel
def holdable(unseen, least):
    """Return how many unseen cards the other seat may hold: those of a pip value not ruled out."""
    total = 0
    for r in range(RANKS):
        if pips(r) >= least:
            total += unseen >> (4 * r) & 15
    return total


@kernel
def replies_of_two(v, k, sequence, unseen, least, total, points, answers, shares):
    """Write the other's replies to ``hand[k]`` in this count, by rank, in a game for two.

    Of each rank the points and this seat's best answer, int64[13], and its share of the ``total``
    (`holdable`) cards that the other may hold, float64[13]: 0 if the rank does not fit.
    """
    longer = sequence << 4 | v["hand"][k] >> 2
    count = v["count"] + pip(v["hand"][k])
    n = v["pile_n"] - v["pile_from"] + 2
    for r in range(RANKS):
        p = pips(r)
        left = unseen >> (4 * r) & 15
        shares[r] = 0.0
        if p < least or left == 0 or count + p > 31:
            continue
        shares[r] = left / total
        played = longer << 4 | r
        points[r] = counting.sequence_points(played, n, count + p, v["go"])
        answers[r] = counting.best_answer(v, k, played, n, count + p, v["go"])


@kernel
def sum_replies(points, answers, shares, sums):
    """Sum `replies_of_two`: share that fits, mean reply, mean answer, share that scores."""
    fits = 0.0
    risk = 0.0
    answered = 0.0
    scoring = 0.0
    for r in range(RANKS):
        if shares[r] == 0.0:
            continue
        fits += shares[r]
        risk += points[r] * shares[r]
        answered += answers[r] * shares[r]
        if points[r]:
            scoring += shares[r]
    sums[0] = fits
    sums[1] = risk
    sums[2] = answered
    sums[3] = scoring


@kernel
def replies_of_many(v, longer, count, unseen, known, row):
    """Write the others' likely replies after a card made the sequence ``longer``."""
    length = v["pile_n"] - v["pile_from"] + 1
    seat = counting.able(v, 1)
    if seat:
        cards = counting.cards_of(unseen, known, seat)
        for r in range(RANKS):
            total = count + pips(r)
            share = counting.share_of(unseen, r, known, seat) / cards
            if total > 31 or share == 0.0:
                continue
            points = counting.sequence_points(longer << 4 | r, length + 1, total, 0)
            row[AT.share + r] = 4.0 * share
            row[AT.reply + r] = points / FOURS
            row[AT.risk + r] = points * share
    while seat:
        row[AT_OF_MANY.likely + seat - 1] = counting.reply(v, seat, longer, length, count, unseen, known) / FOURS
        row[AT_OF_MANY.cannot + seat - 1] = counting.no_fit(v, seat, count, unseen, known)
        seat = counting.able(v, seat + 1)


@kernel
def crib_ranks(v, table, low, high):
    """Return the ranks' points of the crib (C2), added up over every three unseen cards.

    Any of the three is the starter; ``low`` and ``high`` are the discards. All sets of three cards
    of the deck count, less those with a dealt card, plus those with two, less those with three.
    """
    n = v["hand_n"] + v["discarded_n"]
    pair = pair_number(low >> 2, high >> 2)
    discarded = KEYS[low >> 2] + KEYS[high >> 2]
    total = read_sum(table, pair, 104)
    for k in range(n):
        third = counting.dealt_card(v, k) >> 2
        total -= read_sum(table, pair, third)
        for j in range(k):
            second = counting.dealt_card(v, j) >> 2
            total += read_sum(table, pair, 13 + pair_number(second, third))
            key = discarded + KEYS[second] + KEYS[third]
            for i in range(j):
                total -= np.int64(table[key + KEYS[counting.dealt_card(v, i) >> 2]])
    return total


@kernel
def crib_ranks_of(v, table, card):
    """Return the ranks' points of the crib (C2), added up over every four unseen cards.

    As `crib_ranks`, where only ``card`` is discarded: all sets of four cards of the deck, less
    those with a dealt card, plus those with two, and so on. The sums of a pair may count its second
    card twice, which is taken off.
    """
    rank = card >> 2
    total = 0
    for second in range(RANKS):
        pair = pair_number(rank, second)
        total += read_sum(table, pair, 104) - read_sum(table, pair, second)
    for i in range(v["hand_n"]):
        second = v["hand"][i] >> 2
        pair = pair_number(rank, second)
        total -= read_sum(table, pair, 104) - read_sum(table, pair, second)
        for j in range(i):
            third = v["hand"][j] >> 2
            total += read_sum(table, pair, third)
            total -= read_sum(table, pair, 13 + pair_number(second, third))
            for k in range(j):
                fourth = v["hand"][k] >> 2
                key = KEYS[rank] + KEYS[second] + KEYS[third] + KEYS[fourth]
                total -= read_sum(table, pair, 13 + pair_number(third, fourth))
                total += np.int64(table[key + KEYS[second]])
                for last in range(k):
                    total += np.int64(table[key + KEYS[v["hand"][last] >> 2]])
    return total


@kernel
def suited_crib(v, low, high):
    """Return a crib's points of flushes and nobs, added up over its other cards and the starter.

    The other cards and the starter are any that are unseen; ``low`` and ``high`` are the discards,
    equal if the seat discards one card.
    """
    n = v["hand_n"] + v["discarded_n"]
    left = DECK - n
    others = CRIB - v["discarded"].shape[0]
    total = 0
    for suit in range(4):
        of_suit = IN_SUIT
        jack = 1
        for i in range(n):
            card = counting.dealt_card(v, i)
            of_suit -= card & 3 == suit
            jack -= card == 4 * JACK + suit
        if jack:  # another may discard it, with any other cards
            total += (of_suit - 1) * counting.ways(left - 2, others - 1)
        elif low == 4 * JACK + suit or high == 4 * JACK + suit:
            total += of_suit * counting.ways(left - 1, others)
        if low & 3 == suit and high & 3 == suit:
            total += 5 * counting.ways(of_suit, others) * (of_suit - others)
            if v["crib_flush_size"] <= 4:
                total += 4 * counting.ways(of_suit, others) * (left - of_suit)
    return total


@kernel
def pair_means(v, table, low, high):
    """Return mean points of hand and crib (the other's below 0) for discards ``low`` < ``high``."""
    left = DECK - v["hand_n"] - v["discarded_n"]
    sign = 1 if v["dealer"] == 0 else -1
    crib = 3.0 * crib_ranks(v, table, low, high) + suited_crib(v, low, high)
    hand = counting.starters_total(v, table, low, high) / left
    return hand, sign * crib / (3.0 * counting.ways(left, 3))


@kernel
def pair_rows(v, table, out):
    """Write for each card the value of the best pair with it, by the mean hand and mean crib."""
    n = v["hand_n"] + v["discarded_n"]
    hands = stack.floats(ROWS_OF_TWO)
    cribs = stack.floats(ROWS_OF_TWO)
    partners = stack.ints(ROWS_OF_TWO)
    for i in range(ROWS_OF_TWO):
        hands[i] = 0.0
        cribs[i] = WORST
        partners[i] = 0
    for j in range(n):
        for i in range(j):
            # The card discarded is the last of `dealt_card`, and must be of the pair.
            if v["discarded_n"] == 1 and j < n - 1:
                continue
            first = counting.dealt_card(v, i)
            second = counting.dealt_card(v, j)
            hand, crib = pair_means(v, table, min(first, second), max(first, second))
            for k in range(2 - v["discarded_n"]):
                this = i if k == 0 else j
                more = hand + crib - (hands[this] + cribs[this])
                partner = second if k == 0 else first
                # Ties: the higher hand, then the lower card. The order dealt does not matter.
                if more > -EQUAL and more < EQUAL:
                    more = hand - hands[this]
                    if more > -EQUAL and more < EQUAL:
                        more = float(partners[this] - partner)
                if more > 0.0:
                    hands[this] = hand
                    cribs[this] = crib
                    partners[this] = partner
    for k in range(v["hand_n"]):
        row = out[ROWS + WIDTH_OF_TWO * place_of(v, k) :]
        discard_row(v, v["hand"][k], partners[k], hands[k], cribs[k], row)


@kernel
def discard_row(v, card, partner, hand, crib, row):
    """Write the row of discarding ``card``, together with ``partner`` if that differs."""
    row[AT.action] = 1 + card
    row[AT.discarding] = 1.0
    row[AT.sure] = hand + crib
    row[AT.mean_hand] = hand / EIGHTS
    row[AT.mean_crib] = crib / EIGHTS
    row[AT.card + (card >> 2)] = 1.0
    if partner != card:
        row[AT.card + RANKS + (partner >> 2)] = 1.0
    for i in range(v["hand_n"]):
        if v["hand"][i] != card and v["hand"][i] != partner:
            row[AT.kept + (v["hand"][i] >> 2)] += 0.5


@kernel
def pair_row(v, table, low, high, row):
    """Write the row of discarding the cards ``low`` < ``high``, float64[WIDTH_OF_TWO]."""
    row[:] = 0.0
    hand, crib = pair_means(v, table, low, high)
    discard_row(v, low, high, hand, crib, row)


@kernel
def card_rows(v, table, out):
    """Write the mean hand and the mean crib for each card that may be discarded."""
    n = v["hand_n"]
    left = DECK - n
    sign = 1 if v["side_of"][v["dealer"]] == 0 else -1
    cribs = 4 * counting.ways(left, 4)  # every three cards and a starter
    for k in range(n):
        card = v["hand"][k]
        hand = counting.starters_total(v, table, card, card) / left
        crib = sign * (4.0 * crib_ranks_of(v, table, card) + suited_crib(v, card, card)) / cribs
        discard_row(v, card, card, hand, crib, out[ROWS + WIDTH_OF_MANY * place_of(v, k) :])
