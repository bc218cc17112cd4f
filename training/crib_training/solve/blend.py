"""What a seat's play looks like to one that does not know what it discarded.

The refined play of a seat depends on the ranks it discarded. Its opponent meets the mean over all
that may have been discarded with what was kept, each weighed by how likely it is and how likely it
comes to the node.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from crib_agents.data.tables import RANKS
from crib_agents.equilibrium.tree import NEW_COUNT, PAIRS, REPLY, SAME_PLAYER, WAYS
from crib_agents.knowledge.two_hand.holdings import (
    DISTINCT,
    FIRST,
    LISTED,
    LOWEST,
    holdings,
)
from numba import float32, float64, int8, int32, int64, void

from crib_env.engine.jit import entry, kernel
from crib_env.engine.record import NONE
from crib_training.solve.counts import gone
from crib_training.solve.range_split import NOBODY, part_of
from crib_training.solve.walks import Doubles, Floats, Hands, Walker

SELDOM = 1e-4  # added to how likely a hand comes to a node, so that every node has a mean


class Blend(NamedTuple):
    """What is read and written; names as in `crib_training.solve.play.Walk`.

    Attributes:
        sums: float64, receives the chances weighed, as a strategy without pairs lays them out.
        weights: float64, receives the weights, in the same places.
    """

    mover: Any
    left: Any
    other: Any
    row: Any
    child: Any
    offset: Any
    after: Any
    count: Any
    single_count: Any
    rows: Any
    me: Any
    pairs: Any
    pair: Any
    probabilities: Any
    sums: Any
    weights: Any


@kernel
def add(b, node, own, path, weight):
    """Add the chances of a holding at a node to the mean."""
    left = b.left[node]
    place = own - FIRST[left]
    at = b.offset[node] * b.pairs + (place * b.pairs + b.pair) * (left - 1)
    to = b.offset[node] + place * (left - 1)
    share = weight * (path + SELDOM)
    for slot in range(left - 1):
        b.sums[to + slot] += share * b.probabilities[at + slot]
        b.weights[to + slot] += share


@kernel
def follow(b, node, state, own, path, weight):
    """Add a hand's chances at a node and all below it.

    Args:
        state: of the count. own: the holding. path: how likely this seat comes this way.
        weight: how likely the hand is.
    """
    mine = b.mover[node] == b.me
    left = b.left[node]
    at = 0
    choices = RANKS
    if mine:
        add(b, node, own, path, weight)
        choices = b.rows[own, DISTINCT]
        at = b.offset[node] * b.pairs + ((own - FIRST[left]) * b.pairs + b.pair) * (left - 1)
        if b.row[node] == NONE:
            return 0
    rest = 1.0
    for choice in range(choices):
        rank = b.rows[own, LISTED] >> (4 * choice) & 15 if mine else choice
        chance = 1.0
        if mine:
            chance = rest
            if choice < choices - 1:
                chance = b.probabilities[at + choice]
            rest -= chance
        then = b.after[state, rank]
        if then == NONE:
            continue
        holding = b.rows[own, rank] if mine else own
        other = b.other[node] if mine else left - 1
        count = b.count[then]
        able = holding > 0 and count + b.rows[holding, LOWEST] <= 31
        if holding == 0 or other == 0:
            continue
        for way in range(WAYS):
            if way == NEW_COUNT and b.single_count:
                continue
            if part_of(way, mine, count, able, other) == NOBODY:
                continue
            child = b.child[b.row[node], way] + rank
            if b.row[child] == NONE and b.mover[child] != b.me:
                continue
            onward = then if way == REPLY else 0
            if way == SAME_PLAYER:
                onward = gone(then, b.single_count)
            follow(b, child, onward, holding, path * chance, weight)
    return 0


@entry(
    void(
        int64[::1], int64[::1], int64[::1], int64[::1], int64[:, ::1], int64[::1], int32[:, ::1],
        int8[::1], int64, int64[:, ::1], int64, int64, float32[::1], float64[::1], float64[::1],
        int64[::1], int64[::1], float64[::1],
    )
)  # fmt: skip
def blend_hands(
    mover, left, other, row, child, offset, after, count, single_count, rows, me, pairs,
    probabilities, sums, weights, kept, pair, weight,
):  # fmt: skip
    """Add up every hand's chances; see `Blend` and `Hands`."""
    begin = np.int64(0)
    for hand in range(len(kept)):
        b = Blend(
            mover, left, other, row, child, offset, after, count, single_count, rows, me, pairs,
            pair[hand], probabilities, sums, weights,
        )  # fmt: skip
        follow(b, begin, begin, kept[hand], 1.0, weight[hand])


def blend(
    walker: Walker, seat: int, hands: Hands, likely: Doubles, probabilities: Floats, basic: Floats
) -> Floats:
    """Return what a seat's play looks like, as a strategy without pairs.

    Args:
        hands: all that the seat may hold. likely: float64[T], how likely each is.
        probabilities: of the seat, for every pair. basic: what is taken where no hand comes.
    """
    tree, counts = walker.tree, walker.counts
    sums, weights = np.zeros((2, tree.size))
    blend_hands(
        tree.mover, tree.left, tree.other, tree.row, tree.child, tree.offset, counts.after,
        counts.count, walker.single_count, holdings(), seat, PAIRS, probabilities, sums, weights,
        hands.kept, hands.pair, likely,
    )  # fmt: skip
    met = weights > 0.0
    mean = basic.copy()
    mean[met] = sums[met] / weights[met]
    return mean
