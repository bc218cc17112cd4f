"""Compiled entries over many games at once, made once for each family.

A lane is a game, a record of one array. A range kernel works on lanes ``lo`` to ``hi`` and releases
the GIL, so Python threads over ranges use all cores; other entries work on the lanes listed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numba import float64, int64, void

from crib_env.engine.family import Family
from crib_env.engine.jit import Entry, entry
from crib_env.engine.log import LOG_WIDTH, keep_log
from crib_env.engine.record import (
    DECKS_T,
    ENDINGS_T,
    FLAGS_T,
    LOG_T,
    MASKS_T,
    NONE,
    OBS_T,
    RNGS_T,
    TABLE_T,
    Array,
)
from crib_env.engine.rewards import ending_kernel, reward_kernel
from crib_env.engine.rng import below


@dataclass(frozen=True)
class Lanes:
    """The entries of a family over many games; see `lane_entries`."""

    start: Entry
    view: Entry
    encode: Entry
    draw_seats: Entry
    step: Entry
    fill_returns: Entry
    fill_rewards: Entry
    write_endings: Entry
    rollout: Entry

    def returns(self, states: Array, rules: Array) -> Array:
        """Return float64[N, players], what each episode brings each seat; 0 until its end."""
        returns = np.zeros((len(states), int(rules["players"][0])))
        self.fill_returns(states, rules, returns)
        return returns


@cache
def lane_entries(family: Family) -> Lanes:
    """Return the entries of a family over many games."""
    states_t, rules_t, views_t = family.types
    begin_episode, step_move = family.kernels.begin_episode, family.kernels.step
    find_move, draw_move = family.kernels.find_move, family.kernels.draw_move
    view = family.kernels.view
    encode, encode_mask = family.kernels.encode, family.kernels.encode_mask
    return_of, phase_of = family.kernels.returns, family.kernels.phase_of
    episode_reward, write_ending = reward_kernel(family), ending_kernel(family)
    name, log_size = family.name, family.log_size

    @entry(void(states_t, rules_t, DECKS_T, int64[::1], int64[::1], LOG_T), f"{name}.start_lanes")
    def start(states, rules, decks, lanes, dealers, log):
        """Begin an episode in each lane; ``dealers[k]`` deals first in ``lanes[k]``, or NONE."""
        for k in range(lanes.shape[0]):
            begin_episode(states[lanes[k]], rules[0], decks, dealers[k], log)
            keep_log(log, log_size)

    @entry(void(states_t, rules_t, int64[::1], int64[::1], views_t), f"{name}.view_lanes")
    def view_lanes(states, rules, lanes, seats, views):
        """Write the view of seat ``seats[k]`` in lane ``lanes[k]`` into ``views[k]``."""
        for k in range(lanes.shape[0]):
            view(states[lanes[k]], rules[0], seats[k], views[k])

    @entry(void(views_t, OBS_T, MASKS_T), f"{name}.encode_views")
    def encode_views(views, obs, masks):
        """Write the observation and mask of each view."""
        for k in range(views.shape[0]):
            encode(views[k], obs[k])
            encode_mask(views[k], masks[k])

    @entry(void(states_t, rules_t, int64[::1], int64[::1]), f"{name}.draw_seats")
    def draw_seats(states, rules, lanes, seats):
        """Draw the learner's seat in each lane from the lane's own generator."""
        for k in range(lanes.shape[0]):
            seats[lanes[k]] = below(states[lanes[k]]["rng"], rules[0]["players"])

    @entry(
        int64(states_t, rules_t, DECKS_T, TABLE_T, int64[::1], int64[::1], LOG_T, int64[:, :, ::1]),
        f"{name}.step_lanes",
    )
    def step(states, rules, decks, table, lanes, actions, log, tally):
        """Take ``actions[k]`` in lane ``lanes[k]``; add its points to ``tally[lane, side]``.

        Points of an episode's very beginning are logged by `start` and are not in the tally.

        Returns:
            NONE, or the first k whose action is illegal: lanes before it have been stepped.
        """
        for k in range(lanes.shape[0]):
            s = states[lanes[k]]
            move = find_move(s, rules[0], actions[k])
            if move == NONE:
                return k
            step_move(s, rules[0], decks, table, move, log)
            keep_log(log, log_size)
            for row in range(log[0]):
                at = 1 + LOG_WIDTH * row
                column = phase_of(log[at + 2])
                if column != NONE:
                    tally[lanes[k], log[at], column] += log[at + 1]
        return NONE

    @entry(void(states_t, rules_t, float64[:, ::1]), f"{name}.fill_returns")
    def fill_returns(states, rules, returns):
        """Write into ``returns[i, seat]`` what each ended episode brings the seats."""
        r = rules[0]
        for i in range(states.shape[0]):
            if states[i]["over"]:
                for seat in range(returns.shape[1]):
                    returns[i, seat] = return_of(states[i], r, r["side_of"][seat])

    @entry(void(states_t, rules_t, int64[::1], int64, float64[::1]), f"{name}.fill_rewards")
    def fill_rewards(states, rules, seats, points, rewards):
        """Write what the learner in each lane is paid; ``points`` 1 for points, 0 for returns."""
        for i in range(states.shape[0]):
            rewards[i] = episode_reward(states[i], rules[0], seats[i], points)

    @entry(
        void(states_t, rules_t, int64[::1], int64[::1], FLAGS_T, ENDINGS_T),
        f"{name}.write_endings",
    )
    def write_endings(states, rules, lanes, seats, illegal, endings):
        """Write down how the episode of each lane ended; ``illegal[i]``: the learner did it."""
        for k in range(lanes.shape[0]):
            i = lanes[k]
            write_ending(states[i], rules[0], seats[i], illegal[i], endings[i])

    @entry(
        int64(
            states_t, rules_t, DECKS_T, TABLE_T, RNGS_T, views_t, LOG_T, int64, int64, int64,
            OBS_T, MASKS_T,
        ),
        f"{name}.rollout",
    )  # fmt: skip
    def rollout(states, rules, decks, table, rngs, views, log, lo, hi, steps, obs, masks):
        """Play ``steps`` random decisions in each lane, observing before every one.

        Finished episodes reset.

        Returns:
            the number of decisions.
        """
        v = views[0]
        for _ in range(steps):
            for i in range(lo, hi):
                s = states[i]
                view(s, rules[0], s["to_move"], v)
                encode(v, obs[i])
                encode_mask(v, masks[i])
                step_move(s, rules[0], decks, table, draw_move(s, rules[0], rngs[i]), log)
                if s["over"]:
                    begin_episode(s, rules[0], decks, NONE, log)
        return steps * (hi - lo)

    return Lanes(
        start,
        view_lanes,
        encode_views,
        draw_seats,
        step,
        fill_returns,
        fill_rewards,
        write_endings,
        rollout,
    )
