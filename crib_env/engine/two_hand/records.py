"""The records of the two-hand games: the rules in numbers, a game's full state, a seat's view."""

from __future__ import annotations

from crib_env.engine.log import log_size
from crib_env.engine.record import array_of, record
from crib_env.engine.slots import DISCARD as DISCARD
from crib_env.engine.slots import OVER as OVER
from crib_env.engine.slots import PEGGING as PEGGING

HAND = 6  # the most cards a two-hand game deals to a seat
PILE = 8  # the most cards a deal's play can hold

# Episodes.
DEAL = 0
GAME = 1
MATCH = 2
PEGGING_ONLY = 3  # one deal in which nothing but the play is pegged

LOG_SIZE = log_size(
    13
)  # the most logged by one action: four in play, the starter, three counted, three for last

RULES = record(
    "players",  # always two
    "sides",
    ("side_of", 2),
    "dealt",
    "target",
    "single_count",
    "for_last",
    "flush_size",
    "crib_flush_size",
    "match_target",
    "skunk_margin",
    "skunk_points",
    "double_skunk_margin",
    "double_skunk_points",
    "heels",
    "high_card_deals",
    "winner_deals",
    "episode",
)

TWO_HAND = record(
    ("rng", 4),
    "phase",
    "to_move",
    "dealer",
    ("dealt", 2 * HAND),  # seat p's i-th card lies at HAND * p + i for the whole deal
    ("held", 2),  # which of them the seat still holds, one bit a card
    ("discarded", 2),  # which it discarded
    "starter",  # known to the engine from the deal on; views show it once it is turned
    ("pile", PILE),  # cards played in this deal, in order
    "pile_n",
    "pile_from",  # where the present count began; cards before it are out of play
    "pile_seats",  # bit i: the seat that played card i
    "count",
    "go",  # 1 once this count's go point is pegged (H5)
    ("scores", 2),
    ("rear", 2),  # the rear peg: the score before the last points (H12)
    ("match_score", 2),  # game points (H11)
    ("start", 2),  # scores at the start of the episode
    ("gain", 2),  # points pegged since the caller last cleared them
    "winner",  # of the present game, or NONE
    "deals",  # dealt in this episode
    "given",  # the next of the caller's decks
    "given_end",  # and the first that is not for this game
    "over",  # 1 once the episode is
)

VIEW = record(
    "seat",
    "to_move",  # 1 if this seat is
    "phase",
    "is_dealer",
    "starter",  # NONE until it is turned
    ("hand", HAND),  # cards held, NONE beyond hand_n
    "hand_n",
    "legal",  # which of hand may be played now, one bit a card
    ("discarded", 2),  # cards this seat discarded, NONE beyond discarded_n
    "discarded_n",
    "other_n",  # how many cards the other seat holds
    ("pile", PILE),
    "pile_n",
    "pile_from",
    "pile_mine",  # bit i: this seat played card i
    "count",
    "go",
    ("scores", 2),  # mine, theirs
    ("rear", 2),
    ("match_score", 2),
    "target",
    "match_target",
    "dealt",  # cards dealt to a seat: 6 or 5
    "single_count",
    "flush_size",
    "crib_flush_size",
    "heels",  # what the dealer pegs for a jack turned up (C3)
    "episode",
    "deals",  # the number of this deal in the episode, from 1
)

VIEWS_T = array_of(VIEW)
