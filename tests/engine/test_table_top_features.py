"""Features of Table Top, against a count in plain Python from the view."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from checkout import ROOT
from crib_env import encode, find_agent, observation_layout
from crib_env.batch import GameBatch
from crib_env.rules import PRESETS
from reference.learned_table_top import lines_of, lying, unseen_of
from reference.scoring import rank

LAYOUT = observation_layout("table_top_v0", features=True)


def rows_of(observation: Any) -> list[dict[str, list[float]]]:
    """Return the numbers of each row, by name."""
    rows = observation[LAYOUT["rows"]].reshape(LAYOUT.rows)
    return [{name: row[part].tolist() for name, part in LAYOUT.row.items()} for row in rows]


def expected_row(view: Any, line: int) -> dict[str, list[float]]:
    """Return a row's counts by definition: lines 0 to 4 are rows, 5 to 9 columns, 10 the crib."""
    starter, card, left = int(view["starter"]), int(view["card"]), unseen_of(view)
    if line == 10:
        cards = [starter, *(int(c) for c in view["crib"] if c >= 0)]
        own, size, middle = bool(view["my_crib"]), int(view["crib_flush_size"]), True
    else:
        cards, size, middle = lines_of(view)[line], int(view["flush_size"]), line in (2, 7)
        own = bool(view["scores_rows"]) == (line < 5)
    turned = starter if middle else None
    full = len(cards) == 5
    now, then = lying(cards, left, turned, size), lying([*cards, card], left, turned, size)
    return {
        "line": [(1 + line) * (1.0 if own else -1.0)],
        "sure": [0.0 if full else then["points"][0] - now["points"][0]],
        "own": [float(own)],
        "crib": [float(line == 10)],
        "points": now["points"],
        "cards": now["cards"],
        "ranks": now["ranks"],
        "suit": now["suit"],
        "suit_with": [0.0, 0.0] if full else then["suit"],
        "nob": [*now["nob"], float(then["nob"][0] > now["nob"][0] and not full)],
        "next": now["next"],
        "next_with": then["next"],
        "mean_next": [*now["mean_next"], *then["mean_next"]],
    }


@pytest.mark.parametrize("preset", ["table_top", "table_top_ship"])
@pytest.mark.parametrize("players", [2, 4])
def test_write_features_counts_every_line_and_next_card(preset: str, players: int) -> None:
    games = GameBatch(PRESETS[preset], 8, players=players, seed=5)
    games.reset()
    lanes, rng, agent = np.arange(8), np.random.default_rng(5), find_agent("random")
    known_cribs = nobs = 0
    for turn in range(28):
        views = games.views(lanes)
        looked_at = (turn + lanes) % 4 == 0  # every turn in two games of eight
        observations, _ = encode(views, features=True)
        for view, observation in zip(views[looked_at], observations[looked_at], strict=True):
            left = unseen_of(view)
            share = [13 * sum(rank(c) == r for c in left) / len(left) - 1 for r in range(13)]
            card = [float(rank(int(view["card"])) == r) for r in range(13)]
            legal = [float(view["legal"] >> action & 1) for action in range(26)]
            assert observation[LAYOUT["unseen_ranks"]] == pytest.approx(share, abs=1e-5)
            assert observation[LAYOUT["card_rank"]].tolist() == card
            assert observation[LAYOUT["legal"]].tolist() == legal
            for line, row in enumerate(rows_of(observation)):
                for name, expected in expected_row(view, line).items():
                    assert row[name] == pytest.approx(expected, abs=1e-5), (name, line)
            known_cribs += int((view["crib"] >= 0).any())
            nobs += any(row["nob"][0] for row in rows_of(observation))
        games.ask(agent, lanes, rng)
    assert known_cribs > 10
    assert nobs


def test_places_name_the_two_lines_of_a_cell() -> None:
    assert LAYOUT.places is not None
    assert [LAYOUT.places[5 * row + column] for row in range(5) for column in range(5)] == [
        (row, 5 + column) for row in range(5) for column in range(5)
    ]
    assert LAYOUT.places[25] == (10,)


def test_observations_page_has_the_size_of_the_rows() -> None:
    rows, width = LAYOUT.rows
    page = (ROOT / "docs" / "observations.md").read_text()
    assert f"{rows} rows of {width} numbers" in page
