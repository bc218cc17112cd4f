"""The typed keywords of the forms: the same as `EnvConfig`'s, and checked by mypy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from checkout import ROOT
from crib_env import ENVIRONMENTS
from crib_env.engine.family import REWARDS, SUITS
from crib_env.envs import makers
from crib_env.envs.config import KEYWORDS, LABELS, LIBRARIES, MODES, ON_ILLEGAL
from crib_env.registration import env_module

FORMS = {
    "env": makers.AecKeywords, "raw_env": makers.AecKeywords, "gym_env": makers.GymKeywords,
    "vector_env": makers.VectorKeywords, "torch_env": makers.TorchKeywords,
    "sb3_env": makers.SB3Keywords,
}  # fmt: skip
POSITIONAL = {"num_envs"}  # a separate argument in the forms that have it


@pytest.mark.parametrize("form", LABELS)
def test_typed_keywords_of_a_form_are_those_of_the_config(form: str) -> None:
    phases = {env_module(name).maker.phase for name in ENVIRONMENTS} - {None}
    taken = {name for name, about in KEYWORDS.items() if form in about.forms} - POSITIONAL
    typed = FORMS[form].__annotations__.keys()
    assert typed == taken | {phase.name for phase in phases if phase is not None}


def test_typed_values_are_those_of_the_config() -> None:
    assert set(get_args(makers.Reward)) == set(REWARDS)
    assert get_args(makers.Suits) == SUITS
    assert get_args(makers.RenderMode) == MODES
    assert get_args(makers.OnIllegal) == ON_ILLEGAL
    assert set(get_args(makers.Library)) == LIBRARIES.keys() - {"pettingzoo"}
    every = {one for name in ENVIRONMENTS for one in env_module(name).maker.episodes}
    assert set(get_args(makers.Episode)) == every


CALLS = """\
from crib_env import discard_v0, six_card_v0, table_top_v0
right = six_card_v0.gym_env(opponent=[("greedy", 1), ("random", 2.0)], reward="points", seat=0)
six_card_v0.env(opponent="greedy")
six_card_v0.gym_env(reward="pionts")
six_card_v0.vector_env(4, theads=2)
six_card_v0.sb3_env("4")
discard_v0.torch_env(8, copy=True)
table_top_v0.raw_env(players="4", episode="round", pegging_policy="greedy")
"""


def test_mypy_rejects_wrong_calls(tmp_path: Path) -> None:
    """A wrong name for the form, a misspelt value, a misspelt name, and two wrong types."""
    file = tmp_path / "calls.py"
    file.write_text(CALLS)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", ROOT / "pyproject.toml", file],
        capture_output=True, text=True, cwd=ROOT,
    )  # fmt: skip
    found = [line.split(":")[1] for line in done.stdout.splitlines() if ": error:" in line]
    assert found == ["3", "4", "5", "6", "7", "8"], done.stdout + done.stderr
