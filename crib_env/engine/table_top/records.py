"""The records of Table Top: the rules in numbers, a game's full state, a seat's view, the cells.

Every field is int64 (see `crib_env.engine.record`). Side 0 scores the rows, side 1 the columns;
partners sit opposite (T1). The card of turn t is ``deck[t]`` and the starter ``deck[TURNS]`` (T2,
T3); turn t belongs to seat ``(dealer + 1 + t) % players`` (T4).
"""

from __future__ import annotations

from crib_env.engine.jit import kernel
from crib_env.engine.record import array_of, record

SIZE = 5
CELLS = SIZE * SIZE
LINES = 2 * SIZE  # rows 0 to 4, columns 5 to 9
CENTRE = 12
TURNS = 28  # T4: 24 cells and four crib cards
CRIB_CARDS = 4
SEATS = 4  # the most players
TO_CRIB = CELLS  # the action that lays the card in the crib; 0 to 24 place it on that cell

# Episodes.
ROUND = 0
GAME = 1

# The rules that a view shows; heels: points of the dealer's side for a jack turned up (T3).
SHOWN_RULES = ("target", "adjacency", "flush_size", "crib_flush_size", "score_difference", "partners_confer", "heels")

TABLE_RULES = record("players", "sides", ("side_of", SEATS), *SHOWN_RULES, "high_card_deals", "episode")

TABLE_TOP = record(
    ("rng", 4),
    "players",
    "to_move",
    "dealer",
    "turn",  # 0 to 27; TURNS once the episode is over
    ("deck", TURNS + 1),
    ("layout", CELLS),  # cards, NONE on vacant cells
    ("turns", CELLS),  # the turn that placed them; NONE on vacant cells and in the centre
    "placed",  # cells that hold a card, one bit a cell
    ("crib", CRIB_CARDS),  # the turns that went to the crib, NONE beyond crib_n
    "crib_n",
    ("owed", SEATS),  # cards the seat must still lay in the crib (T6)
    ("scores", 2),  # by side
    ("scores_before", 2),  # before this round and its heels: notation writes these
    ("start", 2),  # scores at the start of the episode, before its first heels, for its first round
    ("gain", 2),  # points scored since the caller last cleared them
    "winner",  # the side that won the game, or NONE
    "deals",  # rounds dealt in this episode
    "given",  # the next of the caller's decks
    "given_end",  # the first deck after those of this game
    "over",  # 1 once the episode is over
)

TABLE_VIEW = record(
    "seat",
    "players",
    "to_move",  # 1 if this seat is to move
    "mover",  # the seat to move, counted to the left from this one; NONE once the episode is over
    "dealer",  # in seats to the left of this one
    "my_crib",  # 1 if this seat's side counts the crib
    "scores_rows",  # 1 if this seat's side scores the rows, 0 the columns
    "turn",
    "over",
    "starter",
    "card",  # the card in turn; NONE unless this seat is to move
    "partner_card",  # the same of a partner who confers (T7); NONE unless the partner is to move
    "legal",  # actions open to this seat now, one bit each
    ("layout", CELLS),
    ("turns", CELLS),
    "placed",
    ("crib", CRIB_CARDS),  # cards in the order laid, NONE if another's secret or not yet laid
    ("crib_turns", CRIB_CARDS),  # the turns that laid them, NONE beyond crib_n
    "crib_n",
    ("owed", SEATS),  # by seat to the left of this one, itself first; 0 for an empty seat
    ("scores", 2),  # my side's, the other's
    *SHOWN_RULES,
    "episode",
)

VIEWS_T = array_of(TABLE_VIEW)

# --- the 5x5 layout: a set of cells is a mask of 25 bits, one a cell, so nothing is looked up ----

EVERY_CELL = (1 << CELLS) - 1
WEST = sum(1 << (SIZE * row) for row in range(SIZE))
NOT_WEST = EVERY_CELL & ~WEST
NOT_EAST = EVERY_CELL & ~(WEST << (SIZE - 1))


@kernel
def touching(placed):
    """Return the vacant cells that touch a placed card by a side or a corner (T5)."""
    wide = placed | ((placed << 1) & NOT_WEST) | ((placed >> 1) & NOT_EAST)
    return (wide | (wide << SIZE) | (wide >> SIZE)) & EVERY_CELL & ~placed


@kernel
def open_actions(placed, owed, left, players, adjacency):
    """Return the actions open to a seat in turn, one bit each: cells, and `TO_CRIB` (T5 to T7)."""
    if owed == (left >> (players >> 1)) + 1:  # a division by two or four players
        return 1 << TO_CRIB  # T6
    cells = touching(placed) if adjacency else EVERY_CELL & ~placed  # T5, T11
    return cells | (1 << TO_CRIB) if owed else cells
