"""A policy trained with features plays from views as the network it was trained as."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from crib_agents.nets import PolicyNetAgent
from crib_training.loading import find_game
from crib_training.methods import ppo
from safetensors.numpy import load_file, save_file
from sb3_contrib import MaskablePPO

from crib_env.batch import GameBatch

SMALL = ppo.Settings(
    num_envs=16, steps=8, batch_size=64, epochs=1, hidden_sizes=(16, 16),
    progress=False, opponent="random", timesteps=256, eval_pairs=0,
)  # fmt: skip
TRAININGS: dict[str, dict[str, Any]] = {
    "six_card reply": {"features": "reply", "reward": "expected"},
    "six_card lookahead": {"features": "lookahead"},
    "five_card": {"env": "five_card_v0", "features": "reply"},
    "table_top": {"env": "table_top_v0", "features": "reply", "shaping": True},
}


@pytest.fixture(scope="module", params=TRAININGS)
def trained(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    out = tmp_path_factory.mktemp("ppo")
    settings = replace(SMALL, out=out, **TRAININGS[request.param])
    ppo.train(settings)
    return settings


def test_the_saved_policy_plays_as_the_trained_network_would(trained: ppo.Settings) -> None:
    agent = PolicyNetAgent.load(trained.out / "policy.safetensors")
    model = MaskablePPO.load(trained.out / "model.zip")
    assert agent.about["features"] == trained.features
    maker, _ = find_game(trained.env)
    env = maker.vector_env(64, opponent="greedy", features=trained.features)
    observations, info = env.reset(seed=1)
    rng = np.random.default_rng(1)
    for _ in range(8):
        with torch.no_grad():
            given = torch.from_numpy(observations)
            dealt: Any = model.policy.get_distribution(given).distribution
        logits = dealt.logits.numpy()
        masked = np.where(info["action_mask"] == 1, logits, -np.inf)
        views = env.batch.games.views(np.arange(64), env.batch.seats)
        chosen = agent.act(views, rng)
        best = masked.max(axis=1)
        assert np.allclose(masked[np.arange(64), chosen], best, atol=1e-4)
        observations, *_, info = env.step(chosen)


def test_files_say_which_features_and_are_checked(trained: ppo.Settings, tmp_path: Path) -> None:
    source, path = trained.out / "policy.safetensors", tmp_path / "changed.safetensors"
    agent = PolicyNetAgent.load(source)
    about, tensors = agent.about, load_file(source)

    def refused(reason: str, about: dict[str, Any], **changed: Any) -> None:
        held = {name: one for name, one in {**tensors, **changed}.items() if one is not None}
        save_file(held, path, metadata={"crib_env": json.dumps(about)})
        with pytest.raises(ValueError, match=reason):
            PolicyNetAgent.load(path)

    refused("version 1", {**about, "features": None})
    refused("features must be", {**about, "features": "more"})
    other = {"reply": "lookahead", "lookahead": "reply"}[str(trained.features)]
    refused("another observation", {**about, "features": other})
    refused("holds the tensors", about, **{"head.skip": None})
    refused("head.skip is of shape", about, **{"head.skip": np.zeros(2, np.float32)})
    bad = np.full_like(tensors["head.out"], np.nan)
    refused("'head.out' holds numbers that are not finite", about, **{"head.out": bad})
    with pytest.raises(ValueError, match="no head"):
        PolicyNetAgent(agent.layers, about)
    agent.save(path)
    _, rules = find_game(trained.env)
    games = GameBatch(rules, 20, seed=1)
    games.reset()
    views = games.views(np.arange(20))
    rng = np.random.default_rng(1)
    assert (PolicyNetAgent.load(path).act(views, rng) == agent.act(views, rng)).all()
