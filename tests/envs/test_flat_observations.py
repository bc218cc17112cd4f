"""`mask_in_observation=False` of AEC environments: the bits alone, the mask in the info.

Wrappers of observations, such as SuperSuit's, take spaces of arrays and no dictionaries.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from pettingzoo.test import api_test
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

from crib_env import sample_legal, six_card_v0
from vector_walks import every_module

supersuit = pytest.importorskip("supersuit")
WRAPPERS = {
    "dtype_v0": lambda env: supersuit.dtype_v0(env, np.float32),
    "frame_stack_v1": lambda env: supersuit.frame_stack_v1(env, 4),
    "flatten_v0": supersuit.flatten_v0,
    "normalize_obs_v0": lambda env: supersuit.normalize_obs_v0(supersuit.dtype_v0(env, np.float32)),
    "agent_indicator_v0": supersuit.agent_indicator_v0,
    "pad_observations_v0": supersuit.pad_observations_v0,
}


@every_module
def test_flat_observation_and_info_equal_the_dictionary(module: Any) -> None:
    flat, full = module.env(mask_in_observation=False), module.env()
    assert flat.observation_space("player_0") == full.observation_space("player_0")["observation"]
    flat.reset(seed=4)
    full.reset(seed=4)
    rng = np.random.default_rng(4)
    stored: list[tuple[Any, Any]] = []
    while full.agents:
        assert np.array_equal(flat.state(), full.state())
        for agent in full.agents:
            expected = full.observe(agent)
            assert np.array_equal(flat.observe(agent), expected["observation"])
            assert np.array_equal(flat.infos[agent]["action_mask"], expected["action_mask"])
        *_, ended, _, info = flat.last()
        stored.append((info, info["action_mask"].copy()))
        action = None if ended else sample_legal(info["action_mask"], rng)
        for env in (flat, full):
            env.step(action)
    assert all(np.array_equal(info["action_mask"], mask) for info, mask in stored)


def test_mask_is_empty_after_an_illegal_action_and_restored() -> None:
    env = six_card_v0.env(mask_in_observation=False)
    env.reset(seed=1)
    snapshot, mask = env.snapshot(), env.last()[-1]["action_mask"]
    env.step(99)
    assert [info["action_mask"].any() for info in env.infos.values()] == [False, False]
    env.restore(snapshot)
    assert np.array_equal(env.last()[-1]["action_mask"], mask)


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_supersuits_wrappers_play_whole_games(wrapper: str) -> None:
    env = WRAPPERS[wrapper](six_card_v0.raw_env(mask_in_observation=False, episode="deal"))
    env.reset(seed=1)
    rng, decisions = np.random.default_rng(1), 0
    for agent in env.agent_iter():
        observation, _, ended, _, info = env.last()
        assert isinstance(env.observation_space(agent), spaces.Box)
        assert env.observation_space(agent).contains(observation)
        env.step(None if ended else sample_legal(info["action_mask"], rng))
        decisions += not ended
    assert decisions == 12
    api_test(env, num_cycles=30)


def test_supersuits_vector_converters_step_both_seats() -> None:
    """A turn makes one step of both seats; the seat that acts is ``info["active_agent"]``."""
    env = six_card_v0.env(mask_in_observation=False, on_illegal="random", episode="deal")
    seats = supersuit.pettingzoo_env_to_vec_env_v1(turn_based_aec_to_parallel(env))
    games = supersuit.concat_vec_envs_v1(seats, 3, num_cpus=0, base_class="gymnasium")
    observations, _ = games.reset(seed=1)
    assert observations.shape == (6, 425)
    ends = 0
    for _ in range(30):
        observations, _, ended, _, _ = games.step(np.full(6, 3))
        assert all(map(games.observation_space.contains, observations))
        ends += int(ended.sum())
    assert ends == 2 * 2 * 3  # two deals of twelve decisions in each of three games, for both seats


def test_mask_has_each_librarys_key() -> None:
    env = six_card_v0.env(mask_in_observation="tianshou")
    env.reset(seed=1)
    assert set(env.observe("player_0")) == {"obs", "mask"}
    assert env.observation_space("player_0").contains(env.observe("player_0"))
