"""The public tree of the pegging: positions by the cards that both seats see.

A node is the seat to move and the ranks played so far, in order, with the player of each and where
counts ended. The legal ranks at a node depend on the seat's ``left`` remaining cards, a rank
multiset. Its kept cards are this multiset and the cards it has played. So node and multiset hold
all that the seat knows of the pegging. Suits do not matter here.

After a card, one of three things happens (`WAYS`): the other seat plays; or it cannot, and the same
seat plays on; or neither can, and a new count begins. These are public, because a seat that can
play must (H3). A position without a choice has no node: when one seat has two cards left and the
other one, the rest is determined. A seat whose opponent has no cards also chooses, but knows
everything: it plays for the most points and needs no probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from crib_agents.knowledge.pegging import NEW_COUNT, REPLY, SAME_PLAYER, WAYS
from crib_env.arrays import Ints
from crib_env.engine.jit import kernel
from crib_env.engine.ranks import RANKS, how_many
from crib_env.engine.record import NONE
from crib_env.engine.show import pip

PAIRS = how_many(2)  # rank multisets of the two cards discarded
PIPS = np.minimum(np.arange(RANKS) + 1, 10)

Nodes = dict[str, Ints]


@dataclass(frozen=True, eq=False)
class PublicTree:
    """The nodes of the pegging, earlier ones first; node 0 is pone's lead."""

    mover: Ints  # int64[N], 0 where pone is to move, 1 the dealer
    # left, other: int64[N], how many cards the mover and the other seat hold
    left: Ints
    other: Ints
    count: Ints  # int64[N], the count
    alone: Ints  # int64[N], 1 where the other seat cannot play in this count
    row: Ints  # int64[N], the node's row of ``child``; NONE if nothing follows it in the tree
    # int64[R, WAYS]; the node after a card is this entry plus the card's rank. It is meaningless
    # for ranks that do not fit, or cannot be followed in that way
    child: Ints
    offset: Ints  # int64[N], where the node's probabilities begin; NONE where none are needed
    size: int  # number of probabilities of all nodes


@cache
def public_tree(cards: int, single_count: bool) -> PublicTree:
    """Return the tree of the pegging with ``cards`` cards per seat."""
    level = {"mover": [0], "left": [cards], "other": [cards], "count": [0], "alone": [0]}
    here = {name: np.array(value, dtype=np.int64) for name, value in level.items()}
    levels, children = [], []
    nodes = rows = 0
    while len(here["mover"]):
        n = len(here["mover"])
        nodes += n
        inner = (here["left"] != 2) | (here["other"] != 1)  # else the next card settles the rest
        below, child = _follow({name: value[inner] for name, value in here.items()}, single_count)
        row = np.full(n, NONE, dtype=np.int64)
        row[inner] = rows + np.arange(inner.sum())
        rows += int(inner.sum())
        levels.append({**here, "row": row})
        children.append(child + nodes)
        here = below
    joined = {name: np.concatenate([level[name] for level in levels]) for name in levels[0]}
    sizes = np.array([how_many(left) * (left - 1) for left in range(cards + 1)])
    chooses = joined["left"] > 1
    size = np.where(chooses, sizes[joined["left"]], 0)
    offset = np.where(chooses, np.cumsum(size) - size, NONE)
    return PublicTree(**joined, child=np.concatenate(children), offset=offset, size=int(size.sum()))


def _follow(here: Nodes, single_count: bool) -> tuple[Nodes, Ints]:
    """Return the next nodes, and ``child`` of ``here``, int64[n, WAYS], as indices among these."""
    child = np.zeros((len(here["mover"]), WAYS), dtype=np.int64)
    found: list[Nodes] = []
    nodes = 0
    for way in range(WAYS):
        passes = way != SAME_PLAYER
        mine, theirs = here["left"] - 1, here["other"]
        left, other = (theirs, mine) if passes else (mine, theirs)
        possible = (left > 0) & (other > 0) & (left + other > 2)
        if way == REPLY:
            possible &= here["alone"] == 0
        elif way == NEW_COUNT and single_count:
            possible &= False
        lowest, highest = _ranks_of(way)
        first = lowest[here["count"]]
        many = np.where(possible, highest[here["count"]] - first, 0)
        ends = np.cumsum(many)
        child[:, way] = nodes + ends - many - first
        parent = np.repeat(np.arange(len(many)), many)
        rank = np.arange(len(parent)) - child[parent, way] + nodes
        count = here["count"][parent] + PIPS[rank]
        mover = here["mover"][parent]
        found.append(
            {
                "mover": 1 - mover if passes else mover,
                "left": left[parent],
                "other": other[parent],
                "count": count * (way != NEW_COUNT),
                "alone": np.full(len(parent), way == SAME_PLAYER, dtype=np.int64),
            }
        )
        nodes += len(parent)
    return {name: np.concatenate([part[name] for part in found]) for name in found[0]}, child


def _ranks_of(way: int) -> tuple[Ints, Ints]:
    """Return by count the range of ranks that a way can follow: lowest, one past the highest."""
    after = np.arange(32)[:, None] + PIPS
    follows = (after < 31) if way == REPLY else (after > 21) & (after < 31 + (way == NEW_COUNT))
    lowest = follows.argmax(axis=1)
    return lowest, np.where(follows.any(axis=1), lowest + follows.sum(axis=1), lowest)


@kernel
def way_on(v, i, count):
    """Return how the pegging continued after the card ``v["pile"][i]``, by a mover's view."""
    if i + 1 < v["pile_n"]:
        next_seat = v["pile_seats"] >> 2 * (i + 1) & 1
        afresh = count + pip(v["pile"][i + 1]) > 31  # no seat could play
    else:
        next_seat = 0  # the mover
        afresh = v["count"] == 0
    if afresh:
        return NEW_COUNT
    return SAME_PLAYER if next_seat == v["pile_seats"] >> 2 * i & 1 else REPLY


@kernel
def find_node(v, row, rows_at, child, children_at):
    """Return the tree's node for the view of a seat to move in the pegging."""
    node = 0
    count = 0
    for i in range(v["pile_n"]):
        count += pip(v["pile"][i])
        way = way_on(v, i, count)
        if way == NEW_COUNT:
            count = 0
        place = children_at + WAYS * int(row[rows_at + node]) + way
        node = int(child[place]) + (v["pile"][i] >> 2)
    return node
