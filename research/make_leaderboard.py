"""Check every agent of the leaderboard and make docs/leaderboard.md of them.

    python -m research.make_leaderboard            # checks all, writes the page
    python -m research.make_leaderboard --check    # checks alone
    python -m research.make_leaderboard --measure  # rates the shipped agents that lack a rating
                                                   # (half an hour for all), and copies the
                                                   # exploitability of docs/numbers

Exits with status 1, and a line for each fault, if a submission does not fit.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any

from crib_training import rate
from crib_training.exploit import Estimate
from crib_training.outputs import table, write_json

from crib_env import ENVIRONMENTS
from crib_env.registration import env_module
from docs.pages import render, write_changed
from research.benchmark_runs import levels_of, read_ledger
from research.figures import share_won
from research.numbers.strength import exploitability_section, tournaments_section

SEED = 1
PAIRS = {"six_card_v0": 1000, "five_card_v0": 1000, "table_top_v0": 500}
MANY_HAND = {"three_hand_v0": 200, "four_hand_v0": 200}
TWO_HAND = {"six_card_v0": 1000, "five_card_v0": 1000}
# The built-in agents, the environments that rate each, and the numbers of pairs: `equilibrium` is
# solved and `learned_mixed` was trained for two-hand games alone, and at Table Top `master` plays
# as `expert`.
# `expert` does not play with three and four hands.
RATED: dict[str, dict[str, int]] = dict.fromkeys(rate.BUILT_IN, PAIRS | MANY_HAND) | {
    "expert": PAIRS,
    "learned": PAIRS | MANY_HAND | {"five_card_v0": 4000},
    "equilibrium": TWO_HAND,
    "learned_mixed": TWO_HAND,
    "master": TWO_HAND,
}
CITED = {
    "six cards": "six_card_v0",
    "five cards": "five_card_v0",
    "three hands": "three_hand_v0",
    "four hands": "four_hand_v0",
    "Table Top": "table_top_v0",
}
DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "leaderboard.md"
NUMBERS = DOCS / "numbers" / "exploitability.json"
TOURNAMENTS = NUMBERS.with_name("agents.json")
LEAST_PAIRS = 200


def entries() -> dict[str, list[Path]]:
    """Return the files of results by agent, the built-in agents first."""
    names = sorted(path.name for path in rate.folder().iterdir() if path.is_dir())
    names.sort(key=lambda name: (name not in rate.BUILT_IN, name))
    return {name: sorted((rate.folder() / name).glob("*.json")) for name in names}


def faults(name: str, files: list[Path]) -> list[str]:
    """Return the faults of an agent's folder, a line each."""
    found = []
    if not re.fullmatch(r"[a-z0-9_]+", name):
        found.append(f"{name}: a name has small letters, digits and underscores alone")
    card = rate.folder() / name / rate.CARD
    text = card.read_text() if card.is_file() else ""
    missing = [heading for heading in rate.HEADINGS if f"\n## {heading}\n" not in text]
    if missing or rate.BLANK in text:
        headings = ", ".join(missing or rate.HEADINGS)
        found.append(f"{name}: {rate.CARD} must say something under {headings}")
    if not files:
        found.append(f"{name}: there are no results; crib rate --out writes them")
    for file in files:
        try:
            found += [f"{name}/{file.name}: {fault}" for fault in _faults(name, file, rate.read(file))]
        except ValueError as error:
            found.append(str(error))
    return found


def _faults(name: str, file: Path, results: rate.Results) -> list[str]:
    if results.environment not in ENVIRONMENTS:
        return [f"no environment is called {results.environment!r}"]
    found = []
    if results.name != name:
        found.append(f"the results are of {results.name!r}")
    if results.file != file.name:
        found.append(f"the results are those of {results.file}")
    if results.rules != env_module(results.environment).maker.rules:
        found.append(f"played by the rules {results.rules!r}")
    if results.pairs < LEAST_PAIRS:
        found.append(f"{results.pairs} pairs an opponent; {LEAST_PAIRS} are the least")
    if "crib-env" not in results.versions:
        found.append("it does not say with which version of crib-env")
    if name in RATED and results.exploitability != published().get((name, results.rules)):
        found.append(f"its exploitability is not that of {NUMBERS.name}; --measure takes it over")
    field = [other for other in rate.BUILT_IN if results.environment in RATED[other]]
    missing = [other for other in field if other != name and other not in results.games]
    if missing:
        found.append(f"it has not met {', '.join(missing)}")
    kinds = results.outcomes
    for other, counts in results.games.items():
        whole = all(count >= 0 for count in counts)
        if not whole or len(counts) != kinds or sum(counts) != results.pairs:
            found.append(f"the pairs against {other} are not {results.pairs} of {kinds} kinds")
    return found


