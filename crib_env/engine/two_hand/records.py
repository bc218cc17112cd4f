"""The records the kernels work on: the rules in numbers, a game's full state, and a seat's view.

Every field is int64 (measured: smaller types gain nothing and overflow in plain Python), so a
record is both one Numba type and one NumPy structured dtype.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import from_dtype, int64, types, uint8

HAND = 6  # the most cards a two-hand game deals to a seat
PILE = 8  # the most cards a deal's play can hold
NONE = -1

# Phases of a two-hand deal.
LAY_AWAY = 0
PLAY = 1
OVER = 2

# Episodes.
DEAL = 0
GAME = 1
MATCH = 2
PLAY_ONLY = 3  # one deal in which nothing but the play is pegged

# What points are pegged for; `REASONS` in crib_env.events names them.
FOR_LAST = 0
HEELS = 1
FIFTEEN = 2
PAIR = 3
RUN = 4
THIRTY_ONE = 5
GO = 6
LAST = 7
SHOW = 8
CRIB = 9

LOG_WIDTH = 4  # seat, points, reason, cards as a 52-bit mask
LOG_ROWS = 12  # the most pegged by one action: four in play, three counted, three for last
LOG_SIZE = 1 + LOG_WIDTH * LOG_ROWS


def _record(*fields: str | tuple[str, int]) -> np.dtype[np.void]:
    return np.dtype(
        [(f, np.int64) if isinstance(f, str) else (f[0], np.int64, (f[1],)) for f in fields],
        align=True,
    )


RULES = _record(
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
    "high_card_deals",
    "winner_deals",
    "episode",
)

TWO_HAND = _record(
    ("rng", 4),
    "phase",
    "to_move",
    "dealer",
    ("dealt", 2 * HAND),  # seat p's i-th card lies at HAND * p + i for the whole deal
    ("held", 2),  # which of them the seat still holds, one bit a card
    ("laid", 2),  # which it laid away
    "starter",  # known to the engine from the deal on; views show it once it is turned
    ("pile", PILE),  # cards played in this deal, in order
    "pile_n",
    "pile_from",  # where the present count began; cards before it are out of play
    "pile_seats",  # bit i: the seat that played card i
    "count",
    "go",  # 1 once this count's go point is pegged (H5)
    ("scores", 2),
    ("rear", 2),  # the rear peg: the score before the last points (H12)
    ("games", 2),  # game points in the match (H11)
    ("start", 2),  # scores at the start of the episode
    ("gain", 2),  # points pegged since the caller last cleared them
    "winner",  # of the present game, or NONE
    "deals",  # dealt in this episode
    "given",  # how many of the caller's decks have been used up
    "over",  # 1 once the episode is
)

VIEW = _record(
    "seat",
    "to_move",  # 1 if this seat is
    "phase",
    "is_dealer",
    "starter",  # NONE until it is turned
    ("hand", HAND),  # cards held, NONE beyond hand_n
    "hand_n",
    "legal",  # which of hand may be played now, one bit a card
    ("laid", 2),  # cards this seat laid away, NONE beyond laid_n
    "laid_n",
    "other_n",  # how many cards the other seat holds
    ("pile", PILE),
    "pile_n",
    "pile_from",
    "pile_mine",  # bit i: this seat played card i
    "count",
    "go",
    ("scores", 2),  # mine, theirs
    ("rear", 2),
    ("games", 2),
    "target",
    "match_target",
    "dealt",  # cards dealt to a seat: 6 or 5
    "single_count",
    "flush_size",
    "crib_flush_size",
    "episode",
)

# Numba types of the entries' arguments.
Array = npt.NDArray[Any]
RULES_T = types.Array(from_dtype(RULES), 1, "C")
STATES_T = types.Array(from_dtype(TWO_HAND), 1, "C")
VIEWS_T = types.Array(from_dtype(VIEW), 1, "C")
DECKS_T = int64[:, ::1]
LOG_T = int64[::1]
TABLE_T = uint8[::1]
NO_DECKS = np.empty((0, 52), dtype=np.int64)
