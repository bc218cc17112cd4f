"""The page of published figures: stored figures are consistent, and the page is made from them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from crib_agents.loading import load_agent

from crib_env import scoring
from crib_env.cards import RANKS as TEXT
from crib_env.cards import format_cards
from crib_env.engine.ranks import RANKS
from crib_env.rules import PRESETS
from research.numbers import published
from research.numbers.__main__ import FOLDER
from research.numbers.episodes import self_play
from research.numbers.published import differences, own_tables, picture, read_rows
from schell import SCHELL

STORED = published.published()
CRIBS = {(one["by"], one["crib"]): read_rows(one["rows"]) for one in STORED["cribs"]}
OURS = published.read_ours(FOLDER)


def cell(by: str, crib: str, pair: str) -> float:
    a, b = (TEXT.index(rank) for rank in pair)
    return float(CRIBS[by, crib][a, b])


def test_every_published_figure_names_its_source() -> None:
    for key, entries in STORED.items():
        for one in [entries] if key == "hands" else entries:
            assert one["by"], key
            assert len(one["source"]) > 10, one


@pytest.mark.parametrize(
    "one",
    [one for one in STORED["quoted"] if (one["by"], one["crib"]) in CRIBS],
    ids=lambda one: f"{one['by']} {one['pair']}",
)
def test_published_table_has_the_quoted_figures(one: dict[str, Any]) -> None:
    assert cell(one["by"], one["crib"], one["pair"]) == one["points"]


def test_published_tables_of_schell_are_those_of_the_crib_tests() -> None:
    for pair, both in SCHELL.items():
        assert (cell("M. Schell", "own", pair), cell("M. Schell", "opponent", pair)) == both


def test_published_discard_table_is_complete_and_plausible() -> None:
    for (by, crib), table in CRIBS.items():
        known = table[~np.isnan(table)]
        assert np.array_equal(table, table.T, equal_nan=True)
        assert (known.min() > 2.5, known.max() < 9.6) == (True, True)
        whole = by != "D. Colvert"
        assert len(known) == (RANKS**2 if whole else 2 * 54 - 5)  # his rows A to 5, without 5-K
        if crib == "own" and (by, "opponent") in CRIBS:
            assert np.mean(CRIBS[by, "opponent"] > table) > 0.9


def test_published_parts_of_points_sum() -> None:
    for one in STORED["points_per_deal"]:
        for role in ("pone", "dealer"):
            parts = [value for phase, value in one[role].items() if phase != "all"]
            if len(parts) == (2 if role == "pone" else 3) and "all" in one[role]:
                assert sum(parts) == pytest.approx(one[role]["all"])
    assert sum(STORED["hands"]["counts"]) == 12_994_800


def test_published_page_text_agrees_with_the_projects_figures() -> None:
    for one in STORED["points_per_deal"]:
        for role, phase in published.PHASES:
            if phase in one[role]:
                assert abs(OURS["points_per_deal"][role][phase]["mean"] - one[role][phase]) < 0.1
    won = OURS["won by the first dealer"]
    for one in STORED["first_dealer"]:
        assert abs(one["won"] / 100 - won["mean"]) < won["half"]
    alone = own_tables(OURS)["alone"]
    schell, colvert = CRIBS["M. Schell", "opponent"], CRIBS["D. Colvert", "opponent"]
    apart = [np.nanmean(np.abs(alone["opponent"] - theirs)) for theirs in (schell, colvert)]
    assert max(apart) < np.nanmean(np.abs(schell - colvert))
    less = {by: np.mean(alone["own"] - table) for (by, crib), table in CRIBS.items()
            if crib == "own"}  # fmt: skip
    assert [by for by, mean in less.items() if mean > 0] == ["Cribbage Pro"]


def test_published_page_equals_the_stored_figures() -> None:
    data = json.loads((FOLDER / "published.json").read_text())
    page = (FOLDER / "published.md").read_text()
    assert published.page(OURS, data) == page
    assert data["cribs"] == differences(own_tables(OURS), STORED["cribs"])
    for kind in ("expert", "alone"):
        assert picture(kind) in page
        assert (FOLDER / picture(kind)).stat().st_size > 10_000


def test_published_show_counts_flushes() -> None:
    deals = self_play(PRESETS["hoyle"], "deal", load_agent("greedy"), 400, seed=6)
    found = published.flushes(deals)
    seen = 0
    for i, state in enumerate(deals.states):
        dealt = state["dealt"].reshape(2, -1)
        laid = state["discarded"][:, None] >> np.arange(dealt.shape[1]) & 1 == 1
        starter = format_cards([int(state["starter"])])
        dealer = int(deals.first_dealer[i])
        for kind, cards in (("pone", dealt[1 - dealer][~laid[1 - dealer]]),
                            ("dealer", dealt[dealer][~laid[dealer]]),
                            ("crib", dealt[laid])):  # fmt: skip
            shown = scoring.score_hand(format_cards(cards.tolist()), starter, crib=kind == "crib")
            assert ("flush" in shown.call) == found[kind][i]
            seen += int(found[kind][i])
    assert seen > 20
