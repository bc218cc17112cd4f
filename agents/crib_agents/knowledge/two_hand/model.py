"""Everything that `expert` knows of a game by measurement, in one record for its kernels.

Three tables go into it: the points of a deal (`outcomes`), the pegging of each hand, and the
discard rates of each role, which follow from the other two. The first comes from games of `expert`.
The second comes from `rule_based`, which plays many more deals in the same time. It compares hands
well, but all hands peg a little less against better play.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt
from numba import from_dtype, types

from crib_agents.data import tables
from crib_agents.kernels.discard import CELLS
from crib_agents.knowledge.two_hand import outcomes
from crib_agents.knowledge.two_hand.holdings import MOST, OF_SIZE
from crib_agents.knowledge.two_hand.outcomes import (
    COUNT_SIZE,
    JACK_TURNED,
    MEASURED_HEELS,
    PLAY_SIZE,
)
from crib_env.arrays import Doubles
from crib_env.policy import Views

Record = npt.NDArray[np.void]

MODEL = np.dtype(
    [
        # How often a role lays a pair of a cell that it was dealt; see `kernels.discard`.
        ("discard_rate", np.float64, (2, CELLS)),
        # Points of the crib with a role's pair beyond what discard rates explain; by ranks.
        ("excess", np.float64, (2, CELLS)),
        # By role and hand, in the order of `holdings`: what this seat pegs, what the other does.
        ("pegs", np.float64, (2, OF_SIZE[MOST], 2)),
        ("mean_pegs", np.float64, (2,)),  # the mean of the first over the hands a role keeps
        ("pegging", np.float64, (PLAY_SIZE, PLAY_SIZE)),
        ("pone_out", np.float64, (PLAY_SIZE, PLAY_SIZE)),
        ("dealer_out", np.float64, (PLAY_SIZE, PLAY_SIZE)),
        ("hand", np.float64, (2, COUNT_SIZE)),  # by role
        ("mean_hand", np.float64, (2,)),  # by role
        ("mean_crib", np.float64),
    ],
    align=True,
)
MODEL_T = types.Array(from_dtype(MODEL), 1, "C")


@cache
def load(dealt: int, heels: int = MEASURED_HEELS) -> Record:
    """Return the `MODEL` record, shape [1], of the game of ``dealt`` cards, 6 or 5, and heels."""
    return build(dealt, *discard_rates(dealt), hand_pegging(dealt), heels)


def load_for(views: Views) -> Record:
    """Return the `MODEL` record of views that are all of one game, with the same heels."""
    return load(int(views["dealt"][0]), int(views["heels"][0]))


def build(
    dealt: int, discard_rate: Doubles, excess: Doubles, pegs: Doubles, heels: int = MEASURED_HEELS
) -> Record:
    """Return a `MODEL` record, shape [1], for given discard rates and pegging; see `load`."""
    deal = outcomes.load(dealt, heels)
    points, counts = np.arange(PLAY_SIZE), np.arange(COUNT_SIZE)
    model = np.zeros(1, dtype=MODEL)
    model["discard_rate"] = discard_rate
    model["excess"] = excess
    model["pegs"][0, :, : OF_SIZE[dealt - 2]] = pegs
    model["mean_pegs"] = (
        deal.pegging.sum(axis=1) @ points,
        deal.pegging.sum(axis=0) @ points - heels * JACK_TURNED,
    )
    for field in ("pegging", "pone_out", "dealer_out"):
        model[field] = getattr(deal, field)
    model["hand"] = deal.pone_hand, deal.dealer_hand
    model["mean_hand"] = deal.pone_hand @ counts, deal.dealer_hand @ counts
    model["mean_crib"] = deal.crib @ counts
    return model


def discard_rates(dealt: int) -> tuple[Doubles, Doubles]:
    """Return how often each role lays a pair that it could, and what its crib makes beyond that.

    Shapes: the result float64[2, 169].
    """
    pair_tables = tables.load(tables.DISCARDED)
    game = tables.DEALT.index(dealt)
    return pair_tables["discarded"][game].reshape(2, CELLS), pair_tables["excess"][game].reshape(
        2, CELLS
    )


def hand_pegging(dealt: int) -> Doubles:
    """Return what each hand pegs and lets the other peg, float64[2, hands, 2]."""
    pegging = tables.load(tables.HAND_PEGGING)
    game = tables.DEALT.index(dealt)
    both = np.stack([pegging["mine"][game], pegging["theirs"][game]], axis=-1)
    return both[:, : OF_SIZE[dealt - 2]]
