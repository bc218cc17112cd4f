"""Folders of runs: one command at a time, nothing overwritten, checkpoints as they were written."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from shutil import copy, copytree
from zipfile import ZipFile

import pytest
from crib_agents.files import BESIDE, SEAL
from crib_training.evaluation.chunks import Setup
from crib_training.learn import demo
from crib_training.methods import ppo
from crib_training.methods.deep_monte_carlo import train
from crib_training.outputs import CHECKPOINT, LOCK, MODEL, FolderInUseError, claimed, run_folder
from crib_training.tournament import tournament
from crib_training.workers import ThisProcess

from commands import crib
from research.solve import run as solve
from small_runs import small, small_ppo

HOLD = """
import sys, time
from pathlib import Path
from crib_training.outputs import claimed
with claimed(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


deep = partial(small, deals=200, num_envs=100, workers=1)

WRITERS: dict[str, Callable[[Path], object]] = {
    "deep_monte_carlo": lambda out: train(deep(out)),
    "ppo": lambda out: ppo.train(small_ppo(out)),
    "solve": lambda out: solve.solve(solve.Settings(iterations=1, out=out, progress=False)),
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run by each of two methods, to be copied from."""
    folder = tmp_path_factory.mktemp("runs")
    train(deep(folder / "deep"))
    ppo.train(small_ppo(folder / "ppo"))
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes()
            for path in folder.rglob("*") if path.is_file() and path.name != LOCK}  # fmt: skip


def test_claimed_refuses_a_second_command(tmp_path: Path) -> None:
    message = f"another command writes to {tmp_path}: wait until it has ended, or choose another"
    setup = Setup(agents=("greedy", "random"), environment="five_card_v0", chunk=2)
    others: dict[str, Callable[[Path], object]] = {
        "tournament": lambda out: tournament(setup, 2, out, ThisProcess()),
        "demo": lambda out: demo.run(demo.Settings(out=out)),
    }
    with claimed(tmp_path):
        for name, write in (WRITERS | others).items():
            with pytest.raises(FolderInUseError, match=message):
                write(tmp_path)
            assert not contents(tmp_path), name
        run = crib("train", "--deals", "100", "--out", str(tmp_path))
    assert (run.returncode, run.stderr.count("\n")) == (1, 1), run.stderr
    assert f"another command writes to {tmp_path}" in run.stderr


def test_claimed_folder_is_free_after_a_kill(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with pytest.raises(FolderInUseError), claimed(tmp_path):
            pass
        process.kill()
    with claimed(tmp_path):
        pass


def test_claimed_folder_is_free_after_end_or_failure(tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(KeyError), claimed(tmp_path):
            raise KeyError
    with claimed(tmp_path), pytest.raises(FolderInUseError), claimed(tmp_path):
        pass


@pytest.mark.parametrize("found", [CHECKPOINT, MODEL])
@pytest.mark.parametrize("name", WRITERS)
def test_train_refuses_to_overwrite_a_run(name: str, found: str, tmp_path: Path) -> None:
    (tmp_path / found).write_bytes(b"another's")
    before = contents(tmp_path)
    with pytest.raises(ValueError, match=f"holds a run: resume it with --resume {tmp_path}, or"):
        WRITERS[name](tmp_path)
    assert contents(tmp_path) == before


def test_resume_refuses_a_folder_with_another_run(runs: Path, tmp_path: Path) -> None:
    """The run to resume is in another folder: the run in this one would be lost."""
    mine, taken = runs / "deep", copytree(runs / "deep", tmp_path / "taken")
    before = contents(taken)
    for write in (
        lambda: train(deep(taken, resume=mine)),
        lambda: ppo.train(small_ppo(taken, resume=mine, trust=True)),
        lambda: solve.solve(solve.Settings(resume=mine, out=taken, progress=False)),
    ):
        with pytest.raises(ValueError, match=f"{taken} holds a run"):
            write()
    assert contents(taken) == before


def test_ppo_resumes_only_in_its_own_folder(runs: Path, tmp_path: Path) -> None:
    copytree(runs / "ppo", tmp_path, dirs_exist_ok=True)
    with pytest.raises(ValueError, match="holds a run"):
        ppo.train(small_ppo(tmp_path))
    ppo.train(small_ppo(tmp_path, resume=tmp_path, trust=True))
    ppo.train(small_ppo(tmp_path, resume=tmp_path / MODEL, trust=True))
    with pytest.raises(ValueError, match=f"resume: there is no {tmp_path}/new/{MODEL}"):
        small_ppo(tmp_path / "new", resume=tmp_path / "new" / MODEL, trust=True)
    (tmp_path / "new").mkdir()
    with pytest.raises(ValueError, match=f"no run to resume in {tmp_path}/new: it has no mod"):
        ppo.train(small_ppo(tmp_path / "new", resume=tmp_path / "new", trust=True))


def test_ppo_resume_refuses_other_settings(runs: Path, tmp_path: Path) -> None:
    copytree(runs / "ppo", tmp_path, dirs_exist_ok=True)
    before = contents(tmp_path)
    for changes, words in (
        ({"env": "five_card_v0"}, "env was six_card_v0, not five_card_v0"),
        ({"env": "table_top_v0"}, "env was six_card_v0, not table_top_v0"),
        ({"rules": "hoyle[target=91]"}, r"rules was None, not hoyle\[target=91\]"),
        ({"learning_rate": 0.1, "seed": 2}, "seed was 1, not 2; learning_rate was 0.002, not 0.1"),
        ({"hidden_sizes": (32, 16)}, r"hidden_sizes was \[16, 16\], not \[32, 16\]"),
    ):
        with pytest.raises(ValueError, match=f"{tmp_path} is another: {words}"):
            ppo.train(small_ppo(tmp_path, resume=tmp_path, trust=True, **changes))
    assert {name: contents(tmp_path)[name] for name in before} == before
    with ZipFile(tmp_path / MODEL, "a") as model:
        about = json.loads(model.read("data"))
        del about["run"]
        with warnings.catch_warnings(action="ignore"):  # of two parts of one name
            model.writestr("data", json.dumps(about))
    with pytest.raises(ValueError, match="is not of a run of `crib train ppo`"):
        ppo.train(small_ppo(tmp_path, resume=tmp_path, trust=True))


def test_finished_run_rewrites_missing_files_from_its_checkpoint(
    runs: Path, tmp_path: Path
) -> None:
    folder = copytree(runs / "deep", tmp_path / "deep")
    written = {name: data for name, data in contents(folder).items() if "tb/" not in name}
    names = sorted(written.keys() - {CHECKPOINT})
    for stale in (names[::2], names[1::2]):  # each is of an earlier run once, and lost once
        for name in names:
            (folder / name).unlink()
        for name in stale:
            (folder / name).write_bytes(b"stale")
        train(deep(folder, resume=folder))
        assert {name: (folder / name).read_bytes() for name in written} == written
    elsewhere = tmp_path / "elsewhere"
    train(deep(elsewhere, resume=folder))
    assert {name: (elsewhere / name).read_bytes() for name in written} == written


def test_ppo_resumes_without_its_lost_curve(runs: Path, tmp_path: Path) -> None:
    copytree(runs / "ppo", tmp_path, dirs_exist_ok=True)
    for name in ("policy.safetensors", "curve.csv"):
        (tmp_path / name).unlink()
    ppo.train(small_ppo(tmp_path, resume=tmp_path, trust=True))
    assert {"policy.safetensors", "curve.csv"} <= contents(tmp_path).keys()


def test_demo_run_twice_learns_the_same(tmp_path: Path) -> None:
    settings = demo.Settings(deals=64, pairs=2, out=tmp_path)
    written = []
    for _ in range(2):
        demo.learn_by_self_play(settings)
        policy = tmp_path / "deep_monte_carlo" / "policy.safetensors"
        written.append(policy.read_bytes())
        policy.write_bytes(b"of the first demo")
    assert written[0] == written[1]


def test_resume_removes_partial_files_of_a_killed_run(tmp_path: Path) -> None:
    half = tmp_path / f"{CHECKPOINT}.0123abcd{BESIDE}"
    half.write_bytes(b"half")
    with run_folder(tmp_path, None):
        assert not half.exists()


def flipped(data: bytes, place: float) -> bytes:
    """Return a file's bytes with a bit of one of them changed."""
    at = int(place * len(data))
    return data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :]


def test_resume_refuses_an_altered_checkpoint(runs: Path, tmp_path: Path) -> None:
    """What else may be wrong with a file is in tests/agents/test_files.py."""
    data = (runs / "deep" / CHECKPOINT).read_bytes()
    path = tmp_path / CHECKPOINT
    unsealed = data.replace(SEAL.encode(), b"sha257", 1)
    more_deals = data.replace(b'\\"deals\\": 200', b'\\"deals\\": 900')
    for altered in (unsealed, more_deals, flipped(data, 0.5), data[:-1]):
        assert altered != data
        path.write_bytes(altered)
        with pytest.raises(ValueError, match=f"^{path} is not a safetensors file of ours: "):
            train(deep(tmp_path, resume=tmp_path))


def damaged(path: Path) -> Path:
    """Flip a bit in the middle of a file; return its path."""
    path.write_bytes(flipped(path.read_bytes(), 0.5))
    return path


def test_resume_refuses_a_damaged_model(runs: Path, tmp_path: Path) -> None:
    path = damaged(Path(copy(runs / "ppo" / MODEL, tmp_path)))
    with pytest.raises(ValueError, match=f"{path} cannot be read"):
        ppo.train(small_ppo(tmp_path, resume=tmp_path, trust=True))
