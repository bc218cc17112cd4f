"""An agent of another package: one function, played by name inside the compiled batch."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from checkout import TESTS
from crib_env.engine.cache import ENDING, cache_folder

HERE = TESTS / "third_party"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Return a folder in which the package is installed as pip would, without a network."""
    source, site = HERE / "low_cards", tmp_path / "site"
    shutil.copytree(source / "low_cards", site / "low_cards")
    project = tomllib.loads((source / "pyproject.toml").read_text())["project"]
    about = site / f"low_cards-{project['version']}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    lines = [
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in points.items())
        for group, points in project["entry-points"].items()
    ]
    (about / "entry_points.txt").write_text("\n".join(lines))
    return site


def start(site: Path, cache: Path, where: str) -> dict[str, Any]:
    """Play in a separate process and return its output."""
    path = [str(site), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, HERE / "play.py", "low_cards", where],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path), "NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    output: dict[str, Any] = json.loads(done.stdout)
    return output


@pytest.mark.parametrize("where", ["alone", pytest.param("batch", marks=pytest.mark.slow)])
def test_third_party_agent_is_compiled_once_and_after_changes_of_its_helper(
    where: str, site: Path, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    for file in cache_folder().glob(f"*{ENDING}"):  # this machine's compiled engine
        shutil.copy(file, cache)
    first = start(site, cache, where)
    assert first["chosen"] == first["lowest"] != first["highest"]
    assert first["compiled"] > 0
    files = {file: file.stat().st_mtime_ns for file in cache.glob(f"low_cards*{ENDING}")}
    assert files
    second = start(site, cache, where)
    assert second == {**first, "compiled": 0}
    assert files == {file: file.stat().st_mtime_ns for file in cache.glob(f"low_cards*{ENDING}")}
    helper = site / "low_cards/order.py"
    helper.write_text(helper.read_text().replace("card < other", "card > other"))
    third = start(site, cache, where)
    assert third["chosen"] == third["highest"]
    assert third["played"] != first["played"]
    assert third["compiled"] > 0
