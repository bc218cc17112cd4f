"""Make the pages of ``docs/numbers``.

    python -m docs.numbers.make                # all of them
    python -m docs.numbers.make five_card      # one of them

Everything is played by one agent in every seat, ``expert`` unless another is named; the page of the
agents is of tournaments between them all.
"""

from __future__ import annotations

import json
import re
from dataclasses import KW_ONLY
from pathlib import Path
from typing import Annotated, Any

from crib_agents.loading import TakesAgents
from crib_training.command_line import start
from crib_training.evaluation.evaluate import versions
from pydantic import Field

from crib_env.errors import unknown
from crib_env.settings import MANY, Count, NewFolder, Seed, Several, Whole, checked_dataclass
from docs.numbers.make import agents, exploitability, many_hand, published, table_top, two_hand
from docs.numbers.make.episodes import Run
from docs.pages import render

FOLDER = Path("docs/numbers")
TITLES = {
    "six_card": "Six-card cribbage in numbers",
    "five_card": "Five-card cribbage in numbers",
    "table_top": "Table Top in numbers",
    "many_hand": "Three and four hands in numbers",
    "agents": "The agents in numbers",
    "exploitability": "Exploitability in numbers",
    "published": "Beside published figures",
}
PAGES = tuple(TITLES)
# The options that change a page's figures.
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
PACKAGES = ("crib-env", "numpy", "numba")


@checked_dataclass(frozen=True)
class Settings(TakesAgents):
    """Make the pages of docs/numbers.

    Attributes:
        pages: six_card, five_card, table_top, many_hand, agents, exploitability, published; all if
            none.
        agent: who plays.
        deals: single deals, or rounds.
        games: whole games.
        cribs: deals for the means of cribs.
        lines: rounds counted line by line.
        pairs: of games between two agents.
        tables: tournaments of the agents to play, such as six_cards; the others stay; all if none.
        hands: that a best response is found for.
        seed: fixes everything.
        workers: threads; they change no figure.
        out: the folder for the pages.
        runs: the folder of the tournaments and of the results on exploitability.
    """

    pages: tuple[str, ...] = ()
    _: KW_ONLY
    agent: str = "expert"
    deals: Count = 40_000
    games: Annotated[Whole, Field(ge=two_hand.SHARE, le=MANY)] = 10_000
    cribs: Count = 400_000
    lines: Count = 4_000
    pairs: Count = 1000
    tables: tuple[str, ...] = ()
    hands: Several = 400
    seed: Seed = 1
    workers: Annotated[Whole, Field(ge=1, le=4096)] = 2
    out: NewFolder = FOLDER
    runs: NewFolder = Path("runs/numbers")


def run(settings: Settings) -> None:
    """Make the pages."""
    for name in settings.pages:
        if name not in PAGES:
            raise unknown("page", name, PAGES)
    settings.out.mkdir(parents=True, exist_ok=True)
    for name in settings.pages or PAGES:
        print(f"{name} ...", flush=True)
        data = measure(name, settings)
        used = " ".join(written(option, getattr(settings, option)) for option in OPTIONS[name])
        command = f"python -m docs.numbers.make {name} {used}".rstrip()
        write(name, data, command, settings.agent, settings.out)
        print(f"wrote {settings.out / name}.md")


def written(option: str, value: object) -> str:
    """Return an option as one writes it; nothing where it names nothing."""
    values = value if isinstance(value, tuple) else (value,)
    return " ".join([f"--{option}", *map(str, values)]) if values else ""


def measure(name: str, settings: Settings) -> dict[str, Any]:
    """Return the figures of a page, and draw its pictures."""
    if name == "agents":
        return agents.measure(
            settings.pairs, settings.seed, settings.out, settings.runs, settings.tables
        )
    if name == "exploitability":
        return exploitability.measure(settings.hands, settings.seed, settings.runs)
    if name == "published":
        return published.measure(settings.cribs, settings.seed, settings.out)
    amount = Run(
        settings.load_agent(settings.agent), settings.deals, settings.games, settings.cribs,
        settings.seed, settings.workers,
    )  # fmt: skip
    if name == "table_top":
        return table_top.measure(amount, settings.lines)
    if name == "many_hand":
        return many_hand.measure(amount)
    return two_hand.measure(name, amount, settings.out)


def page(name: str, data: dict[str, Any], out: Path) -> str:
    """Return the text of a page of these figures."""
    if name == "published":
        return published.page(published.read_ours(out), data)
    if name == "agents":
        return agents.page(data)
    if name == "exploitability":
        return exploitability.page(data)
    if name == "table_top":
        return table_top.page(data)
    if name == "many_hand":
        return many_hand.page(data)
    return two_hand.page(name, data)


def write(name: str, data: dict[str, Any], command: str, agent: str, out: Path) -> None:
    """Write ``name.json`` with every figure, and ``name.md``, which is made of it."""
    of = versions()
    used = {package: of[package] for package in PACKAGES}
    figures = json.dumps({"command": command, "versions": used, **data}, indent=1)
    figures = re.sub(r"\[[^\[\]{}]+\]", lambda row: " ".join(row[0].split()), figures)
    (out / f"{name}.json").write_text(figures + "\n")
    text = render(
        "numbers", title=TITLES[name], agent=agent if "agent" in OPTIONS[name] else "",
        text=page(name, json.loads(figures), out).strip(), command=command, versions=used,
    )  # fmt: skip
    (out / f"{name}.md").write_text(text)


if __name__ == "__main__":
    start(Settings, run)
