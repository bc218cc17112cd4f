"""The agents' strength: exploitability, and tournaments for games without a leaderboard."""

from __future__ import annotations

import json
import re
from importlib.util import find_spec
from inspect import getfile
from pathlib import Path
from typing import Any, NamedTuple

from crib_training.evaluation.chunks import Setup
from crib_training.evaluation.report import conditions, ranked, shares_won
from crib_training.exploit import Estimate, measure
from crib_training.exploit.measure import PARTS, SEATS
from crib_training.outputs import write_json
from crib_training.provenance import code_digest, file_digests
from crib_training.tournament import tournament
from crib_training.workers import Processes

from crib_env.batch import usable_cores
from crib_env.errors import unknown
from docs.pages import render
from research.exploit import exploitability, tree
from research.solve import counts

# How agents are queried and best responses played, as options of `python -m research.exploit`; of
# the drawn hands, one in ``share`` is used. `equilibrium`, `greedy` and `random` ignore the pair
# they discarded when they peg, and there are fewer than 1,000 pairs. With six cards all but
# `equilibrium` are rolled out.
ROLLED_OUT = {"max_queries": 200_000, "fallback": "learned", "rollouts": 400, "share": 10}
QUERIES: dict[str, dict[str, dict[str, Any]]] = {
    "five_card": {
        "equilibrium": {"abstraction": 1},
        "master": {"abstraction": 2, "share": 10},
        "expert": {"abstraction": 2},
        "learned": {"abstraction": 2, "share": 10},
        "learned_mixed": {"abstraction": 6},
        "rule_based": {"abstraction": 1000},
        "greedy": {"abstraction": 1},
        "random": {"abstraction": 1},
    },
    "hoyle": {
        "equilibrium": {"share": 10},
        "master": ROLLED_OUT,
        "expert": ROLLED_OUT,
        "learned_mixed": ROLLED_OUT,
        "learned": {"max_queries": 2_000_000, "fallback": "rule_based", "rollouts": 300, "share": 50},
        "rule_based": {"rollouts": 300, "share": 50},
        "greedy": {"rollouts": 300, "share": 50},
    },
}
MEASURING = [path for module in (measure, tree, counts) for path in sorted(Path(getfile(module)).parent.glob("*.py"))]
TITLES = {"five_card": "Five cards", "hoyle": "Six cards"}


def measure_exploitability(hands: int, seed: int, runs: Path) -> dict[str, Any]:
    """Return the results of `exploitability`, agent by agent."""
    results = [
        exploited(runs, rules, name, hands, seed, **options)
        for rules, field in QUERIES.items()
        for name, options in field.items()
    ]
    return {"agents": results}


def exploited(
    runs: Path, rules: str, name: str, hands: int, seed: int, share: int = 1, **options: Any
) -> dict[str, Any]:
    """Return an agent's exploitability, from a file if the same options, files and code made it."""
    hands = max(2, hands // share)  # an interval needs two, and 0 stands for all
    path = runs / f"exploit_{rules}_{name}_{hands}_{seed}.json"
    made_with = {"options": options, "files": file_digests((name,)), "code": code_digest(*MEASURING)}
    if path.exists():
        stored: dict[str, Any] = json.loads(path.read_text())
        if stored.pop("made_with", None) == made_with:
            return stored
    print(f"  {name}, {rules} ...", flush=True)
    result = exploitability(
        name, rules=rules, hands=hands, seed=seed, **options, progress=lambda line: print(f"    {line}", flush=True)
    ).as_dict()
    runs.mkdir(parents=True, exist_ok=True)
    write_json(path, result | {"made_with": made_with})
    return result


def exploitability_section(data: dict[str, Any]) -> str:
    """Return the section of the leaderboard's page on these results."""
    games = [(title, [one for one in data["agents"] if one["rules"] == rules]) for rules, title in TITLES.items()]
    return render(
        "exploitability",
        games=games,
        gain=lambda found: str(Estimate(**found)),
        missed=missed,
        parts=PARTS[1:],
        seats=SEATS[:2],
    ).strip()


def missed(result: dict[str, Any]) -> str:
    """Return the share of the agent's plays that were not predicted, or "exact"."""
    agreed = result["agreement"]
    if agreed["otherwise"]:
        return f"{100 * agreed['otherwise'] / agreed['met']:.1f} %"
    return "none met" if result["abstraction"] or result.get("max_queries") else "exact"


FIELD = ("expert", "learned", "rule_based", "greedy", "random")
# Of two-hand games. `equilibrium` is solved and `learned_mixed` was trained for them alone;
# elsewhere `master` plays as `expert`.
TWO_HAND = ("master", "equilibrium", "learned_mixed", *FIELD)
# A published bot of six-card cribbage, in plain Python; it comes with the extra "bench".
GUEST = "examples.magmacrunch:Magmacrunch"
GUESTS_PACKAGE = "cribbage"


class Table(NamedTuple):
    """One tournament: its title, environment, rules, players, field and guest."""

    title: str
    environment: str
    rules: str | None = None
    players: int = 2
    agents: tuple[str, ...] = FIELD
    guest: str | None = None

    @property
    def name(self) -> str:
        """Return the name of its files, and on the command line."""
        return self.title.lower().replace(",", "").replace("'", "").replace(" ", "_")

    def field(self) -> tuple[str, ...]:
        """Return the field; the guest too if its package is installed."""
        if self.guest and find_spec(GUESTS_PACKAGE) and find_spec("examples"):
            return (*self.agents, self.guest)
        return self.agents


TABLES = (
    Table("Six cards", "six_card_v0", agents=TWO_HAND, guest=GUEST),
    Table("Table Top, four players", "table_top_v0", players=4),
    Table("Ship's variation, two players", "table_top_v0", "table_top_ship"),
    Table("Ship's variation, four players", "table_top_v0", "table_top_ship", 4),
)


def measure_tournaments(pairs: int, seed: int, folder: Path, runs: Path, again: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the results of the tournaments by title."""
    names = [table.name for table in TABLES]
    for name in again:
        if name not in names:
            raise unknown("tournament", name, names)
    data = json.loads((folder / "agents.json").read_text()) if again else {}
    found = {}
    for table in TABLES:
        if again and table.name not in again:
            found[table.title] = data[table.title]
        else:
            setup = Setup(
                agents=table.field(), env=table.environment, rules=table.rules, players=table.players, seed=(seed,)
            )
            workers = Processes(usable_cores())
            found[table.title] = tournament(setup, pairs, runs / table.name, workers)
    return found


def tournaments_section(data: dict[str, Any]) -> str:
    """Return the section of the leaderboard's page on these results, by title.

    Of a tournament with a guest only the guest's games are shown: the leaderboard has the others.
    """
    played = {table.title: data[table.title] for table in TABLES}
    names = {one["name"] for results in played.values() for one in results["agents"]}
    guests = sorted(names - set(TWO_HAND))
    opponents = [*(name for name in TWO_HAND if name in names), *guests]
    won = {title: shares_won(results) for title, results in played.items()}
    for table in TABLES:
        if table.guest:
            shares = won[table.title].items()
            won[table.title] = {pair: share for pair, share in shares if set(pair) & set(guests)}
    games = re.compile(r"rules \w+, \d players, ")  # which the table shows
    how = dict.fromkeys(games.sub("", conditions(results)) for results in played.values())
    return render(
        "agents", played=played, opponents=opponents, ranked=ranked, won=won, conditions=" ".join(how)
    ).strip()
