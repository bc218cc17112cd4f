"""One folder of machine code shared by many processes: each plays as it would with an empty one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from numba.core import config

from checkout import ROOT, import_path
from crib_env.engine.cache import ENDING
from trajectories import FILE

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled"),
]

PLAYS = [
    ("six_card", "random"),
    ("six_card", "greedy"),
    ("six_card", "rule_based"),
    ("table_top two", "greedy"),
]
STARTS = 6
LIMIT = 1200  # seconds, for all starts of a test together

PEGGING = """
import json, os, sys, tempfile
from concurrent.futures import ThreadPoolExecutor
from numba.core import event
from trajectories import play_batch

plays, how, result = json.loads(sys.argv[1]), sys.argv[2], sys.argv[3]
played = {}

def play(names):
    for name, opponent in names:
        played[f"{name} against {opponent}"] = play_batch(name, opponent)

def write(result):
    with open(result, "w") as file:
        json.dump({"played": played, "compiled": len(recorder.buffer)}, file)

def fail(*_, **__):
    raise OSError(30, "Read-only file system")

with event.install_recorder("numba:compile") as recorder:
    if how == "threads":
        import crib_agents  # Python may refuse to import a package in several threads at once
        with ThreadPoolExecutor(len(plays)) as pool:
            list(pool.map(play, [[each] for each in plays]))
    elif how == "forks":
        play(plays[:1])
        children = []
        for i in range(2):
            if not (child := os.fork()):
                play(plays[1:] if i else plays[:0:-1])
                write(f"{result}.{i}")
                os._exit(0)
            children.append(child)
        play(plays[2:])
        assert not any(os.waitpid(child, 0)[1] for child in children)
        for i in range(2):
            with open(f"{result}.{i}") as file:
                of_child = json.load(file)["played"]
            assert all(played.setdefault(name, it) == it for name, it in of_child.items())
    elif how == "after others":  # which compile our kernels with options of their own
        import numba
        import numpy as np
        from crib_env.engine.rng import below

        @numba.njit(fastmath=True, error_model="python")
        def other(rng, n):
            return below(rng, n) / n

        other(np.arange(4), 3)
        below(np.arange(4), 3)
        play(plays)
    else:
        if how == "read only":
            tempfile.mkstemp = fail
        play(plays)
write(result)
"""


class Start:
    """A process that plays against some opponents, with machine code in a folder.

    Args:
        folder: where the machine code is.
        plays: names of batches and opponents, in order.
        how: "alone", "threads", "forks", "read only" or "after others".
        source: the folder of the package `crib_env`.
        variables: of the environment.
    """

    def __init__(
        self,
        folder: Path,
        plays: list[tuple[str, str]],
        how: str = "alone",
        source: Path = ROOT,
        **variables: str,
    ) -> None:
        folder.mkdir(exist_ok=True)
        Start.count += 1
        self.result = folder.parent / f"result-{Start.count}.json"
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder), **variables}
        self.process = subprocess.Popen(
            [sys.executable, "-c", PEGGING, json.dumps(plays), how, str(self.result)],
            env={**environment, "PYTHONPATH": import_path(source)},
            cwd=source,
            stderr=subprocess.PIPE,
            text=True,
        )

    count = 0

    def end(self) -> dict[str, Any]:
        """Wait for the process; return its digest of the games and its number of compilations."""
        _, errors = self.process.communicate(timeout=LIMIT)
        assert self.process.returncode == 0, errors
        found: dict[str, Any] = json.loads(self.result.read_text())
        return found


def known(plays: list[tuple[str, str]]) -> dict[str, str]:
    """Return the digests that were recorded of those games."""
    recorded = json.loads(FILE.read_text())
    return {key: recorded[key] for key in (f"{name} against {other}" for name, other in plays)}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that six processes filled at once, each in another order."""
    folder = tmp_path_factory.mktemp("shared") / "code"
    starts = []
    for i in range(STARTS):
        turn = i % len(PLAYS)
        order = PLAYS[turn:] + PLAYS[:turn]
        starts.append(Start(folder, order if i % 2 else order[::-1]))
    for start in starts:
        assert start.end()["played"] == known(PLAYS)
    return folder


@pytest.mark.parametrize("order", [PLAYS, PLAYS[::-1]], ids=["forwards", "backwards"])
def test_cache_simultaneous_cold_starts_store_complete_equal_code(
    filled: Path, order: list[tuple[str, str]]
) -> None:
    assert Start(filled, order).end() == {"played": known(PLAYS), "compiled": 0}


@pytest.mark.parametrize("threads", ["1", "4"])
def test_cache_number_of_threads_changes_nothing(filled: Path, threads: str) -> None:
    numbers = {"NUMBA_NUM_THREADS": threads, "OMP_NUM_THREADS": threads}
    assert Start(filled, PLAYS, **numbers).end() == {"played": known(PLAYS), "compiled": 0}


@pytest.mark.parametrize("how", ["threads", "forks", "after others"])
def test_cache_unusual_compilation_plays_alike(tmp_path: Path, how: str) -> None:
    folder = tmp_path / "code"
    assert Start(folder, PLAYS, how).end()["played"] == known(PLAYS)
    assert Start(folder, PLAYS).end()["played"] == known(PLAYS)
    assert Start(folder, PLAYS[::-1]).end() == {"played": known(PLAYS), "compiled": 0}


def copied_package(source: Path) -> Path:
    """Copy `crib_env` without its machine code, which every process reads."""
    shutil.copytree(ROOT / "crib_env", source / "crib_env",
                    ignore=shutil.ignore_patterns("__pycache__"))  # fmt: skip
    return source


def test_cache_half_unwritable_folder_plays_alike(filled: Path, tmp_path: Path) -> None:
    folder, source = tmp_path / "code", copied_package(tmp_path / "source")
    shutil.copytree(filled, folder)
    for file in sorted(folder.glob(f"*{ENDING}"))[::2]:
        file.unlink()
    before = sorted(folder.iterdir())
    found = Start(folder, PLAYS, "read only", source).end()
    assert found["played"] == known(PLAYS)
    assert found["compiled"] > 0
    assert sorted(folder.iterdir()) == before


def test_cache_two_versions_in_one_folder_play_as_alone(filled: Path, tmp_path: Path) -> None:
    folder, source = tmp_path / "code", copied_package(tmp_path / "other")
    shutil.copytree(filled, folder)
    generator = source / "crib_env/engine/rng.py"
    text = generator.read_text()
    assert text.count("rng[0] = b ^ (b >> 9)") == 1, "the line this test edits has changed"
    generator.write_text(text.replace("rng[0] = b ^ (b >> 9)", "rng[0] = b ^ (b >> 8)"))
    plays = PLAYS[:2]
    alone = Start(tmp_path / "alone", plays, source=source).end()["played"]
    assert alone != known(plays)
    for compiled in (True, False):
        ours, theirs = Start(folder, plays), Start(folder, plays, source=source)
        assert ours.end() == {"played": known(plays), "compiled": 0}
        found = theirs.end()
        assert found["played"] == alone
        assert (found["compiled"] > 0) == compiled
