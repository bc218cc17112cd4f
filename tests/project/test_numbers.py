"""The pages of figures, `research.numbers`: small runs whose parts must agree with each other."""

from __future__ import annotations

import json
from importlib.metadata import entry_points
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from crib_env import find_agent
from crib_env.cards import RANKS as TEXT
from crib_env.policy import GROUP
from crib_env.rules import PRESETS
from docs.pages import write_changed
from research import make_leaderboard
from research.numbers import many_hand, published, strength, table_top, two_hand
from research.numbers.__main__ import FOLDER, Settings, pages, run, write
from research.numbers.episodes import Run
from research.numbers.published import differences, own_tables, picture, read_rows


def shipped_agents() -> list[str]:
    points = entry_points(group=GROUP)
    return [point.name for point in points if point.value.startswith("crib_agents")]


def run_of(deals: int, games: int) -> Run:
    return Run(find_agent("rule_based"), deals, games, cribs=2000, seed=5, workers=1)


def test_episodes_do_not_depend_on_the_workers() -> None:
    rules = PRESETS["hoyle"]
    runs = [Run(find_agent("random"), 3000, 0, 0, seed=7, workers=workers) for workers in (1, 2)]
    played = [run.play(rules, "deal", run.deals) for run in runs]
    assert np.array_equal(played[0].states, played[1].states)
    assert np.array_equal(played[0].points, played[1].points)


def test_numbers_sections_name_their_command(tmp_path: Path) -> None:
    data = two_hand.measure("six_card", run_of(200, 80), tmp_path)
    write("six_card", data, "python -m research.numbers six_card", tmp_path)
    page = pages(tmp_path)["index.md"]
    assert "python -m research.numbers six_card" in page
    assert "200 deals" in page
    assert "80 games" in page
    assert "nan" not in page
    figures = json.loads((tmp_path / "six_card.json").read_text())
    shown = figures["points_per_deal"]["dealer"]["crib"]
    assert f"{shown['mean']:.3f} ± {shown['ci95']:.3f}" in page
    for name in ("six_card_deals.png", "six_card_winning.png"):
        assert name in page
        assert (tmp_path / name).stat().st_size > 10_000


def test_numbers_page_of_table_top(tmp_path: Path) -> None:
    data = table_top.measure(run_of(30, 10), counted=10)
    text = table_top.page(data)
    for preset, players in table_top.GAMES:
        assert text.count(f"\n| {table_top.TITLES[preset]}, {players} players ") == 3
        about = data[f"{preset}, {players} players"]
        sides = about["sides"]
        lines = sides["dealer's"]["five lines"]["mean"] - sides["other"]["five lines"]["mean"]
        assert about["moving_last"]["mean"] == pytest.approx(lines)
        assert sides["other"]["crib"]["mean"] == 0


def test_numbers_page_of_three_and_four_hands() -> None:
    data = many_hand.measure(run_of(200, 40))
    text = many_hand.page(data)
    for preset, title in many_hand.TITLES.items():
        about = data[preset]
        assert f"### {title}" in text
        won = [place["games won as first dealt"]["mean"] for place in about["places"].values()]
        assert sum(won) == pytest.approx(1)
        cribs = [place["crib"]["mean"] for place in about["places"].values()]
        assert cribs[0] > 3  # the crib is the dealer's
        assert not any(cribs[1:])
    by_side = data["four_hand"]["places"]
    seats = list(data["four_hand"]["seats"].values())
    for i, side in enumerate(by_side.values()):
        for phase in ("pegging", "hand"):
            both = seats[i][phase]["mean"] + seats[i + 2][phase]["mean"]
            assert both == pytest.approx(side[phase]["mean"], abs=3 * side[phase]["ci95"])


def test_numbers_table_of_agents_can_be_remade_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    two = strength.Table("Five cards", "five_card_v0", agents=("greedy", "random"))
    monkeypatch.setattr(strength, "TABLES", (two, strength.Table("Six cards", "six_card_v0")))
    whole = json.loads((agents_page := FOLDER / "agents.json").read_text())
    (tmp_path / "agents.json").write_text(agents_page.read_text())
    few = Settings(("agents",), pairs=2, tables=("five_cards",), out=tmp_path, runs=tmp_path / "r")
    run(few)
    data = json.loads((tmp_path / "agents.json").read_text())
    assert data["Six cards"] == whole["Six cards"]
    assert data["Five cards"]["pairs"] == 2
    assert {agent["name"] for agent in data["Five cards"]["agents"]} == {"greedy", "random"}
    assert strength.tournaments_section(data).count("\n| Five cards ") == 2
    assert data["command"].endswith("agents --pairs 2 --seed 1 --tables five_cards")
    with pytest.raises(ValueError, match="'seven_cards': choose from five_cards"):
        strength.measure_tournaments(2, seed=1, folder=tmp_path, runs=tmp_path, again=("seven_cards",))


