"""`greedy`: takes the most points now and ignores the other seat.

It plays the card that pegs most now; of equal cards, the higher one. It keeps the hand with the
most points without the starter. It ignores both sides' cribs.

At Table Top a cell lies in a line of each side, a row and a column. The card goes to the cell where
its side's line gains most, minus the gain of the other side's line; of equal cells, the first. If
no cell gains anything, it goes to the crib, if that is legal.
"""

from __future__ import annotations

from typing import ClassVar

from crib_agents.honours import BY_CARDS
from crib_agents.kernels.two_hand import discard_by
from crib_env.engine.hands.counting import certain_points, dealt_card, sequence_of
from crib_env.engine.hands.records import DISCARD
from crib_env.engine.jit import kernel
from crib_env.engine.ranks import lowest
from crib_env.engine.record import NONE
from crib_env.engine.table_top.lines import line_through, nob_through, points_so_far
from crib_env.engine.table_top.records import TO_CRIB
from crib_env.policy import Act, CompiledAgent


@kernel
def hand_as_it_stands(v, table, weights, low, high):
    """Return the points of the hand without a starter, after discarding ``low`` and ``high``."""
    hand = 0
    for i in range(v["hand_n"] + v["discarded_n"]):
        hand |= 1 << dealt_card(v, i)
    hand &= ~(1 << low | 1 << high)
    return float(points_so_far(table, hand, v["flush_size"], 0))


discard = discard_by(hand_as_it_stands)


@kernel
def most_pegged(v):
    """Return the legal card with the most certain points now; of equal cards, the higher."""
    sequence = sequence_of(v)
    best = NONE
    most = NONE
    for k in range(v["hand_n"]):
        if v["legal"] >> k & 1:
            points = certain_points(v, k, sequence)
            card = v["hand"][k]
            if points > most or (points == most and card > best):
                best = card
                most = points
    return best


def choose_card(v, rng, table, weights):
    """Return the greedy card for the two-hand view ``v``."""
    if v["phase"] == DISCARD:
        return discard(v, table, weights)
    return most_pegged(v)


def choose_many_hand_card(v, rng, table, weights):
    """Return the greedy card for the many-hand view ``v``."""
    if v["phase"] != DISCARD:
        return most_pegged(v)
    best = NONE
    most = 0.0
    for i in range(v["hand_n"]):
        card = v["hand"][i]
        value = hand_as_it_stands(v, table, weights, card, card)
        if best == NONE or value > most or (value == most and card > best):
            best = card
            most = value
    return best


@kernel
def points_added(v, table, cell, rows):
    """Return the points the card in turn adds on ``cell`` to its row (``rows`` 1) or column."""
    line = line_through(v, cell, rows)
    nob = nob_through(v, cell, rows)
    flush_size = v["flush_size"]
    longer = line | 1 << v["card"]
    return points_so_far(table, longer, flush_size, nob) - points_so_far(table, line, flush_size, nob)


def choose_cell(v, rng, table, weights):
    """Return the greedy action for the Table Top view ``v``."""
    crib = v["legal"] >> TO_CRIB & 1
    best = TO_CRIB
    most = 0
    cells = v["legal"] & ~(1 << TO_CRIB)
    while cells:
        cell = lowest(cells)
        cells &= cells - 1
        mine = v["scores_rows"]
        gain = points_added(v, table, cell, mine) - points_added(v, table, cell, 1 - mine)
        if gain > most or (best == TO_CRIB and not crib):
            best = cell
            most = gain
    return best


class GreedyAgent(CompiledAgent):
    """Takes the most points now."""

    name = "greedy"
    acts: ClassVar[dict[str, Act]] = {
        "two_hand": choose_card,
        "many_hand": choose_many_hand_card,
        "table_top": choose_cell,
    }
    honours = BY_CARDS
