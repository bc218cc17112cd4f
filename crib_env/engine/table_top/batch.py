"""Compiled entries over many games of Table Top at once.

Lanes are records of one array; a range kernel works on lanes ``lo`` to ``hi`` and releases the
GIL, so Python threads over ranges use all cores. ``lanes`` entries work on the lanes listed.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int64, void

from crib_env.engine.jit import entry, kernel
from crib_env.engine.rng import below
from crib_env.engine.table_top.cells import bit_count, lowest
from crib_env.engine.table_top.encode import encode, encode_mask
from crib_env.engine.table_top.records import DIFFERENCE, RULES_T, SEATS, STATES_T, VIEWS_T
from crib_env.engine.table_top.rules import begin_episode, is_legal, legal_mask, result, step
from crib_env.engine.table_top.views import view
from crib_env.engine.two_hand.batch import CONTINUE, FLAGS_T, MASKS_T, OBS_T, RNGS_T, WEIGHTS_T
from crib_env.engine.two_hand.records import (
    CRIB,
    DECKS_T,
    HEELS,
    LOG_T,
    LOG_WIDTH,
    NONE,
    TABLE_T,
    Array,
)

# How many points a tally row keeps apart: heels, lines, crib.
TALLY = 3

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
        seats[lanes[k]] = below(states[lanes[k]]["rng"], rules[0]["players"])


@entry(int64(STATES_T, RULES_T, DECKS_T, TABLE_T, int64[::1], int64[::1], LOG_T, int64[:, :, ::1]))
def step_lanes(states, rules, decks, table, lanes, actions, log, tally):
    """Take ``actions[k]`` in lane ``lanes[k]`` and add what is scored to ``tally[lane, side]``.

    The tally holds points of the hand: heels, lines, crib. Heels of an episode's first round are
    logged by `start_lanes` and are not in it.

    Returns:
        NONE, or the first k whose action is illegal: lanes before it have been stepped.
    """
    for k in range(lanes.shape[0]):
        s = states[lanes[k]]
        if not is_legal(s, rules[0], actions[k]):
            return k
        step(s, rules[0], decks, table, actions[k], log)
        for row in range(log[0]):
            at = 1 + LOG_WIDTH * row
            reason = log[at + 2]
            if reason != DIFFERENCE:
                column = 0 if reason == HEELS else (2 if reason == CRIB else 1)
                tally[lanes[k], log[at], column] += log[at + 1]
    return NONE


@entry(void(STATES_T, RULES_T, int64[::1]))
def fill_outcomes(states, rules, results):
    """Write the result of each lane's ended episode: 1 for side 0, -1 for side 1, 0 for a draw."""
    for i in range(states.shape[0]):
        results[i] = result(states[i], rules[0])


def outcomes(states: Array, rules: Array) -> Array:
    """Return int64[N], the result of each lane's ended episode for side 0: 1, -1 or 0."""
    results = np.zeros(len(states), dtype=np.int64)
    fill_outcomes(states, rules, results)
    return results


@kernel
def random_action(s, rules, rng):
    """Draw one of the legal actions of the seat to move, each as likely."""
    mask = legal_mask(s, rules)
    for _ in range(below(rng, bit_count(mask))):
        mask &= mask - 1
    return lowest(mask)


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
            step(s, rules[0], decks, table, random_action(s, rules[0], rngs[i]), log)
            if s["over"]:
                begin_episode(s, rules[0], decks, NONE, log)
    return steps * (hi - lo)


@kernel
def until_learner(
    act, partner_act, s, rules, decks, table, weights, partner_weights, rng, v, log, seat
):
    """Let the others act until ``seat`` is to move or the episode is over.

    Returns:
        0, or 1 if another's action was illegal and the episode was stopped.
    """
    partner = seat ^ 2 if s["players"] == SEATS else NONE
    while s["over"] == 0 and s["to_move"] != seat:
        mover = s["to_move"]
        view(s, rules, mover, v)
        if mover == partner:
            action = partner_act(v, rng, table, partner_weights)
        else:
            action = act(v, rng, table, weights)
        if not is_legal(s, rules, action):
            return 1
        step(s, rules, decks, table, action, log)
    return 0


@kernel
def episode_reward(s, rules, seat, points):
    """Return the learner's reward since its last action: points, or the result at the end."""
    side = seat & 1
    if points:
        return float(s["gain"][side] - s["gain"][1 - side])
    if s["over"] == 0:
        return 0.0
    return float(result(s, rules) * (1 - 2 * side))


@kernel
def vector_step_range(
    act, partner_act, states, rules, decks, table, weights, partner_weights, rngs, views, log, lo,
    hi, points, autoreset, drawn_seat, seats, actions, obs, masks, rewards, dones, final_obs,
    final_masks,
):  # fmt: skip
    """Step the lanes of a range for a learner in one seat, compiled agents in all others.

    In each lane: the learner's action, the others' until the learner is to move again, the
    reward. An illegal action ends the episode: the learner's at reward -1 (PettingZoo's
    TerminateIllegalWrapper), another's with what the learner has made so far. An ended episode's
    last observation goes to ``final_obs``, and with ``autoreset`` a new episode begins, from the
    lane's own generator; without, ``obs`` is that last observation.

    Args:
        act: the opponents, ``act(view, rng, table, weights) -> action``.
        partner_act: the learner's partner where four play, with ``partner_weights``.
        points: 1 for the reward in points, 0 for the result.
        drawn_seat: 1 to draw the learner's seat for each episode.
        seats: int64[N], the learner's seat in each lane; updated when drawn.
        actions: int64[N]; CONTINUE in a lane just started.
        rewards: float64[N]. dones: bool[N]. obs, final_obs: uint8[N, OBS_SIZE].
        masks, final_masks: int8[N, 26].

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
        stepped = False
        if actions[i] != CONTINUE:
            if is_legal(s, r, actions[i]):
                step(s, r, decks, table, actions[i], log)
                stepped = True
            else:
                rewards[i] = -1.0
                dones[i] = True
        if not dones[i]:
            erred = until_learner(
                act, partner_act, s, r, decks, table, weights, partner_weights, rng, v, log, seat
            )
            dones[i] = s["over"] != 0 or erred != 0
        if stepped:
            rewards[i] = episode_reward(s, r, seat, points)
            s["gain"][0] = 0
            s["gain"][1] = 0
        view(s, r, seat, v)
        if dones[i]:
            ended += 1
            encode(v, final_obs[i])
            encode_mask(v, final_masks[i])
            if autoreset:
                begin_episode(s, r, decks[:0], NONE, log)
                s["given"] = decks.shape[0]  # given decks are for the first episode only
                if drawn_seat:
                    seat = below(s["rng"], r["players"])
                    seats[i] = seat
                until_learner(
                    act, partner_act, s, r, decks, table, weights, partner_weights, rng, v, log,
                    seat,
                )  # fmt: skip
                view(s, r, seat, v)
        encode(v, obs[i])
        encode_mask(v, masks[i])
    return ended
