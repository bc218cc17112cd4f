"""The training loop and the sweep that the documentation shows, at a small size."""

from __future__ import annotations

import runpy
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crib_agents.loading import load_agent
from crib_training.evaluation.evaluate import evaluate

from checkout import ROOT
from crib_env import five_card_v0, six_card_v0
from crib_env.envs.torch_vector import TorchVectorEnv
from crib_env.rules import PRESETS
from learned_nets import views_of

SMALL: dict[str, Any] = {"num_envs": 32, "rollout": 16, "hidden": 32, "eval_pairs": 50}


@pytest.fixture
def loop(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    return import_module("training_loop")


def events(folder: Path) -> dict[str, list[float]]:
    """Return what TensorBoard would draw, by name."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    log = EventAccumulator(str(folder))
    log.Reload()
    return {name: [one.value for one in log.Scalars(name)] for name in log.Tags()["scalars"]}


def test_training_loop_learns_and_logs(loop: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few updates are enough to beat `random` play by far."""
    monkeypatch.setattr(loop, "to_onnx", lambda *_: None)  # takes ten seconds
    reports: list[tuple[int, float]] = []
    settings = loop.Settings(opponent="random", steps=5_120, eval_every=5, out=tmp_path, **SMALL)
    strength = loop.main(settings, lambda steps, strength: reports.append((steps, strength)))
    assert [steps for steps, _ in reports] == [2_560, 5_120]
    assert reports[-1][1] == strength > 2
    curves = events(tmp_path)
    assert curves["eval/margin_per_deal"] == pytest.approx([one for _, one in reports], abs=1e-4)
    assert len(curves["train/points_per_deal"]) == 10


@pytest.mark.slow  # `test_onnx_export.py` exports networks in the quick run
def test_training_loop_saves_an_agent(loop: Any, tmp_path: Path) -> None:
    loop.main(loop.Settings(steps=1, out=tmp_path, **SMALL | {"eval_pairs": 2}))
    agent = load_agent(str(tmp_path / "policy.onnx"))
    assert len(set(agent.act(views_of("hoyle", 20, 1), np.random.default_rng(1)).tolist())) > 10
    six_card_v0.vector_env(2, opponent=str(tmp_path / "policy.onnx")).reset(seed=1)


@pytest.mark.parametrize("missing", ["onnx", "onnxscript"])
def test_training_loop_names_missing_packages_before_training(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ModuleNotFoundError, match=missing):
        runpy.run_path(str(ROOT / "examples" / "training_loop.py"))  # without running `main`


def test_training_loop_plays_past_policies_only_on_request(
    loop: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[list[str]] = []
    put = TorchVectorEnv.set_opponent

    def put_and_note(envs: Any, opponent: Any) -> None:
        given.append([one if isinstance(one, str) else one.name for one, _ in opponent])
        put(envs, opponent)

    monkeypatch.setattr(TorchVectorEnv, "set_opponent", put_and_note)
    monkeypatch.setattr(loop, "to_onnx", lambda *_: None)  # takes seconds, and is tested above
    few = SMALL | {"steps": 32 * 16 * 4, "eval_every": 2, "eval_pairs": 2, "out": tmp_path}
    loop.main(loop.Settings(**few))
    assert given[0] == ["rule_based", "update 2"]
    assert given[1] == ["rule_based", "update 2", "update 4"]
    given.clear()
    loop.main(loop.Settings(past_selves=0, **few | {"steps": 1}))
    assert given == []


def test_sweep_runs_the_training_loop(loop: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "to_onnx", lambda *_: None)  # takes seconds, and is tested above
    study = import_module("sweep").main(trials=1, steps=1, eval_pairs=2, out=tmp_path)
    assert np.isfinite(study.best_value)
    assert (tmp_path / "trial_0" / "net.pt").exists()


def test_self_play_in_sixty_lines_learns_from_both_seats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    agent = import_module("self_play").train(decisions=6_144, games=128, steps=8)
    rules = PRESETS["five_card"]
    found = evaluate(five_card_v0.maker, rules, agent, "random", 50, seed=1, games=False)
    assert found["margin_per_deal"]["mean"] > 1
    openings = views_of("five_card", 5, 1)[:5]
    assert agent.action_probabilities(openings).max() < 1  # it mixes
