"""Compiled entries over many two-hand games at once.

Lanes are records of one array; a range kernel works on lanes ``lo`` to ``hi`` and releases the
GIL, so Python threads over ranges use all cores. ``lanes`` entries work on the lanes listed.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int8, int64, types, uint8, void

from crib_env.engine.jit import entry, kernel
from crib_env.engine.rng import below
from crib_env.engine.two_hand.encode import encode, encode_mask
from crib_env.engine.two_hand.records import (
    DECKS_T,
    FOR_LAST,
    HAND,
    LOG_T,
    LOG_WIDTH,
    NONE,
    RULES_T,
    SHOW,
    STATES_T,
    TABLE_T,
    VIEWS_T,
    Array,
)
from crib_env.engine.two_hand.rules import begin_episode, legal_slots, result, slot_of, step
from crib_env.engine.two_hand.views import view

# For every set of slots, how many it holds and where its k-th lies: a draw without branches.
SLOT_COUNT = np.array([slots.bit_count() for slots in range(1 << HAND)], dtype=np.int64)
NTH_SLOT = np.zeros((1 << HAND, HAND), dtype=np.int64)
for _slots in range(1 << HAND):
    for _k, _slot in enumerate(i for i in range(HAND) if _slots >> i & 1):
        NTH_SLOT[_slots, _k] = _slot

# In place of an action: let the opponent move until the learner is to, after `start_lanes`.
CONTINUE = -(1 << 40)

# How many points a tally row keeps apart: play (heels included), hand, crib.
TALLY = 3

WEIGHTS_T = float64[::1]
RNGS_T = int64[:, ::1]
OBS_T = uint8[:, ::1]
MASKS_T = int8[:, ::1]
FLAGS_T = types.boolean[::1]

# The signature of every agent's `vector_step` entry; see `vector_step_range`.
VECTOR_STEP = int64(
    STATES_T, RULES_T, DECKS_T, TABLE_T, WEIGHTS_T, RNGS_T, VIEWS_T, LOG_T, int64, int64, int64,
    int64, int64, int64[::1], int64[::1], OBS_T, MASKS_T, float64[::1], FLAGS_T, OBS_T, MASKS_T,
)  # fmt: skip
# The signature of every agent's `act_views` entry: views, rngs, table, weights, actions.
ACT_VIEWS = void(VIEWS_T, RNGS_T, TABLE_T, WEIGHTS_T, int64[::1])


@entry(void(STATES_T, RULES_T, DECKS_T, int64[::1], int64[::1], LOG_T))
def start_lanes(states, rules, decks, lanes, dealers, log):
    """Begin an episode in each lane; ``dealers[k]`` deals first in lane ``lanes[k]``, or NONE."""
    for k in range(lanes.shape[0]):
        begin_episode(states[lanes[k]], rules[0], decks, dealers[k], log)


@entry(void(STATES_T, RULES_T, int64[::1], int64[::1], VIEWS_T))
def view_lanes(states, rules, lanes, seats, views):
    """Write the view of seat ``seats[k]`` in lane ``lanes[k]`` into ``views[k]``."""
    for k in range(lanes.shape[0]):
        view(states[lanes[k]], rules[0], seats[k], views[k])


@entry(void(VIEWS_T, OBS_T, MASKS_T))
def encode_views(views, obs, masks):
    """Write the observation and mask of each view."""
    for k in range(views.shape[0]):
        encode(views[k], obs[k])
        encode_mask(views[k], masks[k])


@entry(void(STATES_T, RULES_T, int64[::1], int64[::1]))
def draw_seats(states, rules, lanes, seats):
    """Draw the learner's seat in each lane from the lane's own generator."""
    for k in range(lanes.shape[0]):
        seats[lanes[k]] = below(states[lanes[k]]["rng"], 2)


@entry(int64(STATES_T, RULES_T, DECKS_T, TABLE_T, int64[::1], int64[::1], LOG_T, int64[:, :, ::1]))
def step_lanes(states, rules, decks, table, lanes, cards, log, tally):
    """Play ``cards[k]`` in lane ``lanes[k]`` and add what is pegged to ``tally[lane, seat]``.

    Returns:
        NONE, or the first k whose card is illegal: lanes before it have been stepped.
    """
    for k in range(lanes.shape[0]):
        s = states[lanes[k]]
        slot = slot_of(s, s["to_move"], cards[k])
        if slot == NONE:
            return k
        step(s, rules[0], decks, table, slot, log)
        for row in range(log[0]):
            at = 1 + LOG_WIDTH * row
            reason = log[at + 2]
            if reason != FOR_LAST:
                tally[lanes[k], log[at], max(0, reason - SHOW + 1)] += log[at + 1]
    return NONE


@entry(void(STATES_T, RULES_T, int64[::1]))
def fill_outcomes(states, rules, results):
    """Write the result of each lane's ended episode: 1 for seat 0, -1 for seat 1, 0 for a draw."""
    for i in range(states.shape[0]):
        results[i] = result(states[i], rules[0])


