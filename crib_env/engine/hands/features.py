"""Features that follow from the rules alone, for each card a learner may use now.

All of it follows from the view. What the others hold or discard, and the card dealt to the crib, is
taken as drawn from the cards unseen, each as likely; nothing is assumed of how they play. Of one
opponent's cards those are left out that it has shown it does not hold. Features are points, but for
the probability `no_reply`.
"""

from __future__ import annotations

import numpy as np

from crib_env.engine.family import Feature
from crib_env.engine.hands.counting import (
    DECK,
    IN_SUIT,
    alone,
    best_answer,
    certain_points,
    dealt_card,
    least_pip,
    sequence_of,
    sequence_points,
    starters_total,
    unseen_ranks,
    ways,
)
from crib_env.engine.hands.encode import ACTIONS
from crib_env.engine.hands.records import CRIB, DISCARD
from crib_env.engine.jit import kernel
from crib_env.engine.show import JACK, KEYS, pip, read_sum, two_ranks

RANKS = 13
MOST = 29  # points of a hand or a crib
PEGGED = 15  # more than any card pegs
PEGGED_OF_MANY = 16
POINTS_NOW_MEANS = "pegging: what the card is sure to peg at once"

TWO: dict[str, tuple[Feature, ...]] = {
    "lookahead": (
        Feature("mean_hand", 0, MOST, "discarding: the exact mean of the kept hand, over every "
                "unseen starter, for the best pair with this card: the pair of the highest mean "
                "hand plus mean crib, or minus the crib if it is the other's"),
        Feature("mean_crib", -MOST, MOST, "discarding: the exact mean of the crib with that pair "
                "over every two cards the other may discard and every starter, all drawn from "
                "the unseen; negative if the crib is the other's"),
        Feature("points_now", 0, PEGGED, POINTS_NOW_MEANS),
    ),
    "reply": (
        Feature("reply", 0, PEGGED, "pegging: the mean of the most the other can peg with its "
                "next card in this count, its cards drawn from the unseen"),
        Feature("reply_most", 0, PEGGED, "pegging: the most that any unseen card would peg next"),
        Feature("answer", 0, PEGGED, "pegging: the mean, over the unseen cards that fit, of the "
                "most this seat can peg after them; where the other is out of the count, the most "
                "it can peg next"),
        Feature("no_reply", 0, 1, "pegging: the probability that none of the other's cards fits; 0 "
                "if it is out of the count already, or the count is 31"),
    ),
}  # fmt: skip

MANY: dict[str, tuple[Feature, ...]] = {
    "lookahead": (
        Feature("mean_hand", 0, MOST, "discarding: the exact mean of the hand kept without this "
                "card, over every unseen starter"),
        Feature("mean_crib", -MOST, MOST, "discarding: the exact mean of the crib with this card, "
                "over every three cards that may join it and every starter, all drawn from the "
                "unseen; negative if the crib is not my side's"),
        Feature("points_now", 0, PEGGED_OF_MANY, POINTS_NOW_MEANS),
    ),
}  # fmt: skip

MEAN_HAND = 0
MEAN_CRIB = ACTIONS
POINTS_NOW = 2 * ACTIONS
REPLY = 3 * ACTIONS
REPLY_MOST = 4 * ACTIONS
ANSWER = 5 * ACTIONS
NO_REPLY = 6 * ACTIONS
WORST = -100.0
EQUAL = 1e-5  # below any difference of two means, above what single precision loses


@kernel
def write_features_of_two(v, table, level, out):
    """Write the features `TWO` of the first ``level`` levels of a view, float32[K * 52]."""
    out[:] = 0
    if v["to_move"] == 0:
        return
    if v["phase"] == DISCARD:
        pair_features(v, table, out)
    else:
        pegging_features(v, out)
        if level > 1:
            reply_features(v, out)


@kernel
def write_features_of_many(v, table, level, out):
    """Write the features `MANY` of a view into ``out``, float32[3 * 52]."""
    out[:] = 0
    if v["to_move"] == 0:
        return
    if v["phase"] == DISCARD:
        card_features(v, table, out)
    else:
        pegging_features(v, out)


