"""An opponent for comparison: exact search of the play as if the other's hand lay open.

For every hand the other seat may hold, weighed as the expert weighs them, the play is solved for
points by alpha-beta with both hands known, and the card that is best on average is played. Each
solution may choose differently for each hand, and takes the other seat to know ours: the known
weakness of this method, which `agents.expert.search` avoids.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numba import float64, int64, void

import agents
from agents.crib_tables import chart
from agents.expert.belief import hypothesise, thin
from agents.expert.course import ME, POSITION, POSITIONS_T, THEM, copy, go_on, put
from agents.expert.holdings import DISTINCT, LISTED, LOWEST, holdings, number
from agents.expert.pegging_tables import load
from agents.expert.play import SCRATCH, SCRATCH_T
from agents.expert.reflex import SIZE
from crib_env.engine.jit import ENGINE, entry_for, kernel
from crib_env.engine.records import NONE, VIEWS_T
from crib_env.opponents import Actions, Views

SOLVED = 48  # hands solved for a card, of those the other may hold
LEVELS = 10  # positions on the way to the end of the play: eight cards and the two ends
FAR = 1 << 30

EXPERT = Path(agents.__file__).parent / "expert"
entry = entry_for(Path(__file__).parent, EXPERT, EXPERT.parent, ENGINE)


@kernel
def solve(positions, level, seat, mine, theirs, single, hands, low, high):
    """Return how many points more this seat pegs to the end from ``positions[level]``.

    As far as it lies between ``low`` and ``high``; beyond, it is only on the right side of them.
    """
    p = positions[level]
    if seat == NONE:
        return max(p["needs"][THEM], 0) - max(p["needs"][ME], 0)
    held = mine if seat == ME else theirs
    listed = hands[held, LISTED]
    best = -FAR if seat == ME else FAR
    for k in range(hands[held, DISTINCT]):
        r = listed >> (4 * k) & 15
        if min(r + 1, 10) > 31 - p["count"]:
            continue
        q = positions[level + 1]
        copy(p, q)
        put(q, seat, r)
        rest = hands[held, r]
        my_rest = rest if seat == ME else mine
        their_rest = theirs if seat == ME else rest
        others = their_rest if seat == ME else my_rest
        turn = go_on(q, single, hands[rest, LOWEST], hands[others, LOWEST])
        value = solve(positions, level + 1, turn, my_rest, their_rest, single, hands, low, high)
        if seat == ME:
            best = max(best, value)
            low = max(low, value)
        else:
            best = min(best, value)
            high = min(high, value)
        if low >= high:
            break
    return best


@entry(
    void(
        VIEWS_T, int64[:, ::1], float64[::1], float64[:, ::1], POSITIONS_T, SCRATCH_T, int64[::1]
    )
)  # fmt: skip
def solve_views(views, hands, weights, kept, positions, scratch, actions):
    """Write a card for each view, of equal value the higher."""
    s = scratch[0]
    for i in range(views.shape[0]):
        v = views[i]
        s["base"] = 0 if v["dealt"] == 6 else SIZE
        n = hypothesise(v, positions[0], s, hands, weights, kept[chart(v, 1 - v["is_dealer"])])
        n = thin(n, SOLVED, s)
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
                    positions, 1, turn, rest, theirs, v["single_count"], hands, -FAR, FAR
                )
            if best == NONE or value > most or (value == most and card > best):
                best = card
                most = value
        actions[i] = best


class OpenHanded:
    """Plays the cards, not the crib, by exact search over open hands."""

    name = "open_handed"

    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return a legal card for each view, int64[B]; ``rng`` is left alone."""
        tables, kept = load()
        positions = np.zeros(LEVELS, dtype=POSITION)
        scratch = np.zeros(1, dtype=SCRATCH)
        actions = np.empty(len(views), dtype=np.int64)
        solve_views(np.ascontiguousarray(views), holdings(), tables, kept, positions, scratch,
                    actions)  # fmt: skip
        return actions
