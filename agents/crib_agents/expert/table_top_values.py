"""The value of a position without search: each side's points to come, by learned tables.

The value of a line with fewer than five cards is the mean of lines of its ranks in self-play of the
expert, by the turns left and by whether its owner moves next. Separate tables correct for the
unseen ranks, for suits and for nobs. The value of a full line is its points.

In a game, points of the two sides may have different weights: a side that leads near the target
wants the game to end, and a side that is behind does not (T9). Where only the difference counts
(T13), all points have the same weight.
"""

from __future__ import annotations

from math import comb

import numpy as np

from crib_agents.knowledge.rounds import POINTS
from crib_env.engine.jit import kernel
from crib_env.engine.ranks import RANKS, bit_count, lowest
from crib_env.engine.table_top.lines import most_of_a_suit, nob_of, owed_by, rank_key, rank_points
from crib_env.engine.table_top.records import CENTRE, LINES, SIZE, TURNS

OWNERS = 2  # the line's owner does not move next, or does
PHASES = TURNS // 2  # two turns each: the last two turns of a round are phase 0
# Multisets of up to four ranks, the smaller first: how many there are before those of n ranks.
FIRST_SHAPE = np.array([sum(comb(RANKS + k - 1, k) for k in range(n)) for n in range(SIZE + 1)], dtype=np.int64)
SHAPES = int(FIRST_SHAPE[SIZE])
# Among those of n ranks in rising order, the i-th being r, each adds COUNTED[i, r].
COUNTED = np.array([[comb(r + i, i + 1) for r in range(RANKS)] for i in range(SIZE)])
OWED = 3  # a side owes the crib two, one or no cards

# Where each table begins in the flat array of values.
LINE = 0  # [OWNERS, PHASES, SHAPES]
SUITED = LINE + OWNERS * PHASES * SHAPES  # [OWNERS, PHASES, cards, most of one suit]
NOB = SUITED + OWNERS * PHASES * SIZE * SIZE  # [OWNERS, PHASES, cards]
CRIB = NOB + OWNERS * PHASES * SIZE  # [the crib is the other side's or mine, SHAPES]
OWED_LINES = CRIB + 2 * SHAPES  # [line owner's OWNERS, PHASES, owner owes, the other side owes]
SURPLUS = OWED_LINES + OWNERS * PHASES * OWED * OWED  # [SHAPES, RANKS]
VALUES = SURPLUS + SHAPES * RANKS


@kernel
def shape(cards):
    """Return the number of the rank multiset of at most four cards."""
    n = 0
    number = 0
    while cards:
        number += COUNTED[n, lowest(cards) >> 2]
        cards &= cards - 1
        n += 1
    return FIRST_SHAPE[n] + number


@kernel
def by_rank(values, surplus, table, cards, owner_next, phase):
    """Return the expected points of a line by its ranks; exact if it is full."""
    if bit_count(cards) == SIZE:
        return float(table[rank_key(cards)])
    at = shape(cards)
    value = values[LINE + (owner_next * PHASES + phase) * SHAPES + at]
    for rank in range(RANKS):
        value += values[SURPLUS + at * RANKS + rank] * surplus[rank]
    return value


@kernel
def by_suit(values, n, most, owner_next, phase, flush_size):
    """Return the points for suits of ``n`` cards, ``most`` of one suit; exact for five cards."""
    if n == SIZE:
        return float(most) if most >= flush_size else 0.0
    return values[SUITED + ((owner_next * PHASES + phase) * SIZE + n) * SIZE + most]


@kernel
def by_nob(values, n, owner_next, phase):
    """Return the value of the unseen jack of the starter's suit to a centre line of ``n`` cards."""
    return 0.0 if n == SIZE else values[NOB + (owner_next * PHASES + phase) * SIZE + n]


@kernel
def nob_value(values, nob, cards, owner_next, phase, unseen):
    """Return what nobs adds to a line: 1 if it is there, a hope if it may still come."""
    if nob & cards:
        return 1.0
    return by_nob(values, bit_count(cards), owner_next, phase) if nob & unseen else 0.0


@kernel
def by_owed(values, owner_next, turns_left, owner_owes, other_owes):
    """Return the value that the cards owed to the crib add to all lines of a side."""
    if turns_left == 0:
        return 0.0
    at = (owner_next * PHASES + phase_of(turns_left)) * OWED + owner_owes
    return values[OWED_LINES + at * OWED + other_owes]


