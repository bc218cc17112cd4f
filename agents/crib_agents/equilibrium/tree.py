"""The public tree of the play: what both seats see, whatever they hold.

A node is the seat to move and the ranks played so far, in order, with who played them and where
counts ended. What a seat may do at a node depends on what it still holds, a rank multiset of
``left`` cards: what it kept is that and what it has played, so node and multiset say all that the
seat knows of the play. Suits do not matter in the play.

A card is followed in one of three ways (`WAYS`), told apart by the table because a seat that can
play must (H3): the other seat plays, or it cannot and the same plays on, or neither can and a new
count begins. There is no node where nothing is left to choose: the rest of the play is settled
where a seat has two cards and the other one. A seat whose opponent has no cards chooses too, but
knows everything: it plays what makes most, and needs no probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import comb

import numpy as np
import numpy.typing as npt

from crib_agents.data.tables import RANKS
from crib_env.engine.jit import kernel
from crib_env.engine.record import NONE
from crib_env.engine.show import pip

ANSWERED, ALONE, AFRESH = range(3)
WAYS = 3
PAIRS = comb(RANKS + 1, 2)  # rank multisets of the two cards laid away
PIPS = np.array([pip(4 * rank) for rank in range(RANKS)], dtype=np.int64)


def multisets(size: int) -> int:
    """Return how many rank multisets of ``size`` cards there are."""
    return comb(RANKS + size - 1, size)


@dataclass(frozen=True, eq=False)
class PublicTree:
    """The nodes of the play, those nearer the beginning first; node 0 is pone's lead.

    Attributes:
        mover: int64[N], 0 where pone is to move, 1 the dealer.
        left, other: int64[N], how many cards the mover and the other seat hold.
        count: int64[N], the count.
        alone: int64[N], 1 where the other seat cannot play in this count.
        row: int64[N], which row of ``child`` is the node's; NONE if nothing follows it in the tree.
        child: int32[R, WAYS, RANKS], the node after a card of each rank; NONE if there is none.
        offset: int64[N], where the node's probabilities begin; NONE where none are needed.
        size: how many probabilities all nodes have.
    """

    mover: npt.NDArray[np.int64]
    left: npt.NDArray[np.int64]
    other: npt.NDArray[np.int64]
    count: npt.NDArray[np.int64]
    alone: npt.NDArray[np.int64]
    row: npt.NDArray[np.int64]
    child: npt.NDArray[np.int32]
    offset: npt.NDArray[np.int64]
    size: int


@cache
def public_tree(kept: int, single_count: bool) -> PublicTree:
    """Return the tree of the play with ``kept`` cards a seat.

    Args:
        kept: 2 to 4.
        single_count: whether the play ends with its first count (F4).
    """
    level = {"mover": [0], "left": [kept], "other": [kept], "count": [0], "alone": [0]}
    here = {name: np.array(value, dtype=np.int64) for name, value in level.items()}
    levels, children = [], []
    nodes = rows = 0
    while len(here["mover"]):
        n = len(here["mover"])
        nodes += n
        inner = ~_settled(here["left"], here["other"])
        below, child = _follow({name: value[inner] for name, value in here.items()}, single_count)
        row = np.full(n, NONE, dtype=np.int64)
        row[inner] = rows + np.arange(inner.sum())
        rows += int(inner.sum())
        levels.append({**here, "row": row})
        children.append(np.where(child == NONE, NONE, child + nodes).astype(np.int32))
        here = below
    joined = {name: np.concatenate([level[name] for level in levels]) for name in levels[0]}
    sizes = np.array([multisets(left) * (left - 1) for left in range(kept + 1)])
    chooses = joined["left"] > 1
    size = np.where(chooses, sizes[joined["left"]], 0)
    offset = np.where(chooses, np.cumsum(size) - size, NONE)
    return PublicTree(**joined, child=np.concatenate(children), offset=offset, size=int(size.sum()))


def _settled(left: npt.NDArray[np.int64], other: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Return where the mover's next card settles the rest of the play."""
    settled: npt.NDArray[np.bool_] = (left == 2) & (other == 1)
    return settled


def _follow(
    here: dict[str, npt.NDArray[np.int64]], single_count: bool
) -> tuple[dict[str, npt.NDArray[np.int64]], npt.NDArray[np.int64]]:
    """Return the nodes after these, and where each lies among them: int64[n, WAYS, RANKS]."""
    count = here["count"][:, None] + PIPS
    mover, mine, theirs = (here[name][:, None] + 0 * count for name in ("mover", "left", "other"))
    mine = mine - 1
    stuck = count > 21  # a seat may be unable to play
    possible = (
        (count < 31) & (here["alone"] == 0)[:, None],
        (count < 31) & stuck,
        stuck & (not single_count),
    )
    child = np.full((len(count), WAYS, RANKS), NONE, dtype=np.int64)
    found: list[dict[str, npt.NDArray[np.int64]]] = []
    nodes = 0
    for way in range(WAYS):
        passes = way != ALONE
        left, other = (theirs, mine) if passes else (mine, theirs)
        kept = possible[way] & (count <= 31) & (left > 0) & (other > 0) & (left + other > 2)
        n = int(kept.sum())
        child[:, way][kept] = nodes + np.arange(n)
        nodes += n
        found.append({
            "mover": (1 - mover if passes else mover)[kept],
            "left": left[kept],
            "other": other[kept],
            "count": (count * (way != AFRESH))[kept],
            "alone": np.full(n, way == ALONE, dtype=np.int64),
        })  # fmt: skip
    return {name: np.concatenate([part[name] for part in found]) for name in found[0]}, child


@kernel
def find_node(v, row, child):
    """Return the node of the tree that a seat to move in the play is at, by its view; or NONE."""
    node = 0
    count = 0
    n = v["pile_n"]
    for i in range(n):
        rank = v["pile"][i] >> 2
        mine = v["pile_mine"] >> i & 1
        count += pip(v["pile"][i])
        if i + 1 < n:
            afresh = count + pip(v["pile"][i + 1]) > 31  # nobody could play, or someone would have
            next_mine = v["pile_mine"] >> (i + 1) & 1
        else:
            afresh = v["count"] == 0
            next_mine = 1
        way = AFRESH if afresh else ALONE if next_mine == mine else ANSWERED
        if afresh:
            count = 0
        if row[node] == NONE:
            return NONE
        node = child[row[node], way, rank]
        if node == NONE:
            return NONE
    return node
