"""The fields of a Table Top position in its notation: see `crib_env.notation`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from crib_env.cards import format_card, parse_card, refuse_twice
from crib_env.engine import notation
from crib_env.engine.notation import format_scores
from crib_env.engine.record import NONE
from crib_env.engine.table_top.records import CELLS, CENTRE, SIZE, TO_CRIB, TURNS
from crib_env.errors import check_choice
from crib_env.rules import Rules

VACANT = "."
PHASES = ("turn", "over")
MOST = 200  # more points than a side makes in a round


def read_players(words: Sequence[str]) -> int:
    """Return the number of seats."""
    if words[0] not in ("p2", "p4"):
        raise ValueError(f"a Table Top position has p2 or p4 players, got {words[0]!r}")
    return notation.read_number("players", words[0], "p", 2, 4)


def format_body(s: notation.Record, rules: Rules) -> list[str]:
    """Return the words of the fields for a record."""
    deck = [format_card(int(card)) for card in s["deck"]]
    cells = [VACANT if card == NONE else format_card(int(card)) for card in s["layout"]]
    rows = ["".join(cells[at : at + SIZE]) for at in range(0, CELLS, SIZE)]
    crib = "".join(deck[turn] for turn in s["crib"][: s["crib_n"]])
    return [
        f"p{s['players']}",
        "over" if s["over"] else "turn",
        "".join(deck),
        "/".join(rows),
        crib or "-",
        format_scores(s["scores"]),
    ]


def read_body(words: Sequence[str], rules: Rules, dealer: int, players: int) -> notation.Deal:
    """Return the values of the fields."""
    _, phase, shown, layout, crib, scores = words
    check_choice("phase", phase, PHASES)
    deck = notation.read_cards("deck", shown)
    refuse_twice(deck)
    if len(deck) != TURNS + 1:
        raise ValueError(f"the deck must be {TURNS} cards and the starter, got {len(deck)}")
    rows = [re.findall(rf"{notation.CARD}|\{VACANT}", row) for row in layout.split("/")]
    if [len(row) for row in rows] != [SIZE] * SIZE or "/".join(map("".join, rows)) != layout:
        raise ValueError(f"the layout must be five rows of five cells, a card or {VACANT!r}; got {layout!r}")
    cells = [cell for row in rows for cell in row]
    placed = [(parse_card(cell), at) for at, cell in enumerate(cells) if cell != VACANT]
    laid = [(card, TO_CRIB) for card in notation.read_cards("crib", crib.removeprefix("-"))]
    refuse_twice([card for card, _ in placed + laid])
    actions = dict(placed + laid)
    n = len(actions) - 1
    if actions.pop(deck[TURNS], None) != CENTRE or set(actions) != set(deck[:n]):
        raise ValueError(
            "the layout, with the starter in its centre, and the crib must hold the first cards of the deck"
        )
    moves = [notation.Move((dealer + 1 + turn) % players, actions[card], card) for turn, card in enumerate(deck[:n])]
    return notation.Deal(deck, moves, notation.read_scores("scores", scores), None, phase == "over")


def read_before(line: notation.Line, before: notation.Scores) -> dict[str, notation.Scores]:
    """Return what stood on the board before the round beside the scores ``before`` it: nothing."""
    target = line.rules.target
    most = MOST * (line.number - 1)
    if not all(start <= score <= start + most for start, score in zip(line.start, before, strict=True)):
        raise ValueError(
            f"the scores {format_scores(before)} before the round do not follow from "
            f"the episode's start {format_scores(line.start)}"
        )
    if max(line.start) >= target or (before[0] != before[1] and max(before) >= target):
        raise ValueError(
            f"a game with {format_scores(before)} to {target} points before the round "
            f"is over, or it starts at {format_scores(line.start)}"
        )
    return {}


NOTATION = notation.Notation(
    fields=("players", "phase", "deck", "layout", "crib", "scores"),
    extras=("start", "winner", "rng"),
    one_deal=("round",),
    read_players=read_players,
    format_body=format_body,
    read_body=read_body,
    read_before=read_before,
)
