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
from crib_agents.equilibrium.public_tree import PublicTree
from crib_agents.knowledge.pegging import (
    COUNTED,
    DISTINCT,
    FIRST,
    HOLDINGS,
    LISTED,
    LOWEST,
    NEW_COUNT,
    OF_SIZE,
    REPLY,
    SAME_PLAYER,
    WAYS,
    go_point,
    holdings,
)
from numba import float32, float64, int8, int32, int64, void

from crib_env.arrays import Doubles, Floats, Ints
from crib_env.engine import stack
from crib_env.engine.jit import entry, kernel
from crib_env.engine.ranks import RANKS, pips
from crib_env.engine.record import NONE, tuple_of
from research.solve.counts import PAIR, Counts, gone
from research.solve.ranges import EVERYBODY, FITTING, NOBODY, keep_part, part_of, take_from_range

# For a holding without a card and the rank of that card: the holding with it, and the rank's slot
# among its ranks, ascending. The last slot's probability is 1 less the others', so it is written as
# -1 - slot.
WITH = np.full((HOLDINGS, RANKS), NONE, dtype=np.int32)
SLOT = np.zeros((HOLDINGS, RANKS), dtype=np.int8)
for _holding, _row in enumerate(holdings()):
    for _slot in range(_row[DISTINCT]):
        _rank = _row[LISTED] >> (4 * _slot) & 15
        WITH[_row[_rank], _rank] = _holding
        SLOT[_row[_rank], _rank] = -1 - _slot if _slot == _row[DISTINCT] - 1 else _slot


class Walk(NamedTuple):
    """The inputs and outputs of a walk."""

    weight: Any  # of the hand in the average
    # mover, left, other, row, child, offset: of the `PublicTree`
    mover: Any
    left: Any
    other: Any
    row: Any
    child: Any
    offset: Any
    # after, points, count, last_two, their_two, alone: of `Counts`
    after: Any
    points: Any
    count: Any
    last_two: Any
    their_two: Any
    alone: Any
    single_count: Any  # 1 for one count
    rows: Any  # `holdings`
    # with_card, slot: `WITH`, `SLOT`
    with_card: Any
    slot: Any
    me: Any  # 0 for pone, 1 for the dealer
    mode: Any  # LEARN, VALUE or BEST
    probabilities: Any  # float32, both seats' strategy, as `Strategy.play` lays it out, 0 to 1
    # LEARN: float32, for each holding at each of this seat's nodes the regrets of its ranks, then
    # the sums for its average strategy. BEST: float32[N], the rank that the best response plays at
    # each of this seat's nodes, or empty
    book: Any
    pages: Any  # int64[N], where each node's part of ``book`` begins
    reach: Any  # float64[LEVELS, K], the other seat's range, level by level
    origin: Any  # int32[LEVELS, K], the whole hand of each of its holdings
    by_hand: Any  # float64[K], receives the points by the other seat's whole hand; empty if unused


WALK_T = (
    int64[::1], int64[::1], int64[::1], int64[::1], int64[:, ::1], int64[::1],
    int32[:, ::1], int8[:, ::1], int8[::1], int8[:, :, :, ::1], int8[:, :, :, ::1], int8[:, ::1],
    int64, int64[:, ::1], int32[:, ::1], int8[:, ::1], int64, int64,
    float32[::1], float32[::1], int64[::1], float64[:, ::1], int32[:, ::1], float64[::1],
)  # fmt: skip
"""Numba's types of the fields of a `Walk` that are the same for every hand: all but the weight."""


@kernel
def walk(w, node, level, state, own, points, path):
    """Return the points from a node on, weighted by the range; learn in mode LEARN."""
    mine = w.mover[node] == w.me
    left = w.left[node]
    place = 0
    at = 0
    choices = RANKS
    if mine:
        place = own - FIRST[left]
        at = w.offset[node] + place * (left - 1)
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
            weight = take_from_range(
                w.reach, w.origin, w.probabilities, w.with_card, w.slot, w.offset[node], left, level, rank
            )
            if weight == 0.0:
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
                if keep_part(w.reach, w.origin, w.rows, here, other, 31 - count, part == FITTING) == 0.0:
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
        page = w.pages[node] + place * 2 * left
        gained = w.weight * (path + MIN_WEIGHT)
        learn(w.book, w.probabilities, page, at, left, choices, action_value, value, gained)
    return value