@kernel
def line_value(values, surplus, table, cards, owner_next, phase, flush_size, nob, unseen):
    """Return the expected points of a line; ``nob`` is the jack that would score one in it."""
    value = by_rank(values, surplus, table, cards, owner_next, phase)
    value += by_suit(values, bit_count(cards), most_of_a_suit(cards), owner_next, phase, flush_size)
    return value + nob_value(values, nob, cards, owner_next, phase, unseen)


@kernel
def crib_value(values, table, cards, mine, nob):
    """Return the expected points of a crib of which these cards and the starter are known."""
    value = 1.0 if nob & cards else 0.0
    if bit_count(cards) == SIZE:
        return value + float(rank_points(table, cards))
    return value + values[CRIB + mine * SHAPES + shape(cards)]


@kernel
def phase_of(turns_left):
    """Return the phase of a round with ``turns_left`` turns left."""
    return turns_left >> 1


@kernel
def fill_surplus(unseen, surplus):
    """Fill ``surplus``, float64[13]: how much more than its share of the unseen a rank has."""
    n = bit_count(unseen)
    for rank in range(RANKS):
        surplus[rank] = bit_count(unseen >> (4 * rank) & 15) * RANKS / n - 1.0


MIDDLE = CENTRE % SIZE
MINE, THEIRS = range(2)  # the sides, and their weights
PAST = POINTS // 2  # totals this far past the target are clear of the ends of the table
FLAT = 1e-6  # added to every slope, so that a game as good as decided is played for points


@kernel
def sign_of(v, line):
    """Return 1 for a line of my side, -1 for one of the other's."""
    return 1 if (line < SIZE) == (v["scores_rows"] == 1) else -1


@kernel
def weight_of(weights, sign):
    """Return the value of a point of a side to mine: of my own if ``sign`` is 1."""
    return weights[MINE] if sign == 1 else -weights[THEIRS]


@kernel
def nob_in(v, line):
    """Return the jack that would score in the line, as a mask, 0 off the centre (T8)."""
    return nob_of(v) if line % SIZE == MIDDLE else 0


@kernel
def owner_moves_next(sign, mover):
    """Return 1 if the owner of a line, mine if ``sign`` is 1, is the side of ``mover``."""
    return 1 if (sign == 1) == (mover & 1 == 0) else 0


@kernel
def side_value(v, table, values, surplus, p, side):
    """Return the points that a side is likely to make in the round from the position ``p``."""
    phase = phase_of(TURNS - p["turn"])
    owner_next = 1 if p["mover"] & 1 == side else 0
    total = by_owed(values, owner_next, TURNS - p["turn"], owed_by(p, side), owed_by(p, 1 - side))
    for i in range(LINES):
        if (sign_of(v, i) == 1) == (side == 0):
            total += line_value(
                values, surplus, table, p["lines"][i], owner_next, phase, v["flush_size"], nob_in(v, i), p["unseen"]
            )
    if (v["my_crib"] == 1) == (side == 0):
        total += crib_value(values, table, p["crib"], v["my_crib"], nob_of(v))
    return total


@kernel
def value(v, table, values, surplus, weights, p):
    """Return the value of a position for my side, without search (weights float64[2])."""
    mine = side_value(v, table, values, surplus, p, MINE)
    theirs = side_value(v, table, values, surplus, p, THEIRS)
    return weights[MINE] * mine - weights[THEIRS] * theirs


@kernel
def weigh(v, table, values, surplus, p, win_table, weights):
    """Fill ``weights`` with the value of a point for my side and of one less for the other.

    They are the slopes of the chance of winning where both sides are expected to end the round, and
    add up to 2, so that values remain in points.
    """
    weights[MINE] = 1.0
    weights[THEIRS] = 1.0
    if win_table.shape[0] == 0:
        return
    dealer = MINE if v["my_crib"] else THEIRS
    a = v["scores"][dealer] + side_value(v, table, values, surplus, p, dealer)
    b = v["scores"][1 - dealer] + side_value(v, table, values, surplus, p, 1 - dealer)
    past = max(max(a, b) - v["target"] - PAST, 0.0)  # only the difference matters there
    i = max(int(a - past + 0.5), 1)
    j = max(int(b - past + 0.5), 1)
    now = win_table[v["turn"]]
    by_dealer = now[i + 1, j] - now[i - 1, j] + FLAT
    by_other = now[i, j - 1] - now[i, j + 1] + FLAT
    weights[dealer] = 2.0 * by_dealer / (by_dealer + by_other)
    weights[1 - dealer] = 2.0 - weights[dealer]
