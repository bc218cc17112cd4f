"""The pegging for search: possible holdings, the points of a card, the go, the next player.

A holding is a multiset of up to four ranks, for suits do not matter in the pegging: there are
1 + 13 + 91 + 455 + 1,820. A holding's number grows with its size; within a size it is the
multiset's combinadic. Kernels get the array `holdings`, with a row of facts per holding: made once
per process, 300 kB.

The rules are the engine's (`play`) over both seats' common knowledge of a position. `turn_after`
computes the next turn after a card; `next_turn` does so on a `POSITION`. Holdings are not part of a
position, since the other seat's is a hypothesis. So the kernels here read only the lowest pip value
that a seat holds.
"""

from __future__ import annotations

from functools import cache
from math import comb

import numpy as np

from crib_env.arrays import Ints
from crib_env.engine.hands.counting import sequence_points
from crib_env.engine.jit import kernel
from crib_env.engine.ranks import CHOOSE, RANKS, multisets, pips
from crib_env.engine.record import NONE, array_of, record
from crib_env.engine.show import KEYS

MOST = 4  # cards in the largest holding
FIRST = np.array([comb(RANKS + size - 1, RANKS) for size in range(MOST + 2)], dtype=np.int64)
HOLDINGS = int(FIRST[MOST + 1])
OF_SIZE = np.diff(FIRST)  # how many holdings of each size there are

# Columns of `holdings`; column r is the holding left once a card of rank r is played, or NONE.
LOWEST = RANKS  # the least pip value held, `EMPTY` for nothing held
DISTINCT = RANKS + 1  # how many ranks are held
LISTED = RANKS + 2  # those ranks, ascending, four bits each, the lowest in the lowest bits
COUNTED = RANKS + 3  # how many cards of each rank, four bits a rank
KEY = RANKS + 4  # the sum of the ranks' keys, see `crib_env.engine.show`
COLUMNS = RANKS + 5
EMPTY = 99


@kernel
def number(counted):
    """Return the number of the holding with ``counted`` cards of each rank, four bits a rank."""
    held = 0
    place = 0
    for r in range(RANKS):
        for _ in range(counted >> (4 * r) & 15):
            place += CHOOSE[r + held, held + 1]
            held += 1
    return FIRST[held] + place


@kernel
def held_ranks(v):
    """Return how many cards of each rank the seat of a view holds, four bits a rank."""
    counted = 0
    for i in range(v["hand_n"]):
        counted += 1 << ((v["hand"][i] >> 2) << 2)
    return counted


@cache
def holdings() -> Ints:
    """Return the facts about every holding, int64[HOLDINGS, COLUMNS]."""
    # In the order of `number`, which would have to be compiled.
    in_order = [tuple(ranks) for size in range(MOST + 1) for ranks in multisets(size).tolist()]
    numbers = {ranks: i for i, ranks in enumerate(in_order)}
    rows = np.full((HOLDINGS, COLUMNS), NONE, dtype=np.int64)
    for row, ranks in zip(rows, in_order, strict=True):
        distinct = sorted(set(ranks))
        for r in distinct:
            at = ranks.index(r)
            row[r] = numbers[ranks[:at] + ranks[at + 1 :]]
        row[LOWEST] = min(ranks[0] + 1, 10) if ranks else EMPTY
        row[DISTINCT] = len(distinct)
        row[LISTED] = sum(r << (4 * i) for i, r in enumerate(distinct))
        row[COUNTED] = sum(1 << (4 * r) for r in ranks)
        row[KEY] = sum(KEYS[r] for r in ranks)
    return rows


ME = 0
THEM = 1

REPLY, SAME_PLAYER, NEW_COUNT = range(3)  # the next player after a card; see `turn_after`
WAYS = 3

POSITION = record(
    "sequence",  # of the present count, see `crib_env.engine.hands.counting`
    "n",  # its cards
    "count",
    "go",  # 1 once this count's go point is pegged (H5)
    "last",  # the player of its newest card
    ("left", 2),  # cards left to each seat
    ("least", 2),  # the least pip each can hold, by its passes
    ("needs", 2),  # points each still needs to win
)
POSITIONS_T = array_of(POSITION)
ENDLESS = 1 << 20  # a value of ``needs`` at which no seat can win


@kernel
def turn_after(count, go, able, other_able, single):
    """Return the next player after a card, and the card's points for a go or for last."""
    if count == 31:
        return NEW_COUNT, 0
    if other_able:
        return REPLY, 0
    return SAME_PLAYER if able else NEW_COUNT, go_point(count, go, able, single)


@kernel
def go_point(count, go, able, single):
    """Return the newest card's points for a go (at once: H5, H7) or for last (at the end: F5)."""
    return 1 if count < 31 and go == 0 and not (able and single) else 0


@kernel
def begin_play(p, size):
    """Set ``p`` before the first lead: hands of ``size`` cards, both seats far from the target."""
    for seat in range(2):
        p["left"][seat] = size
        p["least"][seat] = 1
        p["needs"][seat] = ENDLESS
    begin_count(p)


@kernel
def begin_count(p):
    """Begin a count at zero (H7)."""
    p["sequence"] = 0
    p["n"] = 0
    p["count"] = 0
    p["go"] = 0
    p["last"] = NONE


@kernel
def copy(p, q):
    """Copy the position ``p`` into ``q``."""
    q["sequence"] = p["sequence"]
    q["n"] = p["n"]
    q["count"] = p["count"]
    q["go"] = p["go"]
    q["last"] = p["last"]
    for seat in range(2):
        q["left"][seat] = p["left"][seat]
        q["least"][seat] = p["least"][seat]
        q["needs"][seat] = p["needs"][seat]


@kernel
def put(p, seat, r):
    """Play a card of rank ``r`` and peg its points; `next_turn` does the rest of the turn."""
    p["sequence"] = p["sequence"] << 4 | r
    p["n"] += 1
    p["count"] += pips(r)
    p["last"] = seat
    p["left"][seat] -= 1
    p["needs"][seat] -= sequence_points(p["sequence"], p["n"], p["count"], p["go"])


@kernel
def could_not_play(p, seat):
    """Note in ``least`` that none of the cards that the seat holds fits the present count."""
    if p["left"][seat] > 0:
        p["least"][seat] = max(p["least"][seat], 32 - p["count"])


@kernel
def next_turn(p, single, lowest, others):
    """Peg the go or last point if the newest card earns it, and return the next player.

    ``lowest`` and ``others`` are the least pips held by the player of that card and by the other
    seat, or `EMPTY`. Returns NONE at the end of the pegging, or of the game (C5).
    """
    seat = p["last"]
    other = 1 - seat
    if p["needs"][seat] <= 0:
        return NONE
    room = 31 - p["count"]
    if room > 0:
        if others <= room:
            return other
        alone = lowest <= room
        could_not_play(p, other)
        # `turn_after` inlined: the search spends its time here.
        # Six-card pegs the go at once (H5, H7), five-card one for last when the pegging ends (F5).
        if p["go"] == 0 and not (alone and single):
            p["go"] = 1
            p["needs"][seat] -= 1
            if p["needs"][seat] <= 0:
                return NONE
        if alone:
            return seat
        could_not_play(p, seat)
    if single or (p["left"][0] == 0 and p["left"][1] == 0):
        return NONE
    begin_count(p)
    return other if p["left"][other] > 0 else seat
