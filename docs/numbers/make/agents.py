"""The agents' strength where the leaderboard has no row: a tournament at each game."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from crib_training.evaluation.figures import shown_percent
from crib_training.tournament.chunks import Setup
from crib_training.tournament.report import conditions, ranked, won_by
from crib_training.tournament.run import tournament
from crib_training.workers import Processes

from crib_env.errors import unknown
from docs.pages import render

FIELD = ("expert", "learned", "rule_based", "greedy", "random")
# Of two-hand games. `equilibrium` is solved and `learned_mixed` was trained for them alone;
# elsewhere `master` plays as `expert`.
TWO_HAND = ("master", "equilibrium", "learned_mixed", *FIELD)
# A published bot of six-card cribbage, in plain Python; it comes with the extra "bench".
GUEST = "examples.magmacrunch:Magmacrunch"
GUESTS_PACKAGE = "cribbage"


@dataclass(frozen=True)
class Table:
    """One tournament: its title, its environment, rules and players, the field and who may join."""

    title: str
    environment: str
    rules: str | None = None
    players: int = 2
    agents: tuple[str, ...] = FIELD
    guest: str | None = None


TABLES = (
    Table("Six cards", "six_card_v0", agents=TWO_HAND, guest=GUEST),
    Table("Table Top, four players", "table_top_v0", players=4),
    Table("Ship's variation, two players", "table_top_v0", "table_top_ship"),
    Table("Ship's variation, four players", "table_top_v0", "table_top_ship", 4),
)


def table_name(table: Table) -> str:
    """Return the name of a tournament: of its files, and on the command line."""
    return table.title.lower().replace(",", "").replace("'", "").replace(" ", "_")


def field(table: Table) -> tuple[str, ...]:
    """Return who plays; the guest too if its package is installed."""
    if table.guest and find_spec(GUESTS_PACKAGE) and find_spec("examples"):
        return (*table.agents, table.guest)
    return table.agents


def measure(
    pairs: int, seed: int, folder: Path, runs: Path, again: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Return the results of the tournaments by title."""
    names = {table_name(table): table for table in TABLES}
    for name in again:
        if name not in names:
            raise unknown("tournament", name, names)
    known = json.loads((folder / "agents.json").read_text()) if again else {}
    data = {}
    for name, table in names.items():
        if again and name not in again:
            data[table.title] = known[table.title]
        else:
            setup = Setup(
                agents=field(table), environment=table.environment, rules=table.rules,
                players=table.players, seeds=(seed,),
            )  # fmt: skip
            workers = Processes(os.cpu_count() or 1)
            data[table.title] = tournament(setup, pairs, runs / name, workers)
    return data


def page(data: dict[str, Any]) -> str:
    """Return the section of the leaderboard's page on these results, by title."""
    played = [(table.title, data[table.title]) for table in TABLES]
    names = {one["name"] for _, results in played for one in results["agents"]}
    opponents = [*(name for name in TWO_HAND if name in names), *sorted(names - set(TWO_HAND))]
    rows = []
    for title, results in played:
        won = {}
        for pairing in results["pairings"]:
            one, other = pairing["first"], pairing["second"]
            for first, second in ((one, other), (other, one)):
                won[first, second] = shown_percent(won_by(pairing, first)).removesuffix(" %")
        for one in ranked(results):
            name, rating = one["name"], f"{one['rating']:+.0f}"
            interval = f"{one['low']:+.0f} to {one['high']:+.0f}"
            rows.append([title, name, rating, interval,
                         *(won.get((name, other), "") for other in opponents)])  # fmt: skip
    games = re.compile(r"rules \w+, \d players, ")  # which the table says
    how = dict.fromkeys(games.sub("", conditions(results)) for _, results in played)
    return render("agents", opponents=opponents, rows=rows, conditions=" ".join(how))
