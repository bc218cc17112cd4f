"""Numbers that follow from the rules alone: of the view, and a row for each line and the crib.

A cell lies in two lines, a row of one side and a column of the other. So the rows here are lines,
ten in place of 25 cells, each with the card in turn in it and without, and the crib with the
starter. All of it follows from the view: the next card is any unseen one, each as likely. Points
are in fours, so that networks see numbers near 1.
"""

from __future__ import annotations

from crib_env.engine.family import Feature, Features
from crib_env.engine.jit import kernel
from crib_env.engine.ranks import RANKS, bit_count
from crib_env.engine.table_top import lines
from crib_env.engine.table_top.encode import ACTIONS, TURN
from crib_env.engine.table_top.records import CELLS, LINES, SIZE

CRIB_LINE = LINES
FOURS = 4.0
MOST = 29 / FOURS  # points of a line
MOST_NEXT = 20 / FOURS  # more than a card adds to a line by its rank

STATE = (
    Feature("card_rank", RANKS, 0, 1, "the rank of the card in turn"),
    Feature("unseen_ranks", RANKS, -1, 12, "for each rank its share of the unseen cards, times 13, minus 1"),
    Feature("legal", ACTIONS, 0, 1, "the action mask"),
)
ROW = (
    Feature("line", 1, -LINES - 1, LINES + 1, "1 + the line: 0 to 4 the rows, 5 to 9 the columns, "
            "10 the crib; negative if it scores for the other side"),
    Feature("sure", 1, 0, MOST, "what the card in turn adds to it as it lies, in fours of points"),
    Feature("own", 1, 0, 1, "it scores for my side"),
    Feature("crib", 1, 0, 1, "it is the crib"),
    Feature("points", 1, 0, MOST, "what it scores as it lies"),
    Feature("cards", SIZE + 1, 0, 1, "how many cards lie in it, of the crib those known, one-hot"),
    Feature("ranks", RANKS, 0, 4, "for each rank how many cards lie in it"),
    Feature("suit", 2, 0, SIZE / 4, "its cards are of one suit; how many are of the commonest, in "
            "fours"),
    Feature("suit_with", 2, 0, SIZE / 4, "the same with the card in turn"),
    Feature("nob", 3, 0, 1, "the jack that scores for nobs in it lies there; is unseen; is the "
            "card in turn"),
    Feature("next", RANKS, 0, MOST_NEXT, "for each rank what a next card of it would add in "
            "fifteens, pairs and runs; 0 if none is unseen or no card lies there"),
    Feature("next_with", RANKS, 0, MOST_NEXT, "the same once the card in turn lies there"),
    Feature("mean_next", 2, 0, MOST_NEXT, "the means of both over every unseen card"),
)  # fmt: skip
PLACES = (*((cell // SIZE, SIZE + cell % SIZE) for cell in range(CELLS)), (CRIB_LINE,))
FEATURES = Features(STATE, LINES + 1, ROW, PLACES, first=TURN)

# Where numbers begin in the state and in a row.
CARD = 0
UNSEEN = CARD + RANKS
LEGAL = UNSEEN + RANKS
ROWS = LEGAL + ACTIONS
LINE = 0
SURE = 1
OWN = 2
IS_CRIB = 3
POINTS = 4
HELD = 5
OF_RANK = HELD + SIZE + 1
SUIT = OF_RANK + RANKS
NOB = SUIT + 4
NEXT = NOB + 3
MEAN_NEXT = NEXT + 2 * RANKS
WIDTH = FEATURES.width


@kernel
def write_features(v, table, out):
    """Write the features of a view into ``out``, float32[FEATURES.size]."""
    out[:] = 0
    if v["to_move"] == 0:
        return
    unseen = lines.unseen_cards(v)
    for action in range(ACTIONS):
        out[LEGAL + action] = v["legal"] >> action & 1
    out[CARD + (v["card"] >> 2)] = 1.0
    more = 13.0 / bit_count(unseen)
    for rank in range(RANKS):
        out[UNSEEN + rank] = bit_count(unseen >> (4 * rank) & 15) * more - 1.0
    for line in range(LINES):
        rows = 1 if line < SIZE else 0
        cell = SIZE * line if rows else line - SIZE
        own = 1 if rows == v["scores_rows"] else 0
        row = out[ROWS + WIDTH * line : ROWS + WIDTH * (line + 1)]
        row[LINE] = 1 + line if own else -1 - line
        row[OWN] = own
        cards = lines.line_through(v, cell, rows)
        line_features(v, table, cards, lines.nob_through(v, cell, rows), v["flush_size"], unseen, row)
    row = out[ROWS + WIDTH * CRIB_LINE : ROWS + WIDTH * (CRIB_LINE + 1)]
    row[LINE] = 1 + CRIB_LINE if v["my_crib"] else -1 - CRIB_LINE
    row[OWN] = v["my_crib"]
    row[IS_CRIB] = 1.0
    line_features(v, table, lines.crib_known(v), lines.nob_of(v), v["crib_flush_size"], unseen, row)


@kernel
def line_features(v, table, cards, nob, flush_size, unseen, row):
    """Write the features of a line: its cards (a mask), and the changes by the card in turn."""
    n = bit_count(cards)
    card = 1 << v["card"]
    now = write_line(table, cards, nob, flush_size, unseen, row)
    if n == SIZE:
        return
    longer = cards | card
    row[SURE] = (lines.points_so_far(table, longer, flush_size, nob) - now) / FOURS
    most = lines.most_of_a_suit(longer)
    row[SUIT + 2] = 1.0 if most == n + 1 else 0.0
    row[SUIT + 3] = most / 4.0
    row[NOB + 2] = 1.0 if nob & card else 0.0
    if n < SIZE - 1:
        next_features(table, longer, unseen, 1, row)


@kernel
def write_line(table, cards, nob, flush_size, unseen, row):
    """Write the features of a line as it lies; return its points."""
    n = bit_count(cards)
    now = lines.points_so_far(table, cards, flush_size, nob)
    row[POINTS] = now / FOURS
    row[HELD + n] = 1.0
    for rank in range(RANKS):
        row[OF_RANK + rank] = bit_count(cards >> (4 * rank) & 15)
    most = lines.most_of_a_suit(cards)
    row[SUIT] = 1.0 if most == n else 0.0
    row[SUIT + 1] = most / 4.0
    row[NOB] = 1.0 if nob & cards else 0.0
    row[NOB + 1] = 1.0 if nob & unseen else 0.0
    if n < SIZE:
        next_features(table, cards, unseen, 0, row)
    return now


@kernel
def next_features(table, cards, unseen, longer, row):
    """Write the points that a next card adds; ``longer`` is 1 with the card in turn."""
    at = NEXT + RANKS * longer
    points = row[at : at + RANKS]
    total = lines.next_by_rank(table, cards, unseen, points)
    for rank in range(RANKS):
        points[rank] /= FOURS
    row[MEAN_NEXT + longer] = total / FOURS / bit_count(unseen)
