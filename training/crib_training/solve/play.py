"""The play of one hand against all hands that the other seat may hold.

A hand's ranks are walked down the public tree. Along go the other seat's *range*: for each rank
multiset it may still hold, how likely that is times how likely its strategy comes this way. A card
of the other seat's divides the range; a card of one's own tries each choice against the whole of
it. What a choice brings, weighed by the range, is its counterfactual value, and regret matching
(CFR+) makes the next strategy of those.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from crib_agents.data.tables import RANKS
from crib_agents.equilibrium.tree import AFRESH, ALONE, ANSWERED, WAYS
from crib_agents.expert.two_hand.pegging.holdings import (
    DISTINCT,
    FIRST,
    HOLDINGS,
    LISTED,
    LOWEST,
    holdings,
)

from crib_env.engine import stack
from crib_env.engine.jit import kernel
from crib_env.engine.record import NONE
from crib_training.solve.counts import PAIR, for_go, gone

LEARN, VALUE, BEST = range(3)
"""What a walk is for: to learn of it, to value the strategy, or to value the best answer to it."""

UNFIT = -1e30  # in place of the worth of a rank that does not fit
NOBODY, FITTING, STUCK, EVERYBODY = range(4)
SELDOM = 0.001  # the least weight, so that what hardly happens is learned too

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
    """What a walk reads and writes.

    Attributes:
        mover, left, other, row, child, offset: of the `PublicTree`.
        after, points, count, last_two, their_two, alone: of `Counts`.
        single_count: 1 for one count.
        rows: `holdings`. with_card, slot: `WITH`, `SLOT`.
        me: 0 for pone, 1 for the dealer. mode: what the walk is for.
        pairs, pair: `Strategy.laid_pairs` of this seat, and what it laid away.
        weight: of what is learned in its average.
        chances: float32, this seat's strategy, as `Strategy.play` lays it out, 0 to 1.
        theirs: float32, the other seat's, which knows no pairs laid away.
        book: float32, for each holding at each of this seat's nodes the regrets of its ranks, then
            the sums for its average strategy. pages: int64[N], where each node's begin.
        reach: float64[LEVELS, K], the other seat's range, level by level.
        origin: int32[LEVELS, K], what each of its holdings was kept as.
        by_kept: float64[K], receives the points of the walk by what the other seat kept; empty
            where that is not wanted.
    """

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
    pair: Any
    weight: Any
    chances: Any
    theirs: Any
    book: Any
    pages: Any
    reach: Any
    origin: Any
    by_kept: Any


@kernel
def many(size):
    """Return how many holdings of a size there are."""
    return FIRST[size + 1] - FIRST[size]


@kernel
def credit(w, level, place, points, path):
    """Add points, weighed by the range, to what the other seat kept in the holding at ``place``."""
    if len(w.by_kept) > 0:
        w.by_kept[w.origin[level, place]] += path * points


@kernel
def count_up(w, level, size, points, path):
    """Return the points of a line of play that has ended, weighed by the range."""
    total = 0.0
    for i in range(many(size)):
        weighed = w.reach[level, i] * points
        total += weighed
        credit(w, level, i, weighed, path)
    return total


@kernel
def count_alone(w, level, size, state, points, path):
    """Return the same where this seat has no cards left, and the other plays on alone."""
    total = 0.0
    for i in range(many(size)):
        weighed = w.reach[level, i] * (points - w.alone[state, FIRST[size] + i])
        total += weighed
        credit(w, level, i, weighed, path)
    return total


@kernel
def their_last_two(w, node, level, state, rank, points, path):
    """Return the same where the other seat plays one of two cards, and this one has one."""
    at = w.offset[node]
    lower = w.theirs[at : at + PAIR]
    makes = w.their_two[state, rank]
    reach = w.reach[level]
    total = 0.0
    for i in range(PAIR):
        share = lower[i]
        total += reach[i] * (points - share * makes[0, i] - (1.0 - share) * makes[1, i])
    if len(w.by_kept) > 0:
        for i in range(PAIR):
            made = points - lower[i] * makes[0, i] - (1.0 - lower[i]) * makes[1, i]
            w.by_kept[w.origin[level, i]] += path * reach[i] * made
    return total


@kernel
def my_last_two(reach, makes, points, worth):
    """Write what the lower and the higher of two cards bring where the other seat has one.

    Args:
        reach: float64, its range. makes: int8[2, 13], of `Counts.last_two`.
        worth: float64, receives the two.
    """
    low = 0.0
    high = 0.0
    for x in range(RANKS):
        low += reach[x] * (points + makes[0, x])
        high += reach[x] * (points + makes[1, x])
    worth[0] = low
    worth[1] = high


@kernel
def learn(book, chances, page, at, left, slots, worth, value, gained):
    """Add to the regrets and the average of a holding at a node, and set its next strategy.

    Args:
        book, chances: see `Walk`. page, at: where the holding's begin there.
        left: how many cards it has. slots: how many ranks.
        worth: float64, what each of its ranks brings; `UNFIT` for those that do not fit.
        value: what its strategy brought. gained: the weight of that in the average.
    """
    total = 0.0
    for slot in range(slots):
        regret = book[page + slot]
        if worth[slot] != UNFIT:
            regret = max(regret + worth[slot] - value, 0.0)
            book[page + slot] = regret
        total += regret
    rest = 1.0
    for slot in range(slots - 1):
        if total > 0.0:
            chances[at + slot] = book[page + slot] / total
        rest -= chances[at + slot]
        book[page + left + slot] += gained * chances[at + slot]
    book[page + left + slots - 1] += gained * rest


@kernel
def choose_of_two(w, node, level, state, own, points, path):
    """Return what follows where this seat plays one of two cards and the other has one."""
    slots = w.rows[own, DISTINCT]
    place = own - FIRST[2]
    low = w.rows[own, LISTED] & 15
    high = w.rows[own, LISTED] >> 4
    at = w.offset[node] * w.pairs + place * w.pairs + w.pair
    share = w.chances[at] if slots > 1 else 1.0
    worth = stack.floats(2)
    my_last_two(w.reach[level], w.last_two[state, place], points, worth)
    if len(w.by_kept) > 0:
        makes = w.last_two[state, place]
        for x in range(RANKS):
            made = points + share * makes[0, x] + (1.0 - share) * makes[1, x]
            w.by_kept[w.origin[level, x]] += path * w.reach[level, x] * made
    if slots == 1 or w.after[state, high] == NONE:
        return worth[0]
    if w.after[state, low] == NONE:
        return worth[1]
    if w.mode == BEST:
        return max(worth[0], worth[1])
    value = share * worth[0] + (1.0 - share) * worth[1]
    if w.mode == LEARN:
        page = (w.pages[node] + 4 * place) * w.pairs + 4 * w.pair
        gained = w.weight * (path + SELDOM)
        learn(w.book, w.chances, page, at, 2, 2, worth, value, gained)
    return value


@kernel
def keep_part(reach, origin, rows, level, size, room, fits):
    """Write the part of the range that can play, or cannot, a level on; return its weight."""
    total = 0.0
    for i in range(many(size)):
        kept = (rows[FIRST[size] + i, LOWEST] <= room) == fits
        reach[level + 1, i] = reach[level, i] if kept else 0.0
        origin[level + 1, i] = origin[level, i]
        total += reach[level + 1, i]
    return total


@kernel
def take_from_range(reach, origin, theirs, with_card, slot_with, at, left, level, rank):
    """Write the range once the other seat has played a rank, a level on; return its weight."""
    first = FIRST[left - 1]
    total = 0.0
    for i in range(many(left - 1)):
        place = with_card[first + i, rank] - FIRST[left]
        likely = reach[level, place]
        if likely > 0.0 and left > 1:
            here = at + place * (left - 1)
            slot = slot_with[first + i, rank]
            if slot >= 0:
                likely *= theirs[here + slot]
            else:
                chance = 1.0
                for k in range(-1 - slot):
                    chance -= theirs[here + k]
                likely *= max(chance, 0.0)
        reach[level + 1, i] = likely
        origin[level + 1, i] = origin[level, place]
        total += likely
    return total


@kernel
def part_of(way, mine, count, able, other):
    """Return which part of the range goes on in a way after a card: `NOBODY` to `EVERYBODY`.

    Args:
        mine: whether the card was this seat's. able: whether this seat can play then.
        other: how many cards the other seat holds.
    """
    if count == 31:
        return EVERYBODY if way == AFRESH else NOBODY
    if mine:
        if way != ANSWERED and able != (way == ALONE):
            return NOBODY
        fits = way == ANSWERED
    else:
        if able != (way == ANSWERED):
            return NOBODY
        if able:
            return EVERYBODY
        fits = way == ALONE
    if count <= 21:  # who holds a card can play
        return EVERYBODY if fits == (other > 0) else NOBODY
    return FITTING if fits else STUCK


@kernel
def walk(w, node, level, state, own, points, path):
    """Return what follows at a node, in points weighed by the range; learn if asked to.

    Args:
        level: of the range. state: of the count. own: this seat's holding.
        points: made so far, less the other seat's. path: how likely this seat comes this way.
    """
    mine = w.mover[node] == w.me
    left = w.left[node]
    place = 0
    at = 0
    choices = RANKS
    if mine:
        place = (own - FIRST[left]) * w.pairs + w.pair
        at = w.offset[node] * w.pairs + place * (left - 1)
        choices = w.rows[own, DISTINCT]
    worth = stack.floats(RANKS)
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
                chance = w.chances[at + choice]
            rest -= chance
        worth[choice] = UNFIT
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
            onward = then if way == ANSWERED else 0
            net = made
            if way != ANSWERED:
                go = for_go(w.count, then, way == ALONE, w.single_count)
                net += go if mine else -go
            if way == ALONE:
                onward = gone(then, w.single_count)
            if way == AFRESH and (w.single_count or (holding == 0 and other == 0)):
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
        worth[choice] = total
        best = max(best, total)
        value += chance * total
    if mine and w.mode == BEST:
        return best
    if mine and w.mode == LEARN and fitting > 1:
        page = w.pages[node] * w.pairs + place * 2 * left
        gained = w.weight * (path + SELDOM)
        learn(w.book, w.chances, page, at, left, choices, worth, value, gained)
    return value
