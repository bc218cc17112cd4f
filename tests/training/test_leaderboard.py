"""`crib rate` and the leaderboard: from an agent to a row beside the built-in ones."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crib_training import rating
from crib_training.loading import find_env

from crib_env import find_agent
from docs import make_leaderboard

SIX = "six_card_v0.json"


@pytest.fixture
def _quick_field(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rating, "BUILT_IN", ("rule_based", "greedy", "random"))


def play(name: str, pairs: int = 20, seed: int = 1) -> rating.Results:
    maker = find_env("six_card_v0")
    return rating.play(maker, find_agent("rule_based"), pairs, seed, name=name)


@pytest.mark.usefixtures("_quick_field")
def test_an_agent_meets_every_built_in_one_but_itself_and_the_same_again() -> None:
    results = play("mine")
    assert set(results.games) == {"rule_based", "greedy", "random"}
    assert all(sum(counts) == 20 and len(counts) == 5 for counts in results.games.values())
    assert play("mine") == results
    assert play("mine", seed=2) != results
    assert set(play("rule_based").games) == {"greedy", "random"}
    won = {name: results.won(name).mean() / 2 for name in results.games}
    assert won["random"] > 0.9
    assert won["rule_based"] == 0.5  # against itself, the same games with the seats swapped


def test_the_table_joins_what_both_of_two_agents_played() -> None:
    def entry(name: str, **games: list[int]) -> rating.Results:
        pairs = sum(next(iter(games.values())))
        return rating.Results(name, "six_card_v0", "hoyle", 2, pairs, 1, {}, games)

    table = rating.rating_table([
        entry("mine", greedy=[0, 0, 0, 0, 100], random=[0, 0, 0, 0, 100]),
        entry("greedy", mine=[0, 0, 100, 0, 0], random=[0, 0, 0, 0, 100]),
        entry("random", greedy=[100, 0, 0, 0, 0]),
    ])  # fmt: skip
    rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in table.splitlines()[2:]]
    assert [row[1] for row in rows] == ["mine", "greedy", "random"]
    columns = [cell.strip() for cell in table.splitlines()[0].split("|")[1:-1]]
    # 100 pairs won outright and 100 of a game each: three quarters of the games.
    assert rows[0][columns.index("greedy")].startswith("75.0 ± ")
    assert rows[1][columns.index("random")] == "100.0 ± 0.0"


@pytest.mark.usefixtures("_quick_field")
def test_a_row_is_printed_and_written_as_the_leaderboard_takes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    board = tmp_path / "leaderboard"
    monkeypatch.setattr(rating, "folder", lambda: board)
    for name in rating.BUILT_IN:
        rating.run(rating.Settings(name, pairs=5, out=board / name))
    rating.run(rating.Settings("rule_based", name="mine", pairs=5, out=board / "mine"))
    printed = capsys.readouterr().out
    assert "| mine" in printed.rpartition("In ")[0]
    results = rating.read(board / "mine" / SIX)
    assert results.name == "mine"
    assert all(f"## {heading}" in (board / "mine/card.md").read_text()
               for heading in rating.HEADINGS)  # fmt: skip


# --- the leaderboard ----------------------------------------------------------------------------


def test_all_of_the_leaderboard_fits_and_the_page_is_made_of_it() -> None:
    found = make_leaderboard.entries()
    assert [fault for name, files in found.items()
            for fault in make_leaderboard.faults(name, files)] == []  # fmt: skip
    assert make_leaderboard.PAGE.read_text() == make_leaderboard.page()


SPOILED: dict[str, tuple[dict[str, Any], str]] = {
    "another name": ({"name": "yours"}, "of 'yours'"),
    "too few": ({"pairs": 3}, "3 pairs an opponent"),
    "other rules": ({"rules": "five_card"}, "'five_card'"),
    "no version": ({"versions": {}}, "which version"),
    "not all met": ({"games": {"greedy": [0, 0, 250, 0, 0]}}, "not met"),
    "no counts": ({"games": {"greedy": [1, 2]}}, "pairs against greedy"),
    "no environment": ({"environment": "whist_v0"}, "whist_v0"),
}


@pytest.mark.parametrize("how", SPOILED)
def test_a_submission_that_does_not_fit_is_told_why(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change, says = SPOILED[how]
    mine = tmp_path / "mine"
    shutil.copytree(rating.folder() / "greedy", mine)
    results = replace(rating.read(mine / SIX), name="mine")
    (mine / SIX).write_text(json.dumps(asdict(replace(results, **change))))
    monkeypatch.setattr(make_leaderboard, "folder", lambda: tmp_path)
    assert any(says in fault for fault in make_leaderboard.faults("mine", [mine / SIX]))


def test_a_card_that_says_nothing_is_sent_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = tmp_path / "mine"
    shutil.copytree(rating.folder() / "greedy", mine)
    results = replace(rating.read(mine / SIX), name="mine")
    (mine / SIX).write_text(json.dumps(asdict(results)))
    (mine / "card.md").write_text(rating.card(results))
    monkeypatch.setattr(make_leaderboard, "folder", lambda: tmp_path)
    assert any("card.md must say" in fault for fault in make_leaderboard.faults("mine", []))
    (mine / SIX).write_text("{}")
    assert any("no results" in f for f in make_leaderboard.faults("mine", [mine / SIX]))
    assert np.isfinite(results.won("random")).all()
