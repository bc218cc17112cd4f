"""The agents' strength where the leaderboard has no row: a tournament at each game."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from crib_training.tournament.chunks import Setup
from crib_training.tournament.report import conditions, cross_table, ranked
from crib_training.tournament.run import tournament
from crib_training.tournament.workers import Processes

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
    return render("agents", tables=[(table, data[table.title]) for table in TABLES],
                  absent=absent, conditions=conditions, ranked=ranked, won=cross_table)  # fmt: skip


def absent(table: Table, results: dict[str, Any]) -> str:
    """Return a sentence on the agents of a table that were not in the field when it was played."""
    played = {agent["name"] for agent in results["agents"]}
    missing = [f"`{name}`" for name in table.agents if name not in played]
    return f" Not in this table: {', '.join(missing)}." if missing else ""
