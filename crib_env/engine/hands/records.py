"""The records of the games with hands: rules in numbers, a game's full state, a seat's view.

A family's `Sizes` set the lengths of its records' fields, where kernels read them (`seats`). They
are constants of the record's type, so a game for two pays nothing for the others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crib_env.cards import CRIB as CRIB
from crib_env.engine.jit import kernel
from crib_env.engine.record import record

# Phases of a deal.
DISCARD = 0
PEGGING = 1
OVER = 2

# Episodes.
DEAL = 0
GAME = 1
MATCH = 2
PEGGING_ONLY = 3  # one deal in which nothing but the play is pegged
EPISODES = {"deal": DEAL, "game": GAME, "match": MATCH, "pegging": PEGGING_ONLY}

Dtype = np.dtype[np.void]


class Sizes(NamedTuple):
    """The sizes of a family's records: the most of each."""

    seats: int
    hand: int  # cards dealt to a seat
    discards: int  # cards that a seat discards
    pile: int  # cards played in a deal
    crib: int  # cards dealt to the crib


def table_rules(size: Sizes) -> tuple[str | tuple[str, int], ...]:
    """Return the fields of players and sides; with two seats, each is a side."""
    return ("players", "sides", ("side_of", size.seats), "second_go_ends")


# The rules that every view has, in the same order in both records, so that they are copied at once.
VIEWED = (
    "dealt",
    "target",
    "match_target",
    "single_count",
    "flush_size",
    "crib_flush_size",
    "heels",  # points of the dealer's side for a jack turned up (C3)
    "episode",
)


def rules_record(size: Sizes) -> Dtype:
    """Return the record of the rules in numbers."""
    return record(
        *table_rules(size),
        *VIEWED,
        "discards",  # cards a seat discards
        "go_at_once",  # 1 if a go is pegged at once (H5), 0 if with the last card (F5, M7)
        "for_last",
        "skunk_margin",
        "skunk_points",
        "double_skunk_margin",
        "double_skunk_points",
        "high_card_deals",
        "winner_deals",
    )


def state_record(size: Sizes) -> Dtype:
    """Return the record of a game's full state."""
    return record(
        ("rng", 4),
        "phase",
        "to_move",
        "dealer",
        # Seat p's i-th card is at hand * p + i for the whole deal, the crib's own after them.
        ("dealt", size.seats * size.hand + size.crib),  # NONE where there is none
        ("held", size.seats),  # which of them the seat still holds, one bit a card
        ("discarded", size.seats),  # which it discarded
        "starter",  # known to the engine from the deal on; views show it once it is turned
        ("pile", size.pile),  # cards played in this deal, in order; NONE beyond pile_n
        "pile_n",
        "pile_from",  # where the present count began; cards before it are out of play
        "pile_seats",  # two bits a card: the seat that played card i
        "count",
        "go",  # 1 once this count's go point is pegged (H5)
        "passed",  # bit p: seat p could not play in this count
        ("scores", size.seats),  # by side
        ("rear", size.seats),  # the rear peg: the score before the last points (H12)
        ("match_score", size.seats),  # game points (H11, M11)
        # The same three before this deal: notation writes these, and the moves since.
        ("scores_before", size.seats),
        ("rear_before", size.seats),
        ("match_score_before", size.seats),
        ("start", size.seats),  # scores at the start of the episode, for its first deal
        ("gain", size.seats),  # points pegged since the caller last cleared them
        "winner",  # the side that has won the present game, or NONE
        "deals",  # dealt in this episode
        "given",  # the next of the caller's decks
        "given_end",  # the first deck after those of this game
        "over",  # 1 once the episode is over
    )


def view_record(size: Sizes) -> Dtype:
    """Return the record of a seat's view; seats and sides count from it to the left."""
    return record(
        "seat",
        "to_move",  # 1 if this seat is to move
        "mover",  # the seat to move; NONE once the deal is over
        "phase",
        *(table_rules(size) if size.seats > 2 else ()),
        *VIEWED,
        "dealer",
        "starter",  # NONE until it is turned
        ("hand", size.hand),  # cards held, NONE beyond hand_n
        "hand_n",
        "legal",  # which of hand may be played now, one bit a card
        ("discarded", size.discards),  # cards this seat discarded, NONE beyond discarded_n
        "discarded_n",
        ("held_n", size.seats),  # the number of cards of each seat; 0 for an empty seat
        ("pile", size.pile),
        "pile_n",
        "pile_from",
        "pile_seats",  # two bits a card: the seat that played it
        "count",
        "go",
        "passed",  # bit i: the seat i to the left could not play in this count
        ("scores", size.seats),  # by side
        ("rear", size.seats),
        ("match_score", size.seats),
        "deals",  # the number of this deal in the episode, from 1
    )


@kernel
def seats(s):
    """Return the number of seats in a state, a constant."""
    return s["held"].shape[0]


@kernel
def players_of(s, rules):
    """Return the number of players, a constant with two seats."""
    return 2 if seats(s) == 2 else rules["players"]


@kernel
def side_of(s, rules, seat):
    """Return the side of a seat; with two seats, each is a side."""
    return seat if seats(s) == 2 else rules["side_of"][seat]


@kernel
def to_the_left(s, rules, seat, places):
    """Return the seat that is ``places`` (0 to all the seats) to the left of one."""
    if seats(s) == 2:
        return seat ^ places & 1
    left = seat + places
    # & 3: so that the compiler knows no index is negative
    return (left - rules["players"] if left >= rules["players"] else left) & 3
