"""Shared by the records of all families: types, the log of points, dealing, gains, returns.

Every field of a record is int64, so a record is both one Numba type and one NumPy structured dtype.
(Measured: smaller types gain nothing, and overflow in plain Python.)

A *side* is one seat, or partners who score together. The rules record holds the number of sides
(``sides``) and the side of each seat (``side_of``). Returns and gains sum to zero over the sides.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numba import float64, from_dtype, int8, int64, types, uint8

from crib_env.arrays import Array as Array
from crib_env.engine.jit import kernel, shared_kernel
from crib_env.engine.rng import below, draw_unused
from crib_env.events import LOG_WIDTH as LOG_WIDTH
from crib_env.events import REASONS

NONE = -1
NO_DECKS = np.empty((0, 52), dtype=np.int64)

# Numba's types of the entries' arguments.
DECKS_T = int64[:, ::1]
LOG_T = int64[::1]
TABLE_T = uint8[::1]
WEIGHTS_T = float64[::1]
RNG_T = int64[::1]
RNGS_T = int64[:, ::1]
OBS_T = uint8[:, ::1]
MASKS_T = int8[:, ::1]
FLAGS_T = types.boolean[::1]
ENDINGS_T = int64[:, ::1]


def record(*fields: str | tuple[str, int]) -> np.dtype[np.void]:
    """Return the dtype of a record with these fields; a pair is a field's name and length."""
    return np.dtype([(f, np.int64) if isinstance(f, str) else (f[0], np.int64, (f[1],)) for f in fields], align=True)


def array_of(dtype: np.dtype[np.void]) -> Any:
    """Return Numba's type of an array of records."""
    return types.Array(from_dtype(dtype), 1, "C")


def tuple_of(kind: type[Any], *fields: Any) -> Any:
    """Return Numba's type of tuples of class ``kind``, named or plain, with these fields."""
    return types.BaseTuple.from_types(fields, None if kind is tuple else kind)


# --- the log of one action: points pegged, in order; ``log[0]`` rows follow ----------------------

# The reasons by number; `REASONS` names them. The last two are of Table Top: where only the
# difference counts (T13), DIFFERENCE alone changes the score, not HEELS, LINE and CRIB.
FOR_LAST, HEELS, FIFTEEN, PAIR, RUN, THIRTY_ONE, GO, LAST, SHOW, CRIB, LINE, DIFFERENCE = range(len(REASONS))


def log_size(rows: int) -> int:
    """Return the length of a log with room for ``rows``; ``log[0]`` is the number of rows used."""
    return 1 + LOG_WIDTH * rows


# The most one action logs: four in play, the starter, four hands, the crib, three for last. At
# Table Top: ten lines, the crib, the difference, the next heels.
LOG_SIZE = log_size(13)


@kernel
def keep_log(log):
    """Append the last step's rows to the history that follows the log, if it has one."""
    if log.shape[0] == LOG_SIZE:
        return
    for row in range(log[0]):
        to = LOG_SIZE + 1 + LOG_WIDTH * log[LOG_SIZE]
        if to + LOG_WIDTH <= log.shape[0]:
            for i in range(LOG_WIDTH):
                log[to + i] = log[1 + LOG_WIDTH * row + i]
            log[LOG_SIZE] += 1


@shared_kernel
def note(log, side, points, reason, cards):
    """Log points, unless there are none."""
    if points > 0:
        note_cards(log, side, points, reason, cards)


@shared_kernel
def note_cards(log, side, points, reason, cards):
    """Log points, also 0 (read only with ``include_zero``), unless the log is full."""
    row = 1 + LOG_WIDTH * log[0]
    if row + LOG_WIDTH <= log.shape[0]:
        log[row] = side
        log[row + 1] = points
        log[row + 2] = reason
        log[row + 3] = cards
        log[0] += 1


# --- dealing, from a deck given for this deal or else from the record's generator ----------------
# Play never touches that generator, so equal seeds give equal deals for any play.


@kernel
def draw_for_deal(s, rules):
    """Draw a card for every seat: the lowest, or highest, deals (H10, F1, T10); ties draw again."""
    sign = -1 if rules["high_card_deals"] else 1
    while True:
        dealer = 0
        best = sign * (below(s["rng"], 52) >> 2)
        alone = True
        for seat in range(1, rules["players"]):
            rank = sign * (below(s["rng"], 52) >> 2)
            if rank < best:
                best = rank
                dealer = seat
                alone = True
            elif rank == best:
                alone = False
        if alone:
            return dealer


@kernel
def has_deck(s):
    """Return 1 if a deck was given for the next deal of state ``s``, else 0."""
    return 1 if s["given"] < s["given_end"] else 0


@kernel
def next_card(s, decks, given, i, used):
    """Return the i-th card of the deal of state ``s`` (decks int64[D, 52])."""
    return decks[s["given"], i] if given else draw_unused(s["rng"], used)


@kernel
def forget_decks(s):
    """Use no more given decks: they are for the first episode only."""
    s["given"] = s["given_end"]


# --- gains and returns ---------------------------------------------------------------------------


def count_sides(sides: Iterable[int]) -> int:
    """Return how many sides there are, from the side of each seat."""
    return 1 + int(max(sides))


@kernel
def win_return(s, rules, side):
    """Return an ended episode's return of a side: 1 for the winner, the loss shared by the others.

    The state's ``winner`` wins a game. Without one, the side with the most points in the episode
    does; sides that tie share the sum of their returns. So two sides get 1 and -1, or both 0;
    three get 1, -1/2, -1/2, or 1/4, 1/4, -1/2, or all 0.
    """
    loss = -1.0 / (rules["sides"] - 1)
    if s["winner"] != NONE:
        return 1.0 if s["winner"] == side else loss
    made = s["scores"][side] - s["start"][side]
    alike = 0
    for other in range(rules["sides"]):
        more = s["scores"][other] - s["start"][other] - made
        if more > 0:
            return loss
        alike += more == 0
    return (1.0 + (alike - 1) * loss) / alike


@kernel
def margin(s, rules, side):
    """Return ``sides - 1`` times a side's gain, less the sum of the others' gains."""
    total = 0
    for other in range(s["gain"].shape[0]):
        total += s["gain"][other]
    return rules["sides"] * s["gain"][side] - total


@kernel
def clear_gains(s):
    """Set every side's ``gain`` to 0."""
    for side in range(s["gain"].shape[0]):
        s["gain"][side] = 0
