"""Compiled passes over games in which a house plays one phase of the deal for both seats.

A pass goes over lanes and leaves a list of those that wait for the house or the opponent. Each of
the two takes its turns in the lanes of that list, by its own compiled entry, until the list is
empty. So any house goes with any opponent and no pair of them is compiled together.
"""

from __future__ import annotations

from numba import float64, int64, void

from crib_env.engine.jit import entry, kernel
from crib_env.engine.rng import below
from crib_env.engine.two_hand.batch import (
    CONTINUE,
    FLAGS_T,
    MASKS_T,
    OBS_T,
    RNGS_T,
    WEIGHTS_T,
    episode_reward,
    random_slot,
)
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
from crib_env.engine.two_hand.rules import begin_episode, slot_of, step
from crib_env.engine.two_hand.views import view

# Whom a game can wait for besides the learner.
OPPONENT = 0
HOUSE = 1

# The signature of every agent's `take_turns` entry; see `take_turns_range`.
TAKE_TURNS = int64(
    STATES_T, RULES_T, DECKS_T, TABLE_T, WEIGHTS_T, RNGS_T, VIEWS_T, LOG_T, int64, int64,
    int64[::1], int64[::1], int64, int64,
)  # fmt: skip


@kernel
def waits_for(s, house, seat):
    """Return OPPONENT or HOUSE if the game waits for one, NONE if for the learner or it is over."""
    if s["over"]:
        return NONE
    if s["phase"] == house:
        return HOUSE
    return NONE if s["to_move"] == seat else OPPONENT


@kernel
def take_turns_range(
    act, states, rules, decks, table, weights, rngs, views, log, house, part, seats, waiting, lo, n
):
    """Let an agent make all its decisions in the lanes listed, as long as they wait for it.

    Args:
        act: the agent, ``act(view, rng, table, weights) -> card``.
        house: the phase that the house plays.
        part: OPPONENT or HOUSE, which of them the agent is.
        seats: int64[N], the learner's seat in each lane.
        waiting: int64[N]; the lanes are ``waiting[lo : lo + n]``. Those that wait for the other of
            the two afterwards are moved to the front.

    Returns:
        how many those are; or ``NONE - lane`` where the agent's card was illegal.
    """
    v = views[0]
    left = 0
    for k in range(lo, lo + n):
        lane = waiting[k]
        s = states[lane]
        turn = waits_for(s, house, seats[lane])
        while turn == part:
            mover = s["to_move"]
            view(s, rules[0], mover, v)
            slot = slot_of(s, mover, act(v, rngs[lane], table, weights))
            if slot == NONE:
                return NONE - lane
            step(s, rules[0], decks, table, slot, log)
            turn = waits_for(s, house, seats[lane])
        waiting[lo + left] = lane
        left += turn != NONE
    return left


@entry(
    int64(
        STATES_T, RULES_T, DECKS_T, TABLE_T, LOG_T, int64, int64, int64, int64[::1], int64[::1],
        float64[::1], FLAGS_T, int64[::1],
    )
)  # fmt: skip
def learners_act(
    states, rules, decks, table, log, lo, hi, house, seats, actions, rewards, dones, waiting
):
    """Take the learner's action in each lane of a range; an illegal one ends it at reward -1.

    Args:
        actions: int64[N]; CONTINUE in a lane just started.
        waiting: int64[N], receives from ``lo`` on the lanes that wait for others.

    Returns:
        how many those are.
    """
    n = 0
    for i in range(lo, hi):
        s = states[i]
        rewards[i] = 0.0
        dones[i] = False
        if actions[i] != CONTINUE:
            slot = slot_of(s, seats[i], actions[i])
            if slot == NONE:
                rewards[i] = -1.0
                dones[i] = True
                continue
            s["gain"][0] = 0
            s["gain"][1] = 0
            step(s, rules[0], decks, table, slot, log)
        waiting[lo + n] = i
        n += waits_for(s, house, seats[i]) != NONE
    return n


@entry(
    int64(
        STATES_T, RULES_T, DECKS_T, VIEWS_T, LOG_T, int64, int64, int64, int64, int64, int64,
        int64[::1], int64[::1], float64[::1], FLAGS_T, OBS_T, MASKS_T, int64[::1],
    )
)  # fmt: skip
def settle(
    states, rules, decks, views, log, lo, hi, house, points, autoreset, drawn_seat, seats, actions,
    rewards, dones, final_obs, final_masks, waiting,
):  # fmt: skip
    """Reward the learner in each lane of a range, and where the episode ended begin a new one.

    The arguments are those of `vector_step_range` and of `learners_act`.

    Returns:
        how many of the lanes begun anew wait for others.
    """
    r = rules[0]
    v = views[0]
    n = 0
    for i in range(lo, hi):
        s = states[i]
        seat = seats[i]
        if not dones[i] and actions[i] != CONTINUE:
            rewards[i] = episode_reward(s, r, seat, points)
            dones[i] = s["over"] != 0
        if dones[i]:
            view(s, r, seat, v)
            encode(v, final_obs[i])
            encode_mask(v, final_masks[i])
            if autoreset:
                begin_episode(s, r, decks[:0], NONE, log)
                s["given"] = decks.shape[0]  # given decks are for the first episode only
                if drawn_seat:
                    seat = below(s["rng"], 2)
                    seats[i] = seat
                waiting[lo + n] = i
                n += waits_for(s, house, seat) != NONE
    return n


@entry(void(STATES_T, RULES_T, VIEWS_T, int64, int64, int64[::1], OBS_T, MASKS_T))
def observe_range(states, rules, views, lo, hi, seats, obs, masks):
    """Write what the learner of each lane of a range may know, and its legal actions."""
    v = views[0]
    for i in range(lo, hi):
        view(states[i], rules[0], seats[i], v)
        encode(v, obs[i])
        encode_mask(v, masks[i])


@entry(
    int64(
        STATES_T, RULES_T, DECKS_T, TABLE_T, RNGS_T, VIEWS_T, LOG_T, int64, int64, int64, int64,
        OBS_T, MASKS_T,
    )
)  # fmt: skip
def rollout(states, rules, decks, table, rngs, views, log, lo, hi, house, steps, obs, masks):
    """Play ``steps`` random decisions in each lane, observing before every one.

    The house draws its cards too, and its decisions are not counted. Ended episodes begin anew.

    Returns:
        the number of decisions.
    """
    v = views[0]
    for _ in range(steps):
        for i in range(lo, hi):
            s = states[i]
            while s["over"] or s["phase"] == house:
                if s["over"]:
                    begin_episode(s, rules[0], decks, NONE, log)
                else:
                    step(s, rules[0], decks, table, random_slot(s, rngs[i]), log)
            view(s, rules[0], s["to_move"], v)
            encode(v, obs[i])
            encode_mask(v, masks[i])
            step(s, rules[0], decks, table, random_slot(s, rngs[i]), log)
    return steps * (hi - lo)
