"""Opponents drawn by shares, changes of opponent between episodes, and the final info."""

from __future__ import annotations

import copy
import gc
import pickle
import warnings
from collections import UserDict, UserList
from typing import Any
from weakref import ref

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode

import crib_env
from crib_env import discard_v0, five_card_v0, pegging_v0, six_card_v0, table_top_v0
from vector_walks import THREE, InPython, lowest, picture

MODULES = [six_card_v0, table_top_v0, discard_v0, pegging_v0]
every_form = pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__[9:])


def play(env: Any, steps: int, seed: int = 1) -> list[dict[str, Any]]:
    """Return the infos at the ends of episodes along a random walk, of each game that ended."""
    rng, ends = np.random.default_rng(seed), []
    _, info = env.reset(seed=seed)
    for _ in range(steps):
        *_, done, _, info = env.step(crib_env.sample_legal(info["action_mask"], rng))
        final = info.get("final_info", {})
        ends += [{k: v[lane] for k, v in final.items()} for lane in np.flatnonzero(done)]
    return ends


# --- several opponents, one drawn for each episode ----------------------------------------------


@every_form
@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP])
def test_opponents_compiled_play_the_same_games_as_in_python(module: Any, mode: AutoresetMode) -> None:
    keywords = {"seat": None, "reward": "points", "episode": next(iter(module.maker.episodes)), "autoreset_mode": mode}
    pair = [("greedy", 1), ("rule_based", 2)]
    compiled = module.vector_env(12, opponent=pair, **keywords)
    in_python = module.vector_env(12, opponent=[(InPython(name), s) for name, s in pair], **keywords)
    assert compiled.batch.compiled
    assert not in_python.batch.compiled
    assert picture(compiled, seed=1, steps=80) == picture(in_python, seed=1, steps=80)
    assert len(set(compiled.batch.opponents.drawn.tolist())) == 2


def test_opponents_may_answer_with_a_read_only_array() -> None:
    class OfRay:
        name = "of_ray"

        def act(self, views: Any, rng: Any) -> Any:
            chosen = views["hand"][:, 0].copy()
            chosen.setflags(write=False)
            return chosen

    env = six_card_v0.vector_env(3, opponent=OfRay())
    env.reset(seed=1)
    assert env.batch.view(0)["to_move"] == env.batch.seats[0]


def test_opponents_are_drawn_per_episode_by_share() -> None:
    env = six_card_v0.vector_env(64, opponent=THREE, episode="deal")
    ends = play(env, 120)
    names = [env.opponent_names[end["opponent"]] for end in ends]
    assert len(names) > 1000
    for name, share in THREE:
        assert abs(names.count(name) / len(names) - share / 3.5) < 0.05


