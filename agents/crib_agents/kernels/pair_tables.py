"""Charts of pairs: 13x13 numbers for the two cards a seat discards, one for each game and role.

As poker players draw theirs: the higher rank's row and the lower's column for two cards of one
suit, the lower's row and the higher's column for two suits, the diagonal for two of a rank.
"""

from __future__ import annotations

from crib_agents.data.tables import DEALT, RANKS, ROLES
from crib_env.engine.jit import kernel

CELLS = RANKS * RANKS
CHARTS = len(DEALT) * len(ROLES)


@kernel
def game_of(v):
    """Return the place of the game of the view ``v`` in `DEALT`, in which tables have games."""
    return DEALT[0] - v["dealt"]


@kernel
def pair_table_of(v, is_dealer):
    """Return which chart is a role's in the game of the view ``v``: six-card pone's is 0."""
    return len(ROLES) * game_of(v) + is_dealer


@kernel
def cell(low, high):
    """Return where a chart holds the pair of card ids ``low`` < ``high``."""
    a = low >> 2
    b = high >> 2
    return RANKS * b + a if low & 3 == high & 3 else RANKS * a + b
