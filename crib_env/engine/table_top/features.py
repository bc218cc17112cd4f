"""Features that follow from the rules alone, for each place the card in turn may go.

A cell lies in a row and a column, one of each side: *own* is the line of the seat's side, *other*
the line of the other's. Laid in the crib, the card goes to the crib with the starter, which is own
or other by whose crib it is. All of it follows from the view: the next card is any unseen one, each
as likely. Features are points, but for the numbers of cards.
"""

from __future__ import annotations

from crib_env.engine.family import Feature
from crib_env.engine.jit import kernel
from crib_env.engine.table_top.encode import ACTIONS
from crib_env.engine.table_top.lines import (
    SUIT,
    crib_known,
    line_through,
    next_by_rank,
    nob_of,
    nob_through,
    points_so_far,
    unseen_cards,
)
from crib_env.engine.table_top.records import SIZE, TO_CRIB, bit_count, lowest

MOST = 29  # points of a line

FEATURES: dict[str, tuple[Feature, ...]] = {
    "lookahead": (
        Feature("own_now", 0, MOST, "what the card adds to its own line as it stands"),
        Feature("other_now", 0, MOST, "what it adds to the other side's line"),
        Feature("own_cards", 0, SIZE - 1, "the cards already in its own line; in the crib, "
                "those known"),
        Feature("other_cards", 0, SIZE - 1, "the cards already in the other side's line"),
    ),
    "reply": (
        Feature("own_next", -MOST, MOST, "how much more the next card would add to its own line, "
                "in the mean over every unseen card, with this card in the line than without; 0 "
                "is added to a full line"),
        Feature("other_next", -MOST, MOST, "the same for the other side's line"),
    ),
}  # fmt: skip

NOW = 0
CARDS = 2 * ACTIONS
NEXT = 4 * ACTIONS


@kernel
def write_features(v, table, level, out):
    """Write the features of the first ``level`` levels of a view into ``out``, float32[K * 26]."""
    out[:] = 0
    if v["to_move"] == 0:
        return
    unseen = unseen_cards(v)
    cells = v["legal"] & ~(1 << TO_CRIB)
    while cells:
        cell = lowest(cells)
        cells &= cells - 1
        for side in range(2):
            rows = v["scores_rows"] if side == 0 else 1 - v["scores_rows"]
            line = line_through(v, cell, rows)
            nob = nob_through(v, cell, rows)
            line_features(v, table, level, line, nob, v["flush_size"], unseen, cell, side, out)
    if v["legal"] >> TO_CRIB & 1:
        side = 1 - v["my_crib"]
        size = v["crib_flush_size"]
        line_features(v, table, level, crib_known(v), nob_of(v), size, unseen, TO_CRIB, side, out)


@kernel
def line_features(v, table, level, line, nob, flush_size, unseen, action, side, out):
    """Write what the card in turn does to one line; ``side`` is 0 for own, 1 for other.

    Args:
        line: the cards that lie in it, a mask. nob: the jack that scores one in it, or 0.
    """
    longer = line | 1 << v["card"]
    more = points_so_far(table, longer, flush_size, nob)
    more -= points_so_far(table, line, flush_size, nob)
    out[NOW + ACTIONS * side + action] = more
    out[CARDS + ACTIONS * side + action] = bit_count(line)
    if level > 1:
        total = next_total(table, longer, unseen, flush_size, nob)
        total -= next_total(table, line, unseen, flush_size, nob)
        out[NEXT + ACTIONS * side + action] = total / bit_count(unseen)


@kernel
def next_total(table, cards, unseen, flush_size, nob):
    """Return what a next card adds to a line, added up over every unseen card (C2, C4, T8)."""
    n = bit_count(cards)
    if n == SIZE:
        return 0
    total = next_by_rank(table, cards, unseen) if n else 0
    if nob & unseen:
        total += 1
    for suit in range(4):
        held = bit_count(cards & SUIT << suit)
        if held + 1 >= flush_size:
            more = held + 1 if held + 1 == flush_size else 1
            total += more * bit_count(unseen & SUIT << suit)
    return total