@kernel
def pegging_features(v, out):
    """Write what each legal card is sure to peg now."""
    sequence = sequence_of(v)
    for k in range(v["hand_n"]):
        if v["legal"] >> k & 1:
            out[POINTS_NOW + v["hand"][k]] = certain_points(v, k, sequence)


@kernel
def crib_ranks(v, table, low, high):
    """Return the ranks' points of the crib (C2), added up over every three unseen cards.

    Any of the three is the starter; ``low`` and ``high`` are discarded. All sets of three cards of
    the deck are counted, less those with a dealt card, plus those with two, less those with three.
    """
    n = v["hand_n"] + v["discarded_n"]
    pair = two_ranks(low >> 2, high >> 2)
    discarded = KEYS[low >> 2] + KEYS[high >> 2]
    total = read_sum(table, pair, 104)
    for k in range(n):
        third = dealt_card(v, k) >> 2
        total -= read_sum(table, pair, third)
        for j in range(k):
            second = dealt_card(v, j) >> 2
            total += read_sum(table, pair, 13 + two_ranks(second, third))
            key = discarded + KEYS[second] + KEYS[third]
            for i in range(j):
                total -= np.int64(table[key + KEYS[dealt_card(v, i) >> 2]])
    return total


@kernel
def suited_crib(v, low, high):
    """Return a crib's points of flushes and nobs, added up over its other cards and the starter.

    The other cards and the starter are any that are unseen; ``low`` and ``high`` are discarded.
    They are one card where one is.
    """
    n = v["hand_n"] + v["discarded_n"]
    left = DECK - n
    others = CRIB - v["discarded"].shape[0]
    total = 0
    for suit in range(4):
        of_suit = IN_SUIT
        jack = 1
        for i in range(n):
            card = dealt_card(v, i)
            of_suit -= card & 3 == suit
            jack -= card == 4 * JACK + suit
        if jack:  # another may discard it, with any other cards
            total += (of_suit - 1) * ways(left - 2, others - 1)
        elif low == 4 * JACK + suit or high == 4 * JACK + suit:
            total += of_suit * ways(left - 1, others)
        if low & 3 == suit and high & 3 == suit:
            total += 5 * ways(of_suit, others) * (of_suit - others)
            if v["crib_flush_size"] <= 4:
                total += 4 * ways(of_suit, others) * (left - of_suit)
    return total


@kernel
def pair_features(v, table, out):
    """Write the best pair's mean hand and mean crib for each card held."""
    n = v["hand_n"] + v["discarded_n"]
    left = DECK - n
    sign = 1 if v["dealer"] == 0 else -1
    for i in range(v["hand_n"]):
        out[MEAN_CRIB + v["hand"][i]] = WORST
    for j in range(n):
        for i in range(j):
            # The card discarded is the last of `dealt_card`, and must be of the pair.
            if v["discarded_n"] == 1 and j < n - 1:
                continue
            first = dealt_card(v, i)
            second = dealt_card(v, j)
            low = min(first, second)
            high = max(first, second)
            by_rank = 3.0 * crib_ranks(v, table, low, high)
            hand = starters_total(v, table, low, high) / left
            crib = sign * (by_rank + suited_crib(v, low, high)) / (3.0 * ways(left, 3))
            for k in range(2):
                card = first if k == 0 else second
                if k == 1 and v["discarded_n"] == 1:
                    continue
                more = hand + crib - (out[MEAN_HAND + card] + out[MEAN_CRIB + card])
                # Of pairs as good, the higher hand: not the one that was dealt first.
                if more > EQUAL or (more > -EQUAL and hand > out[MEAN_HAND + card] + EQUAL):
                    out[MEAN_HAND + card] = hand
                    out[MEAN_CRIB + card] = crib


@kernel
def reply_features(v, out):
    """Write what may follow each legal card in this count."""
    sequence = sequence_of(v)
    for k in range(v["hand_n"]):
        if v["legal"] >> k & 1:
            reply_to_card(v, k, sequence, out)


