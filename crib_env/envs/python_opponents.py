"""Stepping a learner's games with an agent that runs in Python: one call for all its lanes.

The result is the same as with `crib_env.envs.compiled`, action by action; a test compares the two.
"""

from __future__ import annotations

import numpy as np

from crib_env.arrays import Array
from crib_env.engine.lanes import lane_entries
from crib_env.engine.rewards import CONTINUE
from crib_env.envs.arrays import LearnerArrays
from crib_env.envs.checks import ILLEGAL_REWARD


def step_python(batch: LearnerArrays, actions: Array) -> None:
    """Play the actions, int64[N], and what follows up to the learner's next decision."""
    lanes = batch.lanes
    begun = actions == CONTINUE
    legal = batch.legal(actions)
    illegal = ~(legal | begun)
    batch.games.step(lanes[legal], actions[legal])
    _play_others(batch, lanes[legal | begun])
    _reward(batch, legal)
    batch.states["gain"][legal] = 0
    batch.rewards[illegal] = ILLEGAL_REWARD
    batch.dones |= illegal
    ended = np.flatnonzero(batch.dones)
    if len(ended):
        lane_entries(batch.family).write_endings(
            batch.states, batch.games.record, ended, batch.seats, illegal, batch.endings
        )
        _look(batch, ended, batch.final_obs, batch.final_masks)
        if batch.autoreset:
            batch.autoreset_lanes(ended)
            _play_others(batch, ended)
    _look(batch, lanes, batch.obs, batch.masks)


def _play_others(batch: LearnerArrays, lanes: Array) -> None:
    """Let the other seats and the phase policy act until the learner is to move, or the end."""
    games, policy = batch.games, batch.phase_policy
    chance = batch.chance
    while True:
        lanes = games.running(lanes)
        left_out = np.zeros(len(lanes), dtype=np.bool_)
        if policy is not None:
            left_out = batch.states["phase"][lanes] == policy.phase
            games.ask(policy.agent, lanes[left_out], chance.phase_policy)
        movers = games.movers(lanes)
        others = ~left_out & (movers != batch.seats[lanes])
        partners = others & (batch.sides[movers] == batch.sides[batch.seats[lanes]])
        if batch.partner is not None:
            games.ask(batch.partner, lanes[partners], chance.partner)
        for k, opponent in enumerate(batch.opponents.agents):
            plays = others & (batch.opponents.drawn[lanes] == k)
            if batch.partner is None:
                games.ask(opponent, lanes[plays & partners], chance.partner)
            games.ask(opponent, lanes[plays & ~partners], chance.opponent)
        lanes = lanes[left_out | others]
        if not len(lanes):
            return


def _reward(batch: LearnerArrays, acted: Array) -> None:
    """Reward the learners who ``acted``, bool[N], and say where the episode is over."""
    lane_entries(batch.family).fill_rewards(
        batch.states, batch.games.record, batch.seats, int(batch.points), batch.rewards
    )
    batch.rewards[~acted] = 0
    batch.dones[:] = (batch.states["over"] != 0) & acted


def _look(batch: LearnerArrays, lanes: Array, obs: Array, masks: Array) -> None:
    views = batch.games.views(lanes, batch.seats[lanes])
    seen = np.empty((len(lanes), obs.shape[1]), dtype=np.uint8)
    legal = np.empty((len(lanes), masks.shape[1]), dtype=np.int8)
    lane_entries(batch.family).encode(views, seen, legal)
    obs[lanes] = seen
    masks[lanes] = legal