def test_numbers_commands_cover_every_built_in_agent() -> None:
    every = set(shipped_agents())
    assert {"master", "learned_mixed", "equilibrium"} < every
    for table in strength.TABLES:
        missing = every - set(table.field())
        assert missing == ({"master", "equilibrium", "learned_mixed"} if "table_top" in table.environment else set())
    for rules, field in strength.QUERIES.items():
        assert every - set(field) == ({"random"} if rules == "hoyle" else set())
    assert set(make_leaderboard.RATED) == every


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The hands of each call of `exploitability`, which measures nothing here."""
    hands: list[int] = []

    def exploitability(_: str, **given: Any) -> SimpleNamespace:
        hands.append(given["hands"])
        return SimpleNamespace(as_dict=dict)

    monkeypatch.setattr(strength, "exploitability", exploitability)
    return hands


def test_measure_exploitability_takes_two_hands_at_least(asked: list[int], tmp_path: Path) -> None:
    """A share of few hands is not 0, which stands for all of them."""
    strength.measure_exploitability(8, seed=1, runs=tmp_path)
    assert set(asked) == {2, 8}


def test_measure_exploitability_repeats_after_a_change_of_the_code(
    asked: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first = strength.measure_exploitability(8, seed=1, runs=tmp_path)
    once = len(asked)
    assert strength.measure_exploitability(8, seed=1, runs=tmp_path) == first
    assert len(asked) == once
    monkeypatch.setattr(strength, "code_digest", lambda *_: "changed")
    strength.measure_exploitability(8, seed=1, runs=tmp_path)
    assert len(asked) == 2 * once


def test_numbers_files_are_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page, figures = tmp_path / "page.md", tmp_path / "table_top.json"
    for path in (page, figures):
        path.write_text("as it was")

    def full(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("os.fsync", full)
    for writes in (lambda: write_changed(page, "new"), lambda: write("table_top", {}, "a command", tmp_path)):
        with pytest.raises(OSError, match="cannot be written: no space left"):
            writes()
    assert page.read_text() == figures.read_text() == "as it was"
    assert len(list(tmp_path.iterdir())) == 2


def test_numbers_rejects_unknown_part() -> None:
    with pytest.raises(ValueError, match="no part is called 'seven_card': choose from six_card"):
        run(Settings(parts=("seven_card",)))


def test_numbers_pages_equal_the_stored_figures() -> None:
    for name, text in pages(FOLDER).items():
        assert (FOLDER / name).read_text() == text


# --- published figures ----------------------------------------------------------------------------


STORED = published.published()
CRIBS = {(one["by"], one["crib"]): read_rows(one["rows"]) for one in STORED["cribs"]}
OURS = published.read_ours(FOLDER)


def cell(by: str, crib: str, pair: str) -> float:
    a, b = (TEXT.index(rank) for rank in pair)
    return float(CRIBS[by, crib][a, b])


@pytest.mark.parametrize(
    "one",
    [one for one in STORED["quoted"] if (one["by"], one["crib"]) in CRIBS],
    ids=lambda one: f"{one['by']} {one['pair']}",
)
def test_published_table_has_the_quoted_figures(one: dict[str, Any]) -> None:
    assert cell(one["by"], one["crib"], one["pair"]) == one["points"]


def test_published_page_text_agrees_with_the_projects_figures() -> None:
    for one in STORED["points_per_deal"]:
        for role, phase in published.PHASES:
            if phase in one[role]:
                assert abs(OURS["points_per_deal"][role][phase]["mean"] - one[role][phase]) < 0.1
    won = OURS["won by the first dealer"]
    for one in STORED["first_dealer"]:
        assert abs(one["won"] / 100 - won["mean"]) < won["ci95"]
    alone = own_tables(OURS)["alone"]
    schell, colvert = CRIBS["M. Schell", "opponent"], CRIBS["D. Colvert", "opponent"]
    apart = [np.nanmean(np.abs(alone["opponent"] - theirs)) for theirs in (schell, colvert)]
    assert max(apart) < np.nanmean(np.abs(schell - colvert))
    less = {by: np.mean(alone["own"] - table) for (by, crib), table in CRIBS.items() if crib == "own"}
    assert [by for by, mean in less.items() if mean > 0] == ["Cribbage Pro"]


def test_published_page_equals_the_stored_figures() -> None:
    data = json.loads((FOLDER / "published.json").read_text())
    page = (FOLDER / "published.md").read_text()
    assert published.page(OURS, data) == page
    assert data["cribs"] == differences(own_tables(OURS), STORED["cribs"])
    for kind in ("expert", "alone"):
        assert picture(kind) in page
        assert (FOLDER / picture(kind)).stat().st_size > 10_000
