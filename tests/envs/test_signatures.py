"""What `help` shows of functions that hand their keywords on is what they take."""

from __future__ import annotations

from inspect import Parameter, signature

import pytest

from crib_env import ENVIRONMENTS, Rules, TableTopRules, TwoHandRules
from crib_env.registration import env_module

FORMS = ("env", "raw_env", "gym_env", "vector_env", "torch_env", "sb3_env")


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
        ("raw_env", "rules players episode reward suits render_mode on_illegal viewer"),
        ("gym_env", "opponent partner seat features reward suits players mask_in_observation"),
        ("vector_env", "num_envs autoreset_mode copy threads opponent mask_in_observation"),
        ("torch_env", "num_envs device threads opponent seat features"),
        ("sb3_env", "num_envs threads opponent seat features mask_in_observation"),
    ],
)
def test_the_keywords_of_a_form_are_shown(form: str, names: str) -> None:
    shown = set(signature(getattr(env_module("six_card_v0"), form)).parameters)
    assert set(names.split()) <= shown
    assert not shown & {"self", "phase_policy", "keeps_events", "autoreset"}


@pytest.mark.parametrize("kind", [Rules, TwoHandRules, TableTopRules])
def test_rules_show_their_fields(kind: type[Rules]) -> None:
    assert list(signature(kind).parameters)[:2] == ["name", "target"]
    assert ("dealt" in signature(kind).parameters) == (kind is TwoHandRules)
