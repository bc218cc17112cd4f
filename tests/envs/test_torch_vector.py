"""The batch in tensors: the same games as in arrays, in the batch's own memory."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch

import crib_env
from crib_env import ENVIRONMENTS, env_module, sample_legal, six_card_v0

KEYWORDS: dict[str, Any] = {"opponent": "greedy", "episode": "deal", "reward": "points"}


@pytest.mark.parametrize(
    ("name", "features"),
    [
        (name, features)
        for name in sorted(ENVIRONMENTS)
        for features in (None, True)
        if not features or env_module(name).maker.family.features
    ],
)
def test_tensors_hold_what_the_arrays_hold(name: str, features: bool | None) -> None:
    module = env_module(name)
    keywords = KEYWORDS | {"features": features}
    arrays, tensors = module.vector_env(16, **keywords), module.torch_env(16, **keywords)
    rng, ended = np.random.default_rng(2), 0
    expected, info = arrays.reset(seed=2)
    found, about = tensors.reset(seed=2)
    for _ in range(40):
        assert np.array_equal(found, expected)
        assert found.dtype == torch.as_tensor(expected).dtype
        assert about["action_mask"].dtype == torch.bool
        for key in ("action_mask", "seat", "opponent"):
            assert np.array_equal(about[key], info[key]), key
        actions = sample_legal(info["action_mask"], rng)
        expected, rewards, terminations, _, info = arrays.step(actions)
        found, paid, over, cut, about = tensors.step(torch.from_numpy(actions))
        assert np.array_equal(paid, rewards.astype(np.float32))
        assert paid.dtype == torch.float32
        assert np.array_equal(over, terminations)
        assert not cut.any()
        assert ("final_info" in about) == ("final_info" in info)
        if "final_info" in about:
            ended += int(over.sum())
            for key, part in about["final_info"].items():
                assert np.array_equal(part, info["final_info"][key]), key
    assert ended > 16


def test_every_step_returns_the_same_tensors_in_the_batchs_memory() -> None:
    envs = six_card_v0.torch_env(8, features=True, **KEYWORDS)
    observations, info = envs.reset(seed=1)
    first = observations.clone()
    stored = [observations, info["action_mask"], envs.rewards, envs.dones]
    assert observations.data_ptr() == envs.batch.observations.ctypes.data
    assert info["action_mask"].data_ptr() == envs.batch.masks.ctypes.data
    for _ in range(20):
        envs.set_opponent("rule_based")
        result = envs.step(info["action_mask"].int().argmax(dim=1))
        info = result[-1]
        now = [result[0], info["action_mask"], result[1], result[2]]
        assert all(one is other for one, other in zip(stored, now, strict=True))
        assert np.array_equal(observations, envs.batch.observations)
    envs.reset(seed=1)
    assert torch.equal(observations, first)


@pytest.mark.parametrize("way", [copy.deepcopy, lambda envs: pickle.loads(pickle.dumps(envs))])
def test_a_copy_has_tensors_of_its_own(way: Any) -> None:
    envs = six_card_v0.torch_env(8, **KEYWORDS)
    _, info = envs.reset(seed=1)
    envs.step(info["action_mask"].int().argmax(dim=1))
    twin = way(envs)
    assert torch.equal(twin.observations, envs.observations)
    assert torch.equal(twin.rewards, envs.rewards)
    before = envs.observations.clone()
    twin.step(twin.masks.int().argmax(dim=1))
    assert torch.equal(envs.observations, before)
    assert twin.observations.data_ptr() == twin.batch.observations.ctypes.data
    envs.step(envs.masks.int().argmax(dim=1))
    assert torch.equal(twin.observations, envs.observations)


def test_actions_may_be_of_a_network_with_gradients_or_of_numpy() -> None:
    envs = six_card_v0.torch_env(4, **KEYWORDS)
    _, info = envs.reset(seed=1)
    envs.step(info["action_mask"].int().argmax(dim=1).numpy())
    logits = torch.zeros(4, 52, requires_grad=True).masked_fill(~envs.masks, -1e9)
    envs.step(torch.distributions.Categorical(logits=logits).sample())
    with pytest.raises(ValueError, match="actions must be 4 whole numbers"):
        envs.step(logits)


def test_it_is_a_vector_environment_with_the_spaces_of_make_vec() -> None:
    envs = six_card_v0.torch_env(4)
    made: Any = gymnasium.make_vec("crib_env/SixCard-v0", num_envs=4)
    assert isinstance(envs, gymnasium.vector.VectorEnv)
    assert envs.observation_space == made.observation_space
    assert envs.action_space == made.action_space
    assert envs.opponent_names == ["random"]


@pytest.mark.parametrize(
    ("keywords", "error", "why"),
    [
        ({"device": "cuda"}, ValueError, r"played on the CPU.*tensor\.to\(device\)"),
        ({"device": "gpu"}, ValueError, r"played on the CPU.*tensor\.to\(device\)"),
        ({"mask_in_observation": True}, TypeError, "masks are in info"),
        ({"copy": True}, TypeError, "tensors share the batch's memory"),
        ({"autoreset_mode": None}, TypeError, "reset in the same step"),
        ({"opponent": "greddy"}, ValueError, "did you mean 'greedy'"),
    ],
)
def test_what_it_does_not_take_is_refused(
    keywords: dict[str, Any], error: type[Exception], why: str
) -> None:
    with pytest.raises(error, match=why):
        crib_env.six_card_v0.torch_env(4, **keywords)
