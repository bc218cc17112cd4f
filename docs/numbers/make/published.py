"""The page that compares our figures of six-card cribbage with published ones.

``published.json`` holds the published figures, each with its source. Ours are those of the page of
six-card cribbage, and flushes counted here.
"""

from __future__ import annotations

import json
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from crib_agents.loading import load_agent
from crib_training.evaluation.duplicate import estimate
from crib_training.evaluation.markdown import table

from crib_env.engine.two_hand import HAND
from crib_env.rules import TwoHandRules
from crib_env.scoring import score_histogram
from docs.numbers.make import published_cribs
from docs.numbers.make.episodes import Episodes, self_play

Array = npt.NDArray[Any]

FILE = Path(__file__).with_name("published.json")
OURS = "six_card.json"
# Pegging moves no card from hand to crib, so a fast agent may peg.
AGENT = "expert/greedy"
SUITS = 4
PHASES = (("pone", "pegging"), ("pone", "hand"), ("pone", "all"), ("dealer", "pegging"),
          ("dealer", "hand"), ("dealer", "crib"), ("dealer", "all"))  # fmt: skip
FLUSHES = {"pone": "pone's hand", "dealer": "the dealer's hand", "crib": "the crib: a flush",
           "crib_of_one_suit": "the crib: four cards of one suit"}  # fmt: skip


def published() -> dict[str, Any]:
    """Return the published figures."""
    found: dict[str, Any] = json.loads(FILE.read_text())
    return found


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


def page(deals: int, seed: int, folder: Path) -> tuple[str, dict[str, Any]]:
    """Return the page and the figures, and draw the pictures."""
    ours = read_ours(folder)
    played = self_play(TwoHandRules.preset("hoyle"), "deal", load_agent(AGENT), deals, seed)
    counted = {kind: vars(estimate(had)) for kind, had in flushes(played).items()}
    tables = published_cribs.own_tables(ours)
    published_cribs.draw(tables, published()["cribs"], folder)
    data = {
        "deals": deals,
        "flushes": counted,
        "cribs": published_cribs.differences(tables, published()["cribs"]),
    }
    return text(ours, data), data


def read_ours(folder: Path) -> dict[str, Any]:
    """Return the figures of the page of six-card cribbage."""
    if not (folder / OURS).is_file():
        raise ValueError(f"there is no {folder / OURS}: make the page six_card first")
    found: dict[str, Any] = json.loads((folder / OURS).read_text())
    return found


def text(ours: dict[str, Any], data: dict[str, Any]) -> str:
    """Return the page."""
    theirs = published()
    parts = [
        "This page puts our figures of six-card cribbage beside published ones. Ours are those of "
        "{doc}`six_card`, with `expert` in every seat. Published figures come without intervals; "
        "their sources stand at the end.",
        _hands(theirs["hands"]),
        _points(ours["points_per_deal"], theirs["points_per_deal"]),
        _first_dealer(ours, theirs["first_dealer"]),
        _flushes(data, theirs["flushes"]),
        published_cribs.section(published_cribs.own_tables(ours), theirs["cribs"]),
        _winning(ours["dealer"], theirs["winning"]),
        _sources(theirs),
    ]
    return "\n\n".join(parts)


def _hands(theirs: dict[str, Any]) -> str:
    counts = score_histogram()
    same = "all 30 agree" if counts.tolist() == theirs["counts"] else "they differ"
    mean = counts @ np.arange(len(counts)) / counts.sum()
    return f"""## All hands

{theirs["by"]} counted how many of the 12,994,800 hands with a starter score 0, 1, ... 29 points.
`crib_env.scoring.score_histogram` counts them too: {same}. The mean is {mean:.4f} points."""


