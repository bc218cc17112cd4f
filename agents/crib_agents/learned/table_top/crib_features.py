"""The inputs of the crib's network: the starter and the crib cards that the seat knows."""

from __future__ import annotations

from crib_agents.learned.network import put
from crib_agents.learned.table_top.line_features import put_ranks
from crib_env.engine.jit import kernel
from crib_env.engine.table_top.cells import bit_count

NAME = "table_top.crib"
VERSION = 1

RANKS = 0  # ranks of those cards, thermometer
MINE = RANKS + 4 * 13  # my side counts it
THEIRS = MINE + 1
KNOWN = THEIRS + 1  # how many cards they are, one to five, one-hot
SIZE = KNOWN + 5


@kernel
def crib_features(mine, cards, places, values):
    """Write what is seen of a crib; return how many inputs."""
    n = put_ranks(places, values, 0, RANKS, cards)
    n = put(places, values, n, MINE if mine else THEIRS, 1.0)
    return put(places, values, n, KNOWN + bit_count(cards) - 1, 1.0)
