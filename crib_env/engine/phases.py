"""Compiled passes over games in which several policies take turns with the learner.

A phase policy plays one phase of the deal for both seats. Opponents may differ from game to game. A
pass runs over lanes and leaves a list of those that wait for the phase policy or an opponent. Each
policy takes its turns in its lanes of that list, with its own compiled entry, until the list is
empty. So any two policies can play together, and no pair is compiled together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from numba import float64, int64, void

from crib_env.engine.deck import forget_decks
from crib_env.engine.family import Family
from crib_env.engine.jit import Entry, entry, kernel
from crib_env.engine.log import keep_log
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
)
from crib_env.engine.returns import clear_gains
from crib_env.engine.rewards import CONTINUE, ending_kernel, reward_kernel
from crib_env.engine.rng import below

# Whom a game can wait for besides the learner.
OPPONENT = 0
PHASE_POLICY = 1


@cache
def waiting_kernel(family: Family) -> Callable[..., int]:
    """Return the kernel that says whom a game of a family waits for."""

    @kernel
    def waits_for(s, phase, seat):
        """Return OPPONENT or PHASE_POLICY; NONE if it waits for the learner or is over."""
        if s["over"]:
            return NONE
        if s["phase"] == phase:
            return PHASE_POLICY
        return NONE if s["to_move"] == seat else OPPONENT

    @kernel
    def waits_for_a_seat(s, phase, seat):
        """Return OPPONENT, or NONE if it waits for the learner or is over."""
        return NONE if s["over"] or s["to_move"] == seat else OPPONENT

    return waits_for if "phase" in (family.state.names or ()) else waits_for_a_seat


@dataclass(frozen=True)
class Phases:
    """The entries of a family for taking turns; see `phase_entries`."""

    learners_act: Entry
    settle: Entry
    observe: Entry
    rollout: Entry


@cache
def phase_entries(family: Family) -> Phases:
    """Return the entries of a family by which policies take turns; `rollout` needs phases."""
    states_t, rules_t, views_t = family.types
    begin_episode, step = family.kernels.begin_episode, family.kernels.step
    find_move, draw_move = family.kernels.find_move, family.kernels.draw_move
    view = family.kernels.view
    encode, encode_mask = family.kernels.encode, family.kernels.encode_mask
    waits_for, episode_reward = waiting_kernel(family), reward_kernel(family)
    write_ending = ending_kernel(family)
    name, log_size = family.name, family.log_size

    @entry(
        int64(
            states_t, rules_t, DECKS_T, TABLE_T, LOG_T, int64, int64, int64, int64[::1],
            int64[::1], float64[::1], FLAGS_T, int64[::1],
        ),
        f"{name}.learners_act",
    )  # fmt: skip
    def learners_act(
        states, rules, decks, table, log, lo, hi, phase, seats, actions, rewards, dones, waiting
    ):
        """Take the learner's action in each lane of a range; an illegal one ends it at reward -1.

        Args:
            phase: the one that the phase policy plays; NONE without one.
            actions: int64[N]; CONTINUE in a lane just begun.
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
                move = find_move(s, rules[0], actions[i])
                if move == NONE:
                    rewards[i] = -1.0
                    dones[i] = True
                    continue
                step(s, rules[0], decks, table, move, log)
                keep_log(log, log_size)
            waiting[lo + n] = i
            n += waits_for(s, phase, seats[i]) != NONE
        return n

    @entry(
        int64(
            states_t, rules_t, DECKS_T, views_t, LOG_T, int64, int64, int64, int64, int64, int64,
            int64[::1], int64[::1], float64[::1], FLAGS_T, OBS_T, MASKS_T, ENDINGS_T, int64[::1],
        ),
        f"{name}.settle",
    )  # fmt: skip
    def settle(
        states, rules, decks, views, log, lo, hi, phase, points, autoreset, drawn_seat, seats,
        actions, rewards, dones, final_obs, final_masks, endings, waiting,
    ):  # fmt: skip
        """Reward the learner in each lane of a range, and where an episode ended begin a new one.

        The arguments are those of `learners_act` and of ``step_range`` in
        `crib_env.engine.learners`.

        Returns:
            how many of the lanes reset wait for others.
        """
        r = rules[0]
        v = views[0]
        n = 0
        for i in range(lo, hi):
            s = states[i]
            seat = seats[i]
            illegal = dones[i]
            if not illegal and actions[i] != CONTINUE:
                rewards[i] = episode_reward(s, r, seat, points)
                dones[i] = s["over"] != 0
                clear_gains(s)
            if dones[i]:
                view(s, r, seat, v)
                encode(v, final_obs[i])
                encode_mask(v, final_masks[i])
                write_ending(s, r, seat, illegal, endings[i])
                if autoreset:
                    forget_decks(s)
                    begin_episode(s, r, decks, NONE, log)
                    if drawn_seat:
                        seat = below(s["rng"], r["players"])
                        seats[i] = seat
                    waiting[lo + n] = i
                    n += waits_for(s, phase, seat) != NONE
        return n

    @entry(
        void(states_t, rules_t, views_t, int64, int64, int64[::1], OBS_T, MASKS_T),
        f"{name}.observe_range",
    )
    def observe(states, rules, views, lo, hi, seats, obs, masks):
        """Write what the learner of each lane of a range may know, and its legal actions."""
        v = views[0]
        for i in range(lo, hi):
            view(states[i], rules[0], seats[i], v)
            encode(v, obs[i])
            encode_mask(v, masks[i])

    @entry(
        int64(
            states_t, rules_t, DECKS_T, TABLE_T, RNGS_T, views_t, LOG_T, int64, int64, int64,
            int64, OBS_T, MASKS_T,
        ),
        f"{name}.rollout_phase",
    )  # fmt: skip
    def rollout(states, rules, decks, table, rngs, views, log, lo, hi, phase, steps, obs, masks):
        """Play ``steps`` random decisions in each lane, observing before every one.

        The phase policy's are drawn too, and not counted. Finished episodes reset.

        Returns:
            the number of decisions.
        """
        r = rules[0]
        v = views[0]
        for _ in range(steps):
            for i in range(lo, hi):
                s = states[i]
                while s["over"] or s["phase"] == phase:
                    if s["over"]:
                        begin_episode(s, r, decks, NONE, log)
                    else:
                        step(s, r, decks, table, draw_move(s, r, rngs[i]), log)
                view(s, r, s["to_move"], v)
                encode(v, obs[i])
                encode_mask(v, masks[i])
                step(s, r, decks, table, draw_move(s, r, rngs[i]), log)
        return steps * (hi - lo)

    return Phases(learners_act, settle, observe, rollout)
