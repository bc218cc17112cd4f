"""Table Top as text, from one seat's view and the points scored."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from crib_env.arrays import View
from crib_env.cards import format_card, format_cards
from crib_env.engine.record import NONE
from crib_env.engine.table_top.records import CELLS, CENTRE, CRIB_CARDS, SIZE, TO_CRIB, TURNS
from crib_env.events import Event
from crib_env.render.words import call_lines, line_of, shown, split_events
from crib_env.rules import Rules
from crib_env.scoring import score_line

SIDES = ("rows", "columns")
WIDTH = 5
COUNTED = ("line", "crib", "difference")  # the reasons of points at the end of a round


def render(view: View, rules: Rules, name: str, deals: int, events: Sequence[Event]) -> str:
    """Return the game as the seat of ``view`` may see it; open cells show their numbers."""
    seat = int(view["seat"])
    players = int(view["players"])
    dealer = (seat + int(view["dealer"])) % players
    counted, events = split_events(events, COUNTED)
    crib = shown(view["crib"][: view["crib_n"]]) or "none yet"
    lines = [
        *(_count(counted, view, deals) if counted else ()),
        f"{name}, {rules.name} to {rules.target}, {players} players, round {deals} dealt by player_{dealer}",
        "",
        *_layout(view, rules),
        "",
        line_of("crib", f"{crib}  of the {SIDES[dealer % 2]}"),
        line_of("owed", _owed(view, seat, players)),
        line_of("scores", _scores(view, seat)),
        "",
        _turn(view, seat, players),
        *call_lines(events, SIDES),
    ]
    return "\n".join(line.rstrip() for line in lines)


def _count(events: Sequence[Event], view: View, deals: int) -> list[str]:
    """Return the end of a round: its layout with the points of each line, its crib, the calls.

    After a round that ends the episode, the view still holds the layout, which is shown below.
    """
    calls = call_lines([one for one in events if one.points], SIDES)
    if view["over"]:
        return [f"the count of round {deals}", *calls, ""]
    rows, columns = ([one for one in events if one.reason == "line" and one.seat == side] for side in range(2))
    cards = [set(row.cards) & set(column.cards) for row in rows for column in columns]
    points = ([one.points for one in side] for side in (rows, columns))
    (crib,) = (one for one in events if one.reason == "crib")
    laid = sorted(set(crib.cards) - cards[CENTRE])
    return [
        f"the count of round {deals - 1}",
        "",
        *_grid([format_cards(one) for one in cards], *points),
        "",
        line_of("crib", f"{format_cards(laid)}  of the {SIDES[crib.seat]}"),
        *calls,
        "",
    ]


def line_values(view: View, rules: Rules) -> tuple[list[int], list[int]]:
    """Return the present points of the five rows and the five columns."""
    starter = int(view["starter"])
    cells = tuple(int(card) for card in view["layout"])
    rows = [_value(cells[at : at + SIZE], starter, rules) for at in range(0, CELLS, SIZE)]
    return rows, [_value(cells[at::SIZE], starter, rules) for at in range(SIZE)]


@lru_cache(maxsize=1 << 12)  # from turn to turn two of the ten lines change
def _value(line: tuple[int, ...], starter: int, rules: Rules) -> int:
    cards = [card for card in line if card != NONE]
    held = starter if starter in cards else None
    return score_line(cards, rules, held, partial=True).points


def _layout(view: View, rules: Rules) -> list[str]:
    cells = []
    for cell, card in enumerate(view["layout"]):
        if card != NONE:
            cells.append(format_card(int(card)))
        else:
            cells.append(str(cell) if view["legal"] >> cell & 1 else ".")
    return _grid(cells, *line_values(view, rules))


def _grid(cells: Sequence[str], rows: Sequence[int], columns: Sequence[int]) -> list[str]:
    """Return the layout, the starter in brackets, with the points of its rows and columns."""
    lines = []
    for row in range(SIZE):
        shown = ""
        for cell in range(SIZE * row, SIZE * row + SIZE):
            text = f"[{cells[cell]}]" if cell == CENTRE else f"{cells[cell]} "
            shown += f"{text:>{WIDTH}}"
        lines.append(f"{shown}{'|':>3}{rows[row]:>4}")
    lines.append(f"{'':>2}{'-' * (SIZE * WIDTH)}")
    lines.append("".join(f"{f'{value} ':>{WIDTH}}" for value in columns))
    return lines


def _owed(view: View, seat: int, players: int) -> str:
    owed = {(seat + i) % players: int(view["owed"][i]) for i in range(players)}
    return ", ".join(f"player_{p} {owed[p]}" for p in sorted(owed)) + f" of {CRIB_CARDS} crib cards"


def _scores(view: View, seat: int) -> str:
    mine = seat % 2
    scores = {mine: int(view["scores"][0]), 1 - mine: int(view["scores"][1])}
    return ", ".join(f"{SIDES[side]} {scores[side]}" for side in range(2))


def _turn(view: View, seat: int, players: int) -> str:
    if view["over"]:
        return "the episode is over"
    mover = (seat + int(view["mover"])) % players
    turn = f"turn {int(view['turn']) + 1} of {TURNS}: player_{mover} ({SIDES[mover % 2]}) to move"
    if view["partner_card"] != NONE:
        return f"{turn}, whose card is {format_card(int(view['partner_card']))}"
    if not view["to_move"]:
        return turn
    choices = []
    if view["legal"] & ((1 << CELLS) - 1):
        choices.append("place it on a numbered cell")
    if view["legal"] >> TO_CRIB & 1:
        choices.append(f"lay it in the crib ({TO_CRIB})")
    return f"{turn} {format_card(int(view['card']))}: {' or '.join(choices)}"
