"""The inputs of the pegging network: the position after a card, and the effect of each reply.

The other seat's cards are unknown, so each rank that it may hold stands for a reply: its points,
the best answer of this seat, and the rank's share of the unseen cards.
"""

from __future__ import annotations

from crib_agents.learned.network import put, put_counts
from crib_env.engine.hands.counting import best_answer, sequence_points
from crib_env.engine.jit import kernel
from crib_env.engine.show import pip

NAME = "two_hand.play"
VERSION = 1

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
SIZE = SUMS + 4


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
