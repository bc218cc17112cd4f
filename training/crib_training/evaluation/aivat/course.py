"""Kernels: a deal as a reference plays it, and its points with each starter.

A compiled agent's function discards and pegs as the reference. It sees neither the starter nor the
score, so one pegging serves every starter. Pone has seat 0 and the dealer seat 1.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numba import from_dtype, types

from crib_env.engine.hands.counting import DECK
from crib_env.engine.hands.records import DISCARD, PEGGING
from crib_env.engine.hands.rules import crib_points, hand_points, heels_points, step
from crib_env.engine.hands.slots import slot_of
from crib_env.engine.jit import kernel
from crib_env.engine.log import LOG_WIDTH
from crib_env.engine.record import NONE
from crib_env.engine.two_hand import HAND, PILE, view

PONE, DEALER = 0, 1
# Kinds of points, in the order of a tally: the pegging, hand and crib of pone, then the dealer's.
KINDS = 6
PONE_PLAY, PONE_HAND, PONE_CRIB, DEALER_PLAY, DEALER_HAND, DEALER_CRIB = range(KINDS)

COURSE = np.dtype(
    [
        ("heels", np.int64),  # what a jack turned up pegs
        ("cards", np.int64),  # played
        ("pegger", np.int64, (PILE,)),  # who played each
        ("pegged", np.int64, (PILE,)),  # and what it pegged
        ("starters", np.int64),  # how many cards may be the starter
        ("starter", np.int64, (DECK,)),  # which
        ("made", np.int64, (DECK * KINDS,)),  # the points of each kind with each of them
        ("mean", np.float64, (KINDS,)),  # over the starters
        ("chance", np.float64),  # pone's probability of winning, the mean over the starters
    ],
    align=True,
)
COURSES_T = types.Array(from_dtype(COURSE), 1, "C")


@kernel
def set_out(s, rules, discarded_pone, discarded_dealer):
    """Begin the deal of the cards in ``s``: to discard, or to play with what was discarded."""
    everything = (1 << rules["dealt"]) - 1
    s["discarded"][PONE] = discarded_pone
    s["discarded"][DEALER] = discarded_dealer
    for seat in range(2):
        s["held"][seat] = everything & ~s["discarded"][seat]
        s["scores"][seat] = 0
        s["gain"][seat] = 0
    s["dealer"] = DEALER
    s["phase"] = PEGGING if discarded_pone else DISCARD
    s["to_move"] = PONE
    s["starter"] = NONE
    s["pile_n"] = 0
    s["pile_from"] = 0
    s["pile_seats"] = 0
    s["count"] = 0
    s["go"] = 0
    s["passed"] = 0
    s["winner"] = NONE
    s["over"] = 0


@kernel
def count_starters(s, rules, table, pone, dealer, course):
    """Write the points with every possible starter, after a pegging with these points.

    Heels count as points of the dealer's play, as in a tally.
    """
    dealt = 0
    for seat in range(2):
        for i in range(rules["dealt"]):
            dealt |= 1 << s["dealt"][HAND * seat + i]
    n = 0
    course["heels"] = rules["heels"]
    for kind in range(KINDS):
        course["mean"][kind] = 0.0
    for card in range(DECK):
        if dealt >> card & 1:
            continue
        s["starter"] = card
        at = KINDS * n
        course["starter"][n] = card
        course["made"][at + PONE_PLAY] = pone
        course["made"][at + PONE_HAND] = hand_points(s, rules, table, PONE)[0]
        course["made"][at + PONE_CRIB] = 0
        course["made"][at + DEALER_PLAY] = dealer + heels_points(s, rules)
        course["made"][at + DEALER_HAND] = hand_points(s, rules, table, DEALER)[0]
        course["made"][at + DEALER_CRIB] = crib_points(s, rules, table)[0]
        for kind in range(KINDS):
            course["mean"][kind] += course["made"][at + kind]
        n += 1
    for kind in range(KINDS):
        course["mean"][kind] /= n
    course["starters"] = n
    s["starter"] = NONE


class CourseKernels(NamedTuple):
    """The kernels of a reference; see `course_kernels`."""

    discard: Callable[..., tuple[int, int]]
    follow: Callable[..., None]


@cache
def course_kernels(act: Callable[..., int]) -> CourseKernels:
    """Return the kernels by which an agent's compiled function discards and plays a deal.

    Their argument ``game`` is all that a decision takes: the state with the cards dealt, rules, a
    view to fill, a generator, the table of the show, the agent's weights, a log, and no decks.
    """
    act = act if hasattr(act, "py_func") else kernel(act)

    @kernel
    def discard(game):
        """Let the reference discard for both seats; return the slots, pone's and the dealer's."""
        s, rules, v, rng, table, weights, log, decks = game
        set_out(s, rules, 0, 0)
        while s["phase"] == DISCARD:
            view(s, rules, s["to_move"], v)
            card = act(v, rng, table, weights)
            step(s, rules, decks, table, slot_of(s, rules, card), log)
        return s["discarded"][PONE], s["discarded"][DEALER]

    @kernel
    def follow(game, discarded_pone, discarded_dealer, course):
        """Play a deal in which these slots were discarded, and count it with every starter."""
        s, rules, v, rng, table, weights, log, decks = game
        set_out(s, rules, discarded_pone, discarded_dealer)
        play = (0, 0)
        while s["phase"] == PEGGING:
            seat = s["to_move"]
            at = s["pile_n"]
            view(s, rules, seat, v)
            card = act(v, rng, table, weights)
            step(s, rules, decks, table, slot_of(s, rules, card), log)
            points = 0
            for row in range(log[0]):
                points += log[2 + LOG_WIDTH * row]
            course["pegger"][at] = seat
            course["pegged"][at] = points
            play = (play[0] + points * (1 - seat), play[1] + points * seat)
        course["cards"] = s["pile_n"]
        count_starters(s, rules, table, play[0], play[1], course)

    return CourseKernels(discard, follow)
