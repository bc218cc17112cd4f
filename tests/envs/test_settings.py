"""Attributes of environments: what may be set works at once, what may not says what to do."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import SyncVectorEnv
from stable_baselines3.common.vec_env import DummyVecEnv

from crib_env import six_card_v0, table_top_v0

FORMS = {
    "gym": lambda **keywords: six_card_v0.gym_env(**keywords),
    "vector": lambda **keywords: six_card_v0.vector_env(3, **keywords),
    "sb3": lambda **keywords: six_card_v0.sb3_env(3, **keywords),
}
every_form = pytest.mark.parametrize("form", FORMS)


def make(form: str, **keywords: Any) -> Any:
    return FORMS[form](**keywords)


def playing(env: Any) -> list[str]:
    """Return who plays in each game."""
    return [env.batch.opponents[lane].name for lane in range(env.batch.num_envs)]


@every_form
def test_an_opponent_that_is_set_plays_at_once(form: str) -> None:
    env = make(form, opponent="greedy")
    env.reset()
    env.opponent = "random"
    assert set(playing(env)) == {"random"}
    seen = env.opponent if form != "gym" else [env.opponent]
    assert [agent.name for agent in seen] == playing(env)
    assert env.opponent_names == ["greedy", "random"]
    with pytest.raises(ValueError, match="did you mean 'greedy'"):
        env.opponent = "greedi"
    assert set(playing(env)) == {"random"}


def test_an_opponent_is_set_through_the_libraries_own_ways_too() -> None:
    env = gymnasium.wrappers.RecordEpisodeStatistics(
        gymnasium.make("crib_env/SixCard-v0", opponent="greedy")
    )
    env.set_wrapper_attr("opponent", "random")
    assert env.get_wrapper_attr("opponent").name == "random"
    both = SyncVectorEnv([lambda: six_card_v0.gym_env(opponent="greedy")] * 2)
    both.set_attr("opponent", ["random", "rule_based"])
    assert [agent.name for agent in both.get_attr("opponent")] == ["random", "rule_based"]
    envs = DummyVecEnv([lambda: six_card_v0.gym_env(opponent="greedy")] * 2)
    envs.env_method("set_opponent", "rule_based")
    assert [one.opponent.name for one in envs.envs] == ["rule_based"] * 2


def test_sb3s_set_attr_sets_the_opponent_of_the_games_named() -> None:
    env = make("sb3", opponent="greedy")
    env.set_attr("opponent", "random", indices=[0, 2])
    assert playing(env) == ["random", "greedy", "random"]
    assert [agent.name for agent in env.get_attr("opponent")] == playing(env)
    assert [agent.name for agent in env.get_attr("opponent", indices=1)] == ["greedy"]
    assert env.get_attr("opponent_names", indices=[0, 1]) == [["greedy", "random"]] * 2
    with pytest.raises(NotImplementedError, match=r"'reward'.*share all settings but the opponent"):
        env.set_attr("reward", "points")


@every_form
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rules", "five_card"), ("players", 2), ("episode", "deal"), ("reward", "points"),
        ("features", True), ("seat", 1), ("partner", "greedy"), ("on_illegal", "raise"),
        ("phase_policy", None),
    ],
)  # fmt: skip
def test_a_setting_that_is_fixed_says_so_when_it_is_set(form: str, name: str, value: Any) -> None:
    env = make(form, opponent="greedy")
    before = getattr(env, name)
    with pytest.raises(AttributeError, match=f"{name} is fixed .* make another with {name}="):
        setattr(env, name, value)
    assert getattr(env, name) == before


@every_form
def test_settings_are_read_as_they_were_given(form: str) -> None:
    env = make(
        form, opponent="greedy", rules="hoyle[target=91]", reward="points", episode="deal",
        features="lookahead", seat=1, on_illegal="raise",
    )  # fmt: skip
    assert env.rules.target == 91
    assert (env.reward, env.episode, env.features) == ("points", "deal", "lookahead")
    assert (env.seat, env.players, env.on_illegal, env.partner) == (1, 2, "raise", None)


@pytest.mark.parametrize("name", ["rules", "players", "episode", "reward"])
def test_an_aec_environments_settings_are_fixed_too(name: str) -> None:
    env = table_top_v0.raw_env(players=4, reward="points", episode="round")
    assert (env.players, env.reward, env.episode) == (4, "points", "round")
    with pytest.raises(AttributeError, match=f"{name} is fixed"):
        setattr(env, name, getattr(env, name))


def test_a_new_opponent_of_a_league_is_told_from_the_last_ones() -> None:
    """Numbers count on, also where fewer play than before."""
    env = six_card_v0.vector_env(4, opponent=[("greedy", 1), ("random", 1)], episode="deal")
    env.reset(seed=1)
    faced: list[str] = []
    for opponent in (None, "rule_based", "greedy"):
        if opponent:
            env.set_opponent(opponent)
        seen = set()
        for _ in range(14):
            *_, done, _, info = env.step(env.action_masks().argmax(axis=1))
            for lane in np.flatnonzero(done):
                seen.add(env.opponent_names[info["final_info"]["opponent"][lane]])
        faced.append("+".join(sorted(seen)))
    assert faced == ["greedy+random", "rule_based", "greedy"]
    assert env.opponent_names == ["greedy", "random", "rule_based"]
