"""An opponent for comparison: exact search of the play as if the other's hand lay open.

For every hand the other seat may hold, weighed as the expert weighs them, the play is solved for
points by alpha-beta with both hands known, and the card that is best on average is played. Each
solution may choose differently for each hand, and takes the other seat to know ours: the known
weakness of this method, which `crib_agents.expert.two_hand.pegging.search` avoids.
"""

from __future__ import annotations

import numpy as np
from crib_agents.expert.two_hand.pegging.belief import enumerate_hands, systematic_resample
from crib_agents.expert.two_hand.pegging.expert import SCRATCH, SCRATCH_T, read_tables
from crib_agents.expert.two_hand.pegging.holdings import DISTINCT, LISTED, LOWEST, holdings, number
from crib_agents.expert.two_hand.pegging.rollout_policy import SIZE
from crib_agents.expert.two_hand.pegging.transition import (
    ME,
    POSITION,
    POSITIONS_T,
    THEM,
    copy,
    go_on,
    put,
)
from crib_agents.kernels.pair_tables import game_of, pair_table_of
from numba import float64, from_dtype, int64, types, void

from crib_env.engine.jit import entry, kernel
from crib_env.engine.record import NONE
from crib_env.engine.two_hand.records import VIEWS_T
from crib_env.policy import Actions, Views

SOLVED = 48  # hands solved for a card, of those the other may hold
LEVELS = 10  # positions on the way to the end of the play: eight cards and the two ends
FAR = 1 << 30

NODE = np.dtype(
    [
        ("seat", np.int64),  # to play, or NONE at the end
        ("held", np.int64, (2,)),  # holdings
        ("tried", np.int64),  # how many of the seat's ranks
        ("low", np.int64),  # what this seat has made sure of elsewhere
        ("high", np.int64),  # what the other will not let it exceed
        ("best", np.int64),
    ],
    align=True,
)
NODES_T = types.Array(from_dtype(NODE), 1, "C")


@kernel
def enter(node, seat, mine, theirs, low, high):
    """Make ``node`` one whose cards are all to be tried."""
    node["seat"] = seat
    node["held"][ME] = mine
    node["held"][THEM] = theirs
    node["tried"] = 0
    node["low"] = low
    node["high"] = high
    node["best"] = -FAR if seat == ME else FAR


@kernel
def next_rank(p, node, hands):
    """Return the next rank to try, or NONE if all are tried or none can matter any more."""
    held = node["held"][node["seat"]]
    while node["tried"] < hands[held, DISTINCT] and node["low"] < node["high"]:
        r = hands[held, LISTED] >> (4 * node["tried"]) & 15
        node["tried"] += 1
        if min(r + 1, 10) <= 31 - p["count"]:
            return r
    return NONE


@kernel
def solve(positions, nodes, seat, mine, theirs, single, hands):
    """Return how many points more this seat pegs to the end from ``positions[1]`` on.

    Alpha-beta with a stack of its own: the compiled code of recursive kernels, read from the
    cache, has crashed.
    """
    level = 1
    enter(nodes[1], seat, mine, theirs, -FAR, FAR)
    while True:
        node = nodes[level]
        p = positions[level]
        value = node["best"]
        r = NONE
        if node["seat"] == NONE:
            value = max(p["needs"][THEM], 0) - max(p["needs"][ME], 0)
        else:
            r = next_rank(p, node, hands)
            value = node["best"]
        if r == NONE:
            level -= 1
            if level == 0:
                return value
            above = nodes[level]
            if above["seat"] == ME:
                above["best"] = max(above["best"], value)
                above["low"] = max(above["low"], value)
            else:
                above["best"] = min(above["best"], value)
                above["high"] = min(above["high"], value)
            continue
        q = positions[level + 1]
        copy(p, q)
        put(q, node["seat"], r)
        my_rest = node["held"][ME]
        their_rest = node["held"][THEM]
        if node["seat"] == ME:
            my_rest = hands[my_rest, r]
            turn = go_on(q, single, hands[my_rest, LOWEST], hands[their_rest, LOWEST])
        else:
            their_rest = hands[their_rest, r]
            turn = go_on(q, single, hands[their_rest, LOWEST], hands[my_rest, LOWEST])
        level += 1
        enter(nodes[level], turn, my_rest, their_rest, node["low"], node["high"])


@entry(
    void(
        VIEWS_T, int64[:, ::1], float64[::1], float64[:, ::1], POSITIONS_T, NODES_T, SCRATCH_T,
        int64[::1],
    )
)  # fmt: skip
def solve_views(views, hands, weights, kept, positions, nodes, scratch, actions):
    """Write a card for each view, of equal value the higher."""
    s = scratch[0]
    for i in range(views.shape[0]):
        v = views[i]
        s["base"] = SIZE * game_of(v)
        n = enumerate_hands(
            v, positions[0], s, hands, weights, kept[pair_table_of(v, 1 - v["is_dealer"])]
        )
        n = systematic_resample(n, SOLVED, s)
        counted = 0
        for k in range(v["hand_n"]):
            counted += 1 << (4 * (v["hand"][k] >> 2))
        mine = number(counted)
        best = NONE
        most = 0.0
        for k in range(v["hand_n"]):
            if not v["legal"] >> k & 1:
                continue
            card = v["hand"][k]
            rest = hands[mine, card >> 2]
            value = 0.0
            for j in range(n):
                theirs = s["held"][j]
                copy(positions[0], positions[1])
                put(positions[1], ME, card >> 2)
                turn = go_on(
                    positions[1], v["single_count"], hands[rest, LOWEST], hands[theirs, LOWEST]
                )
                value += s["ways"][j] * solve(
                    positions, nodes, turn, rest, theirs, v["single_count"], hands
                )
            if best == NONE or value > most or (value == most and card > best):
                best = card
                most = value
        actions[i] = best


class DeterminizedAgent:
    """Plays the cards, not the crib, by exact search over open hands."""

    name = "open_handed"

    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return a legal card for each view, int64[B]; ``rng`` is left alone."""
        tables, kept, _ = read_tables()
        positions = np.zeros(LEVELS, dtype=POSITION)
        nodes = np.zeros(LEVELS, dtype=NODE)
        scratch = np.zeros(1, dtype=SCRATCH)
        actions = np.empty(len(views), dtype=np.int64)
        solve_views(np.ascontiguousarray(views), holdings(), tables, kept, positions, nodes,
                    scratch, actions)  # fmt: skip
        return actions
