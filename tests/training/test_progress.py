"""Progress of commands, writable outputs, and messages of interrupted commands."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path

import numpy as np
import pytest
from crib_agents import RandomAgent
from crib_agents.data.tables import ENDGAME_SHIFT
from crib_training import progress
from crib_training.command_line import start
from crib_training.evaluation import evaluate
from crib_training.loading import find_game
from crib_training.progress import Progress, clock

from commands import crib
from crib_env.policy import Actions, Views
from crib_env.settings import Seed, check_file, check_folder
from research.tables.maker import makes


@pytest.mark.parametrize(("seconds", "shown"), [(0.4, "0:00"), (65, "1:05"), (3600, "1:00:00"), (7325, "2:02:05")])
def test_clock_shows_hours_only_if_any(seconds: float, shown: str) -> None:
    assert clock(seconds) == shown


def test_progress_without_terminal_prints_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with Progress("deals", 1000, done=200) as one:
        for seconds in (10, 31, 40, 62):
            now[0] = seconds
            one.advance(100)
    assert capsys.readouterr().err.splitlines() == [
        # After the first 100, which took ten seconds, 100 in 21 seconds and 300 in 52.
        "deals: 400 of 1,000 in 0:31, 2:06 left",
        "deals: 600 of 1,000 in 1:02, 1:09 left",
    ]


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_estimate_excludes_compiling(
    terminal: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    if terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("TERM", "xterm")
    shown = []
    with Progress("deals", 8000) as one:
        for seconds, by in ((40, 0.0), (41, 0.5), (72, 0.01), (75, 99.49), (110, 100)):
            now[0] = seconds
            one.advance(by)
            if one._bars is not None:
                one._bars.refresh()
            shown.append(capsys.readouterr().err)
    early = "".join(shown[:3]).replace("in 0:40", "").replace("in 1:12", "")
    assert not re.search(r" left|\d:\d\d", early)
    if terminal:
        assert "-:--" in shown[2]
        assert "44:59" in shown[3]
    else:
        assert "0 of 8,000 in 0:40" in shown[0]
    assert ("44:58" if terminal else "200 of 8,000 in 1:50, 44:58 left") in shown[4]


def test_progress_of_a_resumed_command_has_no_estimate_before_its_first_result() -> None:
    one = Progress("deals", 100, done=40)
    assert one.left() == ""
    one.move_to(40)
    assert one.left() == ""


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write all")
def test_check_file_and_check_folder_need_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    for check in (check_file, check_folder):
        with pytest.raises(PermissionError, match="no permission to write to"):
            check(tmp_path / "new")


def test_table_maker_stopped_reports_the_file_unchanged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    @makes(ENDGAME_SHIFT)
    def stopped(seed: Seed = 1) -> None:
        """Make a table.

        Args:
        """
        raise KeyboardInterrupt

    out = tmp_path / "table.npz"
    with pytest.raises(SystemExit) as end:
        start(stopped.Settings, stopped.run, ["--out", str(out)], "the table")
    assert end.value.code == 1
    assert capsys.readouterr().err == f"stopped: {out} is as it was\n"
    with pytest.raises(SystemExit):
        start(stopped.Settings, stopped.run, ["--out", str(tmp_path)], "the table")
    assert "is a folder: name a file" in capsys.readouterr().err


def test_evaluate_stopped_reports_its_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*args: object, **keywords: object) -> None:
        keywords["finished"](7)  # type: ignore[operator]
        raise KeyboardInterrupt

    monkeypatch.setattr(evaluate, "play_pairs", stopped)
    message = crib("evaluate", "greedy", "random", "--pairs", "10").stderr
    assert message == "stopped: 7 of 40 games and deals were played; nothing is written\n"


def test_evaluate_prints_both_figures_or_without_duplicates_the_adjusted(tmp_path: Path) -> None:
    shown = {}
    for words in ("", "--adjust always", "--no-duplicate"):
        out = tmp_path / "result.json"
        evaluated = ["evaluate", "rule_based", "greedy", "--pairs", "20", "--json", str(out)]
        shown[words] = crib(*evaluated, *words.split()).stdout
        result = json.loads(out.read_text())
        assert (result["adjusted"] is not None) == bool(words)
        for name in ("won", "margin_per_deal", "points_per_deal"):
            assert result[name].keys() >= {"mean", "ci95"}
        points = result["points_per_deal"]
        phases = [points[role]["rule_based"].values() for role in ("pone", "dealer")]
        assert points["mean"] == pytest.approx(sum(p["mean"] for one in phases for p in one) / 2)
        assert result["duplicate"] == (words != "--no-duplicate")
        if words:
            for times in result["adjusted"]["times_fewer_pairs"].values():
                assert f"({times:.2f})" in shown[words]
    assert "adjusted" not in shown[""]
    assert "| adjusted (times fewer pairs)" in shown["--adjust always"]
    assert "plain" in shown["--adjust always"]
    assert "games won, adjusted" in shown["--no-duplicate"]
    assert "plain" not in shown["--no-duplicate"]


def test_evaluate_prints_forfeits_and_speed_and_ends_with_status_1(tmp_path: Path) -> None:
    out = tmp_path / "result.json"
    words = ["evaluate", "greedy", "failing_agents:Raises", "--pairs", "9", "--json"]
    run = crib(*words, str(out))
    assert run.returncode == 1
    result = json.loads(out.read_text())
    lost = result["forfeits"]["raises"]
    assert lost > 0
    assert result["forfeits"]["greedy"] == 0
    assert result["won"]["mean"] > 0.5
    for name, speed in result["decisions_per_second"].items():
        assert re.search(rf"\| {name} +\| {result['forfeits'][name]} +\| {speed:,.0f} ", run.stdout)
    assert f"- raises, raised: {lost}\n  - KeyError: 'no book move' ({lost})" in run.stdout
    why = f"KeyError: 'no book move' (forfeited: raises {lost})"
    assert run.stderr == f"error: 'raises' failed: {why}\n"


def test_evaluate_times_no_compilation_without_games() -> None:
    class Slow(RandomAgent):
        name = "slow"

        def act(self, views: Views, rng: np.random.Generator) -> Actions:
            if len(views) and not hasattr(self, "ready"):
                self.ready = True
                time.sleep(0.5)
            return super().act(views, rng)

    maker, rules = find_game("discard_v0")
    result = evaluate.evaluate(maker, rules, Slow(), "random", 1, 1, games=False)
    assert result["decisions_per_second"]["slow"] > 4 / 0.5  # its four decisions


def test_evaluate_names_the_failing_agent_in_every_deal() -> None:
    words = "evaluate failing_agents:Never random --env table_top_v0 --pairs 1 --no-games"
    run = crib(*words.split())
    assert run.returncode == 1
    assert "points per deal more than" not in run.stdout
    assert "no idea" in run.stderr
    assert "(forfeited: never 2)" in run.stderr