def test_opponents_of_a_single_environment_equal_its_game_in_a_batch() -> None:
    """With a seed per game the single environment and the batch draw the same opponents."""
    batch = six_card_v0.vector_env(6, opponent=THREE, seat=0)
    batch.reset(seed=[1, 2, 3, 4, 5, 6])
    drawn = batch.batch.opponents.drawn.tolist()
    for lane, seed in enumerate([1, 2, 3, 4, 5, 6]):
        env = six_card_v0.gym_env(opponent=THREE, seat=0)
        env.reset(seed=seed)
        assert env.batch.opponents.drawn.tolist() == [drawn[lane]]
    assert len(set(drawn)) > 1


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ([], "empty"),
        (np.array([]), "empty"),
        (np.array(["greedy", "expert"]), r"as pairs .*; got np.str_\('greedy'\)"),
        ([("greedy", 0)], "'greedy' must be a number above 0"),
        ([("greedy", float("nan"))], "above 0"),
        ([("greedy", True)], "above 0"),
        ({"greedy": 0.5, "expert": 0.5}, r"\[\(agent, share\), ...\]"),
        (["greedy", "expert"], r"\[\(agent, share\), ...\]"),
        ([("greedi", 1)], "did you mean 'greedy'"),
    ],
)
def test_set_opponent_rejects_invalid_shares_unchanged(given: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        six_card_v0.vector_env(2, opponent=given)
    env = six_card_v0.vector_env(2, opponent="greedy")
    with pytest.raises(ValueError, match=says):
        env.set_opponent(given)
    assert [agent.name for agent in env.batch.opponents.agents] == ["greedy"]


# --- set_opponent -------------------------------------------------------------------------------


@pytest.mark.parametrize("lanes", [[4], [-1], [0.5], ["a"], [[0, 1]], 3, np.array([True, False, True, False])])
def test_set_opponent_rejects_invalid_games_unchanged(lanes: Any) -> None:
    envs = six_card_v0.vector_env(4, opponent="greedy")
    with pytest.raises(ValueError, match=r"games must be whole numbers from 0 to 3 \[K\], got "):
        envs.set_opponent("rule_based", lanes)
    assert [agent.name for agent in envs.batch.opponents.agents] == ["greedy"]


@pytest.mark.parametrize(("lanes", "others"), [([], []), (range(0), []), ({1, 2}, [1, 2]), ([3, 3], [3])])
def test_set_opponent_changes_the_named_games_only(lanes: Any, others: list[int]) -> None:
    envs = six_card_v0.vector_env(4, opponent="greedy")
    envs.set_opponent("rule_based", lanes)
    found = [lane for lane, agent in enumerate(envs.opponent) if agent.name == "rule_based"]
    assert found == others


# --- the final info -----------------------------------------------------------------


@every_form
def test_final_info_has_the_result_of_the_episode(module: Any) -> None:
    """Single environment and batch report the same, in agreement with the rewards."""
    single = module.gym_env(opponent="greedy", seat=1)
    batch = module.vector_env(1, opponent="greedy", seat=1)
    for seed in range(3):
        _, info = single.reset(seed=seed)
        batch.reset(seed=seed)
        done = False
        while not done:
            action = int(info["action_mask"].argmax())
            *_, reward, done, _, info = single.step(action)
            *_, many = batch.step(np.array([action]))
        final = many["final_info"]
        assert tuple(info["scores"]) == tuple(final["scores"][0]) == single.scores
        won = info["winner"]
        assert won == final["winner"][0]
        assert {-1.0: 0, 1.0: 1, 0.0: -1}[reward] == won
        assert info["seat"] == final["seat"][0] == 1
        assert info["opponent"] == final["opponent"][0] == 0
        assert single.opponent_names == batch.opponent_names == ["greedy"]
        assert info["illegal_action"] == final["illegal_action"][0] == -1


@pytest.mark.parametrize(("scores", "skunk"), [((120, 100), 0), ((120, 85), 1), ((120, 50), 2)])
def test_h11_final_info_has_skunk(scores: tuple[int, int], skunk: int) -> None:
    env = six_card_v0.gym_env(opponent="greedy", seat=0)
    _, info = env.reset(seed=1, options={"scores": scores, "dealer": 0})
    done = False
    while not done:
        *_, done, _, info = env.step(int(info["action_mask"].argmax()))
    assert info["winner"] == 0
    assert info["skunk"] == skunk


@pytest.mark.parametrize("form", ["gym", "vector"])
def test_illegal_actions_without_mask_warn_once(form: str) -> None:
    env: Any = six_card_v0.gym_env() if form == "gym" else six_card_v0.vector_env(4)

    def forget() -> None:
        for _ in range(100):
            env.reset()
            env.step(99 if form == "gym" else np.full(4, 99))

    with pytest.warns(UserWarning, match=r"mask.*MaskablePPO.*mask_in_observation") as warned:
        forget()
    assert len(warned) == 1


def test_illegal_actions_occasional_do_not_warn() -> None:
    env = six_card_v0.vector_env(8, opponent="greedy", episode="deal")
    _, info = env.reset(seed=1)
    rng, illegal = np.random.default_rng(1), 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(300):
            actions = crib_env.sample_legal(info["action_mask"], rng)
            actions[rng.random(8) < 0.05] = 99
            illegal += int((actions == 99).sum())
            *_, info = env.step(actions)
    assert illegal > 50


# --- events of the single environment -----------------------------------------------------------


@every_form
def test_events_of_the_single_environment_add_up_to_its_scores(module: Any) -> None:
    for opponent in ("greedy", lowest):
        env = module.gym_env(opponent=opponent)
        _, info = env.reset(seed=3)
        points, done, count = [0, 0], False, 0
        while True:
            for event in env.events:
                points[event.seat % 2] += event.points
                count += 1
            assert tuple(points) == env.scores
            if done:
                break
            *_, done, _, info = env.step(int(info["action_mask"].argmax()))
        assert count


def test_points_before_the_first_decision_are_events_too() -> None:
    for module, reasons in ((five_card_v0, ["for_last"]), (six_card_v0, [])):
        env = module.gym_env(opponent="greedy", seat=0)
        env.reset(seed=1)
        assert [event.reason for event in env.events] == reasons
        env.reset(seed=1, options={"scores": (5, 5)})
        assert env.events == []


# --- the mask in the observation ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "key", "mask"),
    [
        (True, "observation", "action_mask"),
        ("torchrl", "observation", "action_mask"),
        ("rllib", "observations", "action_mask"),
        ("tianshou", "obs", "mask"),
    ],
)
def test_observation_holds_the_mask_under_a_librarys_keys(wanted: Any, key: str, mask: str) -> None:
    keywords = {"opponent": "greedy", "seat": 0, "episode": "deal"}
    plain = six_card_v0.gym_env(**keywords)
    single = six_card_v0.gym_env(**keywords, mask_in_observation=wanted)
    batch = six_card_v0.vector_env(2, **keywords, mask_in_observation=wanted)
    observation, info = plain.reset(seed=1)
    (one, _), (many, more) = single.reset(seed=1), batch.reset(seed=[1, 2])
    done = False
    while True:
        assert tuple(one) == (key, mask)
        assert single.observation_space.contains(one)
        assert np.array_equal(one[key], observation)
        assert np.array_equal(one[mask], info["action_mask"])
        if done:
            assert single.observation_space.contains(more["final_obs"][0])
            assert all(np.array_equal(more["final_obs"][0][name], one[name]) for name in one)
            break
        assert batch.observation_space.contains(many)
        assert all(np.array_equal(many[name][0], one[name]) for name in one)
        actions = many[mask].argmax(axis=1)
        observation, _, done, _, info = plain.step(int(actions[0]))
        one, *_ = single.step(int(actions[0]))
        many, *_, more = batch.step(actions)


