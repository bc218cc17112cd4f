"""Figures in README, the paper and the pages equal those in the files of `docs/numbers`."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from crib_training.rate import read

from benchmarks.timing import page as speed_page
from docs.pages import render
from research import figures
from research.figures import PAGES, ROOT

# Made from files by templates; other tests compare these pages with their files.
MADE = ("docs/index.md", "docs/leaderboard.md", "docs/benchmark.md", "docs/numbers/")


# Code, expressions, targets of links, comments and the head of a file quote no figure.
NO_PROSE = re.compile(
    r"\A---\n.*?\n---\n|^(`{3,}).*?^\1$|\{\{.*?\}\}|\{%.*?%\}|`[^`\n]*`|(?<=\])\([^)]*\)|<!--.*?-->|<img[^>]*>|https?://\S+"
    r"|\[@[^\]]*\]",
    re.MULTILINE | re.DOTALL,
)
# Numbers of rules, names and settings: not measured.
PLAIN = re.compile(
    r"Python 3\.\d+|version \d+\.\d+\.\d+|OpenSpiel[^.]{0,60}2\.0\.2|95 %|121 points|to 121\b|5x5|to 61\b|towards 15"
    r"|(?<=15 )and 31\b|OFL-1\.1|12,994,800 hands|1,024 (?:six-card )?games|2\.5 GHz"
)
INTERVAL = re.compile(r"(?<![\d.])(\d[\d.]*)(?: %)? ± (\d[\d.]*)")
NUMBER = re.compile(r"(?<![\w.,-])\d+(?:,\d{3})*(?:\.\d+)?(?![\w]|[.,]\d)")


@pytest.mark.parametrize("name", PAGES)
def test_figures_templates_type_no_number(name: str) -> None:
    """Each figure is an expression, so that it comes from a file."""
    source = (ROOT / "docs" / "templates" / f"{name}.md.j2").read_text("utf-8")
    assert NUMBER.findall(PLAIN.sub("", " ".join(NO_PROSE.sub("", source).split()))) == []


@pytest.mark.parametrize("name", PAGES)
def test_figures_pages_equal_their_templates(name: str) -> None:
    assert PAGES[name].read_text("utf-8") == render(name, **figures.figures())


def test_speed_page_ratios_equal_the_results() -> None:
    results = (ROOT / "benchmarks" / "RESULTS.md").read_text("utf-8")
    known = set(re.findall(r"\|\s+([\d.]+) \|\s+([\d.]+ – [\d.]+), n=", results))
    quoted = re.findall(r"\| ([\d.]+), ([\d.]+ – [\d.]+) \|", (ROOT / "docs/engine.md").read_text())
    assert len(quoted) >= 3
    assert set(quoted) <= known


def every_interval() -> frozenset[tuple[str, str]]:
    """Return each mean and half interval of all files, to 0 to 4 decimals, also in per cent."""
    pairs: set[tuple[str, str]] = set()

    def add(mean: float, half: float) -> None:
        for scale in (1, 100):
            for places in range(5):
                pairs.add((f"{abs(scale * mean):.{places}f}", f"{scale * half:.{places}f}"))

    def walk(one: Any) -> None:
        if isinstance(one, list):
            if len(one) == 2 and all(isinstance(item, float) for item in one):
                add(*one)  # as the benchmark's ledger has them
            for item in one:
                walk(item)
        elif isinstance(one, dict):
            half = one.get("ci95")
            if half is not None and one.get("mean") is not None:
                add(one["mean"], half)
            for item in one.values():
                walk(item)
        elif isinstance(one, str):
            pairs.update(INTERVAL.findall(one))

    for path in figures.NUMBERS.glob("*.json"):
        walk(json.loads(path.read_text("utf-8")))
    for path in figures.NUMBERS.glob("*.jsonl"):
        for line in path.read_text("utf-8").splitlines():
            walk(json.loads(line))
    for path in (ROOT / "leaderboard").glob("*/*.json"):
        for opponent in read(path).games:
            walk(figures.won(path.parent.name, opponent, path.stem))
    return frozenset(pairs)


def test_figures_intervals_of_pages_are_in_files() -> None:
    known = every_interval()
    for folder in ("docs", "leaderboard", "agents/crib_agents/data"):
        for path in sorted((ROOT / folder).rglob("*.md")):
            name = path.relative_to(ROOT).as_posix()
            if "_build" not in path.parts and not name.startswith(MADE):
                found = [pair for pair in INTERVAL.findall(path.read_text("utf-8")) if pair not in known]
                assert found == [], f"{name}: no file of docs/numbers has {found}"


def test_figures_files_name_their_command() -> None:
    for path in figures.NUMBERS.glob("*.json"):
        data = json.loads(path.read_text("utf-8"))
        for one in data.get("records", [data]):
            commands = one.get("commands") or [one["command"]]
            assert all(re.match(r"(python|crib|pip|make) ", command) for command in commands), path.name


def test_benchmark_results_page_equals_its_file() -> None:
    page = (ROOT / "benchmarks" / "RESULTS.md").read_text("utf-8")
    assert page == speed_page(figures.stored("speed"))
