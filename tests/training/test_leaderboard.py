"""`crib rate` and the leaderboard: from an agent to a row beside the built-in ones."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crib_agents import GreedyAgent
from crib_training import rate
from crib_training.evaluation.report import ratings_table, shown_plain
from crib_training.exploit import Estimate, Exploitability
from crib_training.loading import find_env
from crib_training.outputs import per_second
from crib_training.rate import Results, rating_table, read

from crib_env import find_agent
from crib_env.policy import Agent
from research import make_leaderboard

SIX = "six_card_v0.json"


@pytest.fixture
def _quick_field(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate, "BUILT_IN", ("rule_based", "greedy", "random"))


def play(name: str, pairs: int = 10, seed: int = 1) -> Results:
    maker = find_env("six_card_v0")
    return rate.play(maker, find_agent("rule_based"), pairs, seed, None, name)


@pytest.mark.usefixtures("_quick_field")
def test_rate_plays_every_other_built_in_agent_and_repeats() -> None:
    results = play("mine")
    assert set(results.games) == {"rule_based", "greedy", "random"}
    assert all(sum(counts) == 10 and len(counts) == 5 for counts in results.games.values())
    assert play("mine") == results
    assert play("mine", seed=2) != results
    assert set(play("rule_based").games) == {"greedy", "random"}
    won = {name: results.won(name).mean() / 2 for name in results.games}
    assert won["random"] > 0.9
    assert won["rule_based"] == 0.5  # against itself: both games of a pair are the same


@pytest.mark.usefixtures("_quick_field")
def test_rate_takes_a_custom_agent_in_three_hands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine, field = "crib_agents.greedy:GreedyAgent", ("rule_based", "greedy", "random")
    out = tmp_path / "mine"
    rate.run(rate.Settings(mine, env="three_hand_v0", pairs=12, out=out))
    assert "12 duplicate sets of 3 games against 2 of an opponent" in capsys.readouterr().out
    results = read(out / "three_hand_v0.json")
    sizes = {name: (len(counts), sum(counts)) for name, counts in results.games.items()}
    assert sizes == dict.fromkeys(field, (7, 12))
    assert (results.won("greedy") == 1).all()  # against two of itself: one game of three
    assert results.won("random").mean() > 2
    rate.run(rate.Settings(mine, check=out / "three_hand_v0.json"))


class Named(GreedyAgent):
    """`greedy` under another name."""

    name = "rule_based"


@pytest.mark.usefixtures("_quick_field")
def test_rate_agent_named_like_a_built_in_one_gets_its_own_row(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It has separate results, and also plays the agent whose name it has."""
    monkeypatch.setattr(rate.Settings, "load_agent", lambda *_: Named())
    rate.run(rate.Settings("package.module:Mine", pairs=5))
    lines = [[cell.strip() for cell in line.split("|")] for line in capsys.readouterr().out.splitlines()]
    rows = {line[2]: line for line in lines if len(line) > 3}
    assert rows.keys() >= {"rule_based", "rule_based (yours)"}
    assert all(rows["rule_based (yours)"][5:-1])  # games against all three


@pytest.mark.parametrize(
    "how", [{"name": "greedy"}, {"out": Path("leaderboard/greedy")}, {"out": Path("leaderboard/master")}]
)
def test_rate_refuses_the_name_of_another_installed_agent(how: dict[str, Any]) -> None:
    taken = how.get("name") or how["out"].name
    with pytest.raises(ValueError, match=f"names the installed agent {taken!r}.*choose another"):
        rate.run(rate.Settings("rule_based", pairs=1, **how))


def test_rate_counts_single_agents_among_three_sides() -> None:
    """One agent wins half of its games alone, the other none: both results affect the ratings."""
    three = Results("mine", "three_hand_v0", "three_hand", 3, 60, 1, {}, {"greedy": [0, 0, 30, 0, 30, 0, 0]})
    alone = cells([three])
    assert alone["mine"]["greedy"].startswith("50.0 ± ")
    # Odds of a half against two are odds of two to one against each.
    assert float(alone["mine"]["Elo"]) - float(alone["greedy"]["Elo"]) == pytest.approx(120, abs=2)
    other = replace(three, name="greedy", games={"mine": [60, 0, 0, 0, 0, 0, 0]})
    both = cells([three, other])
    assert both["mine"]["greedy"] == alone["mine"]["greedy"]
    assert float(both["mine"]["Elo"]) > float(alone["mine"]["Elo"])


