"""Measure the figures of ``docs/numbers``, and make the pages of them.

    python -m research.numbers                # all of them
    python -m research.numbers five_card      # one part

The games are played by one agent in every seat, ``expert`` unless another is named. The leaderboard
shows ``agents``, tournaments between them all, and ``exploitability``:
``python -m research.make_leaderboard`` makes its page.
"""

from __future__ import annotations

import json
import re
from dataclasses import KW_ONLY
from pathlib import Path
from typing import Annotated, Any

from crib_agents.files import write_whole
from crib_agents.loading import TakesAgents
from crib_training.command_line import start
from crib_training.outputs import command
from crib_training.provenance import versions
from pydantic import Field

from crib_env.errors import unknown
from crib_env.settings import MANY, Count, NewFolder, Seed, Several, Whole, checked_dataclass
from docs.pages import render, write_changed
from research.numbers import many_hand, published, strength, table_top, two_hand
from research.numbers.episodes import Run

FOLDER = Path("docs/numbers")
GAMES = {  # the sections of the page
    "six_card": "Six cards",
    "five_card": "Five cards",
    "many_hand": "Three and four hands",
    "table_top": "Table Top",
}
# The options that change the figures of each part.
PLAYED = ("agent", "deals", "games")
OPTIONS = {
    "six_card": (*PLAYED, "cribs", "seed"),
    "five_card": (*PLAYED, "cribs", "seed"),
    "table_top": (*PLAYED, "lines", "seed"),
    "many_hand": (*PLAYED, "seed"),
    "agents": ("pairs", "seed", "tables"),
    "exploitability": ("hands", "seed"),
    "published": ("cribs", "seed"),
}
PARTS = tuple(OPTIONS)
PACKAGES = ("crib-env", "numpy", "numba")


@checked_dataclass(frozen=True)
class Settings(TakesAgents):
    """Measure the figures of docs/numbers, and make the pages of them.

    Attributes:
        parts: six_card, five_card, table_top, many_hand, agents, exploitability, published; all if
            none.
        agent: the agent in every seat.
        deals: single deals, or rounds.
        games: whole games.
        cribs: deals for the means of cribs.
        lines: rounds counted line by line.
        pairs: of games between two agents.
        hands: that a best response is found for.
        seed: fixes everything.
        tables: tournaments of the agents to play, such as six_cards; the others stay; all if none.
        workers: threads; they change no figure.
        out: the folder for figures and pages.
        runs: the folder of the tournaments and of the results on exploitability.
    """

    parts: tuple[str, ...] = ()
    _: KW_ONLY
    agent: str = "expert"
    deals: Count = 40_000
    games: Annotated[Whole, Field(ge=two_hand.SHARE, le=MANY)] = 10_000
    cribs: Count = 400_000
    lines: Count = 4_000
    pairs: Count = 1000
    hands: Several = 400
    seed: Seed = 1
    tables: tuple[str, ...] = ()
    workers: Annotated[Whole, Field(ge=1, le=4096)] = 2
    out: NewFolder = FOLDER
    runs: NewFolder = Path("runs/numbers")


def run(settings: Settings) -> None:
    """Measure, and make the pages."""
    for name in settings.parts:
        if name not in PARTS:
            raise unknown("part", name, PARTS)
    settings.out.mkdir(parents=True, exist_ok=True)
    for name in settings.parts or PARTS:
        print(f"{name} ...", flush=True)
        data = measure(name, settings)
        others = {option for option, value in vars(settings).items() if option not in OPTIONS[name] or value == ()}
        made_by = command(f"python -m research.numbers {name}", settings, others)
        write(name, data, made_by, settings.out)
    for file, text in pages(settings.out).items():
        write_changed(settings.out / file, text)
        print(f"wrote {settings.out / file}")


def measure(name: str, settings: Settings) -> dict[str, Any]:
    """Return the figures of a part, and draw its pictures."""
    seed, out, runs = settings.seed, settings.out, settings.runs
    if name == "agents":
        return strength.measure_tournaments(settings.pairs, seed, out, runs, settings.tables)
    if name == "exploitability":
        return strength.measure_exploitability(settings.hands, seed, runs)
    if name == "published":
        return published.measure(settings.cribs, seed, out)
    amount = Run(
        settings.load_agent(settings.agent), settings.deals, settings.games, settings.cribs, seed, settings.workers
    )
    if name == "table_top":
        return table_top.measure(amount, settings.lines)
    if name == "many_hand":
        return many_hand.measure(amount)
    return two_hand.measure(name, amount, out)


def write(name: str, data: dict[str, Any], made_by: str, out: Path) -> None:
    """Write ``name.json`` with every figure, and how they were made."""
    of = versions()
    used = {package: of[package] for package in PACKAGES}
    figures = json.dumps({"command": made_by, "versions": used, **data}, indent=1)
    figures = re.sub(r"\[[^\[\]{}]+\]", lambda row: " ".join(row[0].split()), figures)
    write_whole(out / f"{name}.json", f"{figures}\n".encode())


def section(name: str, data: dict[str, Any]) -> str:
    """Return the section of a game on the page of statistics."""
    if name == "table_top":
        return table_top.page(data)
    if name == "many_hand":
        return many_hand.page(data)
    return two_hand.page(name, data)


def pages(folder: Path) -> dict[str, str]:
    """Return the pages made of the files in a folder, by name."""
    data = {
        name: json.loads((folder / f"{name}.json").read_text())
        for name in (*GAMES, "published")
        if (folder / f"{name}.json").exists()
    }
    games = [(GAMES[name], data[name], section(name, data[name]).strip()) for name in GAMES if name in data]
    made = {"index.md": render("numbers", games=games)}
    if "published" in data:
        made["published.md"] = published.page(published.read_ours(folder), data["published"])
    return made


if __name__ == "__main__":
    start(Settings, run)
