"""A seat's refined pegging as it looks to an opponent that does not know the discards.

The refined pegging of a seat depends on the ranks it discarded. Its opponent faces the mean over
all discards possible with the kept cards. The weight of a discard is its probability times the
probability that it reaches the node.
"""

from __future__ import annotations

import numpy as np
from crib_agents.data.tables import RANKS
from crib_agents.equilibrium.tree import PAIRS
from crib_agents.knowledge.pegging import (
    DISTINCT,
    FIRST,
    LISTED,
    LOWEST,
    NEW_COUNT,
    REPLY,
    SAME_PLAYER,
    WAYS,
)
from numba import float64, void

from crib_env.arrays import Doubles, Floats
from crib_env.engine.jit import entry, kernel
from crib_env.engine.record import NONE, tuple_of
from crib_training.solve.counts import gone
from crib_training.solve.endings import VALUE
from crib_training.solve.play import WALK_T, Walk
from crib_training.solve.ranges import NOBODY, part_of
from crib_training.solve.walks import HANDS_T, NO_BOOK, Hands, Walker

MEAN_SMOOTHING = 1e-4  # added to how likely a hand comes to a node, so that every node has a mean


@kernel
def add(w, node, own, path, weight, sums, weights):
    """Add the probabilities of a holding at a node to the mean."""
    left = w.left[node]
    place = own - FIRST[left]
    at = w.offset[node] * w.pairs + (place * w.pairs + w.pair) * (left - 1)
    to = w.offset[node] + place * (left - 1)
    share = weight * (path + MEAN_SMOOTHING)
    for slot in range(left - 1):
        sums[to + slot] += share * w.probabilities[at + slot]
        weights[to + slot] += share


@kernel
def follow(w, node, state, own, path, weight, sums, weights):
    """Add a hand's probabilities at a node and all below it.

    Args:
        w: a `Walk`. state: of the count. own: the holding.
        path: this seat's probability of reaching the node. weight: the probability of the hand.
        sums: float64, receives weighted probabilities, in the layout of a strategy without pairs.
        weights: float64, receives the weights, in the same places.
    """
    mine = w.mover[node] == w.me
    left = w.left[node]
    at = 0
    choices = RANKS
    if mine:
        add(w, node, own, path, weight, sums, weights)
        choices = w.rows[own, DISTINCT]
        at = w.offset[node] * w.pairs + ((own - FIRST[left]) * w.pairs + w.pair) * (left - 1)
        if w.row[node] == NONE:
            return 0
    rest = 1.0
    for choice in range(choices):
        rank = w.rows[own, LISTED] >> (4 * choice) & 15 if mine else choice
        chance = 1.0
        if mine:
            chance = rest
            if choice < choices - 1:
                chance = w.probabilities[at + choice]
            rest -= chance
        then = w.after[state, rank]
        if then == NONE:
            continue
        holding = w.rows[own, rank] if mine else own
        other = w.other[node] if mine else left - 1
        count = w.count[then]
        able = holding > 0 and count + w.rows[holding, LOWEST] <= 31
        if holding == 0 or other == 0:
            continue
        for way in range(WAYS):
            if way == NEW_COUNT and w.single_count:
                continue
            if part_of(way, mine, count, able, other) == NOBODY:
                continue
            child = w.child[w.row[node], way] + rank
            if w.row[child] == NONE and w.mover[child] != w.me:
                continue
            onward = then if way == REPLY else 0
            if way == SAME_PLAYER:
                onward = gone(then, w.single_count)
            follow(w, child, onward, holding, path * chance, weight, sums, weights)
    return 0


@entry(void(tuple_of(tuple, *WALK_T), HANDS_T, float64[::1], float64[::1], float64[::1]))
def blend_hands(shared, hands, likely, sums, weights):
    """Add up every hand's probabilities; see `walk_hands` and `blend`."""
    begin = np.int64(0)
    for hand in range(len(hands.holding)):
        w = Walk(hands.pair[hand], 0.0, *shared)
        follow(w, begin, begin, hands.holding[hand], 1.0, likely[hand], sums, weights)


def blend(
    walker: Walker, seat: int, hands: Hands, likely: Doubles, probabilities: Floats, basic: Floats
) -> Floats:
    """Return a seat's pegging as the opponent sees it, a strategy without pairs.

    Shapes: likely float64[T].
    """
    sums, weights = np.zeros((2, walker.tree.size))
    shared = walker.shared(
        seat, VALUE, PAIRS, probabilities, NO_BOOK, NO_BOOK, walker.by_hand[:0]
    )  # fmt: skip
    blend_hands(shared, hands, likely, sums, weights)
    met = weights > 0.0
    mean = basic.copy()
    mean[met] = sums[met] / weights[met]
    return mean