def entry(name: str, seed: int = 1, **games: list[int]) -> Results:
    pairs = sum(next(iter(games.values())))
    return Results(name, "six_card_v0", "hoyle", 2, pairs, seed, {}, games)


def cells(entries: list[Results]) -> dict[str, dict[str, str]]:
    """Return the cells of the table without ranks, by agent and column."""
    lines = rating_table(entries).splitlines()
    head, _, *rows = [[cell.strip() for cell in line.split("|")[2:-1]] for line in lines]
    return {row[0]: dict(zip(head, row, strict=True)) for row in rows}


def test_leaderboard_joins_games_of_both_agents() -> None:
    entries = [
        entry("mine", greedy=[0, 0, 0, 0, 100], random=[0, 0, 0, 0, 100]),
        entry("greedy", 2, mine=[0, 0, 100, 0, 0], random=[0, 0, 0, 0, 100]),
        entry("random", greedy=[100, 0, 0, 0, 0]),
    ]
    assert list(cells(entries)) == ["mine", "greedy", "random"]
    # 100 pairs won outright and 100 of a game each: three quarters of the games.
    assert cells(entries)["mine"]["greedy"].startswith("75.0 ± ")
    assert cells(entries)["greedy"]["random"] == "100.0 ± 0.0"


def test_leaderboard_counts_shared_games_once() -> None:
    mine, other = entry("mine", greedy=[10, 0, 70, 0, 20]), entry("greedy", mine=[20, 0, 70, 0, 10])
    assert cells([mine, other]) == cells([mine])
    more = entry("greedy", mine=[40, 0, 140, 0, 20])
    wider, narrower = cells([mine, other])["mine"]["greedy"], cells([mine, more])["mine"]["greedy"]
    assert (wider, narrower) == ("55.0 ± 5.3", "55.0 ± 3.7")
    assert cells([more])["mine"]["greedy"] == narrower


def test_leaderboard_has_an_exploitability_column_if_measured() -> None:
    mine, other = entry("mine", greedy=[0, 0, 9, 0, 9]), entry("other", greedy=[0, 0, 9, 0, 9])
    assert "exploitability" not in cells([mine, other])["mine"]
    found = {"mean": 0.25, "ci95": 0.0312, "agreement": {"met": 10, "otherwise": 0}}
    exact = replace(mine, exploitability=found)
    rough = replace(other, exploitability={**found, "agreement": {"met": 10, "otherwise": 1}})
    table = cells([exact, rough])
    assert table["mine"]["exploitability"] == "0.2500 ± 0.0312"
    assert table["other"]["exploitability"] == "≈ 0.2500 ± 0.0312"
    assert table["greedy"]["exploitability"] == ""


@pytest.mark.usefixtures("_quick_field")
def test_rate_row_is_accepted_by_the_leaderboard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    board = tmp_path / "leaderboard"
    monkeypatch.setattr(rate, "folder", lambda: board)
    for name in rate.BUILT_IN:
        rate.run(rate.Settings(name, pairs=5, out=board / name))
    rate.run(rate.Settings("rule_based", name="mine", pairs=5, out=board / "mine"))
    printed = capsys.readouterr().out
    assert "| mine" in printed.rpartition("In ")[0]
    results = read(board / "mine" / SIX)
    assert results.name == "mine"
    assert all(f"## {heading}" in (board / "mine/card.md").read_text() for heading in rate.HEADINGS)


def test_row_name_is_that_of_the_folder_named_by_a_dot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("mine", "greedy"):
        (tmp_path / name).mkdir()
    agent = find_agent("random")
    monkeypatch.chdir(tmp_path / "mine")
    assert rate.row_name(rate.Settings("random", out=Path()), agent) == "mine"
    monkeypatch.chdir(tmp_path / "greedy")
    with pytest.raises(ValueError, match=r"--out \. names the installed agent 'greedy'"):
        rate.row_name(rate.Settings("random", out=Path()), agent)


@pytest.mark.usefixtures("_quick_field")
def test_rate_check_replays_the_games_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.json"
    results = play("mine")
    file.write_text(json.dumps(asdict(results)))
    rate.run(rate.Settings("rule_based", check=file))
    assert "comes out again: mine, six_card_v0, 10 pairs" in capsys.readouterr().out
    counts = [*reversed(results.games["greedy"])]
    games = {**results.games, "greedy": counts}
    file.write_text(json.dumps(asdict(replace(results, games=games))))
    with pytest.raises(RuntimeError, match=rf"against greedy.* not \{counts}"):
        rate.run(rate.Settings("rule_based", check=file))


