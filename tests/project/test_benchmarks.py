"""The benchmarks run, and their output states the measurements."""

from __future__ import annotations

import json
from importlib import import_module

import pytest

from benchmarks import __main__ as command
from benchmarks import endurance, peers
from benchmarks.timing import Findings, Piece, Row, Settings, machine, over_peers, page, race, ratio

TINY = Settings(seconds=0.0, repeats=1, peers=False, quick=True)
# `start` recompiles everything in separate processes, and some train: too long for
# a test that is not about them. `python -m benchmarks --quick` runs them.
TRAINS = ("sb3", "learning")
FAST = [name for name in command.SCRIPTS if name not in ("start", *TRAINS)]


def test_contenders_take_turns_and_the_first_run_of_each_does_not_count():
    order = []

    def contender(name: str) -> Piece:
        def piece() -> tuple[int, float]:
            order.append(name)
            return len(order), 1.0

        return piece

    pieces = {name: contender(name) for name in ("a", "b")}
    rows = race(pieces, "decisions/s", Settings(0.0, repeats=2))
    assert order == ["a", "b", "a", "b", "b", "a"]
    assert [row.values for row in rows.values()] == [(3.0, 6.0), (4.0, 5.0)]


def test_ratios_are_taken_within_each_repeat():
    ours = Row("ours", "decisions/s", (10.0, 40.0))
    theirs = Row("theirs", "decisions/s", (5.0, 10.0), peer=True)
    (found,) = over_peers(ours, [ours, theirs])
    assert found.values == (2.0, 4.0)
    assert found.name == "ours / theirs"
    figures = found.as_json()
    assert [figures[name] for name in ("median", "least", "greatest", "n")] == [3.0, 2.0, 4.0, 2]


def test_speed_page_puts_ratios_first_and_names_machine_and_command():
    row = Row("raw_env", "decisions/s", (1e5, 2e5, 3e5))
    found = Findings("AEC", [row], [ratio("raw_env / peer", row, row)], ["peer was left out"])
    data = {"command": "python -m benchmarks", "machine": machine(), "seconds": 0.01, "repeats": 3, "quick": True}
    text = page({**data, "findings": {"aec": found.as_json()}})
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert headings == ["# Results", "## Ratios", "## AEC"]
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "| raw_env | 200 k decisions/s | 100 – 300 k decisions/s, n=3 |" in lines
    assert "| raw_env / peer | 1.00 | 1.00 – 1.00, n=3 |" in lines
    assert "- peer was left out" in lines
    assert "Made by `python -m benchmarks`." in text
    assert machine()[0] in text
    assert "the figures mean nothing" in text


SLOW = {name: pytest.param(name, marks=pytest.mark.slow) for name in ("learned", "baselines")}


@pytest.mark.parametrize("name", [SLOW.get(name, name) for name in [*FAST, "baselines"]])
def test_benchmark_scripts_measure_their_listed_quantities(name):
    module = import_module(f"benchmarks.{(command.SCRIPTS | command.NAMED)[name]}")
    found = getattr(module, f"measure_{name}")(TINY)
    assert found.rows
    for row in [*found.rows, *found.ratios]:
        assert all(value > 0 for value in row.values), row.name
    assert found.as_json()["title"] == found.title


def test_benchmark_partial_or_quick_run_keeps_the_results(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(command, "FULL", TINY)
    monkeypatch.setattr(command, "SCRIPTS", {"hands": "agents"})
    results, numbers = tmp_path / "RESULTS.md", tmp_path / "speed.json"
    monkeypatch.setattr(command, "RESULTS", results)
    monkeypatch.setattr(command, "NUMBERS", numbers)
    for given in (["--quick"], ["--only", "hands"], ["--no-peers"]):
        command.main(given)
        assert "all hands enumerated" in capsys.readouterr().out
        assert not results.exists()
    command.main([])
    assert "all hands enumerated" in results.read_text()
    assert json.loads(numbers.read_text())["findings"]["hands"]["rows"]
    numbers.unlink()
    monkeypatch.setattr(command, "SCRIPTS", {"hands": "agents", "text": "nowhere"})
    command.main([])
    assert not numbers.exists()


def test_results_are_written_where_asked(tmp_path, capsys):
    command.main(["--quick", "--only", "hands", "--out", str(tmp_path / "found.md")])
    found = (tmp_path / "found.md").read_text()
    assert "all hands enumerated" in found
    assert found in capsys.readouterr().out


@pytest.mark.parametrize(
    ("module", "play"), [("pyspiel", peers.open_spiel_cribbage), ("rlcard", lambda: peers.rlcard_game("gin-rummy"))]
)
def test_benchmark_peer_runs_where_installed(module, play):
    pytest.importorskip(module)
    assert play()() >= peers.A_PIECE


@pytest.mark.slow  # it compiles
@pytest.mark.parametrize(("rules", "episode", "players"), endurance.KINDS)
def test_endurance_plays_to_the_end(rules: str, episode: str, players: int) -> None:
    row = endurance.endure(rules, episode, players, 20, seed=3)
    assert row.startswith(f"| {rules} | {episode} | {players} | 20 |")
