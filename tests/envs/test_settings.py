"""Keywords of environments: shown, typed and accepted alike, and settings apply at once."""

from __future__ import annotations

import re
from inspect import Parameter, signature
from typing import Any, get_args

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import SyncVectorEnv
from stable_baselines3.common.vec_env import DummyVecEnv

from crib_env import ENVIRONMENTS, Rules, TableTopRules, TwoHandRules, six_card_v0, table_top_v0
from crib_env.envs.config import FORMS, KEYWORDS, LIBRARIES, Episode, Library
from crib_env.registration import env_module
from vector_walks import LEARNER_FORMS, every_learner_form, lowest
from wrong_calls import WRONG_CALLS

# --- keywords shown and accepted ------------------------------------------------------------------


UNKNOWN = "unexpected keyword argument"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_keywords_shown_are_accepted_at_their_defaults(name: str, form: str) -> None:
    make = getattr(env_module(name), form)
    shown = signature(make).parameters.values()
    assert not [p for p in shown if p.kind in (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)]
    make(**{p.name: p.default for p in shown}).close()


@pytest.mark.parametrize("form", FORMS)
def test_keywords_of_a_form_are_shown_as_typed(form: str) -> None:
    """Every typed keyword is described, or is that of a phase's policy."""
    phases = {phase.name for name in ENVIRONMENTS if (phase := env_module(name).maker.phase) is not None}
    typed = FORMS[form][1].keys()
    assert set(signature(getattr(env_module("six_card_v0"), form)).parameters) == typed - phases
    assert typed <= KEYWORDS.keys() | phases


def test_typed_values_are_those_accepted() -> None:
    assert set(get_args(Library)) == LIBRARIES.keys() - {"pettingzoo"}
    every = {one for name in ENVIRONMENTS for one in env_module(name).maker.episodes}
    assert set(get_args(Episode)) == every


@pytest.mark.parametrize("says", WRONG_CALLS)
def test_calls_that_mypy_rejects_are_errors(says: str) -> None:
    with pytest.raises((TypeError, ValueError), match=says):
        WRONG_CALLS[says]()


@pytest.mark.parametrize("form", FORMS)
def test_help_describes_every_keyword_of_a_form(form: str) -> None:
    make = getattr(env_module("six_card_v0"), form)
    _, described = str(make.__doc__).split("Args:\n")
    found = re.findall(r"^ {12}(\w+): \S", described, re.MULTILINE)
    assert sorted(found) == sorted(set(signature(make).parameters))


@pytest.mark.parametrize(
    ("name", "form", "given", "says"),
    [
        ("six_card_v0", "gym_env", "oponent", f"{UNKNOWN} 'oponent'; did you mean 'opponent'?"),
        ("six_card_v0", "env", "on_ilegal", f"{UNKNOWN} 'on_ilegal'; did you mean 'on_illegal'?"),
        ("six_card_v0", "raw_env", "opponent", "takes no opponent: gym_env, .*sb3_env take it"),
        ("six_card_v0", "vector_env", "render_mode", "no render_mode: env, raw_env, gym_env take"),
        ("six_card_v0", "gym_env", "pegging_policy", f"{UNKNOWN} 'pegging_policy'"),
        ("discard_v0", "env", "peging_policy", "did you mean 'pegging_policy'?"),
        # TorchRL's GymEnv passes frameskip, matches this message, and retries without.
        ("six_card_v0", "gym_env", "frameskip", f"{UNKNOWN} 'frameskip'"),
        ("six_card_v0", "gym_env", "keeps_events", f"{UNKNOWN} 'keeps_events'"),
        ("six_card_v0", "sb3_env", "colour", f"{UNKNOWN} 'colour'"),
    ],
)
def test_keywords_of_other_forms_are_rejected_by_name(name: str, form: str, given: str, says: str) -> None:
    with pytest.raises(TypeError, match=rf"^{name}\.{form} .*{says}"):
        getattr(env_module(name), form)(**{given: None})


@pytest.mark.parametrize("kind", [Rules, TwoHandRules, TableTopRules])
def test_rules_show_their_fields(kind: type[Rules]) -> None:
    assert list(signature(kind).parameters)[:2] == ["name", "target"]
    assert ("dealt" in signature(kind).parameters) == (kind is TwoHandRules)


