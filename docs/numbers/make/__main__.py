"""Make the pages of ``docs/numbers``.

    python -m docs.numbers.make                # all of them
    python -m docs.numbers.make five_card      # one of them

Everything is played by one agent in every seat, ``expert`` unless another is named; the page of the
agents is of tournaments between them all.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from crib_agents.loading import load_agent

from docs.numbers.make import agents, table_top, two_hand, winning
from docs.numbers.make.pages import write
from docs.numbers.make.run import Run

FOLDER = Path("docs/numbers")
PAGES = ("six_card", "five_card", "table_top", "agents")
TITLES = {"six_card": "Six-card cribbage", "five_card": "Five-card cribbage",
          "table_top": "Table Top", "agents": "The agents"}  # fmt: skip
# The options that change a page's figures.
PLAYED = ("agent", "deals", "games")
OPTIONS = {
    "six_card": (*PLAYED, "cribs", "seed"),
    "five_card": (*PLAYED, "cribs", "seed"),
    "table_top": (*PLAYED, "lines", "seed"),
    "agents": ("pairs", "seed"),
}
PRESETS = {"six_card": "hoyle", "five_card": "five_card"}


def main(words: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("pages", nargs="*", metavar="page", help=f"{', '.join(PAGES)}; all if none")
    parser.add_argument("--agent", default="expert", help="who plays (default: %(default)s)")
    parser.add_argument("--deals", type=int, default=40_000, help="single deals or rounds")
    parser.add_argument("--games", type=int, default=10_000, help="whole games")
    parser.add_argument("--cribs", type=int, default=400_000, help="deals for the means of cribs")
    parser.add_argument("--lines", type=int, default=4_000, help="rounds counted line by line")
    parser.add_argument("--pairs", type=int, default=1000, help="of games between two agents")
    parser.add_argument("--seed", type=int, default=1, help="fixes everything")
    parser.add_argument("--workers", type=int, default=2, help="threads; they change no figure")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder for the pages")
    parser.add_argument("--runs", type=Path, default=Path("runs/numbers"),
                        help="where tournaments keep what has been played")  # fmt: skip
    args = parser.parse_args(words)
    unknown = [page for page in args.pages if page not in PAGES]
    if unknown:
        parser.error(f"no page is called {unknown[0]!r}: choose from {', '.join(PAGES)}")
    if args.games < winning.PARTS:
        parser.error(f"--games must be at least {winning.PARTS}, got {args.games}")
    args.out.mkdir(parents=True, exist_ok=True)
    for name in args.pages or PAGES:
        print(f"{name} ...", flush=True)
        try:
            text, data = make(name, args)
        except ValueError as error:
            sys.exit(f"error: {error}")
        used = " ".join(f"--{option} {getattr(args, option)}" for option in OPTIONS[name])
        head = f"# {TITLES[name]} in numbers\n\n"
        write(args.out, name, head + text, data, f"python -m docs.numbers.make {name} {used}")
        print(f"wrote {args.out / name}.md")


def make(name: str, args: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    """Return a page and its figures, and draw its pictures."""
    if name == "agents":
        return agents.page(args.pairs, args.seed, args.out, args.runs)
    agent = load_agent(args.agent)
    run = Run(agent, args.deals, args.games, args.cribs, args.seed, args.workers)
    if name == "table_top":
        text, data = table_top.page(run, args.lines)
    else:
        text, data = two_hand.page(name, PRESETS[name], run, args.out)
    return f"`{args.agent}` in every seat.\n\n{text}", data


if __name__ == "__main__":
    main()
