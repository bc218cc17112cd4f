"""A strategy as tables: the probability of each discard, and of each rank at each node.

Probabilities are uint8, in 255ths.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numba import float64, int64, uint8

from crib_agents.data.tables import RANKS
from crib_agents.equilibrium.classes import DECK, Classes, hand_classes
from crib_agents.equilibrium.tree import PAIRS, PublicTree, public_tree
from crib_agents.knowledge.two_hand.pegging import DISTINCT, FIRST, LISTED, holdings, number
from crib_env.arrays import Bytes, Doubles, Floats
from crib_env.engine.jit import entry, kernel
from crib_env.engine.record import NONE

WHOLE = 255.0


@dataclass(frozen=True, eq=False)
class Strategy:
    """A seat's strategy for every position of a deal, whatever the score.

    Attributes:
        dealt: cards dealt to a seat. single_count: whether there is one count (F4).
        discard: uint8[2, C, S], by role (pone, dealer), the class of the hand and the way to split
            it; each class's add up to 255.
        play: uint8[starters, size]; see `first_of`. ``starters`` is 13, the starter's rank, or 1
            where the pegging does not depend on it.
        by_discard: whether the pegging depends on the ranks discarded.
        deck: the cards in play, one bit per card id.
    """

    dealt: int
    single_count: bool
    discard: Bytes
    play: Bytes
    by_discard: bool = False
    deck: int = DECK

    @cached_property
    def classes(self) -> Classes:
        """The classes of hands."""
        return hand_classes(self.dealt, self.deck)

    @cached_property
    def tree(self) -> PublicTree:
        """The public tree of the pegging."""
        return public_tree(self.dealt - 2, self.single_count)

    @property
    def discard_pairs(self) -> int:
        """The number of discards by which the pegging of a holding is divided."""
        return PAIRS if self.by_discard else 1

    def discard_probabilities(self, role: int) -> Floats:
        """Return the probability of each split by class, float32[C, S], for pone 0, dealer 1."""
        probabilities: Floats = self.discard[role].astype(np.float32) / WHOLE
        return probabilities

    def pegging_probabilities(
        self, node: int, holding: int, starter: int = 0, discarded: int = 0
    ) -> Doubles:
        """Return the probability that the seat to move plays each rank, float64[13]."""
        ranks = np.zeros(RANKS)
        row = self.play[starter if len(self.play) > 1 else 0]
        at = int(self.tree.offset[node])
        pair = discarded if self.by_discard else 0
        rows = holdings()
        for slot in range(int(rows[holding, DISTINCT])):
            rank = int(rows[holding, LISTED]) >> (4 * slot) & 15
            ranks[rank] = read_probability(row, at, self.discard_pairs, pair, rows, holding, slot)
        return ranks


@kernel
def pair_number(first, second):
    """Return the number of the pair of ranks discarded, 0 to 90."""
    return number((1 << (4 * first)) + (1 << (4 * second))) - FIRST[2]


@kernel
def first_of(at, left, pairs, place, pair):
    """Return where the probabilities of a holding at a node begin.

    There is one for each rank it holds, ascending, but for the last, whose probability is what is
    left; a holding with a rank twice leaves some unused.
    """
    return at * pairs + (place * pairs + pair) * (left - 1)


@kernel
def slot_probability(play, first, slot, slots):
    """Return the probability of a rank, 0 to 1."""
    if slot < slots - 1:
        return play[first + slot] / WHOLE
    rest = WHOLE
    for i in range(slots - 1):
        rest -= play[first + i]
    return rest / WHOLE


@entry(float64(uint8[::1], int64, int64, int64, int64[:, ::1], int64, int64))
def read_probability(play, at, pairs, pair, rows, holding, slot):
    """Return the probability that a holding plays the rank in ``slot``; see `first_of`."""
    left = 1
    while FIRST[left + 1] <= holding:
        left += 1
    if at == NONE:
        return 1.0
    first = first_of(at, left, pairs, holding - FIRST[left], pair)
    return slot_probability(play, first, slot, rows[holding, DISTINCT])
