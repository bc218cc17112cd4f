"""Features of a view by the rules alone: numbers of the view, and a row for each line and the crib.

A cell lies in two lines, a row of one side and a column of the other. So the rows here are ten
lines instead of 25 cells, each with and without the card in turn, and the crib with the starter.
The next card is taken as a uniform draw from the unseen cards. Points are in fours, so that
networks see numbers near 1.
"""

from __future__ import annotations

from crib_env.engine.family import Features, Slice, offsets
from crib_env.engine.jit import kernel
from crib_env.engine.ranks import RANKS, bit_count
from crib_env.engine.table_top import lines
from crib_env.engine.table_top.encode import ACTIONS
from crib_env.engine.table_top.encode import AT as OBSERVED_AT
from crib_env.engine.table_top.records import CELLS, LINES, SIZE

CRIB_LINE = LINES
FOURS = 4.0
MOST = 29 / FOURS  # points of a line
MOST_NEXT = 20 / FOURS  # more than a card adds to a line by its rank

STATE = (
    Slice("card_rank", RANKS, "the rank of the card in turn"),
    Slice("unseen_ranks", RANKS, "for each rank its share of the unseen cards, times 13, minus 1", low=-1, high=12),
    Slice("legal", ACTIONS, "the action mask"),
)
ROW = (
    Slice("line", 1, "1 + the line: 0 to 4 the rows, 5 to 9 the columns, "
            "10 the crib; negative if it scores for the other side", low=-LINES - 1, high=LINES + 1),
    Slice("sure", 1, "what the card in turn adds to it as it lies, in fours of points", high=MOST),
    Slice("own", 1, "it scores for my side"),
    Slice("crib", 1, "it is the crib"),
    Slice("points", 1, "what it scores as it lies", high=MOST),
    Slice("cards", SIZE + 1, "how many cards lie in it, of the crib those known, one-hot"),
    Slice("ranks", RANKS, "for each rank how many cards lie in it", high=4),
    Slice("suit", 2, "its cards are of one suit; how many are of the commonest, in "
            "fours", high=SIZE / 4),
    Slice("suit_with", 2, "the same with the card in turn", high=SIZE / 4),
    Slice("nob", 3, "the jack that scores for nobs in it lies there; is unseen; is the "
            "card in turn"),
    Slice("next", RANKS, "for each rank what a next card of it would add in "
            "fifteens, pairs and runs; 0 if none is unseen or no card lies there", high=MOST_NEXT),
    Slice("next_with", RANKS, "the same once the card in turn lies there", high=MOST_NEXT),
    Slice("mean_next", 2, "the means of both over every unseen card", high=MOST_NEXT),
)  # fmt: skip
PLACES = (*((cell // SIZE, SIZE + cell % SIZE) for cell in range(CELLS)), (CRIB_LINE,))
FEATURES = Features(STATE, LINES + 1, ROW, PLACES, first=OBSERVED_AT.turn)

# Offsets of the slices in the state and in a row.
STATE_AT, AT = offsets(STATE), offsets(ROW)
WIDTH = FEATURES.width


@kernel
def write_features(v, table, out):
    """Write the features of a view into ``out``, float32[FEATURES.size]."""
    out[:] = 0
    if v["to_move"] == 0:
        return
    unseen = lines.unseen_cards(v)
    for action in range(ACTIONS):
        out[STATE_AT.legal + action] = v["legal"] >> action & 1
    out[STATE_AT.card_rank + (v["card"] >> 2)] = 1.0
    more = 13.0 / bit_count(unseen)
    for rank in range(RANKS):
        out[STATE_AT.unseen_ranks + rank] = bit_count(unseen >> (4 * rank) & 15) * more - 1.0
    for line in range(LINES):
        rows = 1 if line < SIZE else 0
        cell = SIZE * line if rows else line - SIZE
        own = 1 if rows == v["scores_rows"] else 0
        row = out[STATE_AT.end + WIDTH * line : STATE_AT.end + WIDTH * (line + 1)]
        row[AT.line] = 1 + line if own else -1 - line
        row[AT.own] = own
        cards = lines.line_through(v, cell, rows)
        line_features(v, table, cards, lines.nob_through(v, cell, rows), v["flush_size"], unseen, row)
    row = out[STATE_AT.end + WIDTH * CRIB_LINE : STATE_AT.end + WIDTH * (CRIB_LINE + 1)]
    row[AT.line] = 1 + CRIB_LINE if v["my_crib"] else -1 - CRIB_LINE
    row[AT.own] = v["my_crib"]
    row[AT.crib] = 1.0
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
    row[AT.sure] = (lines.points_so_far(table, longer, flush_size, nob) - now) / FOURS
    most = lines.most_of_a_suit(longer)
    row[AT.suit_with] = 1.0 if most == n + 1 else 0.0
    row[AT.suit_with + 1] = most / 4.0
    row[AT.nob + 2] = 1.0 if nob & card else 0.0
    if n < SIZE - 1:
        next_features(table, longer, unseen, 1, row)


@kernel
def write_line(table, cards, nob, flush_size, unseen, row):
    """Write the features of a line without the card in turn; return its points."""
    n = bit_count(cards)
    now = lines.points_so_far(table, cards, flush_size, nob)
    row[AT.points] = now / FOURS
    row[AT.cards + n] = 1.0
    for rank in range(RANKS):
        row[AT.ranks + rank] = bit_count(cards >> (4 * rank) & 15)
    most = lines.most_of_a_suit(cards)
    row[AT.suit] = 1.0 if most == n else 0.0
    row[AT.suit + 1] = most / 4.0
    row[AT.nob] = 1.0 if nob & cards else 0.0
    row[AT.nob + 1] = 1.0 if nob & unseen else 0.0
    if n < SIZE:
        next_features(table, cards, unseen, 0, row)
    return now


@kernel
def next_features(table, cards, unseen, longer, row):
    """Write the points that a next card adds; ``longer`` is 1 with the card in turn."""
    at = AT.next + RANKS * longer
    points = row[at : at + RANKS]
    total = lines.next_by_rank(table, cards, unseen, points)
    for rank in range(RANKS):
        points[rank] /= FOURS
    row[AT.mean_next + longer] = total / FOURS / bit_count(unseen)
