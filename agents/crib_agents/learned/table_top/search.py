"""One step of search at Table Top: the value of an action by the replies to it.

After each action the search tries every possible next card, which the other side places best by the
networks. The mean over those cards is the value of the action. The tables of `expert` see other
things than the networks do, and look one card further, so the search mixes both values.
"""

from __future__ import annotations

from numba import float64, int64, void

from crib_agents.expert.table_top.search import narrow, score_actions
from crib_agents.knowledge.table_top.position import POSITIONS_T
from crib_agents.learned.table_top.act import (
    ACTIONS,
    EACH_TWICE,
    LINES,
    OWED_TABLE,
    UNLIKELY,
    crib_value,
    owing_place,
)
from crib_agents.learned.table_top.gains import DECK, GAINS, fill_gains
from crib_env.engine import stack
from crib_env.engine.jit import entry, kernel
from crib_env.engine.record import NONE, TABLE_T, WEIGHTS_T
from crib_env.engine.table_top.cells import lowest, open_actions
from crib_env.engine.table_top.lines import crib_known, nob_of, owed_by, unseen_cards
from crib_env.engine.table_top.records import SIZE, TO_CRIB, TURNS, VIEWS_T

ROW = (1 << SIZE) - 1
SHARE = 0.5  # of the nets in the value of an action; the rest is the expert's
NEVER = 1e6  # more than any answer costs


@kernel
def owing_then(v, weights, mine, theirs, points):
    """Return what the cards that both sides owe the crib after the answer add for my side."""
    table = int(weights[OWED_TABLE])
    left = TURNS - 2 - v["turn"]
    own = weights[table + owing_place(1, left, mine, theirs)]
    return points[0] * own - points[1] * weights[table + owing_place(0, left, theirs, mine)]


@kernel
def answer_to_crib(v, table, weights, unseen, of_crib, cost):
    """Write what each next card adds for my side if it is the answer to lay it in the crib.

    By what the other side knows of the crib; of the cards it laid there before, nobody else knows.

    Args:
        of_crib: the value of a point of the crib to my side.
        cost: float64[DECK].
    """
    mine = 1 - v["my_crib"]
    starter = 1 << v["starter"]
    before = crib_value(v, table, weights, mine, starter)
    nob = nob_of(v)
    for rank in range(13):
        left = unseen >> (4 * rank) & 15
        if left:
            first = (left & -left) << (4 * rank)  # stands for all of its rank, but for his nob
            more = crib_value(v, table, weights, mine, starter | first) - before
            more -= 1.0 if first == nob else 0.0
            for suit in range(4):
                card = 4 * rank + suit
                cost[card] = of_crib * (more + (nob >> card & 1))


@kernel
def best_answer(answers, row, column, of_rows, of_columns, gains, card, to_crib):
    """Return what the other side's best answer with a card brings my side.

    Args:
        answers: those open to it, one bit each. row, column: of the cell just taken, or NONE.
        of_rows, of_columns: the value of a point of these to my side.
        to_crib: what it brings to lay the card in the crib.
    """
    best = NEVER
    if answers >> TO_CRIB & 1:
        best = to_crib
    for i in range(SIZE):
        cells = answers >> (SIZE * i) & ROW
        if cells:
            at = LINES + i if i == row else i
            by_row = of_rows * gains[DECK * at + card]
            for j in range(SIZE):
                if cells >> j & 1:
                    at = (LINES if j == column else 0) + SIZE + j
                    best = min(best, by_row + of_columns * gains[DECK * at + card])
    return best


@kernel
def action_values(v, table, weights, points, values):
    """Write the value of each action by the answers to it, float64[ACTIONS].

    Args:
        weights: begin with the nets.
        points: float64[2], the value of a point for my side and of one less for the other.
        values: receives `UNLIKELY` for what is not legal. It is not the last turn.
    """
    gains = stack.floats(GAINS)
    value = stack.floats(EACH_TWICE)
    cost = stack.floats(DECK)
    unseen = unseen_cards(v)
    mine = owed_by(v, 0)
    theirs = owed_by(v, 1)
    of_rows = points[0] if v["scores_rows"] else -points[1]
    of_columns = -points[1] if v["scores_rows"] else points[0]
    of_crib = points[0] if v["my_crib"] else -points[1]
    if v["owed"][1]:
        answer_to_crib(v, table, weights, unseen, of_crib, cost)
    fill_gains(v, table, weights, unseen, mine, 1, gains, value)
    for action in range(ACTIONS):
        values[action] = UNLIKELY
        if not v["legal"] >> action & 1:
            continue
        row = NONE
        column = NONE
        placed = v["placed"]
        crib = crib_known(v)
        owed = mine
        if action == TO_CRIB:  # the last of all: gains are rewritten
            crib |= 1 << v["card"]
            owed -= 1
            fill_gains(v, table, weights, unseen, owed, 0, gains, value)
        else:
            row = action // SIZE
            column = action % SIZE
            placed |= 1 << action
        share = owing_then(v, weights, owed, theirs, points)
        total = of_crib * crib_value(v, table, weights, v["my_crib"], crib) + share
        for i in range(SIZE):
            total += of_rows * value[LINES + i if i == row else i]
            total += of_columns * value[(LINES if i == column else 0) + SIZE + i]
        answers = open_actions(
            placed, v["owed"][1], TURNS - 2 - v["turn"], v["players"], v["adjacency"]
        )
        paid = 0.0
        if answers >> TO_CRIB & 1:
            paid = owing_then(v, weights, owed, theirs - 1, points) - share
        answered = 0.0
        n = 0
        left = unseen
        while left:
            card = lowest(left)
            left &= left - 1
            to_crib = cost[card] + paid if answers >> TO_CRIB & 1 else 0.0
            answered += best_answer(answers, row, column, of_rows, of_columns, gains, card, to_crib)
            n += 1
        values[action] = total + answered / n


@entry(
    void(
        VIEWS_T, int64[::1], TABLE_T, float64[:, ::1], float64[::1], float64[:, :, ::1],
        float64[::1], int64, int64, POSITIONS_T, float64[:, :, ::1], float64[:, ::1],
        float64[:, ::1], WEIGHTS_T, int64[::1],
    ),
    "learned.table_top_search",
)  # fmt: skip
def search_views(
    views, rows, table, values, surplus, win_table, points, actions, answers, positions, gains,
    saved, ahead, nets, chosen,
):  # fmt: skip
    """Write an action for each view that is to be judged by ``win_table``.

    Args:
        nets: begin with the nets for the rules of these views. chosen: int64[B].
        The others as for `act_views` of the expert.
    """
    found = stack.floats(ACTIONS)
    for i in rows:
        v = views[i]
        legal = v["legal"]
        if legal & (legal - 1) == 0:
            chosen[i] = lowest(legal)
            continue
        learned = values[0 if v["flush_size"] == SIZE else 1]
        legal = score_actions(
            v, table, learned, surplus, win_table, points, actions, answers, positions, gains,
            saved, ahead,
        )  # fmt: skip
        if v["turn"] < TURNS - 1:
            action_values(v, table, nets, points, found)
            for action in range(ACTIONS):
                ahead[0, action] += SHARE * (found[action] - ahead[0, action])
        chosen[i] = lowest(narrow(ahead[0], legal, 1, 1))
