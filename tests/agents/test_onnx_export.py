"""An exported network plays as the agent it was exported from, over many views."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from crib_agents import ScoredAgent, from_onnx, from_sb3, from_torch, to_onnx
from crib_agents.adapters.onnx import WAYS
from crib_agents.loading import load_agent
from crib_agents.policy_net import header
from crib_training import export
from crib_training.methods import METHODS, ppo
from sb3_contrib import MaskablePPO
from torch import nn

from crib_env import six_card_v0, table_top_v0
from crib_env.engine.family import find_family
from learned_nets import views_of
from onnx_files import write_layer
from small_runs import learner_of, small_ppo

torch.set_num_threads(1)
DEALS = 60
CLOSE = 1e-5  # scores nearer than this may be ordered differently by another library


class Masked(nn.Module):
    """A network that takes masks, with parts that behave differently in training."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(425, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.5), nn.Linear(32, 52)
        )

    def forward(self, observations: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.layers(observations).masked_fill(~masks, -1e9)
        return out


MASKED = Masked()


class Branches(nn.Module):
    """A network that branches on the values of its scores, which cannot be exported."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(425, 52)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        scores: torch.Tensor = self.layer(observations)
        return scores if scores.sum() > 0 else -scores


def with_bias(value: float) -> nn.Module:
    net = nn.Linear(425, 52)
    nn.init.constant_(net.bias, value)
    return net


class Vector(nn.Module):
    """A transposition and the product with a vector, which onnxruntime's optimiser gets wrong."""

    def __init__(self) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.randn(8))

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        blocks = observations[:, : 8 * 52].unflatten(1, (8, 52))
        return blocks.transpose(1, 2) @ self.weights


def with_a_vector(_: Path) -> ScoredAgent:
    return from_torch(Vector(), rules="hoyle", sample=True)


def with_features(_: Path) -> ScoredAgent:
    net = nn.Sequential(nn.Linear(1160, 32), nn.Tanh(), nn.Linear(32, 52))
    return from_torch(net, rules="hoyle", features=True, sample=True)


def with_masks(_: Path) -> ScoredAgent:
    return from_torch(MASKED, rules="five_card", suits="canonical")


def maskable(_: Path) -> ScoredAgent:
    games = six_card_v0.sb3_env(2, features=True, mask_in_observation=True)
    return from_sb3(MaskablePPO("MultiInputPolicy", games), sample=True)


def of_table_top(out: Path) -> ScoredAgent:
    return ppo.train(small_ppo(out, env="table_top_v0"))


MADE = [with_a_vector, with_features, with_masks, maskable, pytest.param(of_table_top, marks=pytest.mark.slow)]


def views_for(agent: ScoredAgent) -> Any:
    """Return the views of many random decisions in the game that an agent plays."""
    views = views_of(agent.known_rules[0], DEALS, 3)
    assert len(views) > 400
    return views


@pytest.mark.parametrize("make", MADE)
def test_export_onnx_network_plays_alike(make: Callable[[Path], ScoredAgent], tmp_path: Path) -> None:
    torch.manual_seed(5)
    agent = make(tmp_path / "run")
    path = tmp_path / "mine.onnx"
    to_onnx(agent, path)
    assert all(part.training for part in MASKED.modules())
    other = six_card_v0 if make == of_table_top else table_top_v0
    with pytest.raises(ValueError, match=f"mine does not play .*it plays {agent.known_rules[0].name}"):
        other.vector_env(2, opponent=str(path))
    exported = load_agent(str(path))
    assert isinstance(exported, ScoredAgent)
    assert exported.name == "mine"
    assert (exported.sample, exported.suits) == (agent.sample, agent.suits)
    assert exported.known_rules == agent.known_rules
    views = views_for(agent)
    expected, scores = agent.action_values(views), exported.action_values(views)
    assert np.array_equal(np.isnan(expected), np.isnan(scores))
    assert np.nanmax(np.abs(expected - scores)) < CLOSE * max(1.0, np.nanmax(np.abs(expected)))
    assert np.nanstd(expected) > 100 * CLOSE  # and they are not all alike
    apart = np.abs(agent.action_probabilities(views) - exported.action_probabilities(views)).max(axis=1)
    assert (apart < CLOSE).mean() > 0.997
    chosen = [one.act(views, np.random.default_rng(1)) for one in (agent, exported)]
    assert (chosen[0] == chosen[1]).mean() > 0.997
    one = exported.act(views[:1], np.random.default_rng(2))  # the batch is free
    assert np.array_equal(one, agent.act(views[:1], np.random.default_rng(2)))


def test_export_names_the_methods_that_it_cannot_export(tmp_path: Path) -> None:
    for method in METHODS.keys() - {"ppo"}:  # a model of Stable-Baselines3
        exported = isinstance(learner_of(method, out=tmp_path).agent(), ScoredAgent)
        for text in (WAYS, str(export.Settings.__doc__)):
            assert (method in re.findall(r"\w+", text)) is not exported


