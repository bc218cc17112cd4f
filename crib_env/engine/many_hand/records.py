"""The records of the games for three and four: rules in numbers, full state, a seat's view.

A state's cards have the same layout as in the two-hand games, so the kernels for slots, pile and
pegs are shared. Fields by side have room for as many sides as there can be seats.
"""

from __future__ import annotations

from crib_env.engine.log import log_size
from crib_env.engine.record import array_of, record

SEATS = 4  # the most that play
HAND = 5  # cards dealt to a seat (M2)
KEPT = 4
CRIB_SLOT = SEATS * HAND  # where the card dealt to the crib lies (M2)
PILE = SEATS * KEPT

# Episodes.
DEAL = 0
GAME = 1
MATCH = 2

# The most one action logs: three in play, the last card, the starter, four hands, the crib.
LOG_SIZE = log_size(10)

RULES = record(
    "players",
    "sides",
    ("side_of", SEATS),
    "target",
    "flush_size",
    "crib_flush_size",
    "match_target",
    "second_go_ends",
    "heels",
    "high_card_deals",
    "episode",
)

MANY_HAND = record(
    ("rng", 4),
    "phase",
    "to_move",
    "dealer",
    (
        "dealt",
        SEATS * HAND + 1,
    ),  # seat p's i-th card lies at HAND * p + i; NONE where there is none
    ("held", SEATS),  # which of them the seat still holds, one bit a card
    ("discarded", SEATS),  # which it discarded
    "starter",  # known to the engine from the deal on; views show it once it is turned
    ("pile", PILE),  # cards played in this deal, in order; NONE beyond pile_n
    "pile_n",
    "pile_from",  # where the present count began; cards before it are out of play
    "pile_seats",  # two bits a card: the seat that played card i
    "count",
    "passed",  # bit p: seat p could not play in this count
    ("scores", SEATS),  # by side
    ("rear", SEATS),  # the rear peg: the score before the last points
    ("match_score", SEATS),  # games won (M11)
    ("start", SEATS),  # scores at the start of the episode
    ("gain", SEATS),  # points pegged since the caller last cleared them
    "winner",  # the side that has won the present game, or NONE
    "deals",  # dealt in this episode
    "given",  # the next of the caller's decks
    "given_end",  # and the first that is not for this game
    "over",  # 1 once the episode is
)

VIEW = record(
    "seat",
    "players",
    "sides",
    ("side_of", SEATS),  # of seats to the left of this one, itself first: 0 where it is mine
    "to_move",  # 1 if this seat is
    "mover",  # who is, in seats to the left of this one; NONE once the deal is over
    "phase",
    "dealer",  # in seats to the left of this one
    "starter",  # NONE until it is turned
    ("hand", HAND),  # cards held, NONE beyond hand_n
    "hand_n",
    "legal",  # which of hand may be played now, one bit a card
    ("discarded", 1),  # the card this seat discarded, NONE before
    "discarded_n",
    ("held_n", SEATS),  # how many cards each seat holds, this one first; 0 where nobody sits
    ("pile", PILE),
    "pile_n",
    "pile_from",
    "pile_seats",  # two bits a card: who played it, in seats to the left of this one
    "count",
    "passed",  # bit i: the seat i to the left could not play in this count
    ("scores", SEATS),  # by side, mine first, then to the left; 0 where there is none
    ("rear", SEATS),
    ("match_score", SEATS),
    "target",
    "match_target",
    "flush_size",
    "crib_flush_size",
    "second_go_ends",
    "heels",  # what the dealer's side pegs for a jack turned up (C3)
    "episode",
    "deals",  # the number of this deal in the episode, from 1
)

VIEWS_T = array_of(VIEW)
