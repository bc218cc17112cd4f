"""Rollouts: a deal's pegging played to its end by the rollout policy, and the value of the end.

In the kernels ``p`` is a `POSITION` of a rollout, ``s`` the `SCRATCH` of a search, ``j`` the number
of a hypothesis, ``hands`` the table of `knowledge.pegging.holdings`, and ``weights`` the rollout
policy.
"""

from __future__ import annotations

from crib_agents.expert import belief
from crib_agents.knowledge.pegging import LOWEST, ME, THEM, next_turn, put
from crib_agents.knowledge.winning import after_pegging
from crib_env.engine.jit import kernel
from crib_env.engine.record import NONE


@kernel
def play_out(p, seat, mine, theirs, s, hands, weights):
    """Roll out from ``p`` to the end; the seats hold ``mine`` and ``theirs``."""
    while seat != NONE:
        if seat == ME:
            r = belief.best_rank(p, ME, mine, hands, weights)
            mine = hands[mine, r]
            put(p, ME, r)
            seat = next_turn(p, s["single"], hands[mine, LOWEST], hands[theirs, LOWEST])
        else:
            r = belief.best_rank(p, THEM, theirs, hands, weights)
            theirs = hands[theirs, r]
            put(p, THEM, r)
            seat = next_turn(p, s["single"], hands[theirs, LOWEST], hands[mine, LOWEST])


@kernel
def play_endgame(p, seat, mine, theirs, others, s, hands, weights):
    """Do what `play_out` does, near the end; the other seat's hand counts ``others``."""
    while seat != NONE:
        if seat == ME:
            r = belief.best_endgame_rank(p, ME, mine, s["count"], s, hands, weights)
            mine = hands[mine, r]
            put(p, ME, r)
            seat = next_turn(p, s["single"], hands[mine, LOWEST], hands[theirs, LOWEST])
        else:
            r = belief.best_endgame_rank(p, THEM, theirs, others, s, hands, weights)
            theirs = hands[theirs, r]
            put(p, THEM, r)
            seat = next_turn(p, s["single"], hands[theirs, LOWEST], hands[mine, LOWEST])


@kernel
def roll_out(p, seat, mine, theirs, j, s, hands, weights):
    """Roll out from ``p`` to the end under hypothesis ``j``."""
    if s["endgame"]:
        play_endgame(p, seat, mine, theirs, s["counts"][j], s, hands, weights)
    else:
        play_out(p, seat, mine, theirs, s, hands, weights)


@kernel
def counted_value(p, others, s, win_table):
    """Return the value of the end ``p`` of the pegging if the other's hand counts ``others``."""
    mine = p["needs"][ME]
    theirs = p["needs"][THEM]
    if s["i_deal"]:
        return after_pegging(win_table, 1, theirs, mine, others, s["count"], s["crib"])
    return after_pegging(win_table, 0, mine, theirs, s["count"], others, s["crib"])


@kernel
def with_nob(p, others, nob, s, win_table):
    """Return `counted_value`, nobs being in the other seat's hand with the chance ``nob``."""
    value = counted_value(p, others, s, win_table)
    if nob > 0.0:
        value += nob * (counted_value(p, others + 1, s, win_table) - value)
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
