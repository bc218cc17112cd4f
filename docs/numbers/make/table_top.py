"""The page of Table Top: lines, sides, cribs and rounds per game, by self-play."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from crib_training.evaluation.duplicate import estimate
from crib_training.evaluation.markdown import table

from crib_env.batch import GameBatch
from crib_env.engine.table_top.records import CENTRE, SIZE
from crib_env.rules import PRESETS, Rules
from crib_env.scoring import score_line
from docs.numbers.make.episodes import Episodes
from docs.numbers.make.pages import percent, points
from docs.numbers.make.run import Run

Array = npt.NDArray[Any]

GAMES = (("table_top", 2), ("table_top", 4), ("table_top_ship", 2), ("table_top_ship", 4))
TITLES = {"table_top": "Table Top", "table_top_ship": "Ship's variation"}
SIDES = ("other", "dealer's")
LINES = ("first or fifth", "second or fourth", "third, with the starter")


def final_lines(rounds: Episodes, rules: Rules, players: int) -> Array:
    """Return int64[E, 2, 5], the points of every line of ended rounds by side.

    Side 0's lines are the rows, side 1's the columns (T1).
    """
    n = len(rounds.states)
    games = GameBatch(rules, n, players=players, episode="round")
    games.states = rounds.states
    layouts = games.views(np.arange(n), np.zeros(n, dtype=np.int64))["layout"].reshape(
        n, SIZE, SIZE
    )
    made = np.zeros((n, 2, SIZE), dtype=np.int64)
    for e, layout in enumerate(layouts):
        starter = int(layout.flat[CENTRE])
        for side, lines in enumerate((layout, layout.T)):
            for i, line in enumerate(lines):
                nob = starter if i == SIZE // 2 else None
                made[e, side, i] = score_line(line.tolist(), rules, starter=nob).points
    return made


def by_dealer(values: Array, first_dealer: Array) -> Array:
    """Return ``values`` [E, 2, ...] by side as [E, (other, dealer's side), ...]."""
    every = np.arange(len(values))
    return np.stack([values[every, 1 - first_dealer], values[every, first_dealer]], axis=1)


def section(preset: str, players: int, run: Run, counted: int) -> tuple[str, dict[str, Any]]:
    """Return the text and the figures of one set of rules and number of players."""
    rules = PRESETS[preset]
    rounds = run.play(rules, "round", run.deals, players=players)
    made = by_dealer(rounds.points, rounds.first_dealer)
    few = head(rounds, counted)
    lines = by_dealer(final_lines(few, rules, players), few.first_dealer)
    games = run.play(rules, "game", run.games, players=players)

    sides: dict[str, dict[str, Any]] = {}
    for i, side in enumerate(SIDES):
        outer, inner, middle = (lines[:, i, k] for k in ([0, 4], [1, 3], [2]))
        sides[side] = {
            **{name: estimate(points_made.mean(axis=1)) for name, points_made in
               zip(LINES, (outer, inner, middle), strict=True)},
            "a line": estimate(made[:, i, 1] / SIZE),
            "five lines": estimate(made[:, i, 1]),
            "crib": estimate(made[:, i, 2]),
        }  # fmt: skip
    difference = made[:, 1] - made[:, 0]
    last = estimate(difference[:, 1])
    whole = estimate(difference[:, 1] + difference[:, 2])
    rows = [[side, *map(points, shown.values())] for side, shown in sides.items()]
    facts = {
        "rounds per game": estimate(games.deals),
        "games won by the first dealer's side": estimate(games.winner == games.first_dealer),
        "rounds in which the dealer's side scores more": estimate(
            difference[:, 1:].sum(axis=1) > 0
        ),
    }
    shown = [percent(v) if "per game" not in name else points(v) for name, v in facts.items()]
    text = f"""## {TITLES[preset]}, {players} players

{len(made):,} rounds, {len(games.winner):,} games to {rules.target}; lines counted one by one in
{len(lines):,} rounds.

{table(["points per line of the side", *LINES, "all", "five lines", "crib"], rows, numbers=True)}

The dealer's side moves last and owns the crib. So it can send good cards there, and the other side
must send bad ones. The dealer's five lines score {points(last)} points per round more than the
other side's; with the crib {points(whole)} more.

{table(["", "mean"], list(zip(facts, shown, strict=True)), numbers=True)}
"""
    about = {"rounds": len(made), "games": len(games.winner), "sides": sides, "moving_last": last,
             "with_crib": whole, **facts}  # fmt: skip
    return text, about


def head(rounds: Episodes, n: int) -> Episodes:
    """Return the first ``n`` of the episodes."""
    return Episodes(
        rounds.first_dealer[:n], rounds.winner[:n], rounds.scores[:n], rounds.deals[:n],
        rounds.points[:n], rounds.states[:n],
    )  # fmt: skip


def page(run: Run, counted: int) -> tuple[str, dict[str, Any]]:
    """Return the page and the figures of both sets of rules for two players and four."""
    texts = []
    data: dict[str, Any] = {}
    for preset, players in GAMES:
        text, about = section(preset, players, run, counted)
        texts.append(text)
        data[f"{preset}, {players} players"] = about
    return "\n".join(texts), data
