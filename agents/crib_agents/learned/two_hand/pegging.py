"""The value of a card in the pegging: its points now plus the network's prediction of later points.

The inputs are the position after a card, and the effect of each reply. The other seat's cards are
unknown, so each rank that it may hold stands for a reply: its points, the best answer of this seat,
and the rank's share of the unseen cards.
"""

from __future__ import annotations

from crib_agents.kernels.two_hand import WIN
from crib_agents.learned.network import (
    MOST_INPUTS,
    UNLIKELY,
    WIDEST,
    add_inputs,
    begin_hidden,
    finish,
    put,
    put_counts,
)
from crib_env.engine import stack
from crib_env.engine.hands.counting import (
    alone,
    best_answer,
    certain_points,
    least_pip,
    sequence_of,
    sequence_points,
    unseen_ranks,
)
from crib_env.engine.jit import kernel
from crib_env.engine.record import NONE
from crib_env.engine.show import pip
from crib_env.engine.two_hand import HAND

HELD = 0  # ranks still held, thermometer
SEQUENCE = HELD + 52  # ranks of this count, newest first, one-hot
COUNT = SEQUENCE + 7 * 13  # the count, one-hot
OTHER_N = COUNT + 32  # how many cards the other holds, one-hot
HAND_N = OTHER_N + 5  # and this seat before the card, 1 to 4
UNSEEN = HAND_N + 4  # of each rank how many are not seen, one-hot
THEIRS = UNSEEN + 13 * 5  # what the other seat played, in order
MINE = THEIRS + 4 * 13  # what this seat did, with the card
GO = MINE + 4 * 13  # the go of this count is pegged
SAME_PLAYER = GO + 1  # the other seat plays no more in this count
DEALER = SAME_PLAYER + 1
NOW = DEALER + 1  # what the card pegs now, in fours
LEAST = NOW + 1  # the least pip value the other's cards can have, one-hot
# Of each rank of reply:
REPLY = LEAST + 12  # what it would score, in fours
FITS = REPLY + 13  # it may be played
ANSWER = FITS + 13  # the most this seat could answer, in fours
SHARE = ANSWER + 13  # its share of the cards the other may hold, times four
RISK = SHARE + 13  # share times score
# Sums over the replies: the shares that fit, score and answer by share, the shares that score.
SUMS = RISK + 13
PEGGING_INPUTS = SUMS + 4


@kernel
def holdable(unseen, least):
    """Return how many unseen cards the other seat may hold: those of a pip value not ruled out."""
    total = 0
    for r in range(13):
        if min(r + 1, 10) >= least:
            total += unseen >> (4 * r) & 15
    return total


@kernel
def shared_features(v, unseen, least, total, is_alone, places, values):
    """Write what is seen whatever card is played; return how many inputs that are not 0."""
    n = put(places, values, 0, OTHER_N + v["held_n"][1], 1.0)
    n = put(places, values, n, HAND_N + v["hand_n"] - 1, 1.0)
    n = put(places, values, n, LEAST + min(least, 11), 1.0)
    for r in range(13):
        left = unseen >> (4 * r) & 15
        n = put(places, values, n, UNSEEN + 5 * r + left, 1.0)
        if left and min(r + 1, 10) >= least:
            n = put(places, values, n, SHARE + r, 4.0 * left / total)
    mine = 0
    for i in range(v["pile_n"]):
        r = v["pile"][i] >> 2
        if v["pile_seats"] >> 2 * i & 1 == 0:
            n = put(places, values, n, MINE + 13 * mine + r, 1.0)
            mine += 1
        else:
            n = put(places, values, n, THEIRS + 13 * (i - mine) + r, 1.0)
    if v["go"]:
        n = put(places, values, n, GO, 1.0)
    if is_alone:
        n = put(places, values, n, SAME_PLAYER, 1.0)
    if v["dealer"] == 0:
        n = put(places, values, n, DEALER, 1.0)
    return n


