"""Kernels: a deal as a reference plays it, its points and pone's chance of winning by starter.

A compiled agent's function discards and pegs as the reference. It sees neither the starter nor the
score, so one pegging serves every starter. Pone has seat 0 and the dealer seat 1.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numba import float64, from_dtype, types, void

from crib_env.engine.hands.counting import DECK
from crib_env.engine.hands.records import DISCARD, PEGGING
from crib_env.engine.hands.rules import crib_points, hand_points, heels_points, step
from crib_env.engine.hands.slots import slot_of
from crib_env.engine.jit import entry, kernel
from crib_env.engine.record import LOG_WIDTH, NONE
from crib_env.engine.show import JACK
from crib_env.engine.two_hand import HAND, PILE, view

PONE, DEALER = 0, 1
# Kinds of points, in the order of a tally: the pegging, hand and crib of pone, then the dealer's.
KINDS = 6
PONE_PLAY, PONE_HAND, PONE_CRIB, DEALER_PLAY, DEALER_HAND, DEALER_CRIB = range(KINDS)

PLAYOUT = np.dtype(
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
PLAYOUTS_T = types.Array(from_dtype(PLAYOUT), 1, "C")


@kernel
def begin_deal(s, rules, discarded_pone, discarded_dealer):
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
def count_starters(s, rules, table, pone, dealer, playout):
    """Write the points with every possible starter, after a pegging with these points.

    Heels count as points of the dealer's play, as in a tally.
    """
    dealt = 0
    for seat in range(2):
        for i in range(rules["dealt"]):
            dealt |= 1 << s["dealt"][HAND * seat + i]
    n = 0
    playout["heels"] = rules["heels"]
    for kind in range(KINDS):
        playout["mean"][kind] = 0.0
    for card in range(DECK):
        if dealt >> card & 1:
            continue
        s["starter"] = card
        at = KINDS * n
        playout["starter"][n] = card
        playout["made"][at + PONE_PLAY] = pone
        playout["made"][at + PONE_HAND] = hand_points(s, rules, table, PONE)[0]
        playout["made"][at + PONE_CRIB] = 0
        playout["made"][at + DEALER_PLAY] = dealer + heels_points(s, rules)
        playout["made"][at + DEALER_HAND] = hand_points(s, rules, table, DEALER)[0]
        playout["made"][at + DEALER_CRIB] = crib_points(s, rules, table)[0]
        for kind in range(KINDS):
            playout["mean"][kind] += playout["made"][at + kind]
        n += 1
    for kind in range(KINDS):
        playout["mean"][kind] /= n
    playout["starters"] = n
    s["starter"] = NONE


class PlayoutKernels(NamedTuple):
    """The kernels of a reference; see `playout_kernels`."""

    discard: Callable[..., tuple[int, int]]
    follow: Callable[..., None]


@cache
def playout_kernels(act: Callable[..., int]) -> PlayoutKernels:
    """Return the kernels by which an agent's compiled function discards and plays a deal.

    Their argument ``game`` is all that a decision takes: the state with the cards dealt, rules, a
    view to fill, a generator, the table of the show, the agent's weights, a log, and no decks.
    """
    act = act if hasattr(act, "py_func") else kernel(act)

    @kernel
    def discard(game):
        """Let the reference discard for both seats; return the slots, pone's and the dealer's."""
        s, rules, v, rng, table, weights, log, decks = game
        begin_deal(s, rules, 0, 0)
        while s["phase"] == DISCARD:
            view(s, rules, s["to_move"], v)
            card = act(v, rng, table, weights)
            step(s, rules, decks, table, slot_of(s, rules, card), log)
        return s["discarded"][PONE], s["discarded"][DEALER]

    @kernel
    def follow(game, discarded_pone, discarded_dealer, playout):
        """Play a deal in which these slots were discarded, and count it with every starter."""
        s, rules, v, rng, table, weights, log, decks = game
        begin_deal(s, rules, discarded_pone, discarded_dealer)
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
            playout["pegger"][at] = seat
            playout["pegged"][at] = points
            play = (play[0] + points * (1 - seat), play[1] + points * seat)
        playout["cards"] = s["pile_n"]
        count_starters(s, rules, table, play[0], play[1], playout)

    return PlayoutKernels(discard, follow)


# A value is the mean over shifts of both scores by these points, weighed as by a normal curve.
SHIFTS = np.array([-4, -2, 0, 2, 4])
_WEIGHTS = np.exp(-0.5 * (SHIFTS / 2.0) ** 2)
SHIFT_WEIGHTS = np.outer(_WEIGHTS, _WEIGHTS) / _WEIGHTS.sum() ** 2


@kernel
def shifted(need, i, target):
    """Return the points to make of the i-th shift."""
    return min(max(need - SHIFTS[i], 1), target)


@kernel
def chance_after(playout, k, a, b, wins):
    """Return pone's chance after a deal with the k-th starter; ``a`` and ``b`` are still to make.

    Points count in the order in which they are made (C5): heels, the pegging, pone's hand.

    Shapes: wins float64[T + 1, T + 1].
    """
    at = KINDS * k
    made = playout["made"]
    pone = a - made[at + PONE_PLAY] - made[at + PONE_HAND]
    dealer = b - made[at + DEALER_PLAY] - made[at + DEALER_HAND] - made[at + DEALER_CRIB]
    if pone > 0 and dealer > 0:
        return 1.0 - wins[dealer, pone]
    b -= playout["heels"] if playout["starter"][k] >> 2 == JACK else 0
    if b <= 0:
        return 0.0
    for i in range(playout["cards"]):
        if playout["pegger"][i] == PONE:
            a -= playout["pegged"][i]
            if a <= 0:
                return 1.0
        else:
            b -= playout["pegged"][i]
            if b <= 0:
                return 0.0
    return 1.0 if a <= made[at + PONE_HAND] else 0.0


@kernel
def smooth_chance(playout, k, a, b, wins):
    """Return the mean of `chance_after` over the shifts."""
    target = wins.shape[0] - 1
    chance = 0.0
    for i in range(SHIFTS.shape[0]):
        for j in range(SHIFTS.shape[0]):
            pone, dealer = shifted(a, i, target), shifted(b, j, target)
            chance += SHIFT_WEIGHTS[i, j] * chance_after(playout, k, pone, dealer, wins)
    return chance


@kernel
def smooth_win(a, b, wins):
    """Return the mean of the table over the shifts: that of `smooth_chance` over all deals."""
    target = wins.shape[0] - 1
    chance = 0.0
    for i in range(SHIFTS.shape[0]):
        for j in range(SHIFTS.shape[0]):
            chance += SHIFT_WEIGHTS[i, j] * wins[shifted(a, i, target), shifted(b, j, target)]
    return chance


@entry(void(float64[:, ::1], float64[:, ::1], float64, float64[:, ::1]))
def solve(ends, reached, deals, wins):
    """Fill the table of pone's probabilities of winning at the beginning of a deal.

    Shapes: ends float64[P, D]; reached float64[P, D]; wins float64[T + 1, T + 1].
    """
    target = wins.shape[0] - 1
    for both in range(2, 2 * target + 1):
        for a in range(max(1, both - target), min(target, both - 1) + 1):
            b = both - a
            chance = 0.0
            if a < ends.shape[0]:
                for d in range(min(b, ends.shape[1])):
                    chance += reached[a, d]
            for p in range(min(a, ends.shape[0])):
                for d in range(min(b, ends.shape[1])):
                    if ends[p, d] > 0.0:
                        chance += ends[p, d] * (1.0 - wins[b - d, a - p])
            wins[a, b] = chance / deals
