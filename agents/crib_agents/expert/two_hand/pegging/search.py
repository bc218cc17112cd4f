"""Search: the value of a card over all the other seat may hold.

After this seat's card every hypothesis goes on until the pegging ends, or a leaf that is judged
otherwise. The other seat may answer with any card it holds, each as likely as a softmax over the
rollout policy's values makes it. `expert` then plays both seats out by the rollout policy, which
knows no more than a seat does: neither chooses by what it could not see. The end is judged by a win
table, over the counts still to come.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import float64, from_dtype, int64, types

from crib_agents.data.tables import RANKS
from crib_agents.expert.two_hand.pegging.belief import enumerate_hands, systematic_resample
from crib_agents.expert.two_hand.pegging.rollout_policy import (
    SIZE,
    all_shared_values,
    best_rank,
    softmax,
)
from crib_agents.kernels.pair_tables import game_of, pair_table_of
from crib_agents.knowledge.two_hand.holdings import (
    DISTINCT,
    EMPTY,
    FIRST,
    LISTED,
    LOWEST,
    MOST,
    holdings,
)
from crib_agents.knowledge.two_hand.model import MODEL_T, load_for
from crib_agents.knowledge.two_hand.outcomes import COUNT_SIZE
from crib_agents.knowledge.two_hand.pegging import (
    ME,
    POSITION,
    POSITIONS_T,
    THEM,
    copy,
    go_on,
    put,
)
from crib_agents.knowledge.two_hand.win_table import after_pegging
from crib_env.engine.jit import kernel
from crib_env.engine.record import NONE, TABLE_T, tuple_of
from crib_env.engine.show import show_table
from crib_env.policy import Views

DRAWN = 256  # hypotheses searched, of up to 1,820
STUCK = 32  # as a least pip: the seat holds cards, but none that fits
NO_ANSWER = RANKS  # in place of the rank that the other seat answers with

# What a row of findings tells of a card.
WIN_VALUE = 0
POINTS_NOW = 1  # what it is sure to peg when it is played
MY_POINTS = 2  # expected of the rest of the play, without those
THEIR_POINTS = 3
FINDINGS = 4

SCRATCH = np.dtype(
    [
        ("held", np.int64, (int(FIRST[MOST + 1] - FIRST[MOST]),)),  # hypotheses: holdings
        ("ways", np.float64, (int(FIRST[MOST + 1] - FIRST[MOST]),)),  # and their weights
        ("counts", np.int64, (DRAWN,)),  # what the other seat's hand counts under them by rank
        ("flush", np.float64, (DRAWN,)),  # and the chances that it is a flush besides
        ("nob", np.float64, (DRAWN,)),  # or holds his nob
        ("shared", np.float64, (RANKS,)),
        ("chance", np.float64, (MOST,)),
        ("crib", np.float64, (COUNT_SIZE,)),
        ("count", np.int64),  # what this seat's hand counts
        ("flush_points", np.int64),  # what a flush does; the starter's point is left aside
        ("base", np.int64),  # where the game's tables begin
        ("single", np.int64),
        ("i_deal", np.int64),
    ],
    align=True,
)
SCRATCH_T = types.Array(from_dtype(SCRATCH), 1, "C")


class Search(NamedTuple):
    """What a search of views reads and works in; all are judged by one win table.

    Attributes:
        weights: float64[2 * SIZE], the rollout policy's tables.
        keeping_rates: float64[4, HOLDINGS]; see `expert.read_tables`.
        suited: float64[4]; see there.
        hands: `holdings`.
        model: the record of `model`. win_table: see `win_table`. table: the show table.
        positions: four of `POSITION`: the play as it stands, after the card where the other seat
            can answer, where it cannot, and one that goes on from there.
        scratch: one `SCRATCH`.
    """

    weights: Any
    keeping_rates: Any
    suited: Any
    hands: Any
    model: Any
    win_table: Any
    table: Any
    positions: Any
    scratch: Any


SEARCH_T = tuple_of(
    Search, float64[::1], float64[:, ::1], float64[::1], int64[:, ::1], MODEL_T,
    float64[:, :, ::1], TABLE_T, POSITIONS_T, SCRATCH_T,
)  # fmt: skip


def make_search(views: Views, tables: tuple[Any, Any, Any], win_table: Any) -> Search:
    """Return a search of views of one game, by the tables of `expert.read_tables`."""
    positions, scratch = np.zeros(4, dtype=POSITION), np.zeros(1, dtype=SCRATCH)
    return Search(
        *tables, holdings(), load_for(views), win_table, show_table(), positions, scratch
    )  # fmt: skip


@kernel
def begin_search(b, v):
    """Take up the position of a view; return how many hypotheses the scratch record then has."""
    s = b.scratch[0]
    s["base"] = SIZE * game_of(v)
    s["single"] = v["single_count"]
    s["i_deal"] = v["is_dealer"]
    rates = b.keeping_rates[pair_table_of(v, 1 - v["is_dealer"])]
    n = enumerate_hands(v, b.positions[0], s, b.hands, b.weights, rates)
    return systematic_resample(n, DRAWN, s)


@kernel
def play_out(b, p, seat, mine, theirs):
    """Play on from ``p`` by the rollout policy; the seats hold ``mine`` and ``theirs``."""
    hands = b.hands
    s = b.scratch[0]
    while seat != NONE:
        if seat == ME:
            r = best_rank(p, ME, mine, hands, b.weights, s["base"])
            mine = hands[mine, r]
            put(p, ME, r)
            seat = go_on(p, s["single"], hands[mine, LOWEST], hands[theirs, LOWEST])
        else:
            r = best_rank(p, THEM, theirs, hands, b.weights, s["base"])
            theirs = hands[theirs, r]
            put(p, THEM, r)
            seat = go_on(p, s["single"], hands[theirs, LOWEST], hands[mine, LOWEST])


@kernel
def counted(b, p, others):
    """Return the value of the end ``p`` of the play if the other seat's hand counts ``others``."""
    s = b.scratch[0]
    mine = p["needs"][ME]
    theirs = p["needs"][THEM]
    if s["i_deal"]:
        return after_pegging(b.win_table, 1, theirs, mine, others, s["count"], s["crib"])
    return after_pegging(b.win_table, 0, mine, theirs, s["count"], others, s["crib"])


