"""One step of search over beliefs, with the network at its leaves.

Like the search of `expert`, it goes through the hands that the other seat may hold, their
probabilities and replies. Where this seat then has a choice, it takes the best card by the network,
which sees only what the seat would see there. The rollout policy plays out all other lines.

The network predicts points. If a seat may go out in this deal, the value between whole points is
linear, and the counts still to come decide the value of a lead, as in `expert`.
"""

from __future__ import annotations

import math

import numpy as np
from numba import float64, int64, void

from crib_agents.expert.two_hand.pegging.belief import enumerate_hands, systematic_resample
from crib_agents.expert.two_hand.pegging.expert import DRAWN, SCRATCH_T
from crib_agents.expert.two_hand.pegging.rollout_policy import SIZE, all_shared_values, softmax
from crib_agents.expert.two_hand.pegging.search import (
    FINDINGS,
    MY_POINTS,
    POINTS_NOW,
    THEIR_POINTS,
    WIN_VALUE,
    begin_card,
    end_value,
    play_out,
)
from crib_agents.expert.two_hand.pegging.show import look_ahead
from crib_agents.kernels.discard import game_of, pair_table_of
from crib_agents.knowledge.two_hand.holdings import DISTINCT, LISTED, LOWEST, number
from crib_agents.knowledge.two_hand.model import MODEL_T
from crib_agents.knowledge.two_hand.pegging import ME, POSITIONS_T, THEM, copy, go_on, put
from crib_agents.learned.network import bounded
from crib_agents.learned.two_hand.act import UNLIKELY, card_points
from crib_env.engine import stack
from crib_env.engine.jit import entry, kernel
from crib_env.engine.record import NONE, TABLE_T, WEIGHTS_T
from crib_env.engine.show import pip
from crib_env.engine.two_hand import HAND, VIEWS_T

RANKS = 13
# Facts of a leaf, an answer by this seat. The network evaluates it once for all hypotheses.
UNEVALUATED = 0
NO_CHOICE = 1
EVALUATED = 2
LEAF = 3  # numbers: whether the network evaluated it, and the expected points of both seats
LEAVES = LEAF * (RANKS + 1)


@kernel
def look(v, k, r, p, u):
    """Make ``u`` this seat's view at a leaf; return how many ranks it can play there.

    Args:
        v: the view before. k: the place of the card played in its hand. r: the other seat's card
            behind it, or NONE. p: the position, this seat to play.
    """
    n = v["pile_n"]
    for i in range(n):
        u["pile"][i] = v["pile"][i]
    u["pile"][n] = v["hand"][k]
    u["pile_seats"] = v["pile_seats"]
    n += 1
    if r != NONE:
        u["pile"][n] = 4 * r  # of any suit
        u["pile_seats"] |= 1 << 2 * n
        n += 1
    u["pile_n"] = n
    u["pile_from"] = n - p["n"]
    u["count"] = p["count"]
    u["go"] = p["go"]
    u["held_n"][1] = p["left"][THEM]
    u["passed"] = 2 if r == NONE and p["n"] else 0
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
def evaluate(v, k, r, p, u, net, leaf):
    """Write what the net expects at a leaf, of the best card there, into ``leaf`` (float64[3])."""
    if look(v, k, r, p, u) < 2:
        leaf[0] = NO_CHOICE
        return
    now = stack.ints(HAND)
    mine = stack.floats(HAND)
    theirs = stack.floats(HAND)
    card_points(u, net, now, mine, theirs)
    leaf[0] = EVALUATED
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
def add(p, likely, j, mine, theirs, near, s, win_table, found):
    """Add to the findings a position with these expected points of the seats.

    ``p`` is changed. See `search_card` for the others.
    """
    if near:
        whole = math.floor(bounded(mine))
        others = math.floor(bounded(theirs))
        need = p["needs"][ME]
        they_need = p["needs"][THEM]
        last = win_table.shape[1] - 1  # a net may expect less than no points
        p["needs"][ME] = min(need - whole, last)
        p["needs"][THEM] = min(they_need - others, last)
        values = end_value(p, j, s, win_table)
        found[WIN_VALUE] += likely * values
        if mine > whole:
            p["needs"][ME] -= 1
            more = end_value(p, j, s, win_table)
            p["needs"][ME] += 1
            found[WIN_VALUE] += likely * (mine - whole) * (more - values)
        if theirs > others:
            p["needs"][THEM] -= 1
            more = end_value(p, j, s, win_table)
            p["needs"][THEM] += 1
            found[WIN_VALUE] += likely * (theirs - others) * (more - values)
        p["needs"][ME] = need
        p["needs"][THEM] = they_need
    found[MY_POINTS] += likely * (mine - max(p["needs"][ME], 0))
    found[THEIR_POINTS] += likely * (theirs - max(p["needs"][THEM], 0))


@kernel
def go_from(v, k, r, p, turn, likely, j, mine, theirs, leaf, near, s, hands, weights, win_table, u,
            net, found):  # fmt: skip
    """Add to the findings what follows position ``p``, ``turn`` to play: a leaf or a playing out.

    Args:
        r: the other seat's card since ``hand[k]``, or NONE.
        likely: the weight of hypothesis ``j``. mine, theirs: what the seats hold.
        leaf: float64[3] of this answer: whether it is evaluated, and the expected points.
    """
    if turn == ME:
        if leaf[0] == UNEVALUATED:
            evaluate(v, k, r, p, u, net, leaf)
        if leaf[0] == EVALUATED:
            add(p, likely, j, leaf[1], leaf[2], near, s, win_table, found)
            return
    play_out(p, turn, mine, theirs, s, hands, weights)
    add(p, likely, j, 0.0, 0.0, near, s, win_table, found)


