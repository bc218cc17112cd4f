"""The inputs of a card's network in the hand games: the environment's observation with features.

A network reads some slices of the observation, the features of the state, and the card's row
without its first two numbers. Those two are the action and the certain points, which the agent adds
itself. Networks for discarding two cards read only the row of a pair. Whole numbers whose single
values matter are spread out over several inputs: the ranks kept are a thermometer, and the count
with the card is one-hot.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from crib_agents.learned.network import put, put_all
from crib_env.arrays import Ints
from crib_env.engine.family import Features, Layout
from crib_env.engine.hands.encode import SLOT_OF_TWO
from crib_env.engine.hands.features import AT
from crib_env.engine.jit import kernel

SUITS = range(13, 17)  # entries of a pile slot that `places_read` leaves out
KEPT_INPUTS = 4 * 13
COUNT_INPUTS = 32
SPREAD = KEPT_INPUTS + COUNT_INPUTS


def places_read(layout: Layout, features: Features, names: Collection[str]) -> Ints:
    """Return the indices of the slices ``names`` and of the state's features, int64[K]."""
    bits = [(one.name, i) for one in layout for i in range(one.size)]
    state = range(len(bits), len(bits) + sum(one.size for one in features.state))
    read = [
        at for at, (name, i) in enumerate(bits) if name in names and not (name == "pile" and i % SLOT_OF_TWO in SUITS)
    ]
    return np.array([*read, *state])


def row_inputs(features: Features) -> int:
    """Return the number of inputs of a row."""
    inputs: int = SPREAD + features.width - AT.card
    return inputs


@kernel
def put_state(seen, read, places, values):
    """Write the nonzero numbers of ``seen`` at the indices ``read``; return how many there are."""
    n = 0
    for i in range(read.shape[0]):  # branch-free: the branch would be unpredictable
        places[n] = i
        values[n] = seen[read[i]]
        n += seen[read[i]] != 0.0
    return n


@kernel
def put_row(row, place, places, values, n):
    """Append a card's row as inputs from ``place`` on; return the new number of inputs."""
    for r in range(13):
        for i in range(int(2.0 * row[AT.kept + r])):
            n = put(places, values, n, place + 13 * i + r, 1.0)
    n = put(places, values, n, place + KEPT_INPUTS + round(31.0 * row[AT.count]), 1.0)
    return put_all(row[AT.card :], place + SPREAD, places, values, n)