@kernel
def with_nob(b, p, others, nob):
    """Return `counted`, his nob being in the other seat's hand with the chance ``nob``."""
    value = counted(b, p, others)
    if nob > 0.0:
        value += nob * (counted(b, p, others + 1) - value)
    return value


@kernel
def end_value(b, p, j):
    """Return the value of the end ``p`` of the play under hypothesis ``j``."""
    s = b.scratch[0]
    others = s["counts"][j]
    nob = s["nob"][j]
    flush = s["flush"][j]
    value = with_nob(b, p, others, nob)
    if flush > 0.0:
        value += flush * (with_nob(b, p, others + s["flush_points"], nob) - value)
    return value


@kernel
def begin_card(b, r, rest, found):
    """Play rank ``r``, which leaves this seat ``rest``, and begin the findings with what is sure.

    Returns:
        whose turn it is where the other seat cannot answer, and up to how many pips it can: 0 if
        the card goes out.
    """
    before = b.positions[0]
    heard = b.positions[1]
    passed = b.positions[2]
    copy(before, heard)
    put(heard, ME, r)
    copy(heard, passed)
    nothing = EMPTY if heard["left"][THEM] == 0 else STUCK
    turn = go_on(passed, b.scratch[0]["single"], b.hands[rest, LOWEST], nothing)
    found[WIN_VALUE] = 0.0
    found[POINTS_NOW] = before["needs"][ME] - max(heard["needs"][ME], 0)
    found[MY_POINTS] = max(heard["needs"][ME], 0)
    found[THEIR_POINTS] = heard["needs"][THEM]
    return turn, 31 - heard["count"] if heard["needs"][ME] > 0 else 0


def search_by(follow, forget):
    """Return a kernel ``search_card(b, x, r, mine, n, found)``: what playing rank ``r`` brings.

    It writes ``found``, float64[FINDINGS]; ``mine`` is this seat's holding, ``n`` how many
    hypotheses the scratch record has, and ``x`` whatever the kernels given want to know.

    Args:
        follow: kernel ``follow(b, x, p, turn, answer, likely, j, mine, theirs, found)``: adds what
            follows the position ``p`` under hypothesis ``j``, so ``likely``; ``turn`` is to play,
            or NONE, ``answer`` is the other seat's card since or `NO_ANSWER`, and the seats hold
            ``mine`` and ``theirs``. ``p`` may be changed.
        forget: kernel ``forget(x)``: the answers from here on follow another position.
    """

    @kernel
    def add_answers(b, x, q, likely, j, mine, theirs, found):
        """Add what follows ``q``, the other seat to play whatever it may choose of ``theirs``."""
        hands = b.hands
        s = b.scratch[0]
        p = b.positions[3]
        chance = s["chance"]
        softmax(q, theirs, hands, b.weights, s["base"], s["shared"], chance)
        listed = hands[theirs, LISTED]
        for k in range(hands[theirs, DISTINCT]):
            if chance[k] > 0.0:
                r = listed >> (4 * k) & 15
                rest = hands[theirs, r]
                copy(q, p)
                put(p, THEM, r)
                turn = go_on(p, s["single"], hands[rest, LOWEST], hands[mine, LOWEST])
                follow(b, x, p, turn, r, likely * chance[k], j, mine, rest, found)

    @kernel
    def search_card(b, x, r, mine, n, found):
        hands = b.hands
        s = b.scratch[0]
        held = s["held"]
        ways = s["ways"]
        heard = b.positions[1]
        passed = b.positions[2]
        rest = hands[mine, r]
        turn, room = begin_card(b, r, rest, found)
        forget(x)
        if room > 0:
            all_shared_values(heard, THEM, b.weights, s["base"], s["shared"])
            for j in range(n):
                if hands[held[j], LOWEST] <= room:
                    add_answers(b, x, heard, ways[j], j, rest, held[j], found)
        if turn == THEM:  # it leads, after a go or 31
            forget(x)
            all_shared_values(passed, THEM, b.weights, s["base"], s["shared"])
        for j in range(n):
            if hands[held[j], LOWEST] > room:
                if turn == THEM:
                    add_answers(b, x, passed, ways[j], j, rest, held[j], found)
                else:
                    p = b.positions[3]
                    copy(passed, p)
                    follow(b, x, p, turn, NO_ANSWER, ways[j], j, rest, held[j], found)

    return search_card


@kernel
def play_to_end(b, x, p, turn, answer, likely, j, mine, theirs, found):
    """Play hypothesis ``j`` out, and add its end to the findings."""
    play_out(b, p, turn, mine, theirs)
    found[WIN_VALUE] += likely * end_value(b, p, j)
    found[MY_POINTS] -= likely * max(p["needs"][ME], 0)
    found[THEIR_POINTS] -= likely * max(p["needs"][THEM], 0)


@kernel
def nothing_stored(x):
    """Forget nothing."""


search_card = search_by(play_to_end, nothing_stored)
