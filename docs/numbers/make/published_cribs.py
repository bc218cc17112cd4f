"""The part of the page of published figures on discard tables: ours and theirs, cell by cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from crib_agents.data.tables import CRIB_TABLES, RANKS, load
from crib_training.evaluation.markdown import table
from crib_training.tables.two_hand.schell import TEXT

from docs.numbers.make.cribs import DEALER, PONE

Array = npt.NDArray[np.float64]
Tables = Mapping[str, Mapping[str, Array]]
"""Our mean cribs: by `KINDS` and by whose crib, float64[13, 13], symmetric."""
Published = Sequence[Mapping[str, Any]]

CRIBS = {"own": "the dealer's own crib", "opponent": "pone's pair in the dealer's crib"}
KINDS = {"expert": "`expert`", "alone": "by hand and crib alone"}
UPPER = np.triu_indices(RANKS)
WIDEST = 0.6  # points: what the darkest colour stands for


def own_tables(ours: Mapping[str, Any]) -> Tables:
    """Return our mean cribs, from the figures of the page of six-card cribbage and the charts."""
    charts = load(CRIB_TABLES)["crib"][0]
    return {
        "expert": {"own": np.array(ours["own_crib"]), "opponent": np.array(ours["opponents_crib"])},
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
    import matplotlib.pyplot as plt

    columns = max(sum(one["crib"] == crib for one in theirs) for crib in CRIBS)
    for kind, mine in tables.items():
        figure, axes = plt.subplots(
            len(CRIBS), columns, figsize=(3.9 * columns, 8.2), layout="constrained"
        )
        for row, crib in zip(axes, CRIBS, strict=True):
            here = [one for one in theirs if one["crib"] == crib]
            for axis, one in zip(row, here, strict=False):
                apart = mine[crib] - read_rows(one["rows"])
                image = axis.imshow(apart, cmap="PuOr_r", vmin=-WIDEST, vmax=WIDEST)
                for a, b in np.argwhere(~np.isnan(apart)):
                    shade = "white" if abs(apart[a, b]) > 0.7 * WIDEST else "black"
                    axis.text(b, a, f"{100 * apart[a, b]:.0f}", ha="center", va="center",
                              fontsize=6.5, color=shade)  # fmt: skip
                axis.set_xticks(range(RANKS), TEXT)
                axis.set_yticks(range(RANKS), TEXT)
                axis.set_title(f"{one['by']}: {CRIBS[crib]}", fontsize=9)
            for axis in row[len(here) :]:
                axis.set_axis_off()
        figure.colorbar(image, ax=axes, shrink=0.6, label="our mean crib less theirs, points")
        figure.savefig(folder / picture(kind), dpi=110)
        plt.close(figure)


def picture(kind: str) -> str:
    """Return the name of the picture of a kind of our tables."""
    return f"published_cribs_{kind}.png"


def section(tables: Tables, theirs: Published) -> str:
    """Return the text on the discard tables."""
    return f"""## Discard tables

What a discarded pair makes in the crib on average. Two tables of ours are compared. `expert` is the
mean over all deals in which a seat was dealt the pair, when both seats discard as `expert` does
(the tables of {{doc}}`six_card`). *By hand and crib alone* is for seats that weigh only hand and
crib, each answering the other (`crib tables crib_tables`, the charts of `rule_based`).

{_summary(tables, theirs)}

How far are all these tables from each other?

{_among(tables, theirs)}

In the opponent's crib, ours by hand and crib alone is nearer to Schell's and Colvert's than these
are to each other. In the own crib it lies below all but Cribbage Pro's. Where do the differences
come from?

- **Pegging.** `expert` also keeps cards for it. The dealer keeps low cards and discards tens and
  court cards, so pone's tens and court cards make more in its crib, and the rest less. Without
  pegging, three quarters of our distance from Schell's and Colvert's tables for the opponent's crib
  are gone.
- **Hessel's** are higher than ours in nearly every cell, by about the same amount. We do not know
  why. He leaves out flushes in the crib, which would make his lower.
- **Rasmussen's** and **Cribbage Pro's** are means of cribs that people had, with pairs that they
  chose to discard and opponents who discarded in their own ways. Pairs that hardly anybody gives
  away have wide intervals: Rasmussen's tip 1 at cribbage.org counts 182 cribs with his 8-8.

Ours less theirs in hundredths of a point, `expert`:

![Our mean cribs less the published ones]({picture("expert")})

By hand and crib alone:

![Our mean cribs by hand and crib alone, less the published ones]({picture("alone")})

{_cells(tables, theirs)}"""


def _summary(tables: Tables, theirs: Published) -> str:
    """Return how far our tables are from each published one."""
    rows = []
    for one in theirs:
        other = read_rows(one["rows"])[UPPER]
        row: list[object] = [f"{one['by']}, {one['crib']}", int(np.isfinite(other).sum())]
        for kind in KINDS:
            apart = tables[kind][one["crib"]][UPPER] - other
            worst = int(np.nanargmax(np.abs(apart)))
            row += [f"{np.nanmean(apart):+.3f}", f"{np.nanmean(np.abs(apart)):.3f}",
                    f"{_pair(worst)} {apart[worst]:+.2f}"]  # fmt: skip
        rows.append(row)
    head = ["table, crib", "pairs"]
    for kind in KINDS.values():
        head += [f"{kind}: mean difference", "mean absolute", "largest"]
    return table(head, rows, numbers=True)


def _among(tables: Tables, theirs: Published) -> str:
    """Return the mean absolute differences between all the tables."""
    texts = []
    for crib, title in CRIBS.items():
        every = {name: tables[kind][crib] for kind, name in KINDS.items()}
        every |= {one["by"]: read_rows(one["rows"]) for one in theirs if one["crib"] == crib}
        rows = [
            [name, *("" if a is b else f"{np.nanmean(np.abs(a - b)[UPPER]):.3f}"
                     for b in every.values())]
            for name, a in every.items()
        ]  # fmt: skip
        texts.append(f"Mean absolute differences, {title}:\n\n"
                     f"{table(['', *every], rows, numbers=True)}")  # fmt: skip
    return "\n\n".join(texts)


def _cells(tables: Tables, theirs: Published) -> str:
    """Return all tables cell by cell."""
    texts = []
    for crib, title in CRIBS.items():
        here = [one for one in theirs if one["crib"] == crib]
        columns = [tables[kind][crib][UPPER] for kind in KINDS]
        columns += [read_rows(one["rows"])[UPPER] for one in here]
        rows = [
            [_pair(k), *("" if np.isnan(column[k]) else f"{column[k]:.2f}" for column in columns)]
            for k in range(len(UPPER[0]))
        ]
        head = ["pair", *KINDS.values(), *(one["by"] for one in here)]
        texts.append(f"### Every pair: {title}\n\n{table(head, rows, numbers=True)}")
    return "\n\n".join(texts)


def _pair(k: int) -> str:
    """Return the name of the k-th cell of the upper triangle."""
    return f"{TEXT[UPPER[0][k]]}-{TEXT[UPPER[1][k]]}"
