"""The log of one action: what it pegged, in order, and for what."""

from __future__ import annotations

from crib_env.engine.jit import kernel

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
# Of Table Top. Where only the difference counts (T13), HEELS, LINE and CRIB are hand points and
# DIFFERENCE alone changes the score.
LINE = 10
DIFFERENCE = 11

LOG_WIDTH = 4  # side (its seat, where it has one), points, reason, cards as a 52-bit mask


def log_size(rows: int) -> int:
    """Return the length of a log with room for so many rows: ``log[0]`` says how many it has."""
    return 1 + LOG_WIDTH * rows


@kernel
def keep_log(log, size):
    """Add what the last step logged to the history that follows the log, if it has one.

    Shapes: log int64[size].
    """
    if log.shape[0] == size:
        return
    for row in range(log[0]):
        to = size + 1 + LOG_WIDTH * log[size]
        if to + LOG_WIDTH <= log.shape[0]:
            for i in range(LOG_WIDTH):
                log[to + i] = log[1 + LOG_WIDTH * row + i]
            log[size] += 1


@kernel
def note(log, seat, points, reason, cards):
    """Log points, unless there are none."""
    if points > 0:
        note_cards(log, seat, points, reason, cards)


@kernel
def note_cards(log, seat, points, reason, cards):
    """Log points, also 0 (an event with `include_zero` alone), unless the log is full."""
    row = 1 + LOG_WIDTH * log[0]
    if row + LOG_WIDTH <= log.shape[0]:
        log[row] = seat
        log[row + 1] = points
        log[row + 2] = reason
        log[row + 3] = cards
        log[0] += 1
