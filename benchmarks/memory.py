"""How many bytes does a game of the batch take?

The sum of the arrays is everything: nothing else grows with the number of games.
"""

from __future__ import annotations

import numpy as np

from benchmarks.lanes import Lanes
from benchmarks.timing import FULL, Findings, Row, Settings
from crib_env import six_card_v0

N = 64


def row(name: str, size: int) -> Row:
    """Return a size as a row: it is counted, so it has one value."""
    return Row(name, "B", (float(size),))


def measure(settings: Settings = FULL) -> Findings:
    """Count the bytes of the batch of each engine and of the learner's batch around it."""
    rows = []
    for rules, family in (("hoyle", "two_hand"), ("table_top", "table_top")):
        lanes = Lanes(rules, N)
        state, obs = lanes.games.states.itemsize, lanes.obs.shape[1]
        masks, rng = lanes.masks.shape[1], lanes.rngs.nbytes // N
        rows += [
            row(f"{family}: the game's record", state),
            row(f"{family}: the observation", obs),
            row(f"{family}: the action mask", masks),
            row(f"{family}: the generator of the players' chance", rng),
            row(f"{family}: all of it", state + obs + masks + rng),
        ]
    batch = six_card_v0.vector_env(N).batch
    owners = (batch, batch.games, batch.chance)
    found = {id(array): array for owner in owners for array in vars(owner).values()}
    arrays = [array for array in found.values() if isinstance(array, np.ndarray)]
    total = sum(array.nbytes for array in arrays if len(array) == N)
    rows.append(row("six_card vector_env: every array with one row per game", total // N))
    notes = [
        "table_top: the observation, a byte an entry as Gymnasium's spaces have it, fills 1 KiB "
        "with the mask and the generator, whatever the record takes"
    ]
    return Findings("Memory per game", rows, notes=notes)
