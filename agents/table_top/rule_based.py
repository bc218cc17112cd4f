"""`rule_based` at Table Top: what each line is likely to come to, its own and the other side's.

A line is worth the points that lie in it, and for each card still to come to it a share of what the
next card may add: that mean is exact, over every card the seat has not seen, flushes and his nob
included. Each cell is worth what the card there makes of its own side's line, less what it makes
of the other's: a card that spoils is as good as one that helps. The crib takes the cards that do
neither, and is counted for or against its side as a sixth line. `HEURISTICS` weighs the parts.
It does not play to the score.
"""

from __future__ import annotations

import numpy as np

from agents.compiled import Plays, passable
from agents.table_top.jit import entry
from agents.table_top.lines import (
    RANKS,
    SUIT,
    adds,
    crib_known,
    line_through,
    nob_of,
    nob_through,
    points_so_far,
    rank_key,
    run_of_three,
    subset_sums,
    unseen_cards,
)
from crib_env.engine.jit import kernel
from crib_env.engine.show import FOUR, KEYS
from crib_env.engine.table_top.batch import ACT_VIEWS, VECTOR_STEP, vector_step_range
from crib_env.engine.table_top.layout import bit_count, lowest
from crib_env.engine.table_top.records import SEATS, SIZE, TABLE_VIEW, TO_CRIB, TURNS

HEURISTICS: tuple[tuple[str, float, str], ...] = (
    ("line_0", 5.0, "PLACEHOLDER"),
    ("line_1", 3.0, ""),
    ("line_2", 2.0, ""),
    ("line_3", 1.0, ""),
    ("line_4", 0.0, ""),
    ("line_5", 0.0, ""),
    ("next_0", 0.0, ""),
    ("next_1", 2.0, ""),
    ("next_2", 1.8, ""),
    ("next_3", 1.5, ""),
    ("next_4", 1.0, ""),
    ("next_5", 0.0, ""),
    ("keen_0", 0.0, ""),
    ("keen_1", 0.0, ""),
    ("keen_2", 0.0, ""),
    ("keen_3", 0.0, ""),
    ("keen_4", 0.0, ""),
    ("keen_5", 0.0, ""),
    ("draft_2", 0.5, ""),
    ("draft_3", 0.2, ""),
    ("draft_4", 0.1, ""),
    ("other", 1.0, ""),
    ("crib_next", 1.5, ""),
    ("throw", 0.0, ""),
    ("wait", 0.0, ""),
)

LINE = 0
NEXT = LINE + SIZE + 1
KEEN = NEXT + SIZE + 1
DRAFT = KEEN + SIZE + 1 - 2
OTHER = DRAFT + 5
CRIB_NEXT = OTHER + 1
THROW = CRIB_NEXT + 1
WAIT = THROW + 1
WEIGHTS = np.array([value for _, value, _ in HEURISTICS], dtype=np.float64)


@kernel
def next_points(table, cards, unseen, flush_size, nob):
    """Return what the next card may add to ``cards``, one to four, over every unseen card.

    Returns:
        the sum of the points added, and the sum of their squares.
    """
    n = bit_count(cards)
    sums = subset_sums(cards)
    now = 0
    key = 0
    if n >= 3:
        now = points_so_far(table, cards, SIZE + 1, 0)
        key = rank_key(cards) + (FOUR if n == 3 else 0)
    total = 0
    squares = 0
    for rank in range(RANKS):
        left = unseen >> (4 * rank) & 15
        if left == 0:
            continue
        if n >= 3:
            more = table[key + KEYS[rank]] - now
        else:
            more = adds(cards, sums, rank)
            if n == 2:
                more += run_of_three(cards | left & -left << (4 * rank))
        total += bit_count(left) * more
        squares += bit_count(left) * more * more
    return total, squares