def page() -> str:
    """Return the page."""
    found = entries()
    every = [rate.read(file) for files in found.values() for file in files]
    tables = []
    for environment in ENVIRONMENTS:
        for players in sorted({one.players for one in every if one.environment == environment}):
            here = [e for e in every if (e.environment, e.players) == (environment, players)]
            seats = f", {players} players" if players > 2 else ""
            tables.append((f"{environment}{seats}", rate.rating_table(here), _amounts(here)))
    known, played = (json.loads(file.read_text()) for file in (NUMBERS, TOURNAMENTS))
    return render(
        "leaderboard",
        approximately=rate.APPROXIMATELY,
        seed=SEED,
        least_pairs=LEAST_PAIRS,
        tables=tables,
        cited=cite_table(every),
        pairs=PAIRS | MANY_HAND,
        cards=[(name, *card(name)) for name in found if name not in RATED],
        exploitability=exploitability_section(known),
        exploited=known["command"],
        tournaments=tournaments_section(played),
        played=played["command"],
    )


def cite_table(every: list[rate.Results]) -> str:
    """Return the table of the figures to cite: the built-in agents, the strongest first."""
    known = {(one.name, one.environment): one for one in every}
    levels = levels_of(read_ledger())
    rows = []
    for name in RATED:
        made = [known.get((name, env)) for env in CITED.values()]
        games = [share_won(one, rate.ANCHOR) if one and name != rate.ANCHOR else "" for one in made]
        level = levels.get(name)
        game = str(Estimate(*level["gain"]["both"]["all"])) if level else ""
        five = known[name, "five_card_v0"].exploitability
        rows.append([f"`{name}`", *games, rate.exploitability_cell(five) if five else "", game])
    rows.sort(key=lambda row: float((row[1] or "50").split()[0]), reverse=True)
    return table(["agent", *CITED, "exploitability", "`crib-bench v1`"], rows)


def card(name: str) -> tuple[str, str]:
    """Return an agent's description and training from its card, each on one line."""
    text = (rate.folder() / name / rate.CARD).read_text()
    _, what, *_ = text.split("\n\n")
    trained = text.partition("\n## Training\n")[2].partition("\n## ")[0]
    return " ".join(what.split()), " ".join(trained.split())


def _amounts(every: list[rate.Results]) -> str:
    """Return in words how many pairs the agents played."""
    by_pairs: dict[int, list[str]] = {}
    for one in every:
        by_pairs.setdefault(one.pairs, []).append(f"`{one.name}`")
    most, *rest = sorted(by_pairs, key=lambda pairs: len(by_pairs[pairs]), reverse=True)
    fewer = "".join(f"; {' and '.join(by_pairs[pairs])}: {pairs:,}" for pairs in rest)
    met = "pairs of games against"
    if (sides := every[0].sides) > 2:
        met = f"sets of {sides} games against {sides - 1} of"
    return f"{most:,} {met} each opponent{fewer}."


@cache
def published() -> Mapping[tuple[str, str], dict[str, Any]]:
    """Return the five-card exploitability of each agent in docs/numbers, by name and rules."""
    rules = env_module("five_card_v0").maker.rules
    known = json.loads(NUMBERS.read_text())["agents"]
    return {(one["agent"], rules): rate.exploited(one) for one in known if one["rules"] == rules}


def measure() -> None:
    """Rate the shipped agents that lack a rating, and copy the exploitability of docs/numbers."""
    for name, pairs in RATED.items():
        for env in pairs:
            file = rate.folder() / name / f"{env}.json"
            if not file.exists():
                rate.run(rate.Settings(name, env=env, pairs=pairs[env], seed=SEED, out=rate.folder() / name))
            results = rate.read(file)
            known = published().get((name, results.rules))
            write_json(file, asdict(replace(results, exploitability=known)))


def main() -> None:
    """Check, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write no page")
    parser.add_argument("--measure", action="store_true", help="first rate agents without a rating")
    settings = parser.parse_args()
    if settings.measure:
        measure()
    found = [fault for name, files in entries().items() for fault in faults(name, files)]
    if found:
        sys.exit("\n".join(found))
    if not settings.check:
        write_changed(PAGE, page())


if __name__ == "__main__":
    main()
