"""Views of Table Top written as layouts, and the games that its agents are tested in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from crib_env import parse_card
from crib_env.engine.record import NONE
from crib_env.engine.table_top.records import CENTRE, TABLE_VIEW, TO_CRIB
from crib_env.rules import PRESETS
from stacked import unused

# Cells from the centre outwards, so that each touches an earlier one; then the crib.
ORDER = sorted(set(range(25)) - {CENTRE}, key=lambda cell: max(abs(cell // 5 - 2), abs(cell % 5 - 2)))
IN_ORDER = [*ORDER, *[TO_CRIB] * 4]
VARIANTS = [(2, "table_top"), (4, "table_top"), (2, "table_top_ship"), (4, "table_top_ship")]
# A round half over: five rows, as `position` reads them.
OPEN = """
    KD -- -- -- --
    -- QC 7H -- --
    -- 2C 8D 9S --
    -- -- 3S AH --
    -- -- -- -- 4D
"""
every_variant = pytest.mark.parametrize(("players", "preset"), VARIANTS)


def position(
    layout: str,
    card: str,
    crib: int = 0,
    rows: int = 1,
    my_crib: int = 1,
    preset: str = "table_top",
    cells: int = (1 << TO_CRIB) - 1,
) -> Any:
    """Return the view of a seat that may place ``card`` on any vacant cell of ``cells``.

    Args:
        layout: five rows, a card or ``--`` for each cell.
        crib: 1 if the seat may also lay the card in the crib.
        rows: 1 if its side scores the rows.
    """
    view = np.zeros(1, dtype=TABLE_VIEW)[0]
    for field in ("adjacency", "flush_size", "crib_flush_size", "score_difference", "target"):
        view[field] = getattr(PRESETS[preset], field)
    held = [NONE if text == "--" else parse_card(text) for text in layout.split()]
    assert len(held) == 25
    view["layout"] = held
    view["turns"] = NONE
    view["placed"] = sum(1 << cell for cell, c in enumerate(held) if c != NONE)
    view["starter"] = held[CENTRE]
    view["players"] = 2
    view["to_move"] = 1
    view["scores_rows"] = rows
    view["my_crib"] = my_crib
    view["card"] = parse_card(card)
    view["partner_card"] = NONE
    view["crib"] = NONE
    view["crib_turns"] = NONE
    view["owed"] = (2 if crib else 0, 2, 0, 0)
    view["legal"] = cells & ~int(view["placed"]) | crib << TO_CRIB
    return view


def deck_of(layout: Sequence[int], crib: Sequence[int]) -> list[int]:
    """Return the deck that `IN_ORDER` lays out as ``layout`` (25 cards, row by row) and crib."""
    front = [*(layout[cell] for cell in ORDER), *crib, layout[CENTRE]]
    return front + unused(52 - len(front), front)


def mask_of(cards: list[int]) -> int:
    return sum(1 << card for card in cards)
