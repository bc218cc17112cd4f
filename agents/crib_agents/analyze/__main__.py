r"""What every choice in a position is worth, best first.

    python -m crib_agents.analyze "5H 5D JC 4S 6S KH" --dealer --scores 60 75
    python -m crib_agents.analyze "6D 4S 9C" --laid "KC QC" --starter JH --dealer \
        --pile "(TS) 5D (7H)"
    python -m crib_agents.analyze 6D --layout "...../.4C.../..7H../...8H./....." --columns

The first form is a hand about to lay away; the second (with ``--laid`` and ``--starter``) a hand
about to play a card, the other seat's cards in the pile in brackets; the third (with ``--layout``)
a card to place at Table Top.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, fields

from crib_agents.analyze.choices import Choice, analyze
from crib_agents.analyze.layouts import layout_view
from crib_agents.analyze.positions import laying_view, play_view
from crib_env.policy import Views

# Options that belong to one kind of game alone.
OF_CARDS = ("dealer", "laid", "starter", "pile", "games")
OF_CELLS = ("columns", "crib", "partners_crib", "others_crib", "players")


def in_columns(choices: Sequence[Choice]) -> str:
    """Return choices in columns: points to two places, what they are worth in per cent."""
    rows = [[field.name for field in fields(choices[0])]]
    for choice in choices:
        rows.append([shown(name, value) for name, value in asdict(choice).items()])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    left = [isinstance(value, str) for value in asdict(choices[0]).values()]
    return "\n".join(
        "  ".join(
            text.ljust(width) if to_left else text.rjust(width)
            for text, width, to_left in zip(row, widths, left, strict=True)
        )
        for row in rows
    )


def shown(name: str, value: str | int | float) -> str:
    """Return a column's value as text."""
    if not isinstance(value, float):
        return str(value)
    return f"{100 * value:.2f} %" if name == "win" else f"{value:.2f}"


def position(args: argparse.Namespace) -> Views:
    """Return the view the command line describes.

    Raises:
        ValueError: it describes no position.
    """
    of_cards = [name for name in OF_CARDS if getattr(args, name) not in (None, False, (0, 0))]
    of_cells = [name for name in OF_CELLS if getattr(args, name) not in (False, "", 0, 2)]
    strange = of_cards if args.layout is not None else of_cells
    if strange:
        other = "six and five cards" if args.layout is not None else "Table Top, with --layout"
        raise ValueError(f"--{strange[0].replace('_', '-')} is for {other}")
    if args.layout is not None:
        if args.episode == "match":
            raise ValueError("Table Top has no matches")
        return layout_view(
            args.layout, args.cards, rows=not args.columns, crib=args.crib,
            partners_crib=args.partners_crib, others_crib=args.others_crib, players=args.players,
            scores=tuple(args.scores), rules=args.rules or "table_top",
            episode="round" if args.episode == "deal" else args.episode,
        )  # fmt: skip
    common = {"dealer": args.dealer, "scores": tuple(args.scores), "games": tuple(args.games),
              "rules": args.rules or "hoyle", "episode": args.episode}  # fmt: skip
    if args.laid is None and args.starter is None and args.pile is None:
        return laying_view(args.cards, **common)
    if args.laid is None or args.starter is None:
        raise ValueError("a position of the play needs both --laid and --starter")
    return play_view(
        args.cards, laid=args.laid, starter=args.starter, pile=args.pile or "", **common
    )


def main(words: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m crib_agents.analyze", description=(__doc__ or "").split("\n\n")[0]
    )
    parser.add_argument("cards", help="the cards held, such as '5H 5D JC 4S 6S KH'; at Table Top "
                        "the card in turn")  # fmt: skip
    parser.add_argument("--scores", type=int, nargs=2, default=(0, 0), metavar=("MINE", "THEIRS"))
    parser.add_argument("--rules", help="a preset (default: hoyle; with --layout table_top)")
    parser.add_argument("--episode", default="game", choices=("deal", "game", "match"),
                        help="what is at stake (default: %(default)s)")  # fmt: skip
    cards = parser.add_argument_group("six and five cards")
    cards.add_argument("--dealer", action="store_true", help="this seat deals; pone if not given")
    cards.add_argument("--games", type=int, nargs=2, default=(0, 0), metavar=("MINE", "THEIRS"),
                       help="game points won, in a match")  # fmt: skip
    cards.add_argument("--laid", help="in the play: the two cards laid away")
    cards.add_argument("--starter", help="in the play: the card turned up")
    cards.add_argument("--pile", help="in the play: the cards played so far, the other seat's in "
                       "brackets: '5D (TS) 7H'")  # fmt: skip
    cells = parser.add_argument_group("Table Top")
    cells.add_argument("--layout", help="five rows with / between them, a cell a card or '.'")
    cells.add_argument("--columns", action="store_true",
                       help="this side scores the columns; the rows if not given")  # fmt: skip
    cells.add_argument("--players", type=int, default=2, help="2 or 4 (default: %(default)s)")
    cells.add_argument("--crib", default="", help="the cards this seat has laid in the crib")
    cells.add_argument("--partners-crib", default="", help="those its partner has")
    cells.add_argument("--others-crib", type=int, default=0,
                       help="how many the other side has (default: %(default)s)")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    args = parser.parse_args(words)
    try:
        choices = analyze(position(args))
    except ValueError as error:
        sys.exit(f"error: {error}")
    if args.json:
        print(json.dumps([asdict(choice) for choice in choices], indent=1))
    else:
        print(in_columns(choices))


if __name__ == "__main__":
    main()
