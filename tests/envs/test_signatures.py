"""What `help` shows of functions that hand their keywords on is what they take."""

from __future__ import annotations

import re
from inspect import Parameter, signature

import gymnasium
import pytest

from crib_env import ENVIRONMENTS, Rules, TableTopRules, TwoHandRules
from crib_env.registration import env_module

FORMS = ("env", "raw_env", "gym_env", "vector_env", "torch_env", "sb3_env")
UNKNOWN = "unexpected keyword argument"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_every_keyword_shown_is_taken_at_its_default(name: str, form: str) -> None:
    make = getattr(env_module(name), form)
    shown = signature(make).parameters.values()
    assert not [p for p in shown if p.kind in (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)]
    make(**{p.name: p.default for p in shown}).close()


@pytest.mark.parametrize(
    ("form", "names"),
    [
        ("raw_env", "render_mode viewer mask_in_observation"),
        ("gym_env", "opponent partner seat features mask_in_observation render_mode viewer"),
        ("vector_env", "num_envs autoreset_mode copy threads opponent mask_in_observation"),
        ("torch_env", "num_envs device threads opponent seat features"),
        ("sb3_env", "num_envs threads opponent seat features mask_in_observation"),
        *((form, "rules players partners episode reward suits on_illegal") for form in FORMS),
    ],
)
def test_the_keywords_of_a_form_are_shown(form: str, names: str) -> None:
    shown = set(signature(getattr(env_module("six_card_v0"), form)).parameters)
    assert set(names.split()) <= shown
    assert not shown & {"self", "phase_policy", "keeps_events", "autoreset"}


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
        ("six_card_v0", "torch_env", "copy", "tensors share the batch's memory"),
        # TorchRL's GymEnv gives it, looks for these words and then goes on without.
        ("six_card_v0", "gym_env", "frameskip", f"{UNKNOWN} 'frameskip'"),
        ("six_card_v0", "gym_env", "keeps_events", f"{UNKNOWN} 'keeps_events'"),
        ("six_card_v0", "sb3_env", "colour", f"{UNKNOWN} 'colour'"),
    ],
)
def test_a_keyword_that_a_form_does_not_take_is_refused_by_name(
    name: str, form: str, given: str, says: str
) -> None:
    with pytest.raises(TypeError, match=rf"^{name}\.{form} .*{says}"):
        getattr(env_module(name), form)(**{given: None})


def test_gymnasium_refuses_an_unknown_keyword_with_the_nearest() -> None:
    with pytest.raises(TypeError, match="did you mean 'opponent'"):
        gymnasium.make("crib_env/SixCard-v0", oponent="greedy")


@pytest.mark.parametrize("kind", [Rules, TwoHandRules, TableTopRules])
def test_rules_show_their_fields(kind: type[Rules]) -> None:
    assert list(signature(kind).parameters)[:2] == ["name", "target"]
    assert ("dealt" in signature(kind).parameters) == (kind is TwoHandRules)


@pytest.mark.parametrize("form", FORMS)
def test_partners_seats_them_or_each_alone_in_every_form(form: str) -> None:
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


def test_partners_are_a_keyword_of_gymnasiums_makers_too() -> None:
    for env in (
        gymnasium.make("crib_env/FourHand-v0", partners=False).unwrapped,
        gymnasium.make_vec("crib_env/FourHand-v0", num_envs=2, partners=False),
    ):
        _, info = env.reset(seed=1)
        assert info["scores"].shape[-1] == 4
