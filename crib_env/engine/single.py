"""Compiled entries for one game, made once for each family: what `Game` and the AEC shell call."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from numba import int8, int64, uint8, void

from crib_env.engine.family import Family
from crib_env.engine.jit import Entry, entry
from crib_env.engine.record import DECKS_T, LOG_T, NONE, TABLE_T
from crib_env.engine.returns import clear_gains, lead

# What a step returns: ILLEGAL, or the seat to move, with OVER added once the episode is.
ILLEGAL = -1
OVER = 1 << 8


@dataclass(frozen=True)
class Single:
    """The entries of a family for one game; see `single_entries`."""

    begin: Entry
    step: Entry
    observe: Entry
    unit: Entry


@cache
def single_entries(family: Family) -> Single:
    """Return the entries of a family for one game."""
    states_t, rules_t, views_t = family.types
    begin_episode, step_move = family.kernels.begin_episode, family.kernels.step
    find_move, view_of = family.kernels.find_move, family.kernels.view
    encode, encode_mask = family.kernels.encode, family.kernels.encode_mask
    unit_of, name = family.kernels.unit, family.name

    @entry(void(states_t, rules_t, DECKS_T, int64, LOG_T), f"{name}.begin")
    def begin(states, rules, decks, dealer, log):
        """Begin an episode in ``states[0]``; ``dealer`` deals first, or who cuts it, if NONE."""
        begin_episode(states[0], rules[0], decks, dealer, log)

    @entry(
        int64(
            states_t, rules_t, DECKS_T, TABLE_T, LOG_T, views_t, uint8[::1], int8[::1], int64[::1],
            int64,
        ),
        f"{name}.step",
    )  # fmt: skip
    def step(states, rules, decks, table, log, views, obs, mask, leads, action):
        """Step ``states[0]`` and observe it for the seat then to move.

        Args:
            leads: int64[players], receives what the step gained each seat's side; see `unit`.

        Returns:
            `ILLEGAL`, with nothing changed; or the seat to move, and `OVER` more after the end.
        """
        s = states[0]
        r = rules[0]
        move = find_move(s, r, action)
        if move == NONE:
            return ILLEGAL
        step_move(s, r, decks, table, move, log)
        v = views[0]
        seat = s["to_move"]
        view_of(s, r, seat, v)
        encode(v, obs)
        encode_mask(v, mask)
        for p in range(leads.shape[0]):
            leads[p] = lead(s, r, r["side_of"][p])
        clear_gains(s)  # after, not before: the first step pays the heels turned at the deal (T3)
        return seat + OVER * s["over"]

    @entry(void(states_t, rules_t, int64, views_t, uint8[::1], int8[::1]), f"{name}.observe")
    def observe(states, rules, seat, views, obs, mask):
        """Write what ``seat`` may know of ``states[0]`` as view, observation and mask."""
        v = views[0]
        view_of(states[0], rules[0], seat, v)
        encode(v, obs)
        encode_mask(v, mask)

    @entry(int64(rules_t), f"{name}.unit")
    def unit(rules):
        """Return how many of a step's leads make a point."""
        return (rules[0]["sides"] - 1) * unit_of(rules[0])

    return Single(begin, step, observe, unit)
