"""Compiled functions over the games of one family: one game, many games, views.

They release the GIL. `crib_env.engine.learners` has the entries of a learner's games; most work on
games ``lo`` to ``hi`` of one array, so that Python threads over ranges use all cores.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numba import float32, float64, int8, int64, uint8, void

from crib_env.engine.acts import AGENTS_T, act_caller
from crib_env.engine.family import Family
from crib_env.engine.jit import Entry, entry
from crib_env.engine.record import (
    DECKS_T,
    LOG_T,
    LOG_WIDTH,
    MASKS_T,
    NONE,
    OBS_T,
    RNGS_T,
    TABLE_T,
    Array,
    clear_gains,
    keep_log,
    margin,
    win_return,
)

# Result of a step of one game: ILLEGAL, or the seat to move, plus EPISODE_OVER after the end.
ILLEGAL = -1
EPISODE_OVER = 1 << 8

FLOATS_T = float32[:, ::1]


@dataclass(frozen=True)
class Entries:
    """The entries of a family; see `entries_of`."""

    begin: Entry
    step: Entry
    observe: Entry
    begin_games: Entry
    step_games: Entry
    view_games: Entry
    act_views: Entry
    fill_returns: Entry
    encode: Entry
    write_features: Entry

    def returns(self, states: Array, rules: Array) -> Array:
        """Return float64[N, players], the returns of each seat; 0 until an episode's end."""
        returns = np.zeros((len(states), int(rules["players"][0])))
        self.fill_returns(states, rules, returns)
        return returns


@cache
def entries_of(family: Family) -> Entries:
    """Return the entries of a family; compiled, or read from the cache, when first used."""
    states_t, rules_t, views_t = family.types
    kernels = family.kernels
    begin_episode, step_move, find_move = kernels.begin_episode, kernels.step, kernels.find_move
    view_of, write_features_of = kernels.view, kernels.write_features
    encode, encode_mask = kernels.encode, kernels.encode_mask
    tally_column = kernels.tally_column
    name = family.name
    act_by = act_caller(family.view)

    @entry(void(states_t, rules_t, DECKS_T, int64, LOG_T), f"{name}.begin")
    def begin(states, rules, decks, dealer, log):
        """Begin an episode in ``states[0]``; ``dealer`` deals first; NONE: cut for the deal."""
        begin_episode(states[0], rules[0], decks, dealer, log)

    @entry(
        int64(states_t, rules_t, DECKS_T, TABLE_T, LOG_T, views_t, uint8[::1], int8[::1], int64[::1], int64),
        f"{name}.step",
        seconds=5,
    )
    def step(states, rules, decks, table, log, views, obs, mask, margins, action):
        """Step ``states[0]`` and observe it for the next seat to move.

        ``margins`` (int64[players]) receives the `margin` of each seat's side, in units.
        Returns `ILLEGAL`, with nothing changed; or the seat to move, plus `EPISODE_OVER` after the
        end.
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
        for p in range(margins.shape[0]):
            margins[p] = margin(s, r, r["side_of"][p])
        clear_gains(s)  # after, not before: the first step pays the heels turned at the deal (T3)
        return seat + EPISODE_OVER * s["over"]

    @entry(void(states_t, rules_t, int64, views_t, uint8[::1], int8[::1]), f"{name}.observe")
    def observe(states, rules, seat, views, obs, mask):
        """Write the view, observation and mask of ``seat`` in ``states[0]``."""
        v = views[0]
        view_of(states[0], rules[0], seat, v)
        encode(v, obs)
        encode_mask(v, mask)

    @entry(void(states_t, rules_t, DECKS_T, int64[::1], int64[::1], LOG_T), f"{name}.begin_games")
    def begin_games(states, rules, decks, lanes, dealers, log):
        """Begin an episode in each game ``lanes[k]``; ``dealers[k]`` deals first; NONE: cut."""
        for k in range(lanes.shape[0]):
            begin_episode(states[lanes[k]], rules[0], decks, dealers[k], log)
            keep_log(log)

    @entry(
        int64(states_t, rules_t, DECKS_T, TABLE_T, int64[::1], int64[::1], LOG_T, int64[:, :, ::1]),
        f"{name}.step_games",
    )
    def step_games(states, rules, decks, table, lanes, actions, log, tally):
        """Take ``actions[k]`` in game ``lanes[k]``; add its points to ``tally[lane, side]``.

        Points of an episode's very beginning are logged by `begin_games` and are not in the tally.
        Returns NONE, or the first k whose action is illegal: games before it have been stepped.
        """
        for k in range(lanes.shape[0]):
            s = states[lanes[k]]
            move = find_move(s, rules[0], actions[k])
            if move == NONE:
                return k
            step_move(s, rules[0], decks, table, move, log)
            keep_log(log)
            for row in range(log[0]):
                at = 1 + LOG_WIDTH * row
                column = tally_column(log[at + 2])
                if column != NONE:
                    tally[lanes[k], log[at], column] += log[at + 1]
        return NONE

    @entry(void(states_t, rules_t, int64[::1], int64[::1], views_t), f"{name}.view_games")
    def view_games(states, rules, lanes, seats, views):
        """Write the view of seat ``seats[k]`` in game ``lanes[k]`` into ``views[k]``."""
        for k in range(lanes.shape[0]):
            view_of(states[lanes[k]], rules[0], seats[k], views[k])

    @entry(void(AGENTS_T, views_t, RNGS_T, TABLE_T, int64[::1]), f"{name}.act_views")
    def act_views(agents, views, rngs, table, actions):
        """Write the action of the first of ``agents`` for each view."""
        for i in range(views.shape[0]):
            actions[i] = act_by(agents, 0, views[i], rngs[i], table)

    @entry(void(states_t, rules_t, float64[:, ::1]), f"{name}.fill_returns")
    def fill_returns(states, rules, returns):
        """Write the returns of each ended episode into ``returns[i, seat]``."""
        r = rules[0]
        for i in range(states.shape[0]):
            if states[i]["over"]:
                for seat in range(returns.shape[1]):
                    returns[i, seat] = win_return(states[i], r, r["side_of"][seat])

    @entry(void(views_t, OBS_T, MASKS_T), f"{name}.encode_views")
    def encode_views(views, obs, masks):
        """Write the observation and mask of each view."""
        for k in range(views.shape[0]):
            encode(views[k], obs[k])
            encode_mask(views[k], masks[k])

    @entry(void(views_t, TABLE_T, int64, FLOATS_T), f"{name}.write_features")
    def write_features(views, table, at, observations):
        """Write the features of each view into its row from column ``at`` on."""
        for k in range(views.shape[0]):
            write_features_of(views[k], table, observations[k, at:])

    return Entries(
        begin, step, observe, begin_games, step_games, view_games, act_views, fill_returns,
        encode_views, write_features,
    )  # fmt: skip
