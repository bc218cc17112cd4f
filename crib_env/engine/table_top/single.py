"""Compiled entries for one game of Table Top: what the AEC environment calls."""

from __future__ import annotations

from numba import int8, int64, uint8, void

from crib_env.engine.jit import entry
from crib_env.engine.table_top.encode import encode, encode_mask
from crib_env.engine.table_top.records import RULES_T, STATES_T, VIEWS_T
from crib_env.engine.table_top.rules import begin_episode, is_legal, result
from crib_env.engine.table_top.rules import step as step_kernel
from crib_env.engine.table_top.views import view as view_kernel
from crib_env.engine.two_hand.records import DECKS_T, LOG_T, TABLE_T

ILLEGAL = -1
SEAT_MASK = 3
OVER_BIT = 4
GAIN_SHIFT = 3
GAIN_OFFSET = 1024


@entry(void(STATES_T, RULES_T, DECKS_T, int64, LOG_T))
def begin(states, rules, decks, dealer, log):
    """Begin an episode in ``states[0]``; ``dealer`` deals first, or whoever draws low, if NONE."""
    begin_episode(states[0], rules[0], decks, dealer, log)


@entry(int64(STATES_T, RULES_T, DECKS_T, TABLE_T, int64, LOG_T, VIEWS_T, uint8[::1], int8[::1]))
def step(states, rules, decks, table, action, log, views, obs, mask):
    """Step ``states[0]`` and observe it for the seat then to move.

    Returns:
        `ILLEGAL`, with nothing changed; or, packed, the seat to move (bits 0 and 1), whether the
        episode is over (bit 2), and side 0's points of this step less side 1's, plus
        `GAIN_OFFSET`.
    """
    s = states[0]
    if not is_legal(s, rules[0], action):
        return ILLEGAL
    step_kernel(s, rules[0], decks, table, action, log)
    v = views[0]
    seat = s["to_move"]
    view_kernel(s, rules[0], seat, v)
    encode(v, obs)
    encode_mask(v, mask)
    gain = s["gain"][0] - s["gain"][1] + GAIN_OFFSET
    s["gain"][0] = 0  # after, not before: the first step pays the heels turned at the deal (T3)
    s["gain"][1] = 0
    return seat + OVER_BIT * s["over"] + (gain << GAIN_SHIFT)


@entry(void(STATES_T, RULES_T, int64, VIEWS_T, uint8[::1], int8[::1]))
def observe(states, rules, seat, views, obs, mask):
    """Write what ``seat`` may know of ``states[0]`` as view, observation and mask."""
    v = views[0]
    view_kernel(states[0], rules[0], seat, v)
    encode(v, obs)
    encode_mask(v, mask)


@entry(int64(STATES_T, RULES_T))
def outcome(states, rules):
    """Return 1 if side 0 won the ended episode, -1 if side 1 did, 0 for a drawn round."""
    return result(states[0], rules[0])
