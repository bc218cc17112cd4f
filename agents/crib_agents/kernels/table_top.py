"""Where `rule_based` places a card: by the expected points of both sides' lines.

The value of a line has three parts: its points now, the points of its cards with those to come, and
the points of those to come among themselves. The second part is the exact mean gain of the next
card, over every unseen card, with flushes and nobs, times a weight for the number of cards to come.
The value of a cell is the card's gain in the own side's line, minus its gain in the other's:
spoiling counts as much as helping. The crib gets the cards that do neither, and counts as
a sixth line for or against its side. The agent ignores the score.

`HEURISTICS` has the weights of the parts. Those of the lines are rounded least-squares fits to the
final points of lines in 6,000 rounds of self-play, repeated until convergence.
"""

from __future__ import annotations

import numpy as np

from crib_env.engine import stack
from crib_env.engine.jit import kernel
from crib_env.engine.ranks import RANKS, bit_count, lowest
from crib_env.engine.record import NONE
from crib_env.engine.table_top import lines
from crib_env.engine.table_top.lines import SUIT
from crib_env.engine.table_top.records import SIZE, TO_CRIB

HEURISTICS: tuple[tuple[str, float, str], ...] = (
    ("line_0", 5.1, "an empty line: five cards to come make about what any hand of five makes"),
    ("line_1", 4.6, "one card: what the four to come make among themselves"),
    ("line_2", 2.8, "two: three to come still make fifteens and pairs of their own"),
    ("line_3", 1.2, "three: of two to come little more than a pair or a fifteen"),
    ("line_4", 0.2, "four: one to come makes nothing alone, but its owner has some choice of it"),
    ("line_5", 0.0, "a full line is its points"),
    ("next_0", 0.0, "an empty line has no card for the next one to score with"),
    ("next_1", 2.1, "of four to come, about two fit as well as a card drawn blindly: one side "
     "sends what fits, the other what does not, and each takes up room"),
    ("next_2", 2.8, "of three to come nearly all: with the second card runs begin to grow"),
    ("next_3", 2.0, "of two to come both"),
    ("next_4", 1.0, "the last card: helper and spoiler are even"),
    ("next_5", 0.0, "none comes to a full line"),
    ("draft", 0.2, "two short of a flush: seldom made, for one card of another suit ends it"),
    ("other", 1.1, "a point the other side does not make is as good as a point made; one or a "
     "little more did equally well in rounds against itself"),
    ("crib_next", 1.5, "two or three cards of the crib are others', picked for it by one side and "
     "against it by the other"),
    ("throw", -0.3, "a place in the crib is for a worse card, unless this one fits nowhere"),
)  # fmt: skip

LINE = 0
NEXT = LINE + SIZE + 1
DRAFT = NEXT + SIZE + 1
OTHER = DRAFT + 1
CRIB_NEXT = OTHER + 1
THROW = CRIB_NEXT + 1
NEVER = -1000.0  # less than the value of any cell
WEIGHTS = np.array([value for _, value, _ in HEURISTICS], dtype=np.float64)


@kernel
def likely_points(table, weights, cards, unseen, flush_size, nob):
    """Return the expected final points of a line that holds ``cards``."""
    n = bit_count(cards)
    value = weights[LINE + n] + lines.points_so_far(table, cards, flush_size, nob)
    if n == 0 or n == SIZE:
        return value
    total = lines.next_by_rank(table, cards, unseen, stack.floats(RANKS))
    if nob & unseen:
        total += 1
    for suit in range(4):
        held = bit_count(cards & SUIT << suit)
        short = flush_size - held
        if short <= 1:
            more = held + 1 if short == 1 else 1
            total += more * bit_count(unseen & SUIT << suit)
        elif short == 2 and n <= SIZE - 2:
            value += weights[DRAFT]
    return value + weights[NEXT + n] * total / bit_count(unseen)


@kernel
def line_gain(v, table, weights, unseen, cell, rows):
    """Return the value that the card in turn adds on ``cell`` to its row (``rows`` 1) or column."""
    line = lines.line_through(v, cell, rows)
    nob = lines.nob_through(v, cell, rows)
    size = v["flush_size"]
    longer = line | 1 << v["card"]
    return likely_points(table, weights, longer, unseen, size, nob) - likely_points(
        table, weights, line, unseen, size, nob
    )


@kernel
def crib_value(v, table, weights, cards, unseen):
    """Return the value of a crib by its known cards."""
    nob = lines.nob_of(v)
    value = float(lines.points_so_far(table, cards, v["crib_flush_size"], nob))
    if bit_count(cards) < SIZE:
        total = lines.next_by_rank(table, cards, unseen, stack.floats(RANKS))
        value += weights[CRIB_NEXT] * total / bit_count(unseen)
    return value


@kernel
def crib_gain(v, table, weights, unseen):
    """Return the value of sending the card in turn to the crib."""
    crib = lines.crib_known(v)
    longer = crib | 1 << v["card"]
    gain = crib_value(v, table, weights, longer, unseen) - crib_value(v, table, weights, crib, unseen)
    return weights[THROW] + (gain if v["my_crib"] else -gain)


@kernel
def best_action(v, table, weights):
    """Return the legal action with the highest value; of equal actions, the first."""
    unseen = lines.unseen_cards(v)
    mine = v["scores_rows"]
    best = NONE
    most = NEVER
    if v["legal"] >> TO_CRIB & 1:
        best = TO_CRIB
        most = crib_gain(v, table, weights, unseen)
    cells = v["legal"] & ~(1 << TO_CRIB)
    while cells:
        cell = lowest(cells)
        cells &= cells - 1
        value = line_gain(v, table, weights, unseen, cell, mine)
        value -= weights[OTHER] * line_gain(v, table, weights, unseen, cell, 1 - mine)
        if best == NONE or value > most:
            best = cell
            most = value
    return best