LEARN, VALUE, BEST = range(3)
"""Modes of a walk: learn, value the strategy, or value the best response to it."""

MIN_WEIGHT = 0.001  # added to a line's probability, so that rare lines are learned too
UNFIT = -1e30  # the value of a rank that does not fit


@kernel
def credit(w, level, place, points, path):
    """Add points, weighted by the range, to the whole hand of the other's holding at ``place``."""
    if len(w.by_hand) > 0:
        w.by_hand[w.origin[level, place]] += path * points


@kernel
def count_up(w, level, size, points, path):
    """Return the points of a finished line of pegging, weighted by the range."""
    total = 0.0
    for i in range(OF_SIZE[size]):
        weighed = w.reach[level, i] * points
        total += weighed
        credit(w, level, i, weighed, path)
    return total


@kernel
def count_alone(w, level, size, state, points, path):
    """As `count_up`, where this seat has no cards left and the other plays on alone."""
    total = 0.0
    for i in range(OF_SIZE[size]):
        weighed = w.reach[level, i] * (points - w.alone[state, FIRST[size] + i])
        total += weighed
        credit(w, level, i, weighed, path)
    return total


@kernel
def their_last_two(w, node, level, state, rank, points, path):
    """As `count_up`, where the other seat plays one of two cards and this one has one."""
    at = w.offset[node]
    lower = w.probabilities[at : at + PAIR]
    makes = w.their_two[state, rank]
    reach = w.reach[level]
    total = 0.0
    for i in range(PAIR):
        share = lower[i]
        total += reach[i] * (points - share * makes[0, i] - (1.0 - share) * makes[1, i])
    if len(w.by_hand) > 0:
        for i in range(PAIR):
            made = points - lower[i] * makes[0, i] - (1.0 - lower[i]) * makes[1, i]
            w.by_hand[w.origin[level, i]] += path * reach[i] * made
    return total


@kernel
def my_last_two(reach, makes, points, action_value):
    """Write the values of the lower and the higher of two cards if the other seat has one.

    Shapes: makes int8[2, 13].
    """
    low = 0.0
    high = 0.0
    for x in range(RANKS):
        low += reach[x] * (points + makes[0, x])
        high += reach[x] * (points + makes[1, x])
    action_value[0] = low
    action_value[1] = high


@kernel
def learn(book, probabilities, page, at, left, slots, action_value, value, gained):
    """Add to the regrets and the average of a holding at a node, and set its next strategy.

    Its numbers begin at ``page`` in ``book`` and at ``at`` in ``probabilities``, see `Walk`. It has
    ``left`` cards of ``slots`` ranks; ``action_value`` is the value of each rank, `UNFIT` where it
    does not fit, ``value`` the value of its strategy, ``gained`` its weight in the average.
    """
    total = 0.0
    for slot in range(slots):
        regret = book[page + slot]
        if action_value[slot] != UNFIT:
            regret = max(regret + action_value[slot] - value, 0.0)
            book[page + slot] = regret
        total += regret
    rest = 1.0
    for slot in range(slots - 1):
        if total > 0.0:
            probabilities[at + slot] = book[page + slot] / total
        rest -= probabilities[at + slot]
        book[page + left + slot] += gained * probabilities[at + slot]
    book[page + left + slots - 1] += gained * rest


