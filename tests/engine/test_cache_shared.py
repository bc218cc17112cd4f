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
LIMIT = 1200  # seconds, for all starts together

CODE = """
import json, sys
from numba.core import event
from trajectories import play_batch

with event.install_recorder("numba:compile") as recorder:
    played = {f"{name} against {other}": play_batch(name, other)
              for name, other in json.loads(sys.argv[1])}
print(json.dumps({"played": played, "compiled": len(recorder.buffer)}))
"""


def start(folder: Path, plays: list[tuple[str, str]]) -> subprocess.Popen[str]:
    """Start a process that plays against some opponents, with machine code in a folder."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": import_path(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-c", CODE, json.dumps(plays)],
        env=environment, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def end(process: subprocess.Popen[str]) -> dict[str, Any]:
    """Wait for a process; return its digests of the games and its number of compilations."""
    output, errors = process.communicate(timeout=LIMIT)
    assert process.returncode == 0, errors
    found: dict[str, Any] = json.loads(output)
    return found


def test_cache_simultaneous_cold_starts_store_complete_equal_code(tmp_path: Path) -> None:
    """Six processes fill the folder at once, each in another order."""
    recorded = json.loads(FILE.read_text())
    known = {key: recorded[key] for key in (f"{name} against {other}" for name, other in PLAYS)}
    starts = []
    for i in range(STARTS):
        turn = i % len(PLAYS)
        order = PLAYS[turn:] + PLAYS[:turn]
        starts.append(start(tmp_path, order if i % 2 else order[::-1]))
    for process in starts:
        assert end(process)["played"] == known
    for order in (PLAYS, PLAYS[::-1]):
        assert end(start(tmp_path, order)) == {"played": known, "compiled": 0}
