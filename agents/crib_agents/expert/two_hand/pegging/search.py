"""Search: the value of a card over every hand that the other seat may hold.

After this seat's card, every hypothesis is rolled out to the end of the pegging. The other seat
answers with a softmax over the rollout policy's values. Then both seats play by the rollout policy,
which uses only what a seat can see. A win table gives the value of the end, with the counts still
to come.

The kernels take their arrays one by one: in a named tuple, and with one search for both this and
the search of `learned`, a decision took 7 to 40 % longer.
"""

from __future__ import annotations

from crib_agents.expert.two_hand.pegging.rollout_policy import all_shared_values, best_rank, softmax
from crib_agents.knowledge.two_hand.pegging import (
    DISTINCT,
    EMPTY,
    LISTED,
    LOWEST,
    ME,
    THEM,
    copy,
    go_on,
    put,
)
from crib_agents.knowledge.two_hand.winning import after_pegging
from crib_env.engine.jit import kernel
from crib_env.engine.record import NONE

STUCK = 32  # as a least pip: the seat holds cards, but none that fits

# What a row of findings tells of a card.
WIN_VALUE = 0
POINTS_NOW = 1  # what it is sure to peg when it is played
MY_POINTS = 2  # expected of the rest of the pegging, without those
THEIR_POINTS = 3
FINDINGS = 4


@kernel
def play_out(p, seat, mine, theirs, s, hands, weights):
    """Roll out from ``p`` to the end; the seats hold ``mine`` and ``theirs``."""
    while seat != NONE:
        if seat == ME:
            r = best_rank(p, ME, mine, hands, weights, s["base"])
            mine = hands[mine, r]
            put(p, ME, r)
            seat = go_on(p, s["single"], hands[mine, LOWEST], hands[theirs, LOWEST])
        else:
            r = best_rank(p, THEM, theirs, hands, weights, s["base"])
            theirs = hands[theirs, r]
            put(p, THEM, r)
            seat = go_on(p, s["single"], hands[theirs, LOWEST], hands[mine, LOWEST])


@kernel
def counted(p, others, s, win_table):
    """Return the value of the end ``p`` of the pegging if the other's hand counts ``others``."""
    mine = p["needs"][ME]
    theirs = p["needs"][THEM]
    if s["i_deal"]:
        return after_pegging(win_table, 1, theirs, mine, others, s["count"], s["crib"])
    return after_pegging(win_table, 0, mine, theirs, s["count"], others, s["crib"])


@kernel
def with_nob(p, others, nob, s, win_table):
    """Return `counted`, his nob being in the other seat's hand with the chance ``nob``."""
    value = counted(p, others, s, win_table)
    if nob > 0.0:
        value += nob * (counted(p, others + 1, s, win_table) - value)
    return value


@kernel
def end_value(p, j, s, win_table):
    """Return the value of the end ``p`` of the pegging under hypothesis ``j``."""
    others = s["counts"][j]
    nob = s["nob"][j]
    flush = s["flush"][j]
    value = with_nob(p, others, nob, s, win_table)
    if flush > 0.0:
        value += flush * (with_nob(p, others + s["flush_points"], nob, s, win_table) - value)
    return value


@kernel
def add_end(p, likely, j, s, win_table, found):
    """Add the end ``p`` of the pegging under hypothesis ``j`` to the findings, by its weight."""
    found[WIN_VALUE] += likely * end_value(p, j, s, win_table)
    found[MY_POINTS] -= likely * max(p["needs"][ME], 0)
    found[THEIR_POINTS] -= likely * max(p["needs"][THEM], 0)


@kernel
def add_ends(q, seat, likely, mine, theirs, j, p, s, hands, weights, win_table, found):
    """Add to the findings how hypothesis ``j`` ends that goes on from ``q``; ``p`` is scratch.

    Args:
        seat: to play, or NONE. If it is the other seat's turn, it may play any of its cards.
        likely: the hypothesis' weight.
        mine, theirs: what the seats hold.
    """
    if seat != THEM:
        copy(q, p)
        play_out(p, seat, mine, theirs, s, hands, weights)
        add_end(p, likely, j, s, win_table, found)
        return
    chance = s["chance"]
    softmax(q, theirs, hands, weights, s["base"], s["shared"], chance)
    listed = hands[theirs, LISTED]
    for k in range(hands[theirs, DISTINCT]):
        if chance[k] > 0.0:
            r = listed >> (4 * k) & 15
            rest = hands[theirs, r]
            copy(q, p)
            put(p, THEM, r)
            turn = go_on(p, s["single"], hands[rest, LOWEST], hands[mine, LOWEST])
            play_out(p, turn, mine, rest, s, hands, weights)
            add_end(p, likely * chance[k], j, s, win_table, found)


@kernel
def begin_card(r, rest, positions, s, hands, found):
    """Play rank ``r``, which leaves this seat ``rest``; start the findings with what is sure.

    Returns whose turn it is where the other seat cannot answer, and up to how many pips it can: 0
    if the card goes out.
    """
    heard = positions[1]
    passed = positions[2]
    copy(positions[0], heard)
    put(heard, ME, r)
    copy(heard, passed)
    nothing = EMPTY if heard["left"][THEM] == 0 else STUCK
    turn = go_on(passed, s["single"], hands[rest, LOWEST], nothing)
    found[WIN_VALUE] = 0.0
    found[POINTS_NOW] = positions[0]["needs"][ME] - max(heard["needs"][ME], 0)
    found[MY_POINTS] = max(heard["needs"][ME], 0)
    found[THEIR_POINTS] = heard["needs"][THEM]
    return turn, 31 - heard["count"] if heard["needs"][ME] > 0 else 0


@kernel
def search_card(r, mine, n, positions, s, hands, weights, win_table, found):
    """Write what playing rank ``r`` brings into ``found``, float64[FINDINGS].

    Args:
        mine: this seat's holding.
        n: how many hypotheses `systematic_resample` left in the scratch record ``s``.
        positions: four of `POSITION`: the pegging so far, then scratch.
    """
    held = s["held"]
    ways = s["ways"]
    heard = positions[1]
    passed = positions[2]
    rest = hands[mine, r]
    turn, room = begin_card(r, rest, positions, s, hands, found)
    if room > 0:
        all_shared_values(heard, THEM, weights, s["base"], s["shared"])
        for j in range(n):
            if hands[held[j], LOWEST] <= room:
                add_ends(heard, THEM, ways[j], rest, held[j], j, positions[3], s, hands,
                         weights, win_table, found)  # fmt: skip
    if turn == THEM:
        all_shared_values(passed, THEM, weights, s["base"], s["shared"])
    for j in range(n):
        if hands[held[j], LOWEST] > room:
            add_ends(passed, turn, ways[j], rest, held[j], j, positions[3], s, hands,
                     weights, win_table, found)  # fmt: skip
