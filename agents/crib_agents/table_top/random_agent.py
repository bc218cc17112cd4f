"""`random` at Table Top: each legal action, the crib among them, is as likely."""

from __future__ import annotations

from crib_env.engine.rng import below
from crib_env.engine.table_top.cells import bit_count, lowest


def act(v, rng, table, weights):
    """Return one of the legal actions of the view ``v``, drawn by ``rng``."""
    legal = v["legal"]
    for _ in range(below(rng, bit_count(legal))):
        legal &= legal - 1
    return lowest(legal)