@kernel
def choose_of_two(w, node, level, state, own, points, path):
    """Return the value where this seat plays one of two cards and the other has one."""
    slots = w.rows[own, DISTINCT]
    place = own - FIRST[2]
    low = w.rows[own, LISTED] & 15
    high = w.rows[own, LISTED] >> 4
    at = w.offset[node] + place
    share = w.probabilities[at] if slots > 1 else 1.0
    action_value = stack.floats(2)
    my_last_two(w.reach[level], w.last_two[state, place], points, action_value)
    if len(w.by_hand) > 0:
        makes = w.last_two[state, place]
        for x in range(RANKS):
            made = points + share * makes[0, x] + (1.0 - share) * makes[1, x]
            w.by_hand[w.origin[level, x]] += path * w.reach[level, x] * made
    if slots == 1 or w.after[state, high] == NONE:
        return action_value[0]
    if w.after[state, low] == NONE:
        return action_value[1]
    if w.mode == BEST:
        if len(w.book) > 0:
            w.book[node] = low if action_value[0] >= action_value[1] else high
        return max(action_value[0], action_value[1])
    value = share * action_value[0] + (1.0 - share) * action_value[1]
    if w.mode == LEARN:
        page = w.pages[node] + 4 * place
        gained = w.weight * (path + MIN_WEIGHT)
        learn(w.book, w.probabilities, page, at, 2, 2, action_value, value, gained)
    return value


LEVELS = 16  # more than cards and divided ranges on any line of play

NO_BOOK: Floats = np.empty(0, dtype=np.float32)  # for walks that record nothing


class Walked(NamedTuple):
    """The results of walks."""

    values: Doubles  # float64[T], points of each hand, weighted by its range
    masses: Doubles  # float64[T], the weight of that range
    # hand_values, hand_masses: float64[T, K], the same by the other seat's whole hand; empty
    # without ``by_hand``
    hand_values: Doubles
    hand_masses: Doubles


WALKED_T = tuple_of(Walked, float64[::1], float64[::1], float64[:, ::1], float64[:, ::1])


@entry(void(tuple_of(tuple, *WALK_T), int64[::1], float64[::1], float32[:, ::1], float64, int64, int64, WALKED_T))
def walk_hands(shared, holdings, weights, ranges, iteration, starter, copies, walked):
    """Walk every hand of a seat, by its ranks and its probability, against its range."""
    n = ranges.shape[1]
    by_hand = len(walked.hand_values) > 0
    for hand in range(len(holdings)):
        w = Walk(iteration * (weights[hand] + 0.01), *shared)
        first = FIRST[w.left[0]]
        total = 0.0
        for i in range(n):
            likely = ranges[hand, i]
            if starter != NONE:
                seen = w.rows[holdings[hand], COUNTED] >> (4 * starter) & 15
                seen += w.rows[first + i, COUNTED] >> (4 * starter) & 15
                likely *= max(copies - seen, 0)
            w.reach[0, i] = likely
            w.origin[0, i] = i
            total += likely
        walked.masses[hand] += total
        if total == 0.0:
            continue
        if by_hand:
            for i in range(n):
                walked.hand_masses[hand, i] += w.reach[0, i]
                w.by_hand[i] = 0.0
        # The same types as in its recursive calls: two compiled versions that call each other crash
        # when they are read back from the cache.
        begin = np.int64(0)
        walked.values[hand] += walk(w, begin, begin, begin, holdings[hand], begin, 1.0)
        if by_hand:
            for i in range(n):
                walked.hand_values[hand, i] += w.by_hand[i]


@entry(void(int64[::1], int64[::1], int64[::1], int64[:, ::1], float32[::1]))
def fill_even(left, offset, count, rows, probabilities):
    """Give every rank that fits at a node the same probability; ``probabilities`` as in `Walk`."""
    for node in range(len(left)):
        if offset[node] == NONE:
            continue
        size = left[node]
        for holding in range(FIRST[size], FIRST[size + 1]):
            fit = 0
            slots = rows[holding, DISTINCT]
            for slot in range(slots):
                rank = rows[holding, LISTED] >> (4 * slot) & 15
                fit += count[node] + pips(rank) <= 31
            at = offset[node] + (holding - FIRST[size]) * (size - 1)
            for slot in range(slots - 1):
                rank = rows[holding, LISTED] >> (4 * slot) & 15
                if count[node] + pips(rank) <= 31:
                    probabilities[at + slot] = 1.0 / fit