@kernel
def card_features(v, k, now, sequence, unseen, least, total, is_alone, places, values, n):
    """Write what is seen of playing ``hand[k]`` behind the first ``n``; return how many now are.

    Args:
        now: what the card is sure to peg (`counting.certain_points`).
        sequence: the count so far. The others as for `shared_features`.
    """
    rank = v["hand"][k] >> 2
    held = 0
    for i in range(v["hand_n"]):
        if i != k:
            held += 1 << (4 * (v["hand"][i] >> 2))
    n = put_counts(places, values, n, HELD, held)
    longer = sequence << 4 | rank
    count = v["count"] + pip(v["hand"][k])
    length = v["pile_n"] - v["pile_from"] + 1
    for i in range(min(7, length)):
        n = put(places, values, n, SEQUENCE + 13 * i + (longer >> (4 * i) & 15), 1.0)
    n = put(places, values, n, COUNT + count, 1.0)
    played = v["dealt"] - 2 - v["hand_n"]
    n = put(places, values, n, MINE + 13 * played + rank, 1.0)
    if now:
        n = put(places, values, n, NOW, now / 4.0)
    if is_alone or count == 31:
        return n
    fits = 0.0
    risk = 0.0
    answers = 0.0
    scoring = 0.0
    for r in range(13):
        p = min(r + 1, 10)
        left = unseen >> (4 * r) & 15
        if p < least or left == 0 or count + p > 31:
            continue
        share = left / total
        reply = longer << 4 | r
        points = sequence_points(reply, length + 1, count + p, v["go"])
        answer = best_answer(v, k, reply, length + 1, count + p, v["go"])
        n = put(places, values, n, FITS + r, 1.0)
        if points:
            n = put(places, values, n, REPLY + r, points / 4.0)
            n = put(places, values, n, RISK + r, points * share)
            scoring += share
        if answer:
            n = put(places, values, n, ANSWER + r, answer / 4.0)
        fits += share
        risk += points * share
        answers += answer * share
    n = put(places, values, n, SUMS, fits)
    n = put(places, values, n, SUMS + 1, risk)
    n = put(places, values, n, SUMS + 2, answers)
    return put(places, values, n, SUMS + 3, scoring)


PEGGING = 2  # the place of the net, behind one for each role in discarding
MY_REST, THEIR_REST = range(2)  # what it puts out: points still to come


@kernel
def card_points(v, weights, now, mine, theirs):
    """Write what playing each card held brings both seats; return how many ranks can be played.

    Shapes: now int64[HAND]; mine float64[HAND]; theirs float64[HAND].
    """
    places = stack.ints(MOST_INPUTS)
    values = stack.floats(MOST_INPUTS)
    expected = stack.floats(2)
    sequence = sequence_of(v)
    ranks = 0
    choices = 0
    for k in range(HAND - 1, -1, -1):
        mine[k] = UNLIKELY
        theirs[k] = 0.0
        now[k] = 0
        if v["legal"] >> k & 1:
            rank = v["hand"][k] >> 2
            if not ranks >> rank & 1:
                ranks |= 1 << rank
                choices += 1
                now[k] = certain_points(v, k, sequence)
                mine[k] = float(now[k])
    if choices > 1:
        net = int(weights[PEGGING])
        unseen = unseen_ranks(v)
        least = least_pip(v)
        total = holdable(unseen, least)
        is_alone = alone(v)
        shared = shared_features(v, unseen, least, total, is_alone, places, values)
        before = stack.floats(WIDEST)
        hidden = stack.floats(WIDEST)
        wide = begin_hidden(weights, net, before)
        add_inputs(weights, net, places, values, 0, shared, before)
        for k in range(v["hand_n"]):
            if mine[k] != UNLIKELY:
                n = card_features(
                    v, k, now[k], sequence, unseen, least, total, is_alone, places, values, shared
                )
                for j in range(wide):
                    hidden[j] = before[j]
                add_inputs(weights, net, places, values, shared, n, hidden)
                finish(weights, net, hidden, expected)
                mine[k] += expected[MY_REST]
                theirs[k] = expected[THEIR_REST]
    return choices


@kernel
def card_values(v, weights, now, values):
    """Write the value of playing each card held; return how many ranks can be played.

    Shapes: values float64[HAND].
    """
    theirs = stack.floats(HAND)
    choices = card_points(v, weights, now, values, theirs)
    for k in range(HAND):
        if values[k] != UNLIKELY:
            values[k] -= theirs[k]
    return choices


@kernel
def play(v, weights):
    """Return the card of the highest value; one that wins the game at once before all others."""
    now = stack.ints(HAND)
    values = stack.floats(HAND)
    card_values(v, weights, now, values)
    need = v["target"] - v["scores"][0]
    best = NONE
    most = UNLIKELY
    for k in range(v["hand_n"]):
        if not v["legal"] >> k & 1:
            continue
        value = values[k] + WIN if values[k] != UNLIKELY and now[k] >= need else values[k]
        if best == NONE or value > most:
            best = v["hand"][k]
            most = value
    return best
