"""One folder of machine code shared by many processes: each plays as it would with an empty one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from numba.core import config

from checkout import ROOT, import_path
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
import json, os, sys
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
    else:
        play(plays)
write(result)
"""


class Start:
    """A process that plays against some opponents, with machine code in a folder.

    Args:
        folder: where the machine code is.
        plays: names of batches and opponents, in order.
        how: "alone", "threads" or "forks".
    """

    def __init__(self, folder: Path, plays: list[tuple[str, str]], how: str = "alone") -> None:
        folder.mkdir(exist_ok=True)
        Start.count += 1
        self.result = folder.parent / f"result-{Start.count}.json"
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder)}
        self.process = subprocess.Popen(
            [sys.executable, "-c", PEGGING, json.dumps(plays), how, str(self.result)],
            env={**environment, "PYTHONPATH": import_path(ROOT)},
            cwd=ROOT,
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


@pytest.mark.parametrize("how", ["threads", "forks"])
def test_cache_unusual_compilation_plays_alike(tmp_path: Path, how: str) -> None:
    folder = tmp_path / "code"
    assert Start(folder, PLAYS, how).end()["played"] == known(PLAYS)
    assert Start(folder, PLAYS).end()["played"] == known(PLAYS)
    assert Start(folder, PLAYS[::-1]).end() == {"played": known(PLAYS), "compiled": 0}