@pytest.mark.parametrize(
    ("agent", "why"),
    [
        ("greedy", "greedy is not a network of observations: what can be exported"),
        (nn.Linear(425, 52), r"does not say by which rules it plays: make it by from_torch\("),
        (from_torch(lambda observations: observations, rules="hoyle"), "is not a PyTorch module"),
        (from_torch(nn.Linear(7, 52), rules="hoyle"), r"exported.*\(24, 425\).*425 and 7x52"),
        (from_torch(nn.Linear(425, 51), rules="hoyle"), "cannot be exported.*score for each of 52"),
        (from_torch(nn.Linear(425, 52).double(), rules="hoyle"), "cannot be exported.* dtype"),
        (from_torch(with_bias(float("nan")), rules="hoyle"), "cannot be exported.*not a number"),
        (from_torch(Branches(), rules="hoyle"), "PyTorch cannot export Branches: Guard"),
    ],
)
def test_export_onnx_rejects_unsupported_objects(
    agent: Any, why: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.onnx"
    path.write_bytes(b"a good file")
    with pytest.raises(ValueError, match=why) as refused:
        to_onnx(agent, path)
    assert len(str(refused.value).splitlines()) == 1
    assert "\x1b" not in str(refused.value)
    assert capfd.readouterr() == ("", "")
    assert [one.read_bytes() for one in tmp_path.iterdir()] == [b"a good file"]


def test_export_onnx_writes_no_wrong_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`read_onnx` returns another network, as a bug of onnxruntime or PyTorch would."""
    other = from_torch(nn.Linear(425, 52), rules="hoyle")
    monkeypatch.setattr("crib_agents.adapters.onnx.read_onnx", lambda *_: other)
    with pytest.raises(ValueError, match=r"mine\.onnx is not written: .* scores differ"):
        to_onnx(from_torch(nn.Linear(425, 52), rules="hoyle"), tmp_path / "mine.onnx")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("about", "why"),
    [
        ({"version": 99}, "expected the format 'crib_env policy' version 1, found .* version 99"),
        ({"sample": "no"}, "must say true or false of 'sample', found 'no'"),
        ({"suits": 7}, "suits must be"),
        ("[" * 100_000, "its metadata are nested too deeply"),
        ("[1]", r"its metadata are not a JSON object: \[1\]"),
        ("{", "Expecting property name"),
    ],
)
def test_export_onnx_invalid_metadata_is_rejected(about: Any, why: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.onnx"
    if not isinstance(about, str):
        about = json.dumps(header("six_card_v0", "hoyle", find_family("two_hand")) | about)
    write_layer(path, np.ones((425, 52)), about=about)
    with pytest.raises(ValueError, match=rf"mine\.onnx: .*{why}") as refused:
        from_onnx(path)
    assert len(str(refused.value)) < 600


@pytest.mark.parametrize(("known", "value"), [(True, float("nan")), (False, float("inf"))])
def test_export_onnx_rejects_infinite_weights(known: bool, value: float, tmp_path: Path) -> None:
    path, weights = tmp_path / "mine.onnx", np.ones((425, 52))
    weights[300] = value
    about = json.dumps(header("six_card_v0", "hoyle", find_family("two_hand"))) if known else None
    write_layer(path, weights, about=about)
    with pytest.raises(ValueError, match=r"mine\.onnx: some scores of mine are not a number"):
        from_onnx(path)


def test_onnx_agent_rejects_another_observation(tmp_path: Path) -> None:
    """The file is as a version with another observation layout would write it."""
    about = header("six_card_v0", "hoyle", find_family("two_hand"))
    (first, size), *others = about["observation_layout"]
    changed = about | {"observation_layout": [[f"{first}_before", size], *others]}
    write_layer(tmp_path / "mine.onnx", np.ones((425, 52)), about=json.dumps(changed))
    with pytest.raises(ValueError, match=r"mine\.onnx: it was trained on another observation"):
        from_onnx(tmp_path / "mine.onnx")


def test_crib_export_writes_a_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = MaskablePPO("MlpPolicy", six_card_v0.sb3_env(2))
    model.save(tmp_path / "model.zip")
    settings = export.Settings(str(tmp_path / "model.zip"), onnx=tmp_path / "mine.onnx", sample=True, trust=True)
    export.run(settings)
    assert "mine.onnx" in capsys.readouterr().out
    agent = from_onnx(tmp_path / "mine.onnx")
    assert agent.sample
    assert not from_onnx(tmp_path / "mine.onnx", sample=False).sample
    views = views_for(agent)
    expected = from_sb3(model, sample=True).action_probabilities(views)
    assert np.allclose(agent.action_probabilities(views), expected, atol=CLOSE)
    with pytest.raises(ValueError, match=r"must end in \.onnx"):
        export.run(export.Settings("greedy", onnx=tmp_path / "mine.net"))
