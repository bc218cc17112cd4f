"""SIGTERM, which clusters send, ends every command as Ctrl-C does, with exit status 143."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shlex
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from crib_agents.learned import Weights
from crib_training import COMMANDS, command_line, reading
from crib_training.evaluation.ledger import Ledger
from crib_training.interrupts import interruptions, terminable
from crib_training.learn.curve import Strength
from crib_training.learn.run import Checkpoint
from crib_training.methods import deep_monte_carlo, mmd
from crib_training.methods.ppo import RunCallback

from commands import crib


@pytest.fixture(autouse=True)
def as_python_starts() -> Iterator[None]:
    """Set the handlers of SIGTERM and SIGINT with which Python starts."""
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    ignored = signal.signal(signal.SIGINT, signal.default_int_handler)  # as in a shell's jobs
    yield
    signal.signal(signal.SIGINT, ignored)
    assert signal.signal(signal.SIGTERM, before) is signal.SIG_DFL  # in every case


def terminate(*_: Any, **__: Any) -> None:
    signal.raise_signal(signal.SIGTERM)


@pytest.mark.parametrize("swallows", [False, True])
@pytest.mark.parametrize("name", COMMANDS)
def test_sigterm_ends_commands_with_143_in_one_line(name: str, swallows: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(_: Any) -> None:
        with contextlib.suppress(*[KeyboardInterrupt] * swallows):
            terminate()

    monkeypatch.setattr(command_line, "run", run)
    monkeypatch.setattr(reading, "read_settings", lambda app, words: None)
    assert crib(name) == (143, "", "" if swallows else "stopped\n")


TINY = "--hidden-sizes 8 8 --num-envs 50"
# The interrupted work, the command, and its message.
LONG: dict[str, tuple[Any, str, str, str]] = {
    "deep_monte_carlo": (  # the signal is noted, and this iteration finishes
        *(deep_monte_carlo.Learner, "iterate", f"train --deals 100 {TINY} --eval-pairs 0"),
        "the run is saved after 50 deals; resume with",
    ),
    "deep_monte_carlo, measuring": (
        *(Strength, "measure", f"train --deals 100 {TINY} --eval-pairs 2"),
        "the run is saved after 0 deals; resume with",
    ),
    "ppo": (
        *(RunCallback, "_on_rollout_end", f"train ppo --timesteps 200 {TINY} --eval-pairs 0 --steps 2"),
        "the run is saved after 100 decisions; to resume",
    ),
    "mmd": (
        *(mmd.Learner, "columns", "train mmd --decisions 800 --num-envs 8 --num-evals 0"),
        "the run is saved after 256 decisions; resume with crib train mmd ",
    ),
    "tournament": (
        *(Ledger, "add", "tournament greedy random --pairs 4 --chunk 2 --workers 0"),
        "the same command resumes from the chunks",
    ),
}


@pytest.mark.parametrize("work", LONG)
def test_sigterm_saves_the_run_and_prints_how_to_resume(
    work: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, method, words, says = LONG[work]
    original = getattr(owner, method)

    def interrupted(*args: Any, **keywords: Any) -> Any:
        if not came:
            came.append(True)
            terminate()
        return original(*args, **keywords)

    came: list[bool] = []
    monkeypatch.setattr(owner, method, interrupted)
    folder = tmp_path / "a run"
    run = crib(*words.split(), "--out", str(folder), folder=tmp_path)
    assert came
    assert run.returncode == 143, run
    assert run.stderr.count("\n") == 1, run.stderr
    assert run.stderr.startswith(f"stopped: {says}")
    if " --resume " in run.stderr:
        assert shlex.split(run.stderr.rpartition(" --resume ")[2])[0] == str(folder)
    assert any(path.stat().st_size for path in folder.iterdir())
    if work == "deep_monte_carlo":
        assert Checkpoint.load(folder).about["deals"] == 50
        Weights.load(folder / "policy.safetensors")


def test_terminable_agent_cannot_swallow_sigterm() -> None:
    def swallow() -> None:
        with terminable(), interruptions() as came:
            with contextlib.suppress(KeyboardInterrupt):
                terminate()
            assert came == [signal.SIGTERM]

    with pytest.raises(SystemExit) as end:
        swallow()
    assert end.value.code == 143
    heard: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: heard.append(number))
    with terminable(), interruptions(note_first=True) as came:
        terminate()
    assert heard == [signal.SIGTERM]
    assert not came
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


@pytest.mark.parametrize(("number", "ends"), [(signal.SIGTERM, SystemExit), (signal.SIGINT, KeyboardInterrupt)])
def test_terminable_signal_in_a_callback_is_not_lost(number: signal.Signals, ends: type[BaseException]) -> None:
    """LLVM calls back while it compiles kernels; ctypes discards the handler's exception there."""
    came: list[int] = []

    @ctypes.CFUNCTYPE(None)
    def called() -> None:
        came.append(number)
        os.kill(os.getpid(), number)

    def work() -> None:
        with terminable():
            called()
            for _ in range(1000):
                time.sleep(0.01)

    with pytest.raises(ends):
        work()
    assert came == [number]