def outcomes(states: Array, rules: Array) -> Array:
    """Return int64[N], the result of each lane's ended episode for seat 0: 1, -1 or 0."""
    results = np.zeros(len(states), dtype=np.int64)
    fill_outcomes(states, rules, results)
    return results


@kernel
def random_slot(s, rng):
    """Draw one of the legal slots of the seat to move, each as likely."""
    slots = legal_slots(s, s["to_move"])
    return NTH_SLOT[slots, below(rng, SLOT_COUNT[slots])]


@entry(
    int64(
        STATES_T, RULES_T, DECKS_T, TABLE_T, RNGS_T, VIEWS_T, LOG_T, int64, int64, int64,
        OBS_T, MASKS_T,
    )
)  # fmt: skip
def rollout(states, rules, decks, table, rngs, views, log, lo, hi, steps, obs, masks):
    """Play ``steps`` random decisions in each lane, observing before every one.

    Ended episodes begin anew.

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
            step(s, rules[0], decks, table, random_slot(s, rngs[i]), log)
            if s["over"]:
                begin_episode(s, rules[0], decks, NONE, log)
    return steps * (hi - lo)


@kernel
def until_learner(act, s, rules, decks, table, weights, rng, v, log, seat):
    """Let the opponent ``act`` until ``seat`` is to move or the episode is over.

    Returns:
        0, or 1 if the opponent's card was illegal and the episode was stopped.
    """
    while s["over"] == 0 and s["to_move"] != seat:
        view(s, rules, 1 - seat, v)
        slot = slot_of(s, 1 - seat, act(v, rng, table, weights))
        if slot == NONE:
            return 1
        step(s, rules, decks, table, slot, log)
    return 0


@kernel
def episode_reward(s, rules, seat, points):
    """Return the learner's reward since its last action: points, or the result at the end."""
    if points:
        return float(s["gain"][seat] - s["gain"][1 - seat])
    if s["over"] == 0:
        return 0.0
    return float(result(s, rules) * (1 - 2 * seat))


@kernel
def vector_step_range(
    act, states, rules, decks, table, weights, rngs, views, log, lo, hi, points, autoreset,
    drawn_seat, seats, actions, obs, masks, rewards, dones, final_obs, final_masks,
):  # fmt: skip
    """Step the lanes of a range for a learner against a compiled opponent.

    In each lane: the learner's action, the opponent's until the learner is to move again, the
    reward. An illegal action ends the episode at reward -1 (PettingZoo's TerminateIllegalWrapper).
    An ended episode's last observation goes to ``final_obs``, and with ``autoreset`` a new episode
    begins, from the lane's own generator; without, ``obs`` is that last observation.

    Args:
        act: the opponent, ``act(view, rng, table, weights) -> card``.
        points: 1 for the reward in points, 0 for the result.
        drawn_seat: 1 to draw the learner's seat for each episode.
        seats: int64[N], the learner's seat in each lane; updated when drawn.
        actions: int64[N]; CONTINUE in a lane just started.
        rewards: float64[N]. dones: bool[N]. obs, final_obs: uint8[N, OBS_SIZE].
        masks, final_masks: int8[N, 52].

    Returns:
        the number of episodes that ended.
    """
    r = rules[0]
    v = views[0]
    ended = 0
    for i in range(lo, hi):
        s = states[i]
        rng = rngs[i]
        seat = seats[i]
        rewards[i] = 0.0
        dones[i] = False
        slot = NONE
        if actions[i] != CONTINUE:
            slot = slot_of(s, seat, actions[i])
            if slot == NONE:
                rewards[i] = -1.0
                dones[i] = True
            else:
                s["gain"][0] = 0
                s["gain"][1] = 0
                step(s, r, decks, table, slot, log)
        if not dones[i]:
            erred = until_learner(act, s, r, decks, table, weights, rng, v, log, seat)
            dones[i] = s["over"] != 0 or erred != 0
        if slot != NONE:
            rewards[i] = episode_reward(s, r, seat, points)
        view(s, r, seat, v)
        if dones[i]:
            ended += 1
            encode(v, final_obs[i])
            encode_mask(v, final_masks[i])
            if autoreset:
                begin_episode(s, r, decks[:0], NONE, log)
                s["given"] = decks.shape[0]  # given decks are for the first episode only
                if drawn_seat:
                    seat = below(s["rng"], 2)
                    seats[i] = seat
                until_learner(act, s, r, decks, table, weights, rng, v, log, seat)
                view(s, r, seat, v)
        encode(v, obs[i])
        encode_mask(v, masks[i])
    return ended
