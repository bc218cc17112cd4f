"""Make the pages of ``docs/numbers``.

    python -m training.numbers                # all of them
    python -m training.numbers five_card      # one of them

Everything is played by one agent in every seat, ``expert`` unless another is named.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from training.environments import load_agent
from training.numbers import table_top, two_hand
from training.numbers.pages import write
from training.numbers.run import Run

FOLDER = Path("docs/numbers")
PAGES = ("six_card", "five_card", "table_top")
TITLES = {"six_card": "Six-card cribbage", "five_card": "Five-card cribbage",
          "table_top": "Table Top"}  # fmt: skip
PRESETS = {"six_card": "hoyle", "five_card": "five_card"}


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("pages", nargs="*", metavar="page", help=f"{', '.join(PAGES)}; all if none")
    parser.add_argument("--agent", default="expert", help="who plays (default: %(default)s)")
    parser.add_argument("--deals", type=int, default=20_000, help="single deals or rounds")
    parser.add_argument("--games", type=int, default=10_000, help="whole games")
    parser.add_argument("--cribs", type=int, default=400_000, help="deals for the means of cribs")
    parser.add_argument("--lines", type=int, default=4_000, help="rounds counted line by line")
    parser.add_argument("--seed", type=int, default=1, help="fixes everything")
    parser.add_argument("--workers", type=int, default=2, help="threads; they change no figure")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder for the pages")
    args = parser.parse_args()
    unknown = [page for page in args.pages if page not in PAGES]
    if unknown:
        parser.error(f"no page is called {unknown[0]!r}: choose from {', '.join(PAGES)}")
    try:
        run = Run(
            load_agent(args.agent), args.deals, args.games, args.cribs, args.seed, args.workers
        )
    except ValueError as error:
        sys.exit(f"error: {error}")
    args.out.mkdir(parents=True, exist_ok=True)
    for name in args.pages or PAGES:
        print(f"{name} ...", flush=True)
        if name == "table_top":
            text, data = table_top.page(run, args.lines)
        else:
            text, data = two_hand.page(name, PRESETS[name], run, args.out)
        head = f"# {TITLES[name]} in numbers\n\n`{args.agent}` in every seat.\n\n"
        command = (
            f"python -m training.numbers {name} --agent {args.agent} --deals {args.deals} "
            f"--games {args.games} --cribs {args.cribs} --lines {args.lines} --seed {args.seed}"
        )
        write(args.out, name, head + text, data, command)
        print(f"wrote {args.out / name}.md")


if __name__ == "__main__":
    main()
