"""`crib train --method M --env E` with nothing else: it trains, or is refused at the start."""

from __future__ import annotations

import re
from dataclasses import fields
from importlib import import_module
from pathlib import Path

import pytest
from crib_agents.loading import load_agent
from crib_training.learn.train import METHODS
from crib_training.loading import find_game

from commands import crib
from crib_env.registration import ENVIRONMENTS
from crib_env.supported_rules import refuse_rules

# How much is learned and measured; all else has its default.
SIZES = {"timesteps": "64", "deals": "64", "decisions": "256", "num_envs": "8", "steps": "4",
         "batch_size": "16", "num_evals": "1", "eval_pairs": "2", "final_eval_pairs": "2",
         "eval_hands": "2"}  # fmt: skip
EVERYWHERE = {"ppo", "deep_monte_carlo"}  # the others measure exploitability, in five cards


def case(method: str, env: str) -> object:
    """Return a case; a measured baseline queries its network for half a minute, so one is quick."""
    measured = method not in EVERYWHERE and env == "five_card_v0"
    marks = [pytest.mark.slow] * (measured and method != "monte_carlo")
    return pytest.param(method, env, marks=marks)


@pytest.mark.parametrize(
    ("method", "env"), [case(method, env) for method in METHODS for env in ENVIRONMENTS]
)
def test_every_method_trains_with_its_defaults_or_says_at_the_start_what_it_learns(
    method: str, env: str, tmp_path: Path
) -> None:
    known = {field.name for field in fields(import_module(METHODS[method]).Settings)}
    sizes = [word for name, value in SIZES.items() if name in known
             for word in (f"--{name.replace('_', '-')}", value)]  # fmt: skip
    run = crib("train", "--method", method, "--env", env, *sizes, folder=tmp_path)
    if method not in EVERYWHERE and env != "five_card_v0":
        assert run.returncode == 2, run
        assert re.fullmatch(rf"error: .*{env}.*\n", run.stderr), run.stderr
        cure = "num_evals must be 0" if env == "six_card_v0" else "six_card_v0 or five_card_v0"
        assert cure in run.stderr
        assert not list(tmp_path.iterdir())
        return
    assert run.returncode == 0, run
    (written,) = re.findall(r"^wrote (.*)$", run.stdout, re.MULTILINE)
    folder, *others = written.split(", ")
    files = [tmp_path / folder, *((tmp_path / folder).parent / name for name in others)]
    assert all(file.exists() for file in files), files
    assert {"curve.csv", "exploitability.csv"} & {file.name for file in files}
    agent = load_agent(str(files[0]))
    assert files[0].name == "policy.safetensors"
    refuse_rules(agent, find_game(env)[1], "deal")
