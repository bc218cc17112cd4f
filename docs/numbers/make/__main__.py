"""Make the pages of ``docs/numbers``.

    python -m docs.numbers.make                # all of them
    python -m docs.numbers.make five_card      # one of them

Everything is played by one agent in every seat, ``expert`` unless another is named; the page of the
agents is of tournaments between them all.
"""

from __future__ import annotations

from dataclasses import KW_ONLY
from pathlib import Path
from typing import Annotated, Any

from crib_agents.loading import TakesAgents
from crib_training.command_line import start
from pydantic import Field

from crib_env.errors import unknown
from crib_env.settings import MANY, Count, NewFolder, Seed, Several, Whole, checked_dataclass
from docs.numbers.make import (
    agents,
    exploitability,
    many_hand,
    published,
    table_top,
    two_hand,
    winning,
)  # fmt: skip
from docs.numbers.make.pages import write
from docs.numbers.make.run import Run

FOLDER = Path("docs/numbers")
PAGES = ("six_card", "five_card", "table_top", "many_hand", "agents", "exploitability",
         "published")  # fmt: skip
TITLES = {
    "six_card": "Six-card cribbage in numbers",
    "five_card": "Five-card cribbage in numbers",
    "table_top": "Table Top in numbers",
    "many_hand": "Three and four hands in numbers",
    "agents": "The agents in numbers",
    "exploitability": "Exploitability in numbers",
    "published": "Beside published figures",
}
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
PRESETS = {"six_card": "hoyle", "five_card": "five_card"}


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
    games: Annotated[Whole, Field(ge=winning.SHARE, le=MANY)] = 10_000
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
        text, data = make(name, settings)
        used = " ".join(written(option, getattr(settings, option)) for option in OPTIONS[name])
        head = f"# {TITLES[name]}\n\n"
        command = f"python -m docs.numbers.make {name} {used}".rstrip()
        write(settings.out, name, head + text, data, command)
        print(f"wrote {settings.out / name}.md")


def written(option: str, value: object) -> str:
    """Return an option as one writes it; nothing where it names nothing."""
    values = value if isinstance(value, tuple) else (value,)
    return " ".join([f"--{option}", *map(str, values)]) if values else ""


def make(name: str, settings: Settings) -> tuple[str, dict[str, Any]]:
    """Return a page and its figures, and draw its pictures."""
    if name == "agents":
        return agents.page(
            settings.pairs, settings.seed, settings.out, settings.runs, settings.tables
        )
    if name == "exploitability":
        return exploitability.page(settings.hands, settings.seed, settings.runs)
    if name == "published":
        return published.page(settings.cribs, settings.seed, settings.out)
    agent = settings.load_agent(settings.agent)
    amount = Run(
        agent, settings.deals, settings.games, settings.cribs, settings.seed, settings.workers
    )
    if name == "table_top":
        text, data = table_top.page(amount, settings.lines)
    elif name == "many_hand":
        text, data = many_hand.page(amount)
    else:
        text, data = two_hand.page(name, PRESETS[name], amount, settings.out)
    return f"`{settings.agent}` in every seat.\n\n{text}", data


if __name__ == "__main__":
    start(Settings, run)
