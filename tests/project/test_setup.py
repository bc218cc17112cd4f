"""`make` sets up `.venv`: where PyTorch comes from."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from checkout import ROOT

PYTHON = """#!/bin/sh
echo "$*" >> {log}
case "$*" in
    *importlib.metadata*) exit 1 ;;  # no torch is installed
    *download.pytorch.org*) exit {cpu_index} ;;
esac
"""


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
@pytest.mark.parametrize("answers", [True, False])
def test_make_takes_the_cpu_build_of_torch_where_its_index_answers(
    tmp_path: Path, answers: bool
) -> None:
    log, python = tmp_path / "log", tmp_path / "venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(PYTHON.format(log=log, cpu_index=0 if answers else 1))
    python.chmod(0o755)
    venv = tmp_path / "venv"
    made = subprocess.run(
        ["make", f"VENV={venv}", f"{venv}/.installed"], cwd=ROOT, text=True, check=True,
        capture_output=True, env=os.environ | {"MAKEFLAGS": ""},
    )  # fmt: skip
    _, torch, *_, package = log.read_text().splitlines()
    assert "--retries 0 --timeout 10 torch==" in torch
    assert "--index-url" not in package, "the rest comes from pip's own index, or a mirror of it"
    assert package.endswith("--editable .[train,play,web,render,dev]")
    (said,) = [line for line in made.stdout.splitlines() if "setup: torch==" in line]
    assert ("from https://download.pytorch.org/whl/cpu" in said) == answers
    assert ("from pip's own index" in said) != answers
