"""The inputs of the lines' network: the cards of a row or column, and the state of the round.

The inputs come in three groups: of the round, of the side that owns the line, and of the line. So
the first layer adds up common inputs only once.
"""

from __future__ import annotations

from crib_agents.learned.network import put
from crib_env.engine.jit import kernel
from crib_env.engine.table_top.cells import bit_count, lowest
from crib_env.engine.table_top.lines import most_of_a_suit
from crib_env.engine.table_top.records import TURNS

NAME = "table_top.line"
VERSION = 1

RANKS = 0  # ranks of the line, thermometer
SUITS = RANKS + 4 * 13  # how many cards it holds and how many of one suit at most, one-hot
NOB = SUITS + 5 * 5  # it holds the jack that scores one in it
NOB_TO_COME = NOB + 1  # that jack is not seen
PHASE = NOB_TO_COME + 1  # turns left after this one, in twos, one-hot
ON_TURN = PHASE + TURNS // 2  # its side moves next
UNSEEN = ON_TURN + 1  # how frequent each rank is among the cards not seen, 0 if as all are
OWED = UNSEEN + 13  # cards its side owes the crib before this turn, in twos
OWED_BY_OTHER = OWED + 1
SIZE = OWED_BY_OTHER + 1


@kernel
def round_features(turn, unseen, places, values):
    """Write what is seen whichever the line; return how many inputs."""
    n = put(places, values, 0, PHASE + (TURNS - 1 - turn) // 2, 1.0)
    each = 13.0 / max(1, bit_count(unseen))
    for r in range(13):
        n = put(places, values, n, UNSEEN + r, bit_count(unseen >> (4 * r) & 15) * each - 1.0)
    return n


@kernel
def side_features(on_turn, owed, owed_by_other, places, values):
    """Write what is seen of all lines of a side."""
    n = 0
    if on_turn:
        n = put(places, values, n, ON_TURN, 1.0)
    n = put(places, values, n, OWED, owed / 2.0)
    return put(places, values, n, OWED_BY_OTHER, owed_by_other / 2.0)


@kernel
def put_ranks(places, values, n, place, cards):
    """Write a thermometer of the cards of a mask: ``place`` on, 4 x 13 inputs."""
    last = -1
    again = 0
    while cards:
        rank = lowest(cards) >> 2
        cards &= cards - 1
        again = again + 13 if rank == last else 0
        last = rank
        n = put(places, values, n, place + again + rank, 1.0)
    return n


@kernel
def rank_place(cards, card):
    """Return which input of a thermometer one more card adds to those of the mask ``cards``."""
    rank = card >> 2
    return 13 * bit_count(cards >> (4 * rank) & 15) + rank


@kernel
def suit_features(cards, nob, unseen, places, values, n):
    """Write what is seen of a line's suits behind the first ``n``; return how many now are."""
    n = put(places, values, n, SUITS + 5 * bit_count(cards) + most_of_a_suit(cards), 1.0)
    if nob & cards:
        n = put(places, values, n, NOB, 1.0)
    elif nob & unseen:
        n = put(places, values, n, NOB_TO_COME, 1.0)
    return n
