"""Compiled entries for one two-hand game: what the AEC environments call."""

from __future__ import annotations

from numba import int8, int64, uint8, void

from crib_env.engine.jit import entry
from crib_env.engine.show import fill_table as fill
from crib_env.engine.two_hand.encode import encode, encode_mask
from crib_env.engine.two_hand.records import (
    DECKS_T,
    LOG_T,
    NONE,
    RULES_T,
    STATES_T,
    TABLE_T,
    VIEWS_T,
)
from crib_env.engine.two_hand.rules import begin_episode, result, slot_of
from crib_env.engine.two_hand.rules import step as step_kernel
from crib_env.engine.two_hand.views import view as view_kernel

ILLEGAL = -1
OVER_BIT = 2
GAIN_SHIFT = 2
GAIN_OFFSET = 1024


@entry(void(TABLE_T))
def fill_table(table):
    """Fill the table of rank points (uint8[TABLE_SIZE])."""
    fill(table)


@entry(void(STATES_T, RULES_T, DECKS_T, int64, LOG_T))
def begin(states, rules, decks, dealer, log):
    """Begin an episode in ``states[0]``; ``dealer`` deals first, or whoever cuts, if NONE."""
    begin_episode(states[0], rules[0], decks, dealer, log)


@entry(int64(STATES_T, RULES_T, DECKS_T, TABLE_T, int64, LOG_T, VIEWS_T, uint8[::1], int8[::1]))
def step(states, rules, decks, table, card, log, views, obs, mask):
    """Step ``states[0]`` and observe it for the seat then to move.

    Returns:
        `ILLEGAL`, with nothing changed; or, packed, the seat to move (bit 0), whether the episode
        is over (bit 1), and seat 0's points of this step less seat 1's, plus `GAIN_OFFSET`.
    """
    s = states[0]
    slot = slot_of(s, s["to_move"], card)
    if slot == NONE:
        return ILLEGAL
    s["gain"][0] = 0
    s["gain"][1] = 0
    step_kernel(s, rules[0], decks, table, slot, log)
    v = views[0]
    seat = s["to_move"]
    view_kernel(s, rules[0], seat, v)
    encode(v, obs)
    encode_mask(v, mask)
    gain = s["gain"][0] - s["gain"][1] + GAIN_OFFSET
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
    """Return 1 if seat 0 won the ended episode, -1 if seat 1 did, 0 for a drawn deal."""
    return result(states[0], rules[0])
