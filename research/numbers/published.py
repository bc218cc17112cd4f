"""The page that compares our figures of six-card cribbage with published ones.

``published.json`` holds the published figures, each with its source. Ours are those of the page of
six-card cribbage, and flushes counted here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
from crib_agents.data.tables import CRIB_TABLES, load
from crib_agents.files import write_whole
from crib_agents.loading import load_agent
from crib_training.outputs import as_png
from matplotlib.figure import Figure

from crib_env.arrays import Array
from crib_env.cards import RANKS as TEXT
from crib_env.engine.ranks import RANKS
from crib_env.engine.two_hand import HAND
from crib_env.rules import TwoHandRules
from crib_env.scoring import score_histogram
from docs.pages import mean, number_table, render
from research.numbers.episodes import Episodes, Run
from research.numbers.two_hand import DEALER, PONE

FILE = Path(__file__).with_name("published.json")
OURS = "six_card.json"
# Pegging moves no card from hand to crib, so a fast agent may peg.
AGENT = "expert/greedy"
SUITS = 4
PHASES = (
    ("pone", "pegging"),
    ("pone", "hand"),
    ("pone", "all"),
    ("dealer", "pegging"),
    ("dealer", "hand"),
    ("dealer", "crib"),
    ("dealer", "all"),
)
FLUSHES = {
    "pone": "pone's hand",
    "dealer": "the dealer's hand",
    "crib": "the crib: a flush",
    "crib_of_one_suit": "the crib: four cards of one suit",
}
SOURCES = {
    "points_per_deal": "points per deal",
    "first_dealer": "the first dealer",
    "flushes": "flushes",
    "winning": "winning",
}
Tables = Mapping[str, Mapping[str, Array]]
"""Our mean cribs: by `KINDS` and by whose crib, float64[13, 13], symmetric."""
Published = Sequence[Mapping[str, Any]]
CRIBS = {"own": "the dealer's own crib", "opponent": "pone's pair in the dealer's crib"}
KINDS = {"expert": "`expert`", "alone": "by hand and crib alone"}
UPPER = np.triu_indices(RANKS)
WIDEST = 0.6  # points of the darkest colour


def published() -> dict[str, Any]:
    """Return the published figures."""
    found: dict[str, Any] = json.loads(FILE.read_text())
    return found


def measure(deals: int, seed: int, folder: Path) -> dict[str, Any]:
    """Return our figures, and draw the pictures."""
    tables, cribs = own_tables(read_ours(folder)), published()["cribs"]
    run = Run(load_agent(AGENT), deals, games=0, cribs=0, seed=seed, workers=1)
    played = run.play(TwoHandRules.preset("hoyle"), "deal", deals)
    draw(tables, cribs, folder)
    return {
        "deals": deals,
        "flushes": {kind: mean(had) for kind, had in flushes(played).items()},
        "cribs": differences(tables, cribs),
    }


def flushes(deals: Episodes) -> dict[str, Array]:
    """Return bool[E] of each kind of `FLUSHES`: which deals had one."""
    states = deals.states
    suits = states["dealt"].reshape(-1, 2, HAND) % SUITS
    laid = (states["discarded"][..., None] >> np.arange(HAND) & 1).astype(bool)
    n = len(suits)
    kept = suits[~laid].reshape(n, 2, HAND - 2)
    crib = suits[laid].reshape(n, -1)
    hands = (kept == kept[..., :1]).all(axis=-1)
    every, dealer = np.arange(n), deals.first_dealer
    of_one_suit = (crib == crib[:, :1]).all(axis=1)
    return {
        "pone": hands[every, 1 - dealer],
        "dealer": hands[every, dealer],
        "crib": of_one_suit & (crib[:, 0] == states["starter"] % SUITS),
        "crib_of_one_suit": of_one_suit,
    }


def read_ours(folder: Path) -> dict[str, Any]:
    """Return the figures of the page of six-card cribbage."""
    if not (folder / OURS).is_file():
        raise ValueError(f"there is no {folder / OURS}: make the page six_card first")
    found: dict[str, Any] = json.loads((folder / OURS).read_text())
    return found


def own_tables(ours: Mapping[str, Any]) -> Tables:
    """Return our mean cribs, from the figures of the page of six-card cribbage and the charts."""
    charts = load(CRIB_TABLES)["crib"][0]
    own, opponent = (np.array(ours[name]).round(4) for name in ("own_crib", "opponents_crib"))
    return {
        "expert": {"own": own, "opponent": opponent},
        "alone": {"own": whatever_suits(charts[DEALER]), "opponent": whatever_suits(charts[PONE])},
    }


def whatever_suits(chart: Array) -> Array:
    """Return the mean of a chart's pairs of two suits and of one, float64[13, 13], symmetric.

    Three pairs of cards in four are of two suits (above the diagonal); of one rank all are.
    """
    both = 0.75 * np.triu(chart, 1) + 0.25 * np.tril(chart, -1).T
    return np.asarray(both + both.T + np.diag(np.diag(chart)))


def read_rows(rows: Sequence[str]) -> Array:
    """Return a published table, float64[13, 13], symmetric; NaN where a cell is missing."""
    cells = [np.nan if cell == "-" else float(cell) for row in rows for cell in row.split()]
    if len(cells) != len(UPPER[0]):
        raise ValueError(f"a table of pairs has {len(UPPER[0])} cells, got {len(cells)}")
    whole = np.empty((RANKS, RANKS))
    whole[UPPER] = cells
    whole.T[UPPER] = cells
    return whole


def differences(tables: Tables, theirs: Published) -> dict[str, Any]:
    """Return our mean cribs less each published table, by kind, in rows of the upper triangle."""
    found: dict[str, Any] = {}
    for kind, mine in tables.items():
        for one in theirs:
            apart = (mine[one["crib"]] - read_rows(one["rows"]))[UPPER]
            found[f"{kind} less {one['by']}, {one['crib']}"] = [
                None if np.isnan(d) else round(float(d), 3) for d in apart
            ]
    return found


def draw(tables: Tables, theirs: Published, folder: Path) -> None:
    """Draw our mean cribs less each published table, a picture for each of `KINDS`."""
    columns = max(sum(one["crib"] == crib for one in theirs) for crib in CRIBS)
    for kind, mine in tables.items():
        figure = Figure(figsize=(3.9 * columns, 8.2), layout="constrained")
        axes = figure.subplots(len(CRIBS), columns)
        for row, crib in zip(axes, CRIBS, strict=True):
            here = [one for one in theirs if one["crib"] == crib]
            for axis, one in zip(row, here, strict=False):
                apart = mine[crib] - read_rows(one["rows"])
                image = axis.imshow(apart, cmap="PuOr_r", vmin=-WIDEST, vmax=WIDEST)
                for a, b in np.argwhere(~np.isnan(apart)):
                    shade = "white" if abs(apart[a, b]) > 0.7 * WIDEST else "black"
                    axis.text(b, a, f"{100 * apart[a, b]:.0f}", ha="center", va="center", fontsize=6.5, color=shade)
                axis.set_xticks(range(RANKS), TEXT)
                axis.set_yticks(range(RANKS), TEXT)
                axis.set_title(f"{one['by']}: {CRIBS[crib]}", fontsize=9)
            for axis in row[len(here) :]:
                axis.set_axis_off()
        figure.colorbar(image, ax=axes, shrink=0.6, label="our mean crib less theirs, points")
        write_whole(folder / picture(kind), as_png(figure, dpi=110))


def picture(kind: str) -> str:
    """Return the name of the picture of a kind of our tables."""
    return f"published_cribs_{kind}.png"


def page(ours: dict[str, Any], data: dict[str, Any]) -> str:
    """Return the page."""
    theirs = published()
    tables = own_tables(ours)
    counts = score_histogram()
    dealt = sum(SUITS * comb(13, k) * comb(39, HAND - k) for k in range(4, HAND + 1))
    dealt_share = dealt / comb(52, HAND)
    kept = np.mean([data["flushes"][role]["mean"] for role in ("pone", "dealer")]) / dealt_share
    people = np.mean([theirs["flushes"][0][role] for role in ("pone", "dealer")])
    return render(
        "published", theirs=theirs, ours=ours, data=data, kinds=KINDS, picture=picture,
        same=counts.tolist() == theirs["hands"]["counts"],
        mean=counts @ np.arange(len(counts)) / counts.sum(),
        phases=PHASES, flushes=FLUSHES, sources=SOURCES, dealt=100 * dealt_share, kept=100 * kept,
        people=people / dealt_share,
        summary=summary(tables, theirs["cribs"]), apart=distance("M. Schell", "D. Colvert"),
    )  # fmt: skip


def summary(tables: Tables, theirs: Published) -> str:
    """Return how far our tables are from each published one."""
    rows = []
    for one in theirs:
        other = read_rows(one["rows"])[UPPER]
        row: list[object] = [f"{one['by']}, {one['crib']}", int(np.isfinite(other).sum())]
        for kind in KINDS:
            apart = tables[kind][one["crib"]][UPPER] - other
            worst = int(np.nanargmax(np.abs(apart)))
            row += [
                f"{np.nanmean(apart):+.3f}",
                f"{np.nanmean(np.abs(apart)):.3f}",
                f"{pair_name(worst)} {apart[worst]:+.2f}",
            ]
        rows.append(row)
    head = ["table, crib", "pairs"]
    for kind in KINDS.values():
        head += [f"{kind}: mean difference", "mean absolute", "largest"]
    return number_table(head, rows)


def distance(one: str, other: str) -> float:
    """Return the mean absolute difference of two published tables of the opponent's crib."""
    cribs = {each["by"]: read_rows(each["rows"]) for each in published()["cribs"] if each["crib"] == "opponent"}
    return float(np.nanmean(np.abs(cribs[one] - cribs[other])[UPPER]))


def pair_name(k: int) -> str:
    """Return the name of the k-th cell of the upper triangle."""
    return f"{TEXT[UPPER[0][k]]}-{TEXT[UPPER[1][k]]}"
