"""Compiled entries made of one agent: its answers to views, and games of a learner against it.

`agent_entries` makes them from the agent's one function, for each family that it plays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numba import float64, int64, void

from crib_env.engine.deck import forget_decks
from crib_env.engine.family import Family
from crib_env.engine.jit import Entry, entry, kernel
from crib_env.engine.log import keep_log
from crib_env.engine.phases import waiting_kernel
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
    WEIGHTS_T,
)
from crib_env.engine.returns import clear_gains
from crib_env.engine.rewards import CONTINUE, ending_kernel, reward_kernel
from crib_env.engine.rng import below


@dataclass(frozen=True)
class AgentEntries:
    """One agent at one family of games, compiled.

    Attributes:
        act_views: ``(views, rngs, table, weights, actions)``, writes an action for each view.
        step_range: steps a learner's games against it.
        take_turns: makes its decisions where another policy plays a phase of the game.
    """

    act_views: Entry
    step_range: Entry
    take_turns: Entry


def agent_entries(act: Callable[..., Any], family: Family, name: str) -> AgentEntries:
    """Return the entries made of ``act(view, rng, table, weights) -> action``."""
    states_t, rules_t, views_t = family.types
    begin_episode, step = family.kernels.begin_episode, family.kernels.step
    find_move, view = family.kernels.find_move, family.kernels.view
    encode, encode_mask = family.kernels.encode, family.kernels.encode_mask
    episode_reward, write_ending = reward_kernel(family), ending_kernel(family)
    log_size = family.log_size

    @entry(void(views_t, RNGS_T, TABLE_T, WEIGHTS_T, int64[::1]), f"{name}.act_views")
    def act_views(views, rngs, table, weights, actions):
        """Write an action for each view."""
        for i in range(views.shape[0]):
            actions[i] = act(views[i], rngs[i], table, weights)

    @kernel
    def until_learner(s, rules, decks, table, weights, rng, v, log, seat):
        """Let the agent act until ``seat`` is to move or the episode is over.

        Returns:
            True; False if the agent's action was illegal and the game stands where it was.
        """
        while s["over"] == 0 and s["to_move"] != seat:
            view(s, rules, s["to_move"], v)
            move = find_move(s, rules, act(v, rng, table, weights))
            if move == NONE:
                return False
            step(s, rules, decks, table, move, log)
            keep_log(log, log_size)
        return True

    @entry(
        int64(
            states_t, rules_t, DECKS_T, TABLE_T, WEIGHTS_T, RNGS_T, views_t, LOG_T, int64, int64,
            int64, int64, int64, int64[::1], int64[::1], OBS_T, MASKS_T, float64[::1], FLAGS_T,
            OBS_T, MASKS_T, ENDINGS_T,
        ),
        f"{name}.step_range",
    )  # fmt: skip
    def step_range(
        states, rules, decks, table, weights, rngs, views, log, lo, hi, points, autoreset,
        drawn_seat, seats, actions, obs, masks, rewards, dones, final_obs, final_masks,
        endings,
    ):  # fmt: skip
        """Step the lanes of a range for a learner in one seat, this agent in all others.

        In each lane: the learner's action, the agent's until the learner is to move again, the
        reward. An illegal action of the learner ends the episode at reward -1 (PettingZoo's
        TerminateIllegalWrapper). An ended episode's last observation goes to ``final_obs``, and
        with ``autoreset`` a new episode begins, from the lane's own generator; without, ``obs`` is
        that last observation.

        Args:
            points: 1 for the reward in points, 0 for the return.
            drawn_seat: 1 to draw the learner's seat for each episode.
            seats: int64[N], the learner's seat in each lane; updated when drawn.
            actions: int64[N]; CONTINUE in a lane just begun.
            rewards: float64[N]. dones: bool[N]. obs, final_obs: uint8[N, obs_size].
            masks, final_masks: int8[N, actions].
            endings: int64[N, SCORES + sides], written where ``dones``.

        Returns:
            NONE, or the first lane in which the agent's action was illegal: there the range stops.
        """
        r = rules[0]
        v = views[0]
        for i in range(lo, hi):
            s = states[i]
            rng = rngs[i]
            seat = seats[i]
            rewards[i] = 0.0
            dones[i] = False
            stepped = False
            illegal = False
            if actions[i] != CONTINUE:
                move = find_move(s, r, actions[i])
                if move == NONE:
                    rewards[i] = -1.0
                    illegal = True
                else:
                    step(s, r, decks, table, move, log)
                    keep_log(log, log_size)
                    stepped = True
            if illegal:
                dones[i] = True
            else:
                if not until_learner(s, r, decks, table, weights, rng, v, log, seat):
                    return i
                dones[i] = s["over"] != 0
            if stepped:
                rewards[i] = episode_reward(s, r, seat, points)
                clear_gains(s)
            view(s, r, seat, v)
            if dones[i]:
                encode(v, final_obs[i])
                encode_mask(v, final_masks[i])
                write_ending(s, r, seat, illegal, endings[i])
                if autoreset:
                    forget_decks(s)
                    begin_episode(s, r, decks, NONE, log)
                    if drawn_seat:
                        seat = below(s["rng"], r["players"])
                        seats[i] = seat
                    if not until_learner(s, r, decks, table, weights, rng, v, log, seat):
                        return i
                    view(s, r, seat, v)
            encode(v, obs[i])
            encode_mask(v, masks[i])
        return NONE

    waits_for = waiting_kernel(family)

    @entry(
        int64(
            states_t, rules_t, DECKS_T, TABLE_T, WEIGHTS_T, RNGS_T, views_t, LOG_T, int64, int64,
            int64[::1], int64[::1], int64, int64,
        ),
        f"{name}.take_turns",
    )  # fmt: skip
    def take_turns(
        states, rules, decks, table, weights, rngs, views, log, phase, role, seats, waiting, lo, n
    ):
        """Make this agent's decisions in the lanes listed, as long as they wait for it.

        Args:
            phase: the phase that the phase policy plays.
            role: OPPONENT or PHASE_POLICY of `crib_env.engine.phases`, which of them this one is.
            seats: int64[N], the learner's seat in each lane.
            waiting: int64[N]; the lanes are ``waiting[lo : lo + n]``. Those that wait for the other
                of the two afterwards are moved to the front.

        Returns:
            how many those are; or ``NONE - lane`` where the agent's action was illegal.
        """
        v = views[0]
        left = 0
        for k in range(lo, lo + n):
            lane = waiting[k]
            s = states[lane]
            turn = waits_for(s, phase, seats[lane])
            while turn == role:
                mover = s["to_move"]
                view(s, rules[0], mover, v)
                move = find_move(s, rules[0], act(v, rngs[lane], table, weights))
                if move == NONE:
                    return NONE - lane
                step(s, rules[0], decks, table, move, log)
                keep_log(log, log_size)
                turn = waits_for(s, phase, seats[lane])
            waiting[lo + left] = lane
            left += turn != NONE
        return left

    return AgentEntries(act_views, step_range, take_turns)
