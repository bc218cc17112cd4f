"""What a tournament writes of the games of a chunk: pairs or sets as flat lists of numbers."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from crib_env.arrays import Array
from crib_training.evaluation.duplicate import CORRECTIONS, Pairs
from crib_training.evaluation.referee import Failure
from crib_training.evaluation.rotation import Sets

CORRECTION_PLACES = 5  # decimal places that are written

Record = dict[str, Any]
Outcome = Pairs | Sets


def read_pairs(*records: Record) -> Outcome:
    """Return the pairs or sets of games, or of deals, of `written` records, joined."""
    arrays: dict[str, Array] = {
        name: np.concatenate([np.array(one[name]) for one in records])
        for name in set(records[0]) - {"failures"}
    }
    games = arrays.get("dealer", arrays.get("first_dealt"))  # one number for each
    assert games is not None
    sides = arrays["scores"].size // games.size
    for name, flat in arrays.items():
        shape = {
            "dealer": (), "first_dealt": (), "forfeits": (2,), "points": (sides, 3),
            "won_correction": (1,), "points_correction": (1, 2, 3),  # all terms are one by then
        }.get(name, (sides,))  # fmt: skip
        kind = {"first_dealt": bool, "forfeits": bool, "won": float, "returns": float}.get(name)
        arrays[name] = flat.astype(kind or flat.dtype).reshape(-1, sides, *shape)
    failures = tuple(Failure(**failure) for one in records for failure in one["failures"])
    outcome = Sets if "dealer" in arrays else Pairs
    return outcome(**arrays, failures=failures)


def written(played: Outcome) -> Record:
    """Return pairs or sets as flat lists, of integers where that is no loss.

    Corrections are fractions, all terms in one.
    """
    flat: Record = {}
    for name in played.known():
        array = getattr(played, name)
        if name in CORRECTIONS:
            array = array.sum(axis=2).round(CORRECTION_PLACES)
        elif (array == array.astype(np.int64)).all():
            array = array.astype(np.int64)
        flat[name] = array.ravel().tolist()
    return {**flat, "failures": [asdict(failure) for failure in played.failures]}
