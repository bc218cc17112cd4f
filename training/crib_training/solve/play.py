"""The pegging of one hand against all hands that the other seat may hold.

A walk follows the hand's ranks down the public tree with the other seat's *range*. The range weighs
each rank multiset by its probability and by the probability that the other seat's strategy reaches
the node. A card of the other seat splits the range. At the hand's own turn the walk tries each card
against the whole range. The range-weighted points of a card are its counterfactual value, and
regret matching (CFR+) turns these values into the next strategy.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from crib_agents.data.tables import RANKS
from crib_agents.knowledge.pegging import (
    DISTINCT,
    FIRST,
    HOLDINGS,
    LISTED,
    LOWEST,
    NEW_COUNT,
    REPLY,
    SAME_PLAYER,
    WAYS,
    go_point,
    holdings,
)
from numba import float32, float64, int8, int32, int64

from crib_env.engine import stack
from crib_env.engine.jit import kernel
from crib_env.engine.record import NONE
from crib_training.solve.counts import gone
from crib_training.solve.endings import (
    BEST,
    LEARN,
    MIN_WEIGHT,
    UNFIT,
    choose_of_two,
    count_alone,
    count_up,
    learn,
    their_last_two,
)
from crib_training.solve.ranges import (
    EVERYBODY,
    FITTING,
    NOBODY,
    keep_part,
    part_of,
    take_from_range,
)

# For a holding without a card and the rank of that card: the holding with it, and which of its
# ranks that is, ascending; the last one's chance is what is left, and is written as -1 - slot.
WITH = np.full((HOLDINGS, RANKS), NONE, dtype=np.int32)
SLOT = np.zeros((HOLDINGS, RANKS), dtype=np.int8)
for _holding, _row in enumerate(holdings()):
    for _slot in range(_row[DISTINCT]):
        _rank = _row[LISTED] >> (4 * _slot) & 15
        WITH[_row[_rank], _rank] = _holding
        SLOT[_row[_rank], _rank] = -1 - _slot if _slot == _row[DISTINCT] - 1 else _slot


class Walk(NamedTuple):
    """The inputs and outputs of a walk.

    Attributes:
        pair: the pair that this hand discarded; see `Strategy.discard_pairs`.
        weight: the weight in the average.
        mover, left, other, row, child, offset: of the `PublicTree`.
        after, points, count, last_two, their_two, alone: of `Counts`.
        single_count: 1 for one count.
        rows: `holdings`. with_card, slot: `WITH`, `SLOT`.
        me: 0 for pone, 1 for the dealer. mode: the purpose of the walk.
        pairs: `Strategy.discard_pairs` of this seat.
        probabilities: float32, this seat's strategy, as `Strategy.play` lays it out, 0 to 1.
        theirs: float32, the other seat's, without pairs discarded.
        book: float32, for each holding at each of this seat's nodes the regrets of its ranks, then
            the sums for its average strategy; of the best response float32[N], which rank is played
            at each of this seat's nodes, or nothing. pages: int64[N], where each node's begin.
        reach: float64[LEVELS, K], the other seat's range, level by level.
        origin: int32[LEVELS, K], the whole hand of each of its holdings.
        by_hand: float64[K], receives the points of the walk by the other seat's whole hand; empty
            where that is not wanted.
    """

    pair: Any
    weight: Any
    mover: Any
    left: Any
    other: Any
    row: Any
    child: Any
    offset: Any
    after: Any
    points: Any
    count: Any
    last_two: Any
    their_two: Any
    alone: Any
    single_count: Any
    rows: Any
    with_card: Any
    slot: Any
    me: Any
    mode: Any
    pairs: Any
    probabilities: Any
    theirs: Any
    book: Any
    pages: Any
    reach: Any
    origin: Any
    by_hand: Any


WALK_T = (
    int64[::1], int64[::1], int64[::1], int64[::1], int64[:, ::1], int64[::1],
    int32[:, ::1], int8[:, ::1], int8[::1], int8[:, :, :, ::1], int8[:, :, :, ::1], int8[:, ::1],
    int64, int64[:, ::1], int32[:, ::1], int8[:, ::1], int64, int64, int64,
    float32[::1], float32[::1], float32[::1], int64[::1], float64[:, ::1], int32[:, ::1],
    float64[::1],
)  # fmt: skip
"""Numba's types of the fields of a `Walk` that are the same for every hand: all but two."""


