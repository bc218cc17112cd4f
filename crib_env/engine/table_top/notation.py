"""The fields of a Table Top position in its notation: see `crib_env.notation`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from crib_env.cards import format_card, parse_card, refuse_twice
from crib_env.engine.notation import CARD, Deal, Notation, Record, format_cards, read_cards
from crib_env.engine.record import NONE
from crib_env.engine.table_top.records import CELLS, CENTRE, SIZE, TO_CRIB, TURNS
from crib_env.rules import Rules

VACANT = "."


def format_fields(s: Record, rules: Rules) -> list[str]:
    """Return the words of the fields for a record."""
    cells = [VACANT if card == NONE else format_card(int(card)) for card in s["layout"]]
    rows = ["".join(cells[at : at + SIZE]) for at in range(0, CELLS, SIZE)]
    return [format_cards(s["deck"]), "/".join(rows), format_cards(s["deck"][s["crib"][: s["crib_n"]]])]


def read_fields(words: Sequence[str], rules: Rules, dealer: int, players: int) -> Deal:
    """Return the round that the words describe."""
    shown, layout, crib = words
    deck = read_cards("deck", shown)
    refuse_twice(deck)
    if len(deck) != TURNS + 1:
        raise ValueError(f"the deck must be {TURNS} cards and the starter, got {len(deck)}")
    rows = [re.findall(rf"{CARD}|\{VACANT}", row) for row in layout.split("/")]
    if [len(row) for row in rows] != [SIZE] * SIZE or "/".join(map("".join, rows)) != layout:
        raise ValueError(f"the layout must be five rows of five cells, a card or {VACANT!r}; got {layout!r}")
    cells = [cell for row in rows for cell in row]
    used = [(parse_card(cell), at) for at, cell in enumerate(cells) if cell != VACANT]
    used += [(card, TO_CRIB) for card in read_cards("crib", crib)]
    refuse_twice([card for card, _ in used])
    actions = dict(used)
    n = len(actions) - 1
    if actions.pop(deck[TURNS], None) != CENTRE or set(actions) != set(deck[:n]):
        raise ValueError(
            "the layout, with the starter in its centre, and the crib must hold the first cards of the deck"
        )
    return Deal(deck, [actions[card] for card in deck[:n]])


NOTATION = Notation(("deck", "layout", "crib"), format_fields, read_fields)
