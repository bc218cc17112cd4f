"""`make` sets up `.venv`: where PyTorch comes from."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from checkout import ROOT

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
PYTHON = """#!/bin/sh
echo "$*" >> {log}
case "$*" in
    *importlib.metadata*) exit 1 ;;  # no torch is installed
    *"index versions torch"*) echo "Available versions: {index_has}"; exit {silent} ;;
    *"install"*download.pytorch.org*) exit {stalls} ;;
esac
"""


def _make(
    tmp_path: Path, index_has: str = "", silent: bool = False, stalls: bool = False
) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    """Run `make` with a Python that installs nothing; return the run and how Python was called."""
    log, python = tmp_path / "log", tmp_path / "venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(PYTHON.format(log=log, index_has=index_has, silent=int(silent), stalls=int(stalls)))
    python.chmod(0o755)
    venv = tmp_path / "venv"
    command = ["make", f"VENV={venv}", f"{venv}/.installed"]
    environment = os.environ | {"MAKEFLAGS": ""}
    made = subprocess.run(command, cwd=ROOT, text=True, check=False, capture_output=True, env=environment)
    return made, log.read_text().splitlines()


def _torch() -> str:
    return re.findall("^torch==(.*)", (ROOT / "constraints.txt").read_text(), re.MULTILINE)[0]


def test_make_takes_the_cpu_build_of_torch_from_its_index(tmp_path: Path) -> None:
    made, (_, asked, torch, *_, package) = _make(tmp_path, f"2.0.1+cpu, {_torch()}+cpu")
    assert made.returncode == 0, made.stderr
    assert "--retries 0 --timeout 10" in asked
    assert not {"--timeout", "--retries"} & {*torch.split()}, "a stall of the download needs pip's own patience"
    assert torch.endswith(f"--index-url https://download.pytorch.org/whl/cpu torch=={_torch()}")
    assert "--index-url" not in package, "the rest comes from pip's own index, or a mirror of it"
    assert package.endswith("--editable .[train,play,web,render,dev]")


@pytest.mark.parametrize(("index_has", "silent"), [("", True), ("2.0.1+cpu", False)])
def test_make_takes_torch_from_pips_own_index_where_the_cpu_index_has_none(
    tmp_path: Path, index_has: str, silent: bool
) -> None:
    made, (_, _, package) = _make(tmp_path, index_has, silent)
    assert made.returncode == 0, made.stderr
    assert package.endswith("--editable .[train,play,web,render,dev]")


def test_make_stops_where_the_download_of_the_cpu_build_fails(tmp_path: Path) -> None:
    made, calls = _make(tmp_path, f"{_torch()}+cpu", stalls=True)
    assert made.returncode != 0
    assert not any("--editable" in call for call in calls), "that would bring the CUDA build"
    assert "run make again" in made.stderr
