"""Values that are not finite: no run continues with them, no kernel chooses or indexes by them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from crib_agents.learned import MonteCarloAgent, Weights
from crib_agents.loading import load_agent
from crib_training.learn.run import Checkpoint, DivergedError
from crib_training.methods import ppo
from crib_training.methods.deep_monte_carlo import find_self_play
from stable_baselines3.common.vec_env import VecNormalize

from crib_env import PRESETS
from crib_env.batch import GameBatch
from crib_env.engine.two_hand import VIEW
from learned_nets import drawn_weights
from small_runs import begun, small, small_ppo

GAMES = {"six_card_v0": "hoyle", "five_card_v0": "five_card", "table_top_v0": "table_top"}
deep = partial(small, deals=400, num_envs=100, workers=1)
every_game = pytest.mark.parametrize("env", GAMES)
every_value = pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 3e38, -3e38, -1e9])


def spoilt(preset: str, value: float) -> Weights:
    """Return nets all of whose numbers are one."""
    weights = drawn_weights(PRESETS[preset])
    nets: Any = {
        name: [tuple(np.full_like(part, value) for part in layer) for layer in layers]
        for name, layers in weights.nets.items()
    }
    tables = {name: np.full_like(table, value) for name, table in weights.tables.items()}
    return replace(weights, nets=nets, tables=tables)


def constant(preset: str, value: float) -> Weights:
    """Return nets with one constant output."""
    weights = spoilt(preset, 0.0)
    for layers in weights.nets.values():
        layers[-1][1][:] = value
    for table in weights.tables.values():
        table[:] = value
    return weights


def legal(games: GameBatch, lanes: Any, actions: Any) -> bool:
    """Return whether each action is one that its game has."""
    views = games.views(lanes)
    if views.dtype == VIEW:
        may = views["legal"][:, None] >> np.arange(views["hand"].shape[1]) & 1 > 0
        return bool(((views["hand"] == actions[:, None]) & may).any(axis=1).all())
    return bool(((actions >= 0) & (views["legal"] >> np.maximum(actions, 0) & 1 > 0)).all())


@every_game
@every_value
@pytest.mark.parametrize("nets", [spoilt, constant])
def test_agents_with_nan_nets_play_legally(
    nets: Callable[..., Weights], env: str, value: float
) -> None:
    rules = PRESETS[GAMES[env]]
    agent = MonteCarloAgent([nets(GAMES[env], value)])
    rng = np.random.default_rng(1)
    games = GameBatch(rules, 20, episode="round" if env == "table_top_v0" else "deal", seed=4)
    games.reset()
    running = games.running()
    while len(running):
        with np.errstate(all="ignore"):
            actions = agent.act(games.views(running), rng)
        assert legal(games, running, actions)
        games.step(running, actions)
        running = games.running(running)


@every_game
@every_value
def test_self_play_is_legal_for_any_net_output(env: str, value: float) -> None:
    _, self_play = find_self_play(deep(Path(), env=env))
    with torch.no_grad():
        for parameter in self_play.nets.parameters():
            parameter.fill_(value)
    with np.errstate(all="ignore"):
        samples = self_play.play(30, 0.5, np.random.default_rng(1))
    assert samples.decisions >= 30


def test_diverged_weights_are_not_saved(tmp_path: Path) -> None:
    training = begun(deep(tmp_path))
    training.learn()
    training.save()
    with torch.no_grad():
        next(training.learner.nets.average.parameters()).view(-1)[0] = np.nan
    with pytest.raises(DivergedError, match="after 100 deals"):
        training.learn()
    assert Checkpoint.load(tmp_path).about["deals"] == 100


def test_ppo_diverged_run_keeps_the_last_good_model(tmp_path: Path) -> None:
    few = small_ppo(tmp_path, learning_rate=1e30)
    with pytest.raises(DivergedError, match=f"is {tmp_path}/model.zip, after 0 decisions"):
        ppo.train(few)
    games: VecNormalize = ppo.games_of(few)
    model = ppo.model_of(replace(few, resume=tmp_path, trust=True), games)
    assert all(torch.isfinite(one).all() for one in model.policy.parameters())


def test_model_file_with_non_finite_weights_is_refused(tmp_path: Path) -> None:
    few = small_ppo(tmp_path)
    model = ppo.model_of(few, ppo.games_of(few))
    with torch.no_grad():
        next(model.policy.parameters()).view(-1)[0] = np.nan
    model.save(tmp_path / "model.zip")
    with pytest.raises(ValueError, match=r"model\.zip holds weights that are not finite: "):
        load_agent(f"trust:{tmp_path / 'model.zip'}")
    with pytest.raises(ValueError, match=r"model\.zip holds weights that are not finite"):
        ppo.train(replace(few, resume=tmp_path, trust=True, out=tmp_path / "new"))
