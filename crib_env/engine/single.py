"""Compiled entries for one game, made once for each family: what `Game` and the AEC shell call."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from numba import int8, int64, uint8, void

from crib_env.engine.family import Family
from crib_env.engine.jit import Entry, entry
from crib_env.engine.record import DECKS_T, LOG_T, NONE, TABLE_T

# A step's packed return: the seat to move in the lowest bits, then whether the episode is over,
# then what side 0 gained by the step less side 1, in the family's units of a point.
ILLEGAL = -1
SEAT_MASK = 3
OVER_BIT = 4
GAIN_SHIFT = 3
GAIN_OFFSET = 1 << 20


def unpack(code: int) -> tuple[int, int, int]:
    """Return the seat to move, 1 if the episode is over, and the gain, of a step's return."""
    return code & SEAT_MASK, code >> 2 & 1, (code >> GAIN_SHIFT) - GAIN_OFFSET


@dataclass(frozen=True)
class Single:
    """The entries of a family for one game; see `single_entries`."""

    begin: Entry
    step: Entry
    observe: Entry
    result: Entry
    unit: Entry


@cache
def single_entries(family: Family) -> Single:
    """Return the entries of a family for one game."""
    states_t, rules_t, views_t = family.types
    begin_episode, step_move = family.kernels.begin_episode, family.kernels.step
    find_move, view_of = family.kernels.find_move, family.kernels.view
    encode, encode_mask = family.kernels.encode, family.kernels.encode_mask
    result_of, unit_of = family.kernels.result, family.kernels.unit
    name = family.name

    @entry(void(states_t, rules_t, DECKS_T, int64, LOG_T), f"{name}.begin")
    def begin(states, rules, decks, dealer, log):
        """Begin an episode in ``states[0]``; ``dealer`` deals first, or who cuts it, if NONE."""
        begin_episode(states[0], rules[0], decks, dealer, log)

    @entry(
        int64(states_t, rules_t, DECKS_T, TABLE_T, LOG_T, views_t, uint8[::1], int8[::1], int64),
        f"{name}.step",
    )
    def step(states, rules, decks, table, log, views, obs, mask, action):
        """Step ``states[0]`` and observe it for the seat then to move.

        Returns:
            `ILLEGAL`, with nothing changed; or, packed as `unpack` takes it apart, the seat to
            move, whether the episode is over, and side 0's gain of this step less side 1's.
        """
        s = states[0]
        move = find_move(s, rules[0], action)
        if move == NONE:
            return ILLEGAL
        step_move(s, rules[0], decks, table, move, log)
        v = views[0]
        seat = s["to_move"]
        view_of(s, rules[0], seat, v)
        encode(v, obs)
        encode_mask(v, mask)
        gain = s["gain"][0] - s["gain"][1] + GAIN_OFFSET
        s["gain"][0] = 0  # after, not before: the first step pays the heels turned at the deal (T3)
        s["gain"][1] = 0
        return seat + OVER_BIT * s["over"] + (gain << GAIN_SHIFT)

    @entry(void(states_t, rules_t, int64, views_t, uint8[::1], int8[::1]), f"{name}.observe")
    def observe(states, rules, seat, views, obs, mask):
        """Write what ``seat`` may know of ``states[0]`` as view, observation and mask."""
        v = views[0]
        view_of(states[0], rules[0], seat, v)
        encode(v, obs)
        encode_mask(v, mask)

    @entry(int64(states_t, rules_t), f"{name}.result")
    def result(states, rules):
        """Return 1 if side 0 won the ended episode, -1 if side 1 did, 0 if neither."""
        return result_of(states[0], rules[0])

    @entry(int64(rules_t), f"{name}.unit")
    def unit(rules):
        """Return how many of a step's gain make a point."""
        return unit_of(rules[0])

    return Single(begin, step, observe, result, unit)
