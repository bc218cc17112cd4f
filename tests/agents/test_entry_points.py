"""Agents of other packages: found by name, refused by name, and never in a built-in's place."""

from __future__ import annotations

import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
from crib_agents import GreedyAgent

from crib_env import agent_names, find_agent, six_card_v0

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
    """Return what installs a package, ``card-sharks``, with an agent under a name."""

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
def test_entry_point_load_error_names_the_package(
    other_package: Any, place: str, message: str
) -> None:
    other_package("shark", place)
    with pytest.raises(ValueError, match=message) as error:
        find_agent("shark")
    for word in ("'shark'", "'card-sharks'", place):
        assert word in str(error.value)
    with pytest.raises(ValueError, match="card-sharks"):
        six_card_v0.vector_env(2, opponent="shark")
    assert isinstance(find_agent("greedy"), GreedyAgent)  # the others are as they were