def test_rate_exploitability_equals_exploit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = {}

    def exploitability(agent: Agent, **keywords: object) -> Exploitability:
        given.update(keywords, agent=agent.name)
        gain = {"both": {"all": Estimate(0.5, 0.25)}}
        return Exploitability("greedy", "five_card", "real", None, gain, 7, 3, 1, 9, 10, 0, (), (), 0, 0)

    monkeypatch.setattr(rate, "exploitability", exploitability)
    monkeypatch.setattr(Exploitability, "__str__", lambda _: "the whole table")
    monkeypatch.setattr(rate, "BUILT_IN", ("random",))
    rate.run(rate.Settings("greedy", env="five_card_v0", pairs=5, seed=3, exploitability=7, out=tmp_path / "greedy"))
    assert given == {"agent": "greedy", "env": "five_card_v0", "hands": 7, "seed": 3}
    kept = read(tmp_path / "greedy/five_card_v0.json").exploitability
    settings = {"hands": 7, "seed": 3, "abstraction": 1}
    assert kept == {"mean": 0.5, "ci95": 0.25, **settings, "agreement": {"met": 10, "otherwise": 0}}
    printed = capsys.readouterr().out
    assert "0.5000 ± 0.2500" in printed
    assert "the whole table" in printed


# --- the leaderboard ----------------------------------------------------------------------------


def test_leaderboard_entries_are_valid_and_make_the_page() -> None:
    found = make_leaderboard.entries()
    assert [fault for name, files in found.items() for fault in make_leaderboard.faults(name, files)] == []
    assert make_leaderboard.PAGE.read_text() == make_leaderboard.page()


@pytest.mark.parametrize(
    ("name", "opponent", "env"),
    [
        ("greedy", "rule_based", "six_card_v0"),
        ("rule_based", "greedy", "five_card_v0"),
        ("greedy", "random", "table_top_v0"),
    ],
)
def test_leaderboard_row_is_reproduced(name: str, opponent: str, env: str) -> None:
    results = read(rate.folder() / name / f"{env}.json")
    assert rate.check(results, find_agent(name), [opponent]) == []


@pytest.mark.parametrize("name", make_leaderboard.RATED)
def test_leaderboard_has_every_built_in_agent_with_its_pairs_and_seed(name: str) -> None:
    for env, pairs in make_leaderboard.RATED[name].items():
        results = read(rate.folder() / name / f"{env}.json")
        assert (results.pairs, results.seed) == (pairs, make_leaderboard.SEED)


@pytest.fixture
def submitted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file of results in the folder of a submitted agent."""
    mine = tmp_path / "mine"
    shutil.copytree(rate.folder() / "greedy", mine)
    (mine / SIX).write_text(json.dumps(asdict(replace(read(mine / SIX), name="mine"))))
    monkeypatch.setattr(rate, "folder", lambda: tmp_path)
    return mine / SIX


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
def test_leaderboard_rejects_invalid_submission_with_the_reason(how: str, submitted: Path) -> None:
    change, says = SPOILED[how]
    mine = submitted.parent
    (mine / SIX).write_text(json.dumps(asdict(replace(read(submitted), **change))))
    assert any(says in fault for fault in make_leaderboard.faults("mine", [mine / SIX]))


def test_leaderboard_rejects_an_empty_card(submitted: Path) -> None:
    mine, results = submitted.parent, read(submitted)
    (mine / "card.md").write_text(rate.blank_card(results))
    assert any("card.md must say" in fault for fault in make_leaderboard.faults("mine", []))
    (mine / SIX).write_text("{}")
    assert any("no results" in f for f in make_leaderboard.faults("mine", [mine / SIX]))
    assert np.isfinite(results.won("random")).all()


def test_tables_show_no_negative_zero_and_no_speed_of_zero() -> None:
    level = {"name": "a", "rating": -0.2, "low": -0.4, "high": 0.3}
    assert "| 1  | a       | +0    | +0 to +0 |" in ratings_table([level], {})
    assert shown_plain({"mean": -0.001, "ci95": 0.01}) == "0.00 ± 0.01"
    assert [per_second(speed) for speed in (0.123, 9.94, 12345.6)] == ["0.12", "9.9", "12,346"]
