"""One step of search by belief, with the net at its leaves.

It is the search of `expert` up to the other seat's answer. Where this seat then has a choice it
takes the best by the net, which sees no more than the seat would see there; what ends otherwise is
played out by the rollout policy.

What the net expects are points. Where a seat may go out in this deal, their value is taken to be
even between whole points, and a lead is judged by the counts still to come, as `expert` judges it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import float64, int64, void

from crib_agents.data.tables import RANKS
from crib_agents.expert.two_hand.pegging.search import (
    FINDINGS,
    MY_POINTS,
    NO_ANSWER,
    POINTS_NOW,
    SEARCH_T,
    THEIR_POINTS,
    WIN_VALUE,
    begin_search,
    end_value,
    play_out,
    search_by,
)
from crib_agents.expert.two_hand.pegging.show import look_ahead
from crib_agents.kernels.pair_tables import pair_table_of
from crib_agents.knowledge.two_hand.holdings import held_ranks, number
from crib_agents.knowledge.two_hand.pegging import ME, THEM
from crib_agents.learned.network import bounded
from crib_agents.learned.two_hand.act import UNLIKELY, card_points
from crib_env.engine import stack
from crib_env.engine.jit import entry, kernel
from crib_env.engine.record import WEIGHTS_T
from crib_env.engine.show import pip
from crib_env.engine.two_hand.records import HAND, VIEWS_T

# What is known of a leaf, an answer by this seat. The net is evaluated once for all hypotheses.
UNKNOWN = 0
NO_CHOICE = 1
EXPECTED = 2
LEAF = 3  # numbers: which of these, and the points expected of both seats
LEAVES = LEAF * (RANKS + 1)


class Leaves(NamedTuple):
    """What the net judges leaves by.

    Attributes:
        v: the view. k: the place of the card in its hand.
        spare: one view, scratch. net: begins with the nets.
        near: 0 to judge by points alone.
        leaves: float64[LEAVES], by the rank that the other seat answers with.
    """

    v: Any
    k: Any
    spare: Any
    net: Any
    near: Any
    leaves: Any


@kernel
def look(v, k, r, p, u):
    """Make ``u`` this seat's view at a leaf; return how many ranks it can play there.

    Args:
        v: the view before. k: the place of the card played in its hand. r: the other seat's card
            behind it, or `NO_ANSWER`. p: the position, this seat to play.
    """
    n = v["pile_n"]
    for i in range(n):
        u["pile"][i] = v["pile"][i]
    u["pile"][n] = v["hand"][k]
    u["pile_mine"] = v["pile_mine"] | 1 << n
    n += 1
    if r != NO_ANSWER:
        u["pile"][n] = 4 * r  # of any suit
        n += 1
    u["pile_n"] = n
    u["pile_from"] = n - p["n"]
    u["count"] = p["count"]
    u["go"] = p["go"]
    u["other_n"] = p["left"][THEM]
    left = 0
    legal = 0
    ranks = 0
    choices = 0
    for i in range(v["hand_n"]):
        if i == k:
            continue
        card = v["hand"][i]
        u["hand"][left] = card
        if p["count"] + pip(card) <= 31:
            legal |= 1 << left
            choices += 1 - (ranks >> (card >> 2) & 1)
            ranks |= 1 << (card >> 2)
        left += 1
    u["hand_n"] = left
    u["legal"] = legal
    return choices


@kernel
def expect(x, r, p, leaf):
    """Write what the net expects at a leaf, of the best card there, into ``leaf`` (float64[3])."""
    u = x.spare[0]
    if look(x.v, x.k, r, p, u) < 2:
        leaf[0] = NO_CHOICE
        return
    now = stack.ints(HAND)
    mine = stack.floats(HAND)
    theirs = stack.floats(HAND)
    card_points(u, x.net, now, mine, theirs)
    leaf[0] = EXPECTED
    most = UNLIKELY
    for i in range(u["hand_n"]):
        if u["legal"] >> i & 1 and mine[i] != UNLIKELY:
            if now[i] >= p["needs"][ME]:  # it goes out: nothing follows
                leaf[1] = now[i]
                leaf[2] = 0.0
                return
            if most == UNLIKELY or mine[i] - theirs[i] > most:
                most = mine[i] - theirs[i]
                leaf[1] = mine[i]
                leaf[2] = theirs[i]


@kernel
def add(b, p, likely, j, mine, theirs, near, found):
    """Add a position to the findings from which the seats are expected to make so many points.

    ``p`` is changed.
    """
    if near:
        whole = math.floor(bounded(mine))
        others = math.floor(bounded(theirs))
        need = p["needs"][ME]
        they_need = p["needs"][THEM]
        last = b.win_table.shape[1] - 1  # a net may expect less than no points
        p["needs"][ME] = min(need - whole, last)
        p["needs"][THEM] = min(they_need - others, last)
        values = end_value(b, p, j)
        found[WIN_VALUE] += likely * values
        if mine > whole:
            p["needs"][ME] -= 1
            more = end_value(b, p, j)
            p["needs"][ME] += 1
            found[WIN_VALUE] += likely * (mine - whole) * (more - values)
        if theirs > others:
            p["needs"][THEM] -= 1
            more = end_value(b, p, j)
            p["needs"][THEM] += 1
            found[WIN_VALUE] += likely * (theirs - others) * (more - values)
        p["needs"][ME] = need
        p["needs"][THEM] = they_need
    found[MY_POINTS] += likely * (mine - max(p["needs"][ME], 0))
    found[THEIR_POINTS] += likely * (theirs - max(p["needs"][THEM], 0))


@kernel
def to_leaf(b, x, p, turn, answer, likely, j, mine, theirs, found):
    """Add to the findings what follows position ``p``: a leaf or a playing out; see `search_by`."""
    if turn == ME:
        leaf = x.leaves[LEAF * answer : LEAF * answer + LEAF]
        if leaf[0] == UNKNOWN:
            expect(x, answer, p, leaf)
        if leaf[0] == EXPECTED:
            add(b, p, likely, j, leaf[1], leaf[2], x.near, found)
            return
    play_out(b, p, turn, mine, theirs)
    add(b, p, likely, j, 0.0, 0.0, x.near, found)


@kernel
def forget_leaves(x):
    """Make every leaf unknown."""
    for i in range(RANKS + 1):
        x.leaves[LEAF * i] = UNKNOWN


search_card = search_by(to_leaf, forget_leaves)


@entry(
    void(VIEWS_T, SEARCH_T, VIEWS_T, WEIGHTS_T, int64, float64[:, :, ::1]), "learned.search"
)  # fmt: skip
def search_views(views, search, spare, net, within, found):
    """Write what each card of each view that may be played brings.

    Args:
        views: all judged by the search's win table.
        spare: one view, no matter what is in it.
        net: begins with the nets.
        within: how near to going out one seat must be for the win table to be used; else
            `WIN_VALUE` is the lead in points.
        found: float64[B, HAND, FINDINGS], NaN where a card may not be played.
    """
    leaves = stack.floats(LEAVES)
    for i in range(views.shape[0]):
        spare[0] = views[i]
        v = views[i]
        n = begin_search(search, v)
        needs = search.positions[0]["needs"]
        near = min(needs[ME], needs[THEM]) <= within
        if near:
            suited = search.suited[pair_table_of(v, 1 - v["is_dealer"])]
            look_ahead(v, n, search.scratch[0], search.hands, search.model[0], suited, search.table)
        mine = number(held_ranks(v))
        for k in range(HAND):
            card = found[i, k]
            for f in range(FINDINGS):
                card[f] = np.nan
            if k < v["hand_n"] and v["legal"] >> k & 1:
                x = Leaves(v, k, spare, net, near, leaves)
                search_card(search, x, v["hand"][k] >> 2, mine, n, card)
                if not near:
                    card[WIN_VALUE] = card[POINTS_NOW] + card[MY_POINTS] - card[THEIR_POINTS]
