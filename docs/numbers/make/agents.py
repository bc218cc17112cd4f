"""The page of the agents' strength: a tournament at every game."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from crib_training.tournament.chunks import Setup
from crib_training.tournament.report import conditions, cross_table, draw, ratings_table
from crib_training.tournament.run import tournament
from crib_training.tournament.workers import Processes

FIELD = ("expert", "learned_search", "learned", "rule_based", "greedy", "random")
# Of two-hand games. `equilibrium` is solved for them alone; elsewhere `master` plays as `expert`.
TWO_HAND = ("master", "equilibrium", *FIELD)
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
    Table("Five cards", "five_card_v0", agents=TWO_HAND),
    Table("Table Top, two players", "table_top_v0"),
    Table("Table Top, four players", "table_top_v0", players=4),
    Table("Ship's variation, two players", "table_top_v0", "table_top_ship"),
    Table("Ship's variation, four players", "table_top_v0", "table_top_ship", 4),
)


def field(table: Table) -> tuple[str, ...]:
    """Return who plays; the guest too if its package is installed."""
    if table.guest and find_spec(GUESTS_PACKAGE) and find_spec("examples"):
        return (*table.agents, table.guest)
    return table.agents


def page(pairs: int, seed: int, folder: Path, runs: Path) -> tuple[str, dict[str, Any]]:
    """Return the page and the figures, and draw the ratings of each tournament.

    Args:
        pairs: duplicate pairs of games a pairing.
        seed: fixes everything.
        folder: of the pictures.
        runs: where the tournaments keep what has been played, to go on from.
    """
    texts = []
    data = {}
    for table in TABLES:
        setup = Setup(
            agents=field(table), environment=table.environment, rules=table.rules,
            players=table.players, seeds=(seed,),
        )  # fmt: skip
        name = table.title.lower().replace(",", "").replace("'", "").replace(" ", "_")
        workers = Processes(os.cpu_count() or 1)
        results = tournament(setup, pairs, runs / name, workers)
        draw(results, folder / f"agents_{name}.png")
        data[table.title] = results
        texts.append(
            f"## {table.title}\n\n{conditions(results)}\n\n{ratings_table(results)}\n\n"
            f"Games in per cent that the agent of the row won against the agent of the column:\n\n"
            f"{cross_table(results)}\n\n![Ratings](agents_{name}.png)\n"
        )
    head = (
        "Every two agents meet in duplicate pairs of games (same cards, seats swapped). Ratings "
        "are Bradley-Terry on the Elo scale with a mean of 0; intervals are a bootstrap over "
        "pairs. `equilibrium` is solved for six and five cards alone, and at Table Top `master` "
        "plays as `expert`. `magmacrunch` is a published bot (`magmacrunch-cribbage` on PyPI).\n"
    )
    return "\n".join([head, *texts]), data
