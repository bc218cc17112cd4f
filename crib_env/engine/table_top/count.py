"""The count of a round (T8, T12): ten lines of five cards, and the crib with the starter."""

from __future__ import annotations

import numpy as np

from crib_env.engine.jit import kernel
from crib_env.engine.record import CRIB, LINE, note_cards
from crib_env.engine.show import JACK, KEYS
from crib_env.engine.table_top.records import CENTRE, SIZE

MIDDLE = CENTRE % SIZE  # the row, and the column, that holds the starter


@kernel
def line_points(table, flush_size, a, b, c, d, e):
    """Return the points of five cards (C2) with a flush of ``flush_size`` or more (T8, T12)."""
    key = KEYS[a >> 2] + KEYS[b >> 2] + KEYS[c >> 2] + KEYS[d >> 2] + KEYS[e >> 2]
    suits = (1 << 8 * (a & 3)) + (1 << 8 * (b & 3)) + (1 << 8 * (c & 3))
    suits += (1 << 8 * (d & 3)) + (1 << 8 * (e & 3))
    points = np.int64(table[key])
    for suit in range(4):
        n = suits >> (8 * suit) & 255
        if n >= flush_size:
            points += n
    return points


@kernel
def nob(starter, cards):
    """Return 1 if the jack of the starter's suit is among ``cards``, a mask, else 0 (C4).

    A jack turned up as the starter has scored as heels (C3) and is not its own nob.
    """
    jack = 4 * JACK + (starter & 3)
    return 0 if jack == starter else cards >> jack & 1


@kernel
def count_lines(s, rules, table, side, log):
    """Return and log the points of a side's five lines: side 0 the rows, side 1 the columns.

    Lines of no points are logged too: they are counted, and all ten show where every card lay.
    """
    layout = s["layout"]
    starter = layout[CENTRE]
    along = 1 if side == 0 else SIZE
    across = SIZE if side == 0 else 1
    total = 0
    for i in range(SIZE):
        at = across * i
        a = layout[at]
        b = layout[at + along]
        c = layout[at + 2 * along]
        d = layout[at + 3 * along]
        e = layout[at + 4 * along]
        cards = (1 << a) | (1 << b) | (1 << c) | (1 << d) | (1 << e)
        points = line_points(table, rules["flush_size"], a, b, c, d, e)
        if i == MIDDLE:
            points += nob(starter, cards)
        note_cards(log, side, points, LINE, cards)
        total += points
    return total


@kernel
def count_crib(s, rules, table, log):
    """Return and log the points of the crib with the starter, which are the dealer's side's."""
    starter = s["layout"][CENTRE]
    a = s["deck"][s["crib"][0]]
    b = s["deck"][s["crib"][1]]
    c = s["deck"][s["crib"][2]]
    d = s["deck"][s["crib"][3]]
    cards = (1 << a) | (1 << b) | (1 << c) | (1 << d) | (1 << starter)
    points = line_points(table, rules["crib_flush_size"], a, b, c, d, starter)
    points += nob(starter, cards)
    note_cards(log, rules["side_of"][s["dealer"]], points, CRIB, cards)
    return points
