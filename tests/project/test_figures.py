"""Figures in README, the paper and the pages equal those in the files of `docs/numbers`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from benchmarks.timing import page as speed_page
from research import figures
from research.figures import ROOT, STRICT, unsourced

# Each is made of its file by a template, and other tests compare them.
MADE = ("docs/leaderboard.md", "docs/benchmark.md", "docs/numbers/")
WORDS = ["four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


@pytest.mark.parametrize("name", STRICT)
def test_figures_of_readme_and_paper_have_a_source(name: str) -> None:
    assert unsourced((ROOT / name).read_text("utf-8")) == []


def test_speed_page_ratios_equal_the_results() -> None:
    results = (ROOT / "benchmarks" / "RESULTS.md").read_text("utf-8")
    known = set(re.findall(r"\|\s+([\d.]+) \|\s+([\d.]+ – [\d.]+), n=", results))
    quoted = re.findall(r"\| ([\d.]+), ([\d.]+ – [\d.]+) \|", (ROOT / "docs/engine.md").read_text())
    assert len(quoted) >= 3
    assert set(quoted) <= known


def test_figures_of_exploitability_name_their_kind() -> None:
    claim = "In the five-card deal `equilibrium` has 0.0113 ± 0.0010"
    assert unsourced(f"{claim} (exact).") == []
    assert unsourced(f"{claim}.")
    assert unsourced("Six cards: `expert` has 0.2057 ± 0.0427, exact.")


@pytest.mark.parametrize(
    "name",
    sorted(
        path.relative_to(ROOT).as_posix()
        for folder in ("docs", "leaderboard", "agents/crib_agents/data")
        for path in (ROOT / folder).rglob("*.md")
        if "_build" not in path.parts and not path.relative_to(ROOT).as_posix().startswith(MADE)
    ),
)
def test_figures_intervals_of_pages_are_in_files(name: str) -> None:
    text = (ROOT / name).read_text("utf-8")
    known = figures.every_interval()
    found = [pair for pair in figures.INTERVAL.findall(text) if pair not in known]
    assert found == [], f"{name}: no file of docs/numbers has {found}"


@pytest.mark.parametrize("path", sorted(figures.NUMBERS.glob("*.json")), ids=lambda path: path.name)
def test_figures_files_name_their_command(path: Path) -> None:
    data = json.loads(path.read_text("utf-8"))
    for one in data.get("records", [data]):
        commands = one.get("commands") or [one["command"]]
        assert all(re.match(r"(python|crib|pip|make) ", command) for command in commands)


def test_benchmark_results_page_equals_its_file() -> None:
    page = (ROOT / "benchmarks" / "RESULTS.md").read_text("utf-8")
    assert page == speed_page(figures.stored("speed"))