@pytest.mark.parametrize("form", FORMS)
def test_partners_keyword_works_in_every_form(form: str) -> None:
    make = getattr(env_module("four_hand_v0"), form)
    assert make().rules == make(partners=True).rules == Rules.preset("four_hand")
    alone = make(partners=False)
    assert alone.rules == Rules.preset("four_hand", partners=False)
    assert alone.rules == make(rules="four_hand[partners=False]").rules
    assert make(rules="four_hand[target=61]", partners=False).rules.target == 61
    games = alone.game if form in ("env", "raw_env") else alone.batch
    assert tuple(games.sides) == (0, 1, 2, 3)
    assert alone.partners is False
    with pytest.raises(AttributeError, match="make another with partners=True"):
        alone.partners = True


# --- attributes -----------------------------------------------------------------------------------


def playing(env: Any) -> list[str]:
    """Return the opponent's name in each game."""
    return [env.batch.opponents[lane].name for lane in range(env.batch.num_envs)]


@every_learner_form
def test_opponent_attribute_applies_at_once(form: str) -> None:
    calls = []

    def other(view: Any, rng: np.random.Generator) -> int:
        calls.append(1)
        return lowest(view, rng)

    env = LEARNER_FORMS[form](opponent="greedy")
    env.reset()
    env.set_opponent(other)
    for _ in range(3):
        env.step(env.action_masks().argmax(axis=-1))
    assert calls
    assert not env.batch.compiled
    env.opponent = "rule_based"  # compiled again
    seen = len(calls)
    for _ in range(3):
        env.step(env.action_masks().argmax(axis=-1))
    assert len(calls) == seen
    assert env.batch.compiled
    assert set(playing(env)) == {"rule_based"}
    agents = env.opponent if form != "gym" else [env.opponent]
    assert [agent.name for agent in agents] == playing(env)
    assert env.opponent_names == ["greedy", "other", "rule_based"]
    with pytest.raises(ValueError, match="did you mean 'greedy'"):
        env.opponent = "greedi"
    assert set(playing(env)) == {"rule_based"}


def test_opponent_can_be_set_through_set_attr_of_libraries() -> None:
    env = gymnasium.wrappers.RecordEpisodeStatistics(gymnasium.make("crib_env/SixCard-v0", opponent="greedy"))
    env.set_wrapper_attr("opponent", "random")
    assert env.get_wrapper_attr("opponent").name == "random"
    both = SyncVectorEnv([lambda: six_card_v0.gym_env(opponent="greedy")] * 2)
    both.set_attr("opponent", ["random", "rule_based"])
    assert [agent.name for agent in both.get_attr("opponent")] == ["random", "rule_based"]
    envs = DummyVecEnv([lambda: six_card_v0.gym_env(opponent="greedy")] * 2)
    envs.env_method("set_opponent", "rule_based")
    assert [one.opponent.name for one in envs.envs] == ["rule_based"] * 2


def test_sb3_set_attr_sets_the_opponent_of_named_games() -> None:
    env = LEARNER_FORMS["sb3"](opponent="greedy")
    env.set_attr("opponent", "random", indices=[0, 2])
    assert playing(env) == ["random", "greedy", "random"]
    assert [agent.name for agent in env.get_attr("opponent")] == playing(env)
    assert [agent.name for agent in env.get_attr("opponent", indices=1)] == ["greedy"]
    assert env.get_attr("opponent_names", indices=[0, 1]) == [["greedy", "random"]] * 2
    with pytest.raises(NotImplementedError, match=r"'reward'.*share all settings but the opponent"):
        env.set_attr("reward", "points")


@every_learner_form
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rules", "five_card"),
        ("players", 2),
        ("episode", "deal"),
        ("reward", "points"),
        ("features", True),
        ("seat", 1),
        ("partner", "greedy"),
        ("on_illegal", "raise"),
        ("phase_policy", None),
    ],
)
def test_fixed_settings_reject_assignment(form: str, name: str, value: Any) -> None:
    env = LEARNER_FORMS[form](opponent="greedy")
    before = getattr(env, name)
    with pytest.raises(AttributeError, match=f"{name} is fixed .* make another with {name}="):
        setattr(env, name, value)
    assert getattr(env, name) == before


@pytest.mark.parametrize("name", ["rules", "players", "episode", "reward"])
def test_aec_settings_reject_assignment(name: str) -> None:
    env = table_top_v0.raw_env(players=4, reward="points", episode="round")
    assert (env.players, env.reward, env.episode) == (4, "points", "round")
    with pytest.raises(AttributeError, match=f"{name} is fixed"):
        setattr(env, name, getattr(env, name))
