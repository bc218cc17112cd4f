"""Ranges: the possible cards of the other seat, kept and discarded, given the seat's own hand.

Ranges ignore suits. If a seat holds n cards of a rank, 4 - n are left for the other (*card
removal*). So the weight of the other seat's hand is the number of ways to choose its cards from
those left.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np
from crib_agents.equilibrium.classes import Classes
from crib_agents.equilibrium.public_tree import PAIRS
from crib_agents.knowledge.pegging import FIRST, LOWEST, NEW_COUNT, OF_SIZE, REPLY, SAME_PLAYER
from numba import float32, float64, int64, uint16, void

from crib_env.arrays import Doubles, Floats, Ints
from crib_env.engine.jit import entry, kernel
from crib_env.engine.ranks import CHOOSE, RANKS, SUITS, multiset_number, multisets

NEVER = 1e-6  # a holding with a lower probability counts as never kept
UNKEPT_WEIGHT = 0.01  # weight of a hand that is never kept, so that the solver plays it well too
WAYS = CHOOSE[: SUITS + 1, : SUITS + 1].copy()


@dataclass(frozen=True, eq=False)
class RankHands:
    """The rank multisets of all hands."""

    ranks: Ints  # int64[M, dealt], ascending
    counts: Ints  # int64[M, 13], cards of each rank
    chance: Doubles  # float64[M], the probability of each
    holding: Ints  # int64[M, S], which one each split leaves, numbered within its size
    pair: Ints  # int64[M, S], which pair of ranks it discards
    of_class: Ints  # int64[C], the multiset of each class of hands
    copies: int  # cards of a rank in the deck

    @property
    def holdings(self) -> int:
        """The number of holdings of as many cards as a seat keeps."""
        size = self.ranks.shape[1] - 2
        return int(FIRST[size + 1] - FIRST[size])


def rank_hands(classes: Classes) -> RankHands:
    """Return the rank multisets of classes of hands."""
    dealt = classes.cards.shape[1]
    copies = int((classes.cards & 3).max()) + 1
    there = np.unique(classes.cards >> 2)
    ranks = np.array([*combinations_with_replacement(there, dealt)])
    counts = (ranks[:, :, None] == np.arange(RANKS)).sum(axis=1)
    possible = (counts <= copies).all(axis=1)
    ranks, counts = ranks[possible], counts[possible]
    ways = np.prod(WAYS[copies][counts], axis=1).astype(np.float64)
    place = np.zeros(len(multisets(dealt)), dtype=np.int64)
    place[multiset_number(ranks)] = np.arange(len(ranks))
    return RankHands(
        ranks=ranks,
        counts=counts,
        chance=ways / ways.sum(),
        holding=multiset_number(ranks[:, classes.keeps]),
        pair=multiset_number(ranks[:, classes.splits]),
        of_class=place[multiset_number(classes.cards >> 2)],
        copies=copies,
    )


@entry(void(int64[:, ::1], int64[:, ::1], int64[:, ::1], int64, uint16[:, ::1]))
def write_removal(ranks, counts, ways, copies, removal):
    """Write how many hands of a multiset (axis 1) remain beside one of another, uint16[M, M]."""
    for mine in range(len(ranks)):
        for theirs in range(len(ranks)):
            left = 1
            before = -1
            for i in range(ranks.shape[1]):
                rank = ranks[theirs, i]
                if rank != before:
                    left *= ways[copies - counts[mine, rank], counts[theirs, rank]]
                before = rank
            removal[mine, theirs] = left


@entry(void(float32[:, ::1], int64[::1], int64[::1], float64[:, ::1]))
def write_rank_strategy(probabilities, of_class, sizes, strategy):
    """Write the mean strategy of each multiset's classes, float64[M, S].

    Shapes: probabilities float32[C, S]; sizes int64[C].
    """
    strategy[:] = 0.0
    for i in range(len(probabilities)):
        for split in range(probabilities.shape[1]):
            strategy[of_class[i], split] += sizes[i] * probabilities[i, split]
    for hand in range(len(strategy)):
        total = 0.0
        for split in range(strategy.shape[1]):
            total += strategy[hand, split]
        for split in range(strategy.shape[1]):
            strategy[hand, split] /= total


@entry(
    void(uint16[:, ::1], int64[::1], int64[::1], int64[::1], float64[::1], float64[::1],
         float64[::1], float32[:, ::1], float32[:, ::1])
)  # fmt: skip
def write_ranges(removal, begins, holding, pair, likely, of_holding, of_pair, holding_range, pair_range):
    """Write the other seat's ranges for each multiset of the seat's own.

    ``holding``, ``pair`` and ``likely`` list the discards of the other's multisets, of multiset m
    from ``begins[m]`` on (int64[M + 1]). Writes ``holding_range``, float32[M, K], and
    ``pair_range``, float32[M, 91], whose rows add up to 1; ``of_holding``, ``of_pair`` are scratch.
    """
    for mine in range(len(removal)):
        of_holding[:] = 0.0
        of_pair[:] = 0.0
        total = 0.0
        for theirs in range(len(removal)):
            left = float(removal[mine, theirs])
            if left > 0.0:
                total += left
                for i in range(begins[theirs], begins[theirs + 1]):
                    of_holding[holding[i]] += left * likely[i]
                    of_pair[pair[i]] += left * likely[i]
        for i in range(len(of_holding)):
            holding_range[mine, i] = of_holding[i] / total
        for i in range(len(of_pair)):
            pair_range[mine, i] = of_pair[i] / total


@entry(void(float64[::1], int64[:, ::1], float64[:, ::1], float64, float32[:, ::1], float32[:, ::1], float64[::1]))
def write_joint(chance, holding, strategy, seldom, holding_range, joint, likely):
    """Write the other seat's range for the kept cards of a seat, over all its discards.

    Shapes: strategy float64[M, S]; holding_range float32[M, K]; joint float32[K, K]; likely
    float64[K].
    """
    joint[:] = 0.0
    likely[:] = 0.0
    for hand in range(len(holding)):
        for split in range(holding.shape[1]):
            mine = holding[hand, split]
            likely[mine] += chance[hand] * strategy[hand, split]
            weight = chance[hand] * (strategy[hand, split] + seldom)
            for theirs in range(joint.shape[1]):
                joint[mine, theirs] += weight * holding_range[hand, theirs]
    for mine in range(len(joint)):
        total = 0.0
        for theirs in range(joint.shape[1]):
            total += joint[mine, theirs]
        if total > 0.0:
            for theirs in range(joint.shape[1]):
                joint[mine, theirs] /= total


class Ranges:
    """The ranges that each seat, 0 pone and 1 the dealer, faces by the other's discard strategy.

    ``strategy``, float64[2, M, S], is how each seat discards, by ranks; ``holding`` and ``pair``,
    float32[2, M, K] and [2, M, 91], how likely each seat finds each hand and discard of the other,
    given its own multiset.
    """

    def __init__(self, classes: Classes) -> None:
        self.classes = classes
        self.hands = rank_hands(classes)
        n, splits = self.hands.holding.shape
        self.removal = np.empty((n, n), dtype=np.uint16)
        write_removal(self.hands.ranks, self.hands.counts, WAYS, self.hands.copies, self.removal)
        self.strategy = np.zeros((2, n, splits))
        self.holding = np.zeros((2, n, self.hands.holdings), dtype=np.float32)
        self.pair = np.zeros((2, n, PAIRS), dtype=np.float32)

    def discard(self, seat: int, probabilities: Floats) -> None:
        """Set a seat's discard strategy, float32[C, S], and update the other's ranges."""
        hands = self.hands
        strategy = self.strategy[seat]
        write_rank_strategy(probabilities, hands.of_class, self.classes.sizes, strategy)
        used = strategy > NEVER
        begins = np.concatenate([[0], np.cumsum(used.sum(axis=1))])
        write_ranges(
            self.removal,
            begins,
            hands.holding[used],
            hands.pair[used],
            strategy[used],
            np.empty(hands.holdings),
            np.empty(PAIRS),
            self.holding[1 - seat],
            self.pair[1 - seat],
        )

    def joint(self, seat: int) -> tuple[Floats, Doubles]:
        """Return the range that a seat faces by its kept cards, and their probabilities."""
        n = self.hands.holdings
        joint, likely = np.empty((n, n), dtype=np.float32), np.empty(n)
        write_joint(
            self.hands.chance, self.hands.holding, self.strategy[seat], UNKEPT_WEIGHT, self.holding[seat], joint, likely
        )
        return joint, likely


NOBODY, FITTING, STUCK, EVERYBODY = range(4)


@kernel
def keep_part(reach, origin, rows, level, size, room, fits):
    """Write to the next level the part of the range that can play, or cannot; return its weight."""
    total = 0.0
    for i in range(OF_SIZE[size]):
        stays = (rows[FIRST[size] + i, LOWEST] <= room) == fits
        reach[level + 1, i] = reach[level, i] if stays else 0.0
        origin[level + 1, i] = origin[level, i]
        total += reach[level + 1, i]
    return total


@kernel
def take_from_range(reach, origin, theirs, with_card, slot_with, at, left, level, rank):
    """Write to the next level the range after a rank of the other seat; return its weight."""
    first = FIRST[left - 1]
    total = 0.0
    for i in range(OF_SIZE[left - 1]):
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
    """Return which part of the range continues in a way after a card: `NOBODY` to `EVERYBODY`."""
    if count == 31:
        return EVERYBODY if way == NEW_COUNT else NOBODY
    if mine:
        if way != REPLY and able != (way == SAME_PLAYER):
            return NOBODY
        fits = way == REPLY
    else:
        if able != (way == REPLY):
            return NOBODY
        if able:
            return EVERYBODY
        fits = way == SAME_PLAYER
    if count <= 21:  # a seat with a card can play
        return EVERYBODY if fits == (other > 0) else NOBODY
    return FITTING if fits else STUCK
