"""Agents of other packages: found by name, refused by name, and never in a built-in's place."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crib_agents import GreedyAgent

from checkout import TESTS
from crib_env import agent_names, find_agent, six_card_v0
from crib_env.batch import GameBatch
from crib_env.engine.cache import ENDING, cache_folder

CODE = """
class Mine:
    name = "mine"
    def act(self, views, rng):
        return views["hand"][:, 0]

class NoAgent:
    pass
"""


@pytest.fixture
def other_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that installs a package, ``card-sharks``, with an agent under a name."""

    def install(name: str, place: str) -> None:
        (tmp_path / "card_sharks.py").write_text(CODE)
        (tmp_path / "card_sharks_broken.py").write_text("import a_package_that_is_not_there")
        about = tmp_path / "card_sharks-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: card-sharks\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(f"[crib_env.agents]\n{name} = {place}\n")
        monkeypatch.syspath_prepend(str(tmp_path))
        assert any(point.value == place for point in entry_points(group="crib_env.agents"))

    yield install
    for module in ("card_sharks", "card_sharks_broken"):
        sys.modules.pop(module, None)


def test_entry_point_agent_of_another_package_is_found_by_name(other_package: Any) -> None:
    other_package("shark", "card_sharks:Mine")
    assert "shark" in agent_names()
    assert find_agent("shark").name == "mine"


def test_entry_point_cannot_replace_a_built_in_name(other_package: Any) -> None:
    other_package("greedy", "card_sharks:Mine")
    with pytest.warns(UserWarning, match=r"'card-sharks' has an agent 'greedy' too"):
        assert isinstance(find_agent("greedy"), GreedyAgent)
    with pytest.warns(UserWarning, match=r"'crib-env' is taken"):
        env = six_card_v0.gym_env(opponent="greedy")
    assert isinstance(env.batch.opponents[0], GreedyAgent)


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("card_sharks_broken:Mine", "ModuleNotFoundError: No module named 'a_package"),
        ("card_sharks:Nobody", "AttributeError"),
        ("card_sharks:NoAgent", "is not an agent: it needs a name and act"),
    ],
)
def test_entry_point_load_error_names_the_package(other_package: Any, place: str, message: str) -> None:
    other_package("shark", place)
    with pytest.raises(ValueError, match=message) as error:
        find_agent("shark")
    for word in ("'shark'", "'card-sharks'", place):
        assert word in str(error.value)
    with pytest.raises(ValueError, match="card-sharks"):
        six_card_v0.vector_env(2, opponent="shark")
    assert isinstance(find_agent("greedy"), GreedyAgent)  # the others are as they were


# --- an installed package: one function, played by name inside the compiled batch -----------------


HERE = TESTS / "third_party"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Return a folder in which the package is installed as pip would, without a network."""
    source, site = HERE / "low_cards", tmp_path / "site"
    shutil.copytree(source / "low_cards", site / "low_cards")
    project = tomllib.loads((source / "pyproject.toml").read_text())["project"]
    about = site / f"low_cards-{project['version']}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    lines = [
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in points.items())
        for group, points in project["entry-points"].items()
    ]
    (about / "entry_points.txt").write_text("\n".join(lines))
    return site


def test_third_party_agent_is_played_by_its_name(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(site))
    games = GameBatch("hoyle", 8, seed=1)
    games.reset()
    views = games.views(games.running())
    try:
        chosen = find_agent("low_cards").act(views, np.random.default_rng(1))
    finally:
        for module in ("low_cards", "low_cards.order"):
            sys.modules.pop(module, None)
    assert chosen.tolist() == views["hand"].min(axis=1).tolist()


def start(site: Path, cache: Path) -> dict[str, Any]:
    """Play in a separate process and return its output."""
    path = [str(site), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, HERE / "play.py", "low_cards"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path), "NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    output: dict[str, Any] = json.loads(done.stdout)
    return output


@pytest.mark.slow
def test_third_party_agent_is_compiled_once_and_after_changes_of_its_helper(site: Path, tmp_path: Path) -> None:
    """In the compiled batch; `test_fingerprint` edits an agent outside a batch."""
    cache = tmp_path / "cache"
    cache.mkdir()
    for file in cache_folder().glob(f"*{ENDING}"):  # this machine's compiled engine
        shutil.copy(file, cache)
    first = start(site, cache)
    assert first["chosen"] == first["lowest"] != first["highest"]
    assert first["compiled"] > 0
    files = {file: file.stat().st_mtime_ns for file in cache.glob(f"low_cards*{ENDING}")}
    assert files
    second = start(site, cache)
    assert second == {**first, "compiled": 0}
    assert files == {file: file.stat().st_mtime_ns for file in cache.glob(f"low_cards*{ENDING}")}
    helper = site / "low_cards/order.py"
    helper.write_text(helper.read_text().replace("card < other", "card > other"))
    third = start(site, cache)
    assert third["chosen"] == third["highest"]
    assert third["played"] != first["played"]
    assert third["compiled"] > 0
