"""Inputs of networks as dense rows, and those of the two-hand pegging network for given cards."""

from __future__ import annotations

import numpy as np
from crib_agents.learned.network import MOST_INPUTS
from crib_agents.learned.rows import put_state
from crib_agents.learned.two_hand import FAMILY, READ, SIZE_OF_TWO, card_inputs, observe
from numba import float32, float64, int64, void

from crib_env.arrays import Array
from crib_env.engine import stack
from crib_env.engine.hands.counting import certain_points, sequence_of
from crib_env.engine.jit import entry, kernel
from crib_env.engine.record import TABLE_T
from crib_env.engine.show import show_table
from crib_env.engine.two_hand import HAND, VIEWS_T
from crib_env.policy import Views

INPUTS_T = float32[:, ::1]


@kernel
def spread(row, places, values, n):
    """Write ``n`` inputs, given by place and value, into a row; zero the others."""
    for i in range(row.shape[0]):
        row[i] = 0.0
    for i in range(n):
        row[places[i]] = values[i]


@entry(void(VIEWS_T, TABLE_T, int64[:, ::1], INPUTS_T, float64[::1]), "learn.inputs")
def write_inputs(views, table, cards, inputs, sure):
    """Write the network's inputs and the certain points of cards; see `inputs_of`."""
    seen = stack.floats(SIZE_OF_TWO)
    places = stack.ints(MOST_INPUTS)
    values = stack.floats(MOST_INPUTS)
    for i in range(cards.shape[0]):
        v = views[cards[i, 0]]
        if i == 0 or cards[i, 0] != cards[i - 1, 0]:
            observe(v, table, seen)
        n = put_state(seen, READ, places, values)
        n = card_inputs(v, seen, cards[i, 1], places, values, n)
        spread(inputs[i], places, values, n)
        sure[i] = certain_points(v, cards[i, 1], sequence_of(v))


def one_card_per_rank(views: Views) -> tuple[Array, Array]:
    """Return the first legal card of each rank, and the number of legal cards of its rank.

    Shapes: int64[N, 2], a view and a place in its hand; int64[N].
    """
    legal = (views["legal"][:, None] >> np.arange(HAND) & 1) == 1
    ranks = np.where(legal, views["hand"] >> 2, -1)
    many = legal.astype(np.int64)
    for place in range(1, HAND):
        same = legal[:, place, None] & (ranks[:, :place] == ranks[:, place, None])
        many[:, :place] += same
        legal[:, place] &= ~same.any(axis=1)
    return np.argwhere(legal), many[legal]


def inputs_of(views: Views, cards: Array) -> tuple[Array, Array]:
    """Return the network's inputs and the certain points of cards.

    Shapes: cards int64[N, 2], a view and a place in its hand; float32[N, inputs], float64[N].
    """
    inputs = np.empty((len(cards), FAMILY.nets["pegging"].inputs), dtype=np.float32)
    sure = np.empty(len(cards))
    write_inputs(views, show_table(), np.ascontiguousarray(cards), inputs, sure)
    return inputs, sure
