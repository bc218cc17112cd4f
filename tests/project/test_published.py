"""The page of published figures: stored figures are consistent, and the page is made from them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from crib_env.cards import RANKS as TEXT
from research.numbers import published
from research.numbers.__main__ import FOLDER
from research.numbers.published import differences, own_tables, picture, read_rows

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