@kernel
def answer(v, k, q, likely, j, mine, theirs, positions, leaves, near, s, hands, weights, win_table,
u,
           net, found):  # fmt: skip
    """Add what follows ``q``, the other seat to play from ``theirs`` whatever it may choose."""
    p = positions[3]
    chance = s["chance"]
    softmax(q, theirs, hands, weights, s["base"], s["shared"], chance)
    listed = hands[theirs, LISTED]
    for i in range(hands[theirs, DISTINCT]):
        if chance[i] > 0.0:
            r = listed >> (4 * i) & 15
            rest = hands[theirs, r]
            copy(q, p)
            put(p, THEM, r)
            turn = go_on(p, s["single"], hands[rest, LOWEST], hands[mine, LOWEST])
            leaf = leaves[LEAF * r : LEAF * r + LEAF]
            go_from(v, k, r, p, turn, likely * chance[i], j, mine, rest, leaf, near, s,
                    hands, weights, win_table, u, net, found)  # fmt: skip


@kernel
def search_card(v, k, mine, n, near, positions, s, hands, weights, win_table, u, net, found):
    """Write what playing ``hand[k]`` brings into ``found``, float64[FINDINGS].

    Args:
        mine: this seat's holding.
        n: how many hypotheses are left in the scratch record ``s``.
        near: 0 to judge by points alone.
        positions: four of `POSITION`: the pegging as it stands, then scratch.
        u: a view like ``v``, for scratch. net: begins with the nets.
        The others as for the search of `expert`.
    """
    leaves = stack.floats(LEAVES)
    for i in range(RANKS + 1):
        leaves[LEAF * i] = UNEVALUATED
    silent = leaves[LEAF * RANKS :]
    held = s["held"]
    ways = s["ways"]
    heard = positions[1]
    passed = positions[2]
    r = v["hand"][k] >> 2
    rest = hands[mine, r]
    turn, room = begin_card(r, rest, positions, s, hands, found)
    if room > 0:
        all_shared_values(heard, THEM, weights, s["base"], s["shared"])
        for j in range(n):
            if hands[held[j], LOWEST] <= room:
                answer(v, k, heard, ways[j], j, rest, held[j], positions, leaves, near, s, hands,
                       weights, win_table, u, net, found)  # fmt: skip
    if turn == THEM:  # it leads, after a go or 31: other leaves than those of an answer
        for i in range(RANKS):
            leaves[LEAF * i] = UNEVALUATED
        all_shared_values(passed, THEM, weights, s["base"], s["shared"])
    for j in range(n):
        if hands[held[j], LOWEST] > room:
            if turn == THEM:
                answer(v, k, passed, ways[j], j, rest, held[j], positions, leaves, near, s, hands,
                       weights, win_table, u, net, found)  # fmt: skip
            else:
                copy(passed, positions[3])
                go_from(v, k, NONE, positions[3], turn, ways[j], j, rest, held[j], silent, near, s,
                        hands, weights, win_table, u, net, found)  # fmt: skip
    if not near:
        found[WIN_VALUE] = found[POINTS_NOW] + found[MY_POINTS] - found[THEIR_POINTS]


@entry(
    void(
        VIEWS_T, int64[:, ::1], float64[::1], float64[:, ::1], float64[::1], MODEL_T,
        float64[:, :, ::1], TABLE_T, POSITIONS_T, SCRATCH_T, VIEWS_T, WEIGHTS_T, int64,
        float64[:, :, ::1],
    ),
    "learned.search",
)  # fmt: skip
def search_views(
    views, hands, weights, keeping_rates, suited, model, win_table, table, positions, scratch,
    spare, net, within, found,
):  # fmt: skip
    """Write what each card of each view that may be played brings.

    Args:
        views: all judged by ``win_table``.
        spare: one view, no matter what is in it.
        net: begins with the nets.
        within: how near to going out one seat must be for the win table to be used; else
            `WIN_VALUE` is the lead in points.
        found: float64[B, HAND, FINDINGS], NaN where a card may not be played.
        The others as for `expert`'s search, see `pegging_views`.
    """
    s = scratch[0]
    for i in range(views.shape[0]):
        spare[0] = views[i]
        v = views[i]
        s["base"] = SIZE * game_of(v)
        s["single"] = v["single_count"]
        s["i_deal"] = 1 - v["dealer"]
        other = pair_table_of(v, v["dealer"])
        n = enumerate_hands(v, positions[0], s, hands, weights, keeping_rates[other])
        n = systematic_resample(n, DRAWN, s)
        near = min(positions[0]["needs"][ME], positions[0]["needs"][THEM]) <= within
        if near:
            look_ahead(v, n, s, hands, model[0], suited[other], table)
        counted = 0
        for k in range(v["hand_n"]):
            counted += 1 << (4 * (v["hand"][k] >> 2))
        mine = number(counted)
        for k in range(HAND):
            for f in range(FINDINGS):
                found[i, k, f] = np.nan
            if k < v["hand_n"] and v["legal"] >> k & 1:
                search_card(v, k, mine, n, near, positions, s, hands, weights, win_table, spare[0],
                            net, found[i, k])  # fmt: skip
