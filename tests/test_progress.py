"""How far a command is, where it may write, and what it says when it is stopped."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest
from crib_training import progress
from crib_training.evaluation import evaluate
from crib_training.outputs import check_file, check_folder
from crib_training.progress import Progress, clock, steps
from crib_training.tables.files import start_table


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0.4, "0:00"), (65, "1:05"), (3600, "1:00:00"), (7325, "2:02:05")]
)
def test_a_clock_shows_hours_where_there_are_any(seconds: float, shown: str) -> None:
    assert clock(seconds) == shown


def test_away_from_a_terminal_there_is_a_line_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with Progress("deals", 1000, done=200) as one:
        for seconds in (10, 31, 40, 62):
            now[0] = seconds
            one.advance(100)
    assert capsys.readouterr().err.splitlines() == [
        "deals: 400 of 1,000 in 0:31, 1:33 left",  # 200 in 31 seconds, 600 to go
        "deals: 600 of 1,000 in 1:02, 1:02 left",
    ]


def test_in_a_terminal_there_is_a_bar_with_the_total(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    seen = []
    with Progress("deals", 50) as one:
        one.advance(20)
        one._bars.refresh()
        seen = capsys.readouterr().err
    assert "deals" in seen
    assert "20/50" in seen


def test_steps_are_all_yielded_in_order() -> None:
    assert list(steps([3, 1, 2], "things")) == [3, 1, 2]


def test_a_file_that_cannot_be_written_is_refused_before_the_work(tmp_path: Path) -> None:
    check_file(tmp_path / "new.json")
    with pytest.raises(IsADirectoryError, match="name a file"):
        check_file(tmp_path)
    with pytest.raises(FileNotFoundError, match="No such file or directory"):
        check_file(tmp_path / "no" / "new.json")
    taken = tmp_path / "taken"
    taken.touch()
    check_file(taken)
    check_folder(tmp_path / "a" / "b")
    assert not (tmp_path / "a").exists()
    with pytest.raises(NotADirectoryError, match="taken is a file"):
        check_folder(taken / "b")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write all")
def test_a_place_that_is_not_ours_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    for check in (check_file, check_folder):
        with pytest.raises(PermissionError, match="may not be written to"):
            check(tmp_path / "new")


@dataclass(frozen=True)
class Settings:
    """A table.

    Attributes:
        out: the file to write.
    """

    out: Path


def test_a_table_that_is_stopped_says_that_the_file_is_as_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(settings: Settings) -> None:
        raise KeyboardInterrupt

    out = tmp_path / "table.json"
    with pytest.raises(SystemExit) as end:
        start_table(Settings, stopped, ["--out", str(out)], "crib tables table")
    assert end.value.code == 1
    assert capsys.readouterr().err == f"stopped: {out} is as it was\n"
    with pytest.raises(SystemExit):
        start_table(Settings, stopped, ["--out", str(tmp_path)], "crib tables table")
    assert "is a folder: name a file" in capsys.readouterr().err


def test_an_evaluation_that_is_stopped_says_how_far_it_was(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from crib_training.command_line import main

    def stopped(*args: object, **keywords: object) -> None:
        keywords["finished"](7)  # type: ignore[operator]
        raise KeyboardInterrupt

    monkeypatch.setattr(evaluate, "play_pairs", stopped)
    with pytest.raises(SystemExit):
        main(["evaluate", "greedy", "random", "--pairs", "10"])
    said = capsys.readouterr().err
    assert said == "stopped: 7 of 40 games and deals were played; nothing is kept\n"


def test_what_excludes_each_other_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    from crib_training.command_line import main

    for words in ("--plain --adjusted", "--plain --no-duplicate"):
        with pytest.raises(SystemExit):
            main(["evaluate", "greedy", "random", *words.split()])
        assert "--plain excludes" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["evaluate", "greedy", "random", "--env", "table_top_v0", "--adjusted"])
    assert "luck is not known of games by the rules table_top" in capsys.readouterr().err


def test_evaluate_prints_both_or_without_duplicates_the_adjusted_alone(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    import json

    from crib_training.command_line import main

    shown = {}
    for words in ("", "--adjusted", "--no-duplicate"):
        out = tmp_path / "result.json"
        main(
            [
                "evaluate",
                "rule_based",
                "greedy",
                "--pairs",
                "20",
                "--json",
                str(out),
                *words.split(),
            ]
        )
        shown[words] = capsys.readouterr().out
        result = json.loads(out.read_text())
        assert (result["adjusted"] is not None) == bool(words)
        assert {"won", "margin", "points_per_deal"} <= set(result)
        assert result["duplicate"] == (words != "--no-duplicate")
    assert "adjusted" not in shown[""]
    assert "| adjusted" in shown["--adjusted"]
    assert "plain" in shown["--adjusted"]
    assert "games won, adjusted" in shown["--no-duplicate"]
    assert "plain" not in shown["--no-duplicate"]