@kernel
def walk(w, node, level, state, own, points, path):
    """Return the points from a node on, weighted by the range; learn in mode LEARN."""
    mine = w.mover[node] == w.me
    left = w.left[node]
    place = 0
    at = 0
    choices = RANKS
    if mine:
        place = (own - FIRST[left]) * w.pairs + w.pair
        at = w.offset[node] * w.pairs + place * (left - 1)
        choices = w.rows[own, DISTINCT]
    action_value = stack.floats(RANKS)
    value = 0.0
    best = UNFIT
    rest = 1.0
    fitting = 0
    for choice in range(choices):
        rank = w.rows[own, LISTED] >> (4 * choice) & 15 if mine else choice
        chance = 1.0
        if mine:
            chance = rest
            if choice < choices - 1:
                chance = w.probabilities[at + choice]
            rest -= chance
        action_value[choice] = UNFIT
        then = w.after[state, rank]
        if then == NONE:
            continue
        here = level
        holding = own
        other = w.other[node]
        made = points + w.points[state, rank]
        if mine:
            holding = w.rows[own, rank]
        else:
            other = left - 1
            made = points - w.points[state, rank]
            if (
                take_from_range(
                    w.reach,
                    w.origin,
                    w.theirs,
                    w.with_card,
                    w.slot,
                    w.offset[node],
                    left,
                    level,
                    rank,
                )
                == 0.0
            ):
                continue
            here = level + 1
        fitting += 1
        total = 0.0
        ways = path * chance
        count = w.count[then]
        able = holding > 0 and count + w.rows[holding, LOWEST] <= 31
        for way in range(WAYS):
            part = part_of(way, mine, count, able, other)
            if part == NOBODY:
                continue
            below = here
            if part != EVERYBODY:
                below = here + 1
                if (
                    keep_part(w.reach, w.origin, w.rows, here, other, 31 - count, part == FITTING)
                    == 0.0
                ):
                    continue
            onward = then if way == REPLY else 0
            net = made
            if way != REPLY:
                go = go_point(count, then & 1, way == SAME_PLAYER, w.single_count)
                net += go if mine else -go
            if way == SAME_PLAYER:
                onward = gone(then, w.single_count)
            if way == NEW_COUNT and (w.single_count or (holding == 0 and other == 0)):
                total += count_up(w, below, other, net, ways)
            elif other == 0:
                total += count_up(w, below, 0, net + w.alone[onward, holding], ways)
            elif holding == 0:
                total += count_alone(w, below, other, onward, net, ways)
            else:
                child = w.child[w.row[node], way] + rank
                if w.left[child] != 2 or w.other[child] != 1:
                    total += walk(w, child, below, onward, holding, net, ways)
                elif w.mover[child] == w.me:
                    total += choose_of_two(w, child, below, onward, holding, net, ways)
                else:
                    rank_left = w.rows[holding, LISTED]
                    total += their_last_two(w, child, below, onward, rank_left, net, ways)
        action_value[choice] = total
        best = max(best, total)
        value += chance * total
    if mine and w.mode == BEST:
        if len(w.book) > 0:
            for choice in range(choices):
                if action_value[choice] == best:
                    w.book[node] = w.rows[own, LISTED] >> (4 * choice) & 15
        return best
    if mine and w.mode == LEARN and fitting > 1:
        page = w.pages[node] * w.pairs + place * 2 * left
        gained = w.weight * (path + MIN_WEIGHT)
        learn(w.book, w.probabilities, page, at, left, choices, action_value, value, gained)
    return value