@kernel
def reply_to_card(v, k, sequence, out):
    """Write what the other's next card may peg after ``hand[k]``, and this seat's answer."""
    card = v["hand"][k]
    longer = sequence << 4 | card >> 2
    count = v["count"] + pip(card)
    n = v["pile_n"] - v["pile_from"] + 1
    if count == 31:
        return
    if alone(v):
        # A go the other seat could not answer has been pegged, or is by this card.
        go = 1 - v["single_count"]
        out[ANSWER + card] = best_answer(v, k, longer, n, count, go)
        return
    unseen = unseen_ranks(v)
    least = least_pip(v)
    cards = 0  # that the other may hold
    fitting = 0
    answers = 0
    most = 0
    replies = 0  # what each rank pegs, four bits a rank
    for r in range(RANKS):
        p = min(r + 1, 10)
        held = unseen >> (4 * r) & 15
        if p < least or held == 0:
            continue
        cards += held
        if count + p > 31:
            continue
        fitting += held
        reply = longer << 4 | r
        points = sequence_points(reply, n + 1, count + p, v["go"])
        replies |= points << (4 * r)
        most = max(most, points)
        answers += held * best_answer(v, k, reply, n + 1, count + p, v["go"])
    mean = 0.0
    for points in range(1, most + 1):
        as_good = 0
        for r in range(RANKS):
            if replies >> (4 * r) & 15 >= points:
                as_good += unseen >> (4 * r) & 15
        mean += 1.0 - none_of(cards, as_good, v["held_n"][1])
    out[REPLY + card] = mean
    out[REPLY_MOST + card] = most
    out[ANSWER + card] = answers / fitting if fitting else 0.0
    out[NO_REPLY + card] = none_of(cards, fitting, v["held_n"][1])


@kernel
def none_of(cards, some, drawn):
    """Return the probability that none of ``some`` of the cards is among ``drawn`` of them."""
    probability = 1.0
    for i in range(drawn):
        probability *= max(0.0, cards - some - i) / (cards - i)
    return probability


@kernel
def card_features(v, table, out):
    """Write the mean hand and the mean crib for each card that may be discarded."""
    n = v["hand_n"]
    left = DECK - n
    sign = 1 if v["side_of"][v["dealer"]] == 0 else -1
    add_crib_ranks(v, table, out)
    cribs = 4 * ways(left, 4)  # every three cards and a starter
    for i in range(n):
        card = v["hand"][i]
        out[MEAN_HAND + card] = starters_total(v, table, card, card) / left
        by_rank = 4.0 * out[MEAN_CRIB + card]
        out[MEAN_CRIB + card] = sign * (by_rank + suited_crib(v, card, card)) / cribs


@kernel
def add_crib_ranks(v, table, out):
    """Add up, for each card, the ranks' points of the crib (C2) over every four unseen cards.

    Whichever of them is the starter. The sums are whole numbers below 2**24, so float32 holds them
    exactly.
    """
    unseen = unseen_ranks(v)
    for a in range(RANKS):
        of_a = unseen >> (4 * a) & 15
        for b in range(a, RANKS):
            of_b = (unseen >> (4 * b) & 15) - (b == a)
            for c in range(b, RANKS):
                of_c = (unseen >> (4 * c) & 15) - (c == b) - (c == a)
                for d in range(c, RANKS):
                    of_d = (unseen >> (4 * d) & 15) - (d == c) - (d == b) - (d == a)
                    if min(of_a, of_b, of_c, of_d) <= 0:
                        continue
                    # In how many orders equal ranks would come.
                    same = 1 + (b == a)
                    same *= 1 + (c == b) + (c == a)
                    same *= 1 + (d == c) + (d == b) + (d == a)
                    sets = of_a * of_b * of_c * of_d // same
                    four = KEYS[a] + KEYS[b] + KEYS[c] + KEYS[d]
                    for i in range(v["hand_n"]):
                        card = v["hand"][i]
                        points = np.int64(table[four + KEYS[card >> 2]])
                        out[MEAN_CRIB + card] += sets * points
