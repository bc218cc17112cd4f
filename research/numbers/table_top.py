"""The page of Table Top: lines, sides, cribs and rounds per game, by self-play."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from crib_env.arrays import Array
from crib_env.batch import GameBatch
from crib_env.engine.table_top.records import CENTRE, SIZE
from crib_env.rules import PRESETS, Rules
from crib_env.scoring import score_line
from docs.pages import mean, render
from research.numbers.episodes import Episodes, Run, from_dealer

GAMES = (("table_top", 2), ("table_top", 4), ("table_top_ship", 2), ("table_top_ship", 4))
TITLES = {"table_top": "Table Top", "table_top_ship": "Ship's variation"}
SIDES = ("other", "dealer's")
LINES = {"first or fifth": [0, 4], "second or fourth": [1, 3], "third, with the starter": [2]}


def final_lines(rounds: Episodes, rules: Rules, players: int) -> Array:
    """Return int64[E, 2, 5], the points of every line of ended rounds by side.

    Side 0's lines are the rows, side 1's the columns (T1).
    """
    n = len(rounds.states)
    games = GameBatch(rules, n, players=players, episode="round")
    games.states = rounds.states
    layouts = games.views(np.arange(n), np.zeros(n, dtype=np.int64))["layout"].reshape(n, SIZE, SIZE)
    made = np.zeros((n, 2, SIZE), dtype=np.int64)
    for e, layout in enumerate(layouts):
        starter = int(layout.flat[CENTRE])
        for side, lines in enumerate((layout, layout.T)):
            for i, line in enumerate(lines):
                nob = starter if i == SIZE // 2 else None
                made[e, side, i] = score_line(line.tolist(), rules, starter=nob).points
    return made


def measure(run: Run, counted: int) -> dict[str, Any]:
    """Return the figures of both sets of rules for two players and four."""
    return {f"{preset}, {players} players": measure_game(preset, players, run, counted) for preset, players in GAMES}


def measure_game(preset: str, players: int, run: Run, counted: int) -> dict[str, Any]:
    """Return the figures of one set of rules and number of players."""
    rules = PRESETS[preset]
    rounds = run.play(rules, "round", run.deals, players=players)
    made = from_dealer(rounds.points, rounds.first_dealer)[:, ::-1]
    first = {field.name: getattr(rounds, field.name)[:counted] for field in fields(Episodes)}
    few = Episodes(**first)
    lines = from_dealer(final_lines(few, rules, players), few.first_dealer)[:, ::-1]
    games = run.play(rules, "game", run.games, players=players)
    difference = made[:, 1] - made[:, 0]
    return {
        "rounds": len(made),
        "games": len(games.winner),
        "sides": {
            side: {
                **{name: mean(lines[:, i, places].mean(axis=1)) for name, places in LINES.items()},
                "a line": mean(made[:, i, 1] / SIZE),
                "five lines": mean(made[:, i, 1]),
                "crib": mean(made[:, i, 2]),
            }
            for i, side in enumerate(SIDES)
        },
        "moving_last": mean(difference[:, 1]),
        "with_crib": mean(difference[:, 1] + difference[:, 2]),
        "rounds per game": mean(games.deals),
        "games won by the first dealer's side": mean(games.winner == games.first_dealer),
        "rounds in which the dealer's side scores more": mean(difference[:, 1:].sum(axis=1) > 0),
    }


def page(data: dict[str, Any]) -> str:
    """Return the page of these figures."""
    games = [
        (f"{TITLES[preset]}, {players} players", data[f"{preset}, {players} players"]) for preset, players in GAMES
    ]
    return render("table_top", games=games, rules=PRESETS["table_top"], ship=PRESETS["table_top_ship"])