@entry(void(int64[::1], int64[::1], int64[::1], int64[:, ::1], float32[::1], float32[::1]))
def average_of(left, offset, pages, rows, book, probabilities):
    """Set the probabilities to the average strategy of a book, wherever it has one."""
    for node in range(len(left)):
        if offset[node] == NONE or pages[node] == NONE:
            continue
        size = left[node]
        for holding in range(FIRST[size], FIRST[size + 1]):
            slots = rows[holding, DISTINCT]
            place = holding - FIRST[size]
            at = offset[node] + place * (size - 1)
            page = pages[node] + place * 2 * size + size
            total = 0.0
            for slot in range(slots):
                total += book[page + slot]
            if total > 0.0:
                for slot in range(slots - 1):
                    probabilities[at + slot] = book[page + slot] / total


class Walker:
    """Walks hands of both seats through one tree, with its own scratch memory."""

    def __init__(self, tree: PublicTree, counts: Counts, single_count: bool, copies: int) -> None:
        self.tree = tree
        self.counts = counts
        self.single_count = int(single_count)
        self.copies = copies
        hands = int(OF_SIZE[tree.left[0]])
        self.reach = np.zeros((LEVELS, hands))
        self.origin = np.zeros((LEVELS, hands), dtype=np.int32)
        self.by_hand = np.zeros(hands)
        self.pages = [self._pages(seat) for seat in range(2)]

    def _pages(self, seat: int) -> Ints:
        """Return where the pages of a seat's nodes begin in its book, NONE for the other's."""
        tree = self.tree
        mine = (tree.mover == seat) & (tree.offset != NONE)
        size = np.where(mine, OF_SIZE[tree.left] * 2 * tree.left, 0)
        return np.where(mine, np.cumsum(size) - size, NONE)

    def book(self, seat: int) -> Floats:
        """Return an empty book of a seat; see `Walk`."""
        last = int(np.flatnonzero(self.pages[seat] != NONE)[-1])
        left = int(self.tree.left[last])
        return np.zeros(int(self.pages[seat][last]) + int(OF_SIZE[left]) * 2 * left, dtype=np.float32)

    def even(self) -> Floats:
        """Return the strategy of both seats that plays every rank with equal probability."""
        tree = self.tree
        probabilities = np.zeros(tree.size, dtype=np.float32)
        fill_even(tree.left, tree.offset, tree.count, holdings(), probabilities)
        return probabilities

    def average(self, seat: int, book: Floats, probabilities: Floats) -> None:
        """Write the average strategy of a seat's book over its probabilities."""
        tree = self.tree
        average_of(tree.left, tree.offset, self.pages[seat], holdings(), book, probabilities)

    def walk(
        self,
        seat: int,
        mode: int,
        hands: Ints,
        weights: Doubles,
        ranges: Floats,
        probabilities: Floats,
        book: Floats = NO_BOOK,
        *,
        iteration: float = 0.0,
        starter: int = NONE,
        by_hand: bool = False,
    ) -> Walked:
        """Walk holdings of a seat, 0 pone and 1 the dealer, in the mode LEARN, VALUE or BEST.

        Each of ``hands``, with its probability in ``weights``, has a row of ``ranges``, float32[T,
        K]: the probability of each whole hand of the other seat. The walk multiplies it by the
        number of unseen cards of the starter's rank. ``iteration`` is the weight in the average.
        For the others see `Walk`. ``by_hand`` adds the points by the other's whole hand.
        """
        n, shape = len(hands), (len(hands) if by_hand else 0, len(self.by_hand))
        walked = Walked(np.zeros(n), np.zeros(n), np.zeros(shape), np.zeros(shape))
        tree, counts = self.tree, self.counts
        shared = (
            tree.mover, tree.left, tree.other, tree.row, tree.child, tree.offset, counts.after,
            counts.points, counts.count, counts.last_two, counts.their_two, counts.alone,
            self.single_count, holdings(), WITH, SLOT, seat, mode, probabilities, book,
            self.pages[seat], self.reach, self.origin, self.by_hand if by_hand else self.by_hand[:0],
        )  # fmt: skip
        walk_hands(shared, hands, weights, ranges, iteration, starter, self.copies, walked)
        return walked
