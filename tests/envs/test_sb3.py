"""The native Stable-Baselines3 ``VecEnv``, alone and under MaskablePPO."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.vec_env import VecEnv, VecMonitor, VecNormalize

import crib_env
from crib_env import six_card_v0
from vector_walks import lowest

torch.set_num_threads(1)  # these nets are too small to share
MODULES = [crib_env.six_card_v0, crib_env.table_top_v0, crib_env.pegging_v0]


def first_legal(env: Any) -> Any:
    return env.action_masks().argmax(axis=1)


def test_sb3_env_is_a_vecenv_with_masks() -> None:
    env = six_card_v0.sb3_env(3, opponent=lowest)
    assert isinstance(env, VecEnv)
    assert is_masking_supported(env)
    observations = env.reset()
    assert (observations.shape, observations.dtype) == ((3, *env.observation_space.shape), np.uint8)
    masks = get_action_masks(env)
    assert (masks.shape, masks.dtype) == ((3, 52), bool)
    assert (masks.sum(axis=1) == 6).all()
    assert np.array_equal(masks, env.action_masks())


def test_sb3_env_method_and_get_attr_reach_single_games() -> None:
    env = six_card_v0.sb3_env(3, opponent=lowest)
    env.reset()
    masks = env.action_masks()
    for indices, expected in ((None, masks), ([2, 0], masks[[2, 0]]), (1, masks[[1]])):
        assert np.array_equal(np.stack(env.env_method("action_masks", indices=indices)), expected)
    with pytest.raises(AttributeError, match="pegging"):
        env.env_method("pegging")
    has = [env.has_attr(name) for name in ("action_masks", "render_mode", "nothing_of_the_kind")]
    assert has == [True, True, False]
    assert env.get_attr("rules") == [env.rules] * 3
    assert env.get_attr("num_envs", indices=[0]) == [3]
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        env.get_attr("nothing_of_the_kind")
    with pytest.raises(NotImplementedError, match="seat"):
        env.set_attr("seat", 1)
    assert env.env_is_wrapped(VecMonitor) == [False] * 3
    assert env.reset_infos == [{}, {}, {}]
    assert env.unwrapped is env


def rollout(env: Any, steps: int) -> list[Any]:
    seen = [env.reset().tobytes()]
    for _ in range(steps):
        observations, rewards, dones, infos = env.step(first_legal(env))
        seen.append((observations.tobytes(), rewards.tolist(), dones.tolist(), [sorted(info) for info in infos]))
    return seen


def test_seed_repeats_the_next_reset_and_later_steps() -> None:
    env = six_card_v0.sb3_env(3, opponent=lowest, seat=None)
    first = env.seed(5)
    assert len(first) == 3
    expected = rollout(env, 120)
    goes_on = rollout(env, 120)  # without another seed the generators continue
    assert goes_on != expected
    env.seed(5)
    assert rollout(env, 120) == expected
    assert rollout(env, 120) == goes_on
    env.seed(6)
    assert rollout(env, 120) != expected


def test_set_options_applies_to_the_next_reset() -> None:
    env = six_card_v0.sb3_env(2, opponent=lowest, seat=0)
    deck = list(reversed(range(52)))
    env.set_options({"decks": [deck], "dealer": 1})
    assert (env.reset()[:, :52].nonzero()[1].reshape(2, 6) == sorted(deck[0:12:2])).all()
    assert (env.reset()[:, :52].nonzero()[1].reshape(2, 6) != sorted(deck[0:12:2])).any()


@pytest.mark.parametrize("options", [[{"dealer": 0}], [{}] * 4, [], 5, "dealer"], ids=repr)
def test_set_options_rejects_another_number_of_dicts(options: Any) -> None:
    env = six_card_v0.sb3_env(3, opponent=lowest, seat=0)
    with pytest.raises(ValueError, match="a list of 3, one a game"):
        env.set_options(options)
    env.seed(4)
    assert env.reset().shape[0] == 3  # nothing is left of them


def test_reset_rejected_forgets_its_seed_and_options() -> None:
    env, twin = (six_card_v0.sb3_env(2, opponent=lowest, seat=0) for _ in range(2))
    for each in (env, twin):
        each.seed(1)
        each.reset()
    env.seed(2)
    env.set_options({"dealer": 5})
    with pytest.raises(ValueError, match="dealer"):
        env.reset()
    env.seed(-3)
    with pytest.raises(ValueError, match="seed"):
        env.reset()
    assert np.array_equal(env.reset(), twin.reset())


def test_set_options_takes_one_dict_per_game() -> None:
    decks = [np.random.default_rng(i).permutation(52).tolist() for i in range(2)]
    env = six_card_v0.sb3_env(3, opponent=lowest, seat=0)
    env.set_options([{"decks": decks[:1], "dealer": 1}, {"decks": decks[1:], "dealer": 0, "scores": (7, 9)}, {}])
    env.seed(3)
    env.reset()
    states = env.batch.states
    for lane, deck in enumerate(decks):
        assert set(states["dealt"][lane].tolist()) == set(deck[:12])
        assert states["starter"][lane] == deck[12]
    assert states["dealer"][:2].tolist() == [1, 0]
    assert states["scores"].tolist() == [[0, 0], [7, 9], [0, 0]]
    given = states["starter"][2]
    plain = six_card_v0.sb3_env(3, opponent=lowest, seat=0)
    plain.seed(3)
    plain.reset()
    assert plain.batch.states["starter"][2] == given  # without options, as if none had any


@pytest.mark.parametrize("reward", ["win", "points"])
def test_infos_of_an_ended_episode_have_sb3s_keys(reward: str) -> None:
    env = six_card_v0.sb3_env(4, opponent=lowest, episode="deal", reward=reward)
    env.seed(7)
    env.reset()
    layout = crib_env.observation_layout("six_card_v0")
    total, length, ended = np.zeros(4), np.zeros(4, dtype=int), 0
    for _ in range(60):
        observations, rewards, dones, infos = env.step(first_legal(env))
        assert rewards.dtype == np.float32
        assert dones.dtype == bool
        total += rewards
        length += 1
        for lane in range(4):
            if not dones[lane]:
                assert infos[lane] == {}
                continue
            ended += 1
            info = infos[lane]
            assert info["TimeLimit.truncated"] is False
            assert info["terminal_observation"].shape == observations[lane].shape
            assert not info["terminal_observation"][layout["hand"]].any()
            assert observations[lane][layout["hand"]].sum() == 6
            assert info["episode"]["r"] == pytest.approx(total[lane])
            assert info["episode"]["l"] == length[lane]
            total[lane], length[lane] = 0.0, 0
    assert ended > 20


def test_observations_handed_out_are_not_overwritten() -> None:
    env = six_card_v0.sb3_env(3, opponent=lowest)
    first = env.reset()
    kept = first.copy()
    env.step(first_legal(env))
    assert np.array_equal(first, kept)


def test_observations_may_carry_their_masks() -> None:
    """For custom policies; the games are the same as without masks in the observation."""
    options: dict[str, Any] = {"opponent": "greedy", "episode": "deal"}
    plain = six_card_v0.sb3_env(4, **options)
    env = six_card_v0.sb3_env(4, **options, mask_in_observation=True)
    for each in (plain, env):
        each.seed(3)
    observation, seen = plain.reset(), env.reset()
    ended = 0
    for _ in range(12):
        assert env.observation_space.contains({key: rows[0] for key, rows in seen.items()})
        assert (seen["observation"] == observation).all()
        assert (seen["action_mask"] == plain.action_masks()).all()
        acted = first_legal(plain)
        observation, _, dones, infos = plain.step(acted)
        seen, _, _, same = env.step(acted)
        for lane in dones.nonzero()[0]:
            last = same[lane]["terminal_observation"]
            assert (last["observation"] == infos[lane]["terminal_observation"]).all()
            assert not last["action_mask"].any()
            ended += 1
    assert ended
    model = MaskablePPO("MultiInputPolicy", env, n_steps=8, batch_size=32, seed=1)
    model.learn(64)


def learner(env: Any, net: int = 64, **keywords: Any) -> MaskablePPO:
    settings = {"n_steps": 12, "batch_size": 96, "n_epochs": 2, "seed": 1, "device": "cpu"} | keywords
    return MaskablePPO("MlpPolicy", env, policy_kwargs={"net_arch": [net]}, **settings)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_maskable_ppo_learns_for_a_few_updates(module: Any) -> None:
    """With ``on_illegal="raise"``: a mask that failed to reach the policy would end the test."""
    env = module.sb3_env(16, opponent=lowest, reward="points", on_illegal="raise")
    model = learner(env)
    before = {name: value.clone() for name, value in model.policy.state_dict().items()}
    for _ in range(2):
        model.learn(12 * 16, reset_num_timesteps=False)
        assert all(np.isfinite(model.logger.name_to_value[f"train/{part}"]) for part in ("loss", "value_loss"))
    assert model.num_timesteps == 2 * 12 * 16
    assert any(not torch.equal(before[name], value) for name, value in model.policy.state_dict().items())


def test_maskable_ppo_learns_a_repeated_deal() -> None:
    """Observation, mask and reward suffice to learn: one repeated deal is soon played well."""
    env = six_card_v0.sb3_env(64, opponent=lowest, seat=0, reward="points", episode="deal")
    deck = np.random.default_rng(1).permutation(52)
    model = learner(env, n_steps=6, batch_size=192, n_epochs=8, learning_rate=3e-3, gamma=1.0)
    returns = []
    for _ in range(16):
        env.set_options({"decks": [deck], "dealer": 1})
        model.learn(6 * 64)  # the learner's six cards of one deal, in 64 games
        last = list(model.ep_info_buffer)[-64:]
        returns.append(float(np.mean([episode["r"] for episode in last])))
    assert np.mean(returns[-4:]) > returns[0] + 3, returns


def test_evaluate_policy_reads_true_returns_under_vecnormalize() -> None:
    """Without a warning that there is no Monitor, and not the normalized rewards."""
    keywords = {"opponent": "greedy", "episode": "deal", "reward": "points"}
    env = VecNormalize(six_card_v0.sb3_env(4, **keywords), norm_obs=False)
    model = learner(env, net=8, n_steps=16, batch_size=32)
    model.learn(64)
    env.training = False
    found = []
    for evaluated in (env, VecMonitor(six_card_v0.sb3_env(4, **keywords))):
        evaluated.seed(5)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found.append(evaluate_policy(model, evaluated, n_eval_episodes=20, return_episode_rewards=True))
    assert found[0] == found[1]
    assert np.ptp(found[0][0]) > 3  # points, not parts of one


def test_sb3_model_of_other_suits_is_rejected_and_other_rules_warn(tmp_path: Path) -> None:
    def made(**keywords: Any) -> Any:
        return six_card_v0.sb3_env(4, opponent="greedy", **keywords)

    model = learner(made(suits="canonical"), net=8, n_steps=8, batch_size=16)
    model.save(tmp_path / "model")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MaskablePPO.load(tmp_path / "model", env=made(suits="canonical"))
        with pytest.raises(ValueError, match="suits='canonical'"):
            MaskablePPO.load(tmp_path / "model", env=made())
    with pytest.warns(UserWarning, match=r"different rules: hoyle with target (121|61) and"):
        MaskablePPO.load(tmp_path / "model", env=made(suits="canonical", rules="hoyle[target=61]"))


def test_seed_gives_each_game_a_distinct_seed() -> None:
    """As SB3 documents `VecEnv.seed`: game i is the single environment of seed + i."""
    env, single = six_card_v0.sb3_env(3, opponent="random"), six_card_v0.gym_env(opponent="random")
    assert env.seed(5) == [5, 6, 7]
    for lane, seen in enumerate(env.reset()):
        assert np.array_equal(seen, single.reset(seed=5 + lane)[0])
