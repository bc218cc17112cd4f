"""Walks of many hands: half an iteration, or what a strategy or the best answer to it is worth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from crib_agents.equilibrium.tree import PublicTree
from crib_agents.knowledge.two_hand.holdings import (
    COUNTED,
    DISTINCT,
    FIRST,
    LISTED,
    holdings,
)
from numba import float32, float64, int8, int32, int64, void

from crib_env.engine.jit import entry
from crib_env.engine.record import NONE
from crib_training.solve.counts import Counts
from crib_training.solve.play import SLOT, WITH, Walk, walk

LEVELS = 16  # more than cards and divided ranges on any line of play

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
NO_BOOK: Floats = np.empty(0, dtype=np.float32)  # of walks that write nothing down


@dataclass(frozen=True, eq=False)
class Hands:
    """The hands of a seat to be walked.

    Attributes:
        kept: int64[T], holdings. pair: int64[T], the pairs discarded, 0 where they do not matter.
        known: int64[T], the ranks that the seat knows are not the other's, four bits a rank.
        range_of: int64[T], the row of the ranges that is each one's.
        weight: float64[T], how likely each is, 0 to 1.
    """

    kept: Ints
    pair: Ints
    known: Ints
    range_of: Ints
    weight: Doubles


@entry(
    void(
        int64[::1], int64[::1], int64[::1], int64[::1], int64[:, ::1], int64[::1],
        int32[:, ::1], int8[:, ::1], int8[::1], int8[:, :, :, ::1], int8[:, :, :, ::1],
        int8[:, ::1], int64, int64[:, ::1], int32[:, ::1], int8[:, ::1], int64, int64, int64,
        float64, float32[::1], float32[::1], float32[::1], int64[::1], float64[:, ::1],
        int32[:, ::1], float64[::1],
        int64[::1], int64[::1], int64[::1], int64[::1], float64[::1], float32[:, ::1],
        int64, int64, float64[::1], float64[::1], float64[:, ::1], float64[:, ::1],
    )
)  # fmt: skip
def walk_hands(
    mover, left, other, row, child, offset, after, points, count, last_two, their_two, alone,
    single_count, rows, with_card, slot, me, mode, pairs, iteration, probabilities, theirs, book,
    pages, reach, origin, by_kept, kept, pair, known, range_of, weight, ranges, starter, copies,
    values, masses, pair_values, pair_masses,
):  # fmt: skip
    """Walk every hand of a seat against its range; see `Walk`, `Hands` and `Walker.walk`."""
    n = ranges.shape[1]
    first = FIRST[left[0]]
    for hand in range(len(kept)):
        total = 0.0
        for i in range(n):
            likely = ranges[range_of[hand], i]
            if starter != NONE:
                seen = known[hand] >> (4 * starter) & 15
                seen += rows[first + i, COUNTED] >> (4 * starter) & 15
                likely *= max(copies - seen, 0)
            reach[0, i] = likely
            origin[0, i] = i
            total += likely
        masses[hand] += total
        if total == 0.0:
            continue
        if len(by_kept) > 0:
            for i in range(n):
                pair_masses[hand, i] += reach[0, i]
                by_kept[i] = 0.0
        w = Walk(
            mover, left, other, row, child, offset, after, points, count, last_two, their_two,
            alone, single_count, rows, with_card, slot, me, mode, pairs, pair[hand],
            iteration * (weight[hand] + 0.01), probabilities, theirs, book, pages, reach, origin,
            by_kept,
        )  # fmt: skip
        # Of the types that it calls itself with: of two compiled versions that call each other,
        # what is read back from the cache crashes.
        begin = np.int64(0)
        values[hand] += walk(w, begin, begin, begin, kept[hand], begin, 1.0)
        if len(by_kept) > 0:
            for i in range(n):
                pair_values[hand, i] += by_kept[i]


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
    """Set the chances to the average strategy of a book, wherever it has one."""
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
    """Walks hands of both seats through one tree, with scratch of its own.

    Args:
        tree: the public tree. counts: the states of its counts.
        single_count: whether the play ends with its first count.
        copies: cards of a rank in the deck.
    """

    def __init__(self, tree: PublicTree, counts: Counts, single_count: bool, copies: int) -> None:
        self.tree = tree
        self.counts = counts
        self.single_count = int(single_count)
        self.copies = copies
        kept = int(FIRST[tree.left[0] + 1] - FIRST[tree.left[0]])
        self.reach = np.zeros((LEVELS, kept))
        self.origin = np.zeros((LEVELS, kept), dtype=np.int32)
        self.by_kept = np.zeros(kept)
        self.pages = [self._pages(seat) for seat in range(2)]

    def _pages(self, seat: int) -> Ints:
        """Return where the pages of a seat's nodes begin in its book, NONE for the other's."""
        tree = self.tree
        mine = (tree.mover == seat) & (tree.offset != NONE)
        sizes = np.array([FIRST[left + 1] - FIRST[left] for left in range(tree.left[0] + 1)])
        size = np.where(mine, sizes[tree.left] * 2 * tree.left, 0)
        return np.where(mine, np.cumsum(size) - size, NONE)

    def book(self, seat: int, pairs: int = 1) -> Floats:
        """Return an empty book of a seat; see `Walk`."""
        last = int(np.flatnonzero(self.pages[seat] != NONE)[-1])
        left = int(self.tree.left[last])
        room = int(self.pages[seat][last]) + int(FIRST[left + 1] - FIRST[left]) * 2 * left
        return np.zeros(room * pairs, dtype=np.float32)

    def even(self, pairs: int = 1) -> Floats:
        """Return the strategy of both seats that plays every rank alike."""
        tree = self.tree
        probabilities = np.zeros(tree.size * pairs, dtype=np.float32)
        fill_even(tree.left, tree.offset, tree.count, holdings(), pairs, probabilities)
        return probabilities

    def average(self, seat: int, book: Floats, probabilities: Floats, pairs: int = 1) -> None:
        """Write the average strategy of a seat's book over its chances."""
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
        by_kept: bool = False,
    ) -> tuple[Doubles, Doubles, Doubles, Doubles]:
        """Walk hands of a seat.

        Args:
            seat: 0 for pone, 1 for the dealer. mode: LEARN, VALUE or BEST.
            ranges: float32[G, K], how likely the other seat kept each holding.
            probabilities, theirs, book: see `Walk`.
            iteration: the weight of what is learned.
            starter: its rank, so that ranges are weighed by how many of its cards are left.
            by_kept: whether points are wanted by what the other seat kept, too.

        Returns:
            points of each hand, weighed by its range, and the weight of that range, float64[T];
            and the same by what the other seat kept, float64[T, K], empty unless asked for.
        """
        tree, counts = self.tree, self.counts
        values, masses = np.zeros((2, len(hands.kept)))
        shape = (len(hands.kept) if by_kept else 0, len(self.by_kept))
        split, split_masses = np.zeros(shape), np.zeros(shape)
        walk_hands(
            tree.mover, tree.left, tree.other, tree.row, tree.child, tree.offset, counts.after,
            counts.points, counts.count, counts.last_two, counts.their_two, counts.alone,
            self.single_count, holdings(), WITH, SLOT, seat, mode, pairs, iteration, probabilities,
            theirs, book, self.pages[seat], self.reach, self.origin,
            self.by_kept if by_kept else self.by_kept[:0], hands.kept, hands.pair, hands.known,
            hands.range_of, hands.weight, ranges, starter, self.copies, values, masses,
            split, split_masses,
        )  # fmt: skip
        return values, masses, split, split_masses
