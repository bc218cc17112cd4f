"""A round as one side knows it, in the form on which the search makes moves.

Seats are numbered to the left of the seat whose view it is, so a seat's side is its parity. Lines
0 to 4 are the rows, 5 to 9 the columns.
"""

from __future__ import annotations

from numba import from_dtype, types

from crib_env.engine.jit import kernel
from crib_env.engine.record import record
from crib_env.engine.table_top.cells import open_actions
from crib_env.engine.table_top.lines import crib_known, line_through, unseen_cards
from crib_env.engine.table_top.records import SEATS, SIZE, TO_CRIB, TURNS

LINES = 2 * SIZE

POSITION = record(
    ("lines", LINES),  # each line's cards as a mask
    "placed",
    "crib",  # the starter and the cards of the crib that my side knows, as a mask
    "unseen",
    "turn",
    "mover",  # in seats to the left of mine
    ("owed", SEATS),
)
POSITIONS_T = types.Array(from_dtype(POSITION), 1, "C")


@kernel
def take_up(v, p):
    """Fill the `POSITION` ``p`` from the view ``v``; the card in turn counts as seen."""
    for i in range(SIZE):
        p["lines"][i] = line_through(v, SIZE * i, 1)
        p["lines"][SIZE + i] = line_through(v, i, 0)
    p["placed"] = v["placed"]
    p["crib"] = crib_known(v)
    p["unseen"] = unseen_cards(v)
    p["turn"] = v["turn"]
    p["mover"] = 0
    for seat in range(SEATS):
        p["owed"][seat] = v["owed"][seat]


@kernel
def pass_on(p, after, card, players):
    """Fill ``after`` with the position ``p`` one turn on, the card seen but not yet placed."""
    for i in range(LINES):
        after["lines"][i] = p["lines"][i]
    for seat in range(SEATS):
        after["owed"][seat] = p["owed"][seat]
    after["placed"] = p["placed"]
    after["crib"] = p["crib"]
    after["unseen"] = p["unseen"] & ~(1 << card)
    after["turn"] = p["turn"] + 1
    after["mover"] = (p["mover"] + 1) & (players - 1)


@kernel
def put(p, mover, card, action):
    """Put in the position the card of ``mover``, where its action says."""
    if action == TO_CRIB:
        p["crib"] |= 1 << card
        p["owed"][mover] -= 1
    else:
        p["placed"] |= 1 << action
        p["lines"][action // SIZE] |= 1 << card
        p["lines"][SIZE + action % SIZE] |= 1 << card


@kernel
def take_back(p, mover, card, action):
    """Undo `put`."""
    if action == TO_CRIB:
        p["crib"] &= ~(1 << card)
        p["owed"][mover] += 1
    else:
        p["placed"] &= ~(1 << action)
        p["lines"][action // SIZE] &= ~(1 << card)
        p["lines"][SIZE + action % SIZE] &= ~(1 << card)


@kernel
def open_to_mover(p, players, adjacency):
    """Return the actions open to the mover, one bit each."""
    owed = p["owed"][p["mover"]]
    return open_actions(p["placed"], owed, TURNS - 1 - p["turn"], players, adjacency)
