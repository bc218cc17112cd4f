"""Runs of every method but PPO: stopped runs resume to the same result, other runs are rejected."""

from __future__ import annotations

import signal
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from crib_agents.loading import load_agent
from crib_training.learn.run import POLICY, Checkpoint, DivergedError, Run, learn

from small_runs import BASELINES, learner_of, tensors_of

GAMES = ("six_card_v0", "five_card_v0", "table_top_v0")
# Stopped in its second period, where it mixes two policies.
IN_A_PERIOD: dict[str, dict[str, Any]] = {"r_nad": {"period": 400}}
# Table Top learns from its lines in the first of eight updates, then from its sides.
TABLE_TOP = {"env": "table_top_v0", "deals": 80, "num_envs": 10}
Finished = Callable[..., Path]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """Return a function that makes the folder of an uninterrupted run, once per run."""

    @cache
    def folder(method: str, **changes: Any) -> Path:
        out = tmp_path_factory.mktemp(method)
        Run(learner_of(method, out=out, **changes)).go()
        return out

    return folder


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize(
    ("method", "changes"),
    [
        *((one, IN_A_PERIOD.get(one, {})) for one in (*BASELINES, "deep_monte_carlo")),
        ("deep_monte_carlo", TABLE_TOP),
    ],
)
def test_stopped_run_resumes_to_the_same_result(
    method: str, changes: dict[str, Any], finished: Finished, tmp_path: Path
) -> None:
    learner = learner_of(method, out=tmp_path, **changes)
    iterate = learner.iterate

    def stop_at_half() -> dict[str, float]:
        if learner.done >= learner.total / 2:
            signal.raise_signal(signal.SIGINT)
        return iterate()

    learner.iterate = stop_at_half  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt, match="--resume"):
        Run(learner).go()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert Checkpoint.load(tmp_path).about[learner.unit] < learner.total
    Run(learner_of(method, out=tmp_path, resume=tmp_path, **changes)).go()
    whole = finished(method, **changes)
    assert tensors_of(tmp_path) == tensors_of(whole)
    assert (tmp_path / POLICY).read_bytes() == (whole / POLICY).read_bytes()


@pytest.mark.parametrize(
    ("method", "changes", "message"),
    [
        ("vrpo", {}, "holds a run of mmd, not of vrpo"),
        ("mmd", {"hidden_sizes": (24, 24)}, r"hidden_sizes was \[16, 16\], not \[24, 24\]"),
        ("mmd", {"num_envs": 16}, "num_envs was 32, not 16"),
        ("mmd", {"learning_rate": 1e-3}, "learning_rate was 0.004, not 0.001"),
        ("mmd", {"env": "six_card_v0"}, "env was five_card_v0, not six_card_v0"),
        ("mmd", {"decisions": 512, "seed": 2}, "seed was 1, not 2; decisions was 1024, not 512"),
    ],
)
def test_resume_refuses_another_method_or_settings(
    method: str, changes: dict[str, Any], message: str, finished: Finished
) -> None:
    folder = finished("mmd")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(ValueError, match=message):
        Run(learner_of(method, out=folder, resume=folder, **changes)).go()
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("method", ["mmd", "deep_monte_carlo"])
def test_resume_refuses_an_empty_folder(method: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"there is no run to resume in {tmp_path}"):
        Run(learner_of(method, out=tmp_path, resume=tmp_path)).go()


def one_step(method: str) -> dict[str, Any]:
    """Return the settings by which a batch is learned from once: large weights, but finite."""
    passes = "updates" if method in ("nfsp", "escher", "deep_cfr") else "epochs"
    return {"batch_size": 4096} if method == "monte_carlo" else {"batch_size": 4096, passes: 1}


@pytest.mark.parametrize(
    ("method", "changes"),
    [
        *((name, {}) for name in BASELINES),
        *((name, one_step(name)) for name in BASELINES),
        *(("deep_monte_carlo", {"env": env}) for env in GAMES),
    ],
)
def test_diverged_run_ends_with_the_last_checkpoint(
    method: str, changes: dict[str, Any], tmp_path: Path
) -> None:
    learner = learner_of(method, out=tmp_path, learning_rate=1e30, **changes)
    saved = f"the last good checkpoint is {tmp_path}/checkpoint.safetensors, after 0 {learner.unit}"
    with pytest.raises(DivergedError, match=saved):
        Run(learner).go()
    assert Checkpoint.load(tmp_path).about[learner.unit] == 0
    assert load_agent(str(tmp_path / POLICY))


def test_run_names_the_written_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    learn(learner_of("mmd", out=tmp_path, decisions=256))
    *_, names = capsys.readouterr().out.strip().rpartition("/")
    assert all((tmp_path / name).exists() for name in names.split(", "))
