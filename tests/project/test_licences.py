"""Everything that the wheel holds has a licence on the page of licences."""

from __future__ import annotations

import fnmatch
import re
import subprocess

import pytest

from checkout import ROOT

SOURCES = {
    "crib_env": "crib_env",
    "agents/crib_agents": "crib_agents",
    "play/crib_play": "crib_play",
    "training/crib_training": "crib_training",
    "leaderboard": "crib_training/leaderboard",
}


def shipped() -> list[str]:
    """The wheel's files, by their names in it."""
    listed = subprocess.run(
        ["git", "ls-files", *SOURCES], capture_output=True, text=True, cwd=ROOT
    ).stdout.split()
    if not listed:
        pytest.skip("what is shipped is known in a git checkout")
    return [
        inside + path.removeprefix(outside)
        for path in listed
        for outside, inside in SOURCES.items()
        if path.startswith(f"{outside}/")
    ]


def patterns() -> list[str]:
    """The patterns of the page's first column."""
    page = (ROOT / "docs" / "versions.md").read_text("utf-8")
    rows = [
        line.split("|")[1]
        for line in page.partition("## Licences")[2].splitlines()
        if line.startswith("|")
    ]
    return [pattern for row in rows for pattern in re.findall(r"`([^`]+)`", row)]


def test_every_file_of_the_wheel_has_a_licence_on_its_page() -> None:
    rows = patterns()
    unnamed = [
        name
        for name in shipped()
        if not any(fnmatch.fnmatch(name, row) for row in rows) and not name.endswith("LICENSE")
    ]
    assert not unnamed


def test_every_row_of_the_licences_names_a_file() -> None:
    names = shipped()
    for pattern in patterns():
        assert fnmatch.filter(names, pattern), pattern


def test_pages_load_nothing_from_elsewhere() -> None:
    for name in ("web", "replay"):
        for path in (ROOT / "play/crib_play" / name / "page").rglob("*.*"):
            text = path.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
            assert not re.search(r"(https?:)?//[\w-]+\.\w+/", text), path