# --- numbers and names --------------------------------------------------------------------------


class Network(torch.nn.Module):
    """Plays the highest or the lowest legal card."""

    def __init__(self, sign: float) -> None:
        super().__init__()
        self.sign = torch.nn.Parameter(torch.tensor(sign))

    def forward(self, x: Any) -> Any:
        return self.sign * torch.arange(52.0).expand(len(x), 52)


def lowest_again(view: Any, rng: np.random.Generator) -> int:
    return lowest(view, rng)


lowest_again.__name__ = "lowest"


@pytest.mark.parametrize("pair", [(Network(1.0), Network(-1.0)), (lowest, lowest_again)], ids=["networks", "functions"])
def test_opponents_of_one_name_have_distinct_numbers(pair: Any) -> None:
    env = six_card_v0.vector_env(12, opponent=[(one, 0.5) for one in pair])
    _, info = env.reset(seed=1)
    assert set(info["opponent"].tolist()) == {0, 1}
    assert info["opponent"].tolist() == env.batch.opponents.drawn.tolist()
    assert env.opponent_names == [env.opponent_names[0]] * 2
    env.set_opponent("greedy", [0])
    env.set_opponent(pair[1], [0])  # known, so its number is the same
    *_, info = env.step(info["action_mask"].argmax(1))
    assert info["opponent"][0] == 1
    assert len(env.opponent_names) == 3
    for other in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert other.opponent_names == env.opponent_names
        other.set_opponent("greedy")
        *_, info = other.step(other.action_masks().argmax(1))
        assert set(info["opponent"].tolist()) == {2}


def test_set_opponent_releases_unused_opponents() -> None:
    env = six_card_v0.vector_env(4, opponent="greedy")
    _, info = env.reset(seed=1)
    seen, sizes = [], []
    for _ in range(6):
        snapshot = torch.nn.Sequential(torch.nn.Linear(425, 52))
        seen.append(ref(snapshot))
        env.set_opponent(snapshot)
        *_, info = env.step(info["action_mask"].argmax(1))
        sizes.append(len(pickle.dumps(env)))
    del snapshot
    gc.collect()
    assert [one() is not None for one in seen] == [False] * 5 + [True]
    assert max(sizes) - min(sizes) < 2000
    env.set_opponent("greedy")
    gc.collect()
    assert not any(one() for one in seen)


def test_opponents_shares_with_infinite_sum_keep_their_ratio() -> None:
    env = six_card_v0.vector_env(64, opponent=[("greedy", 1e308), ("random", 1e308)], seat=0)
    _, info = env.reset(seed=1)
    assert 16 < info["opponent"].sum() < 48
    assert env.batch.opponents._bounds.tolist() == [[1 << 31, 1 << 32]] * 64


def test_opponents_and_options_may_be_configuration_containers() -> None:
    """OmegaConf's containers are sequences and mappings, but neither lists nor dicts."""
    shares = UserList([UserList(["greedy", 0.5]), UserList(["random", 0.5])])
    env = gymnasium.make("crib_env/SixCard-v0", opponent=shares, seat=0).unwrapped
    env.reset(seed=1, options=UserDict(dealer=1, scores=UserList([3, 4])))
    assert env.opponent_names == ["greedy", "random"]
    assert env.scores == (3, 4)