def _points(ours: dict[str, Any], theirs: list[dict[str, Any]]) -> str:
    rows = []
    for role, phase in PHASES:
        value = ours[role][phase]
        others = (one.get(role, {}).get(phase) for one in theirs)
        rows.append([f"{role}, {phase}", f"{value['mean']:.3f} ± {value['half']:.3f}",
                     *("" if other is None else f"{other:g}" for other in others)])  # fmt: skip
    head = ["points per deal", "ours", *(one["by"] for one in theirs)]
    return f"""## Points per deal

{table(head, rows, numbers=True)}

Chambers' averages are those of expert play. All our figures lie within 0.1 of the published ones.
The largest difference is in pone's pegging, where `expert` makes a little more."""


def _first_dealer(ours: dict[str, Any], theirs: list[dict[str, Any]]) -> str:
    won = ours["won by the first dealer"]
    rows = [
        ["ours, games played", f"{100 * won['mean']:.2f} ± {100 * won['half']:.2f}"],
        ["ours, solved from the points of a deal", f"{100 * ours['dealer'][0][0]:.2f}"],
        *([one["by"], f"{one['won']:.1f}"] for one in theirs),
    ]
    return f"""## The first dealer

{table(["", "games won by the first dealer, %"], rows, numbers=True)}

All published figures lie within the interval of the games played."""


def _flushes(data: dict[str, Any], theirs: list[dict[str, Any]]) -> str:
    rows = []
    for kind, name in FLUSHES.items():
        share = data["flushes"][kind]
        rows.append([name, f"{100 * share['mean']:.3f} ± {100 * share['half']:.3f}",
                     *(f"{one[kind]:g}" if kind in one else "" for one in theirs)])  # fmt: skip
    dealt = sum(SUITS * comb(13, k) * comb(39, HAND - k) for k in range(4, HAND + 1))
    dealt_share = dealt / comb(52, HAND)
    kept = np.mean([data["flushes"][role]["mean"] for role in ("pone", "dealer")]) / dealt_share
    people = np.mean([theirs[0][role] for role in ("pone", "dealer")]) / 100 / dealt_share
    return f"""## Flushes

Per cent of {data["deals"]:,} deals in which both seats discard as `expert` (in single deals, so for
points alone):

{table(["", "ours", *(one["by"] for one in theirs)], rows, numbers=True)}

The cribs agree, the hands do not. Six cards hold four of a suit in {100 * dealt_share:.1f} % of
deals. `expert` keeps the flush in {100 * kept:.0f} % of them, people at Cribbage Pro by its figures
in {100 * people:.0f} %. We do not know why that is so rare. Ours are counted by the cards, and the
show counts a flush in the same deals (`tests/project/test_published.py`)."""


def _winning(chance: list[list[float]], theirs: list[dict[str, Any]]) -> str:
    rows = [
        [f"{one['dealer']}-{one['pone']}", f"{100 * chance[one['dealer']][one['pone']]:.1f}",
         f"{one['won']:g}", one["by"]]
        for one in theirs
    ]  # fmt: skip
    return f"""## Winning, by score

{table(["dealer-pone", "ours: the dealer wins, %", "published", "by"], rows, numbers=True)}

The Distributed Cribbage Computation of Carte Primus published the dealer's probability of winning
at every score. We could not get its table, only the one figure that its description quotes. So this
comparison is missing."""


def _sources(theirs: dict[str, Any]) -> str:
    """Return who published what, and where."""
    kinds = {"points_per_deal": "points per deal", "first_dealer": "the first dealer",
             "flushes": "flushes", "winning": "winning"}  # fmt: skip
    found = [(theirs["hands"]["by"], "all hands", theirs["hands"]["source"])]
    found += [(one["by"].split(",")[0], kind, one["source"])
              for key, kind in kinds.items() for one in theirs[key]]  # fmt: skip
    found += [(one["by"], f"cribs, {one['crib']}", one["source"]) for one in theirs["cribs"]]
    rows = [list(row) for row in dict.fromkeys(found)]
    return f"""## Sources

{table(["", "figures", "source"], rows)}

Not compared, because we could not get them: Colvert's table for the own crib, and for the
opponent's crib its rows from 6 on (and 5-K); Cribbage Pro's for the opponent's crib; the table of
winning probabilities above. The figures are in `docs/numbers/make/published.json`."""
