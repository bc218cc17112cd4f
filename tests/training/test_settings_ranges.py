"""Settings of trainings: impossible sizes are refused, and the defaults train."""

from __future__ import annotations

import re
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from crib_agents.loading import load_agent
from crib_training.loading import find_game
from crib_training.methods import METHODS, escher, mmd, nfsp, ppo, vrpo
from crib_training.methods import deep_monte_carlo as deep
from crib_training.methods import selfplay_ppo as selfplay

from commands import crib
from crib_env.supported_rules import refuse_rules
from research.solve import __main__ as solve

# tests/project/test_command_line.py checks that every number has a type with a range.
BASELINES = tuple(one.Settings for one in (selfplay, mmd, vrpo, nfsp, escher))


@pytest.mark.parametrize("kind", BASELINES)
def test_settings_refuse_no_layer_and_batch_of_one(kind: type[Any]) -> None:
    with pytest.raises(ValueError, match="hidden_sizes must name a size"):
        kind(hidden_sizes=())
    with pytest.raises(ValueError, match="num_envs times steps"):
        kind(num_envs=1, steps=1)


def test_settings_accept_usual_values() -> None:
    deep.Settings(learning_rate=1e30, temperature=1e-9, epsilon=0.0, save_seconds=0, eval_pairs=0)
    ppo.Settings(gae_lambda=1.0, ent_coef=0, eval_pairs=2)
    solve.Settings(eval_interval=0)
    with pytest.raises(ValueError, match="workers must be at least 2 on a cluster, got 1"):
        deep.Settings(ray_address="auto")
    with pytest.raises(ValueError, match="num_envs times steps"):
        ppo.Settings(num_envs=1, steps=1)


@pytest.mark.parametrize(("env", "many"), [("five_card_v0", 10), ("six_card_v0", 0)])
def test_num_evals_default_fits_the_environment(env: str, many: int) -> None:
    for method in set(METHODS) - IN_EVERY_GAME:
        assert import_module(METHODS[method]).Settings(env=env).measurements == many


# --- `crib train M --env E` with nothing else: it trains, or is refused ------------------


# Amounts of training and measurement; all other settings have their defaults.
SIZES = {
    **{"timesteps": "64", "deals": "64", "decisions": "256", "num_envs": "8", "steps": "4", "batch_size": "16"},
    **{"num_evals": "1", "eval_pairs": "2", "final_eval_pairs": "2", "eval_hands": "2"},
}
# One environment of each family, the game of the baselines, and a phase.
ENVS = ("six_card_v0", "five_card_v0", "pegging_v0", "three_hand_v0", "table_top_v0")
IN_EVERY_GAME = {"ppo", "deep_monte_carlo"}  # the others measure exploitability, in five cards
# test_recordings.py trains every other method, and with smaller networks these two in other games.
QUICK = {("ppo", "three_hand_v0"), ("deep_monte_carlo", "table_top_v0"), ("monte_carlo", "five_card_v0")}


def case(method: str, env: str) -> object:
    """Return a case; one baseline alone is measured, which takes a minute of queries."""
    trains = method in IN_EVERY_GAME or env == "five_card_v0"
    measured = not trains or method in (*IN_EVERY_GAME, "mmd")
    sizes = SIZES if measured else SIZES | {"num_evals": "0"}
    return pytest.param(method, env, sizes, marks=[pytest.mark.slow] * (trains and (method, env) not in QUICK))


@pytest.mark.parametrize(("method", "env", "sizes"), [case(method, env) for method in METHODS for env in ENVS])
def test_method_defaults_train_or_are_refused_at_once(
    method: str, env: str, sizes: dict[str, str], tmp_path: Path
) -> None:
    known = {field.name for field in fields(import_module(METHODS[method]).Settings)}
    words = [word for name, value in sizes.items() if name in known for word in (f"--{name.replace('_', '-')}", value)]
    run = crib("train", method, "--env", env, *words, folder=tmp_path)
    if method not in IN_EVERY_GAME and env != "five_card_v0":
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
    curves = {"curve.csv", "exploitability.csv"} & {file.name for file in files}
    assert bool(curves) == (sizes["num_evals"] != "0")
    agent = load_agent(str(files[0]))
    assert files[0].name == "policy.safetensors"
    refuse_rules(agent, find_game(env)[1], "deal")
