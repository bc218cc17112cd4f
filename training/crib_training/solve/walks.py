"""Walks of many hands: half an iteration, or the value of a strategy or of its best response."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from crib_agents.equilibrium.tree import PublicTree
from crib_agents.knowledge.pegging import (
    COUNTED,
    DISTINCT,
    FIRST,
    LISTED,
    OF_SIZE,
    holdings,
)
from numba import float32, float64, int64, void

from crib_env.arrays import Doubles, Floats, Ints
from crib_env.engine.jit import entry
from crib_env.engine.record import NONE, tuple_of
from crib_training.solve.counts import Counts
from crib_training.solve.play import SLOT, WALK_T, WITH, Walk, walk

LEVELS = 16  # more than cards and divided ranges on any line of play

NO_BOOK: Floats = np.empty(0, dtype=np.float32)  # of walks that write nothing down


class Hands(NamedTuple):
    """The hands of a seat to walk.

    Attributes:
        holding: int64[T]. pair: int64[T], the pairs discarded, 0 where they do not matter.
        known: int64[T], the ranks that the seat knows are not the other's, four bits a rank.
        range_of: int64[T], the row of the ranges of each.
        weight: float64[T], the probability of each.
    """

    holding: Any
    pair: Any
    known: Any
    range_of: Any
    weight: Any


HANDS_T = tuple_of(Hands, int64[::1], int64[::1], int64[::1], int64[::1], float64[::1])


class Walked(NamedTuple):
    """The results of walks.

    Attributes:
        values: float64[T], points of each hand, weighted by its range.
        masses: float64[T], the weight of that range.
        hand_values, hand_masses: float64[T, K], the same by the other seat's whole hand; empty
            where that is not wanted.
    """

    values: Doubles
    masses: Doubles
    hand_values: Doubles
    hand_masses: Doubles


WALKED_T = tuple_of(Walked, float64[::1], float64[::1], float64[:, ::1], float64[:, ::1])


@entry(void(tuple_of(tuple, *WALK_T), HANDS_T, float32[:, ::1], float64, int64, int64, WALKED_T))
def walk_hands(shared, hands, ranges, iteration, starter, copies, walked):
    """Walk every hand of a seat against its range."""
    n = ranges.shape[1]
    by_hand = len(walked.hand_values) > 0
    for hand in range(len(hands.holding)):
        w = Walk(hands.pair[hand], iteration * (hands.weight[hand] + 0.01), *shared)
        first = FIRST[w.left[0]]
        total = 0.0
        for i in range(n):
            likely = ranges[hands.range_of[hand], i]
            if starter != NONE:
                seen = hands.known[hand] >> (4 * starter) & 15
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
        # Of the types that it calls itself with: of two compiled versions that call each other,
        # what is read back from the cache crashes.
        begin = np.int64(0)
        walked.values[hand] += walk(w, begin, begin, begin, hands.holding[hand], begin, 1.0)
        if by_hand:
            for i in range(n):
                walked.hand_values[hand, i] += w.by_hand[i]


@entry(void(int64[::1], int64[::1], int64[::1], int64[:, ::1], int64, float32[::1]))
def fill_even(left, offset, count, rows, pairs, probabilities):
    """Give every rank that fits at a node the same chance; ``probabilities`` as `Walk` has them."""
    for node in range(len(left)):
        if offset[node] == NONE:
            continue
        size = left[node]
        for holding in range(FIRST[size], FIRST[size + 1]):
            fit = 0
            slots = rows[holding, DISTINCT]
            for slot in range(slots):
                rank = rows[holding, LISTED] >> (4 * slot) & 15
                fit += count[node] + min(rank + 1, 10) <= 31
            for pair in range(pairs):
                at = offset[node] * pairs + ((holding - FIRST[size]) * pairs + pair) * (size - 1)
                for slot in range(slots - 1):
                    rank = rows[holding, LISTED] >> (4 * slot) & 15
                    if count[node] + min(rank + 1, 10) <= 31:
                        probabilities[at + slot] = 1.0 / fit


@entry(void(int64[::1], int64[::1], int64[::1], int64[:, ::1], int64, float32[::1], float32[::1]))
def average_of(left, offset, pages, rows, pairs, book, probabilities):
    """Set the probabilities to the average strategy of a book, wherever it has one."""
    for node in range(len(left)):
        if offset[node] == NONE or pages[node] == NONE:
            continue
        size = left[node]
        for holding in range(FIRST[size], FIRST[size + 1]):
            slots = rows[holding, DISTINCT]
            for pair in range(pairs):
                place = (holding - FIRST[size]) * pairs + pair
                at = offset[node] * pairs + place * (size - 1)
                page = pages[node] * pairs + place * 2 * size + size
                total = 0.0
                for slot in range(slots):
                    total += book[page + slot]
                if total > 0.0:
                    for slot in range(slots - 1):
                        probabilities[at + slot] = book[page + slot] / total


class Walker:
    """Walks hands of both seats through one tree, with its own scratch memory.

    Args:
        tree: the public tree. counts: the states of its counts.
        single_count: whether the pegging ends with its first count.
        copies: cards of a rank in the deck.
    """

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

    def book(self, seat: int, pairs: int = 1) -> Floats:
        """Return an empty book of a seat; see `Walk`."""
        last = int(np.flatnonzero(self.pages[seat] != NONE)[-1])
        left = int(self.tree.left[last])
        room = int(self.pages[seat][last]) + int(OF_SIZE[left]) * 2 * left
        return np.zeros(room * pairs, dtype=np.float32)

    def even(self, pairs: int = 1) -> Floats:
        """Return the strategy of both seats that plays every rank with equal probability."""
        tree = self.tree
        probabilities = np.zeros(tree.size * pairs, dtype=np.float32)
        fill_even(tree.left, tree.offset, tree.count, holdings(), pairs, probabilities)
        return probabilities

    def average(self, seat: int, book: Floats, probabilities: Floats, pairs: int = 1) -> None:
        """Write the average strategy of a seat's book over its probabilities."""
        tree = self.tree
        average_of(tree.left, tree.offset, self.pages[seat], holdings(), pairs, book, probabilities)

    def walk(
        self,
        seat: int,
        mode: int,
        hands: Hands,
        ranges: Floats,
        probabilities: Floats,
        theirs: Floats,
        book: Floats,
        *,
        iteration: float = 0.0,
        starter: int = NONE,
        pairs: int = 1,
        by_hand: bool = False,
    ) -> Walked:
        """Walk hands of a seat.

        Args:
            seat: 0 for pone, 1 for the dealer. mode: LEARN, VALUE or BEST.
            ranges: float32[G, K], how likely the other seat has each whole hand.
            probabilities, theirs, book: see `Walk`.
            iteration: the weight of what is learned.
            starter: its rank, so that ranges are weighed by how many of its cards are left.
            by_hand: whether to return points by the other seat's whole hand, too.
        """
        n, shape = len(hands.holding), (len(hands.holding) if by_hand else 0, len(self.by_hand))
        walked = Walked(np.zeros(n), np.zeros(n), np.zeros(shape), np.zeros(shape))
        scratch = self.by_hand if by_hand else self.by_hand[:0]
        shared = self.shared(seat, mode, pairs, probabilities, theirs, book, scratch)
        walk_hands(shared, hands, ranges, iteration, starter, self.copies, walked)
        return walked

    def shared(
        self, seat: int, mode: int, pairs: int, probabilities: Floats, theirs: Floats,
        book: Floats, by_hand: Doubles,
    ) -> tuple[Any, ...]:  # fmt: skip
        """Return the fields of a `Walk` that are the same for every hand."""
        tree, counts = self.tree, self.counts
        return (
            tree.mover, tree.left, tree.other, tree.row, tree.child, tree.offset, counts.after,
            counts.points, counts.count, counts.last_two, counts.their_two, counts.alone,
            self.single_count, holdings(), WITH, SLOT, seat, mode, pairs, probabilities, theirs,
            book, self.pages[seat], self.reach, self.origin, by_hand,
        )  # fmt: skip
