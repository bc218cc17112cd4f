"""Counting many hands at once, compiled: given hands, or all hands.

Importing this module loads the engine, and Numba with it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import int64, void

from crib_env.arrays import kernel_array
from crib_env.cards import CRIB, DECK_SIZE
from crib_env.engine.jit import entry, kernel
from crib_env.engine.record import TABLE_T
from crib_env.engine.show import add_card, show_table, with_starter
from crib_env.rules import HandRules, Rules, find_rules

HIGHEST = 29
ILLEGAL = -1


def score_hands(
    hands: npt.ArrayLike, starters: npt.ArrayLike, rules: str | Rules | None = None, crib: bool = False
) -> npt.NDArray[np.int64]:
    """Return the points of many hands with their starters, about 50 million a second.

    Args:
        hands: card ids, int[N, 4] or int[N, 3].
        starters: card ids, int[N].
        rules: the name of a preset, or `Rules`; None is ``"hoyle"`` for hands of four and cribs,
            ``"five_card"`` for hands of three.
        crib: the hands are cribs, which have their own rule for flushes.

    Returns:
        int64[N].

    Raises:
        ValueError: arrays of other shapes or types, or a row that is not of different cards; the
            message names the first such row.
    """
    held = np.asarray(hands)
    up = np.asarray(starters)
    if held.ndim != 2 or held.shape[1] not in (3, 4) or up.shape != held.shape[:1]:
        raise ValueError(
            "hands must be of shape [N, 4] or [N, 3] and starters of shape [N], got "
            f"{list(held.shape)} and {list(up.shape)}"
        )
    if held.dtype.kind not in "iu" or up.dtype.kind not in "iu":
        raise ValueError(f"hands and starters must be whole numbers, got {held.dtype} and {up.dtype}")
    size, smallest = _sizes(rules or ("hoyle" if crib or held.shape[1] == 4 else "five_card"), crib)
    if held.shape[1] != size:
        raise ValueError(f"these rules score {size} cards and the starter, got {held.shape[1]}")
    points = np.empty(len(held), dtype=np.int64)
    cards = (kernel_array(one.astype(np.int64, copy=False)) for one in (held, up))
    fill_points(*cards, smallest, show_table(), points)
    bad = np.flatnonzero(points == ILLEGAL)
    if len(bad):
        raise ValueError(
            f"row {bad[0]} is not of different cards from 0 to 51: hand {held[bad[0]].tolist()}, starter {up[bad[0]]}"
        )
    return points


def score_histogram(rules: str | Rules = "hoyle", crib: bool = False) -> npt.NDArray[np.int64]:
    """Return how many of all hands (or cribs) with all starters score 0, 1, ... 29 points.

    Args:
        rules: the name of a preset, or `Rules`.
        crib: count under the crib's rule for flushes.

    Returns:
        int64[30]; its sum is 12,994,800 for hands of four and for cribs, 1,082,900 for hands of
        three.
    """
    size, smallest = _sizes(rules, crib)
    counts = np.zeros(HIGHEST + 1, dtype=np.int64)
    for lowest in range(DECK_SIZE):
        fill_histogram(lowest, size, smallest, show_table(), counts)
    return counts


def _sizes(rules: str | Rules, crib: bool) -> tuple[int, int]:
    """Return how many cards are held, and the smallest flush."""
    chosen = find_rules(rules, HandRules)
    return (CRIB, chosen.crib_flush_size) if crib else (chosen.kept, chosen.flush_size)


@entry(void(int64[:, ::1], int64[::1], int64, TABLE_T, int64[::1]))
def fill_points(hands, starters, flush_size, table, points):
    """Write the points of ``hands[i]`` with ``starters[i]`` into ``points[i]`` (int64[N]).

    ``hands`` is int64[N, 3 or 4]. A row that is not of different cards gets `ILLEGAL`: checked
    here because checking in NumPy takes several times as long as the counting.
    """
    held = hands.shape[1]
    for i in range(hands.shape[0]):
        starter = starters[i]
        good = 0 <= starter < 52
        seen = 1 << starter if good else 0
        key = 0
        suits = 0
        jacks = 0
        for j in range(held):
            card = hands[i, j]
            if card < 0 or card > 51 or seen >> card & 1:
                good = False
                break
            seen |= 1 << card
            key, suits, jacks = add_card(key, suits, jacks, card)
        if good:
            points[i] = with_starter(table, key, suits, jacks, held, starter, flush_size)
        else:
            points[i] = ILLEGAL


@kernel
def count_starters(table, key, suits, jacks, cards, held, flush_size, counts):
    """Add to ``counts``, by points, every starter not among the held ``cards`` (a mask)."""
    for starter in range(52):
        if cards >> starter & 1 == 0:
            points = with_starter(table, key, suits, jacks, held, starter, flush_size)
            counts[points] += 1


@entry(void(int64, int64, int64, TABLE_T, int64[::1]))
def fill_histogram(a, held, flush_size, table, counts):
    """Add every hand with lowest card ``a``, with every starter, to ``counts`` (int64[30])."""
    for b in range(a + 1, 52):
        for c in range(b + 1, 52):
            key, suits, jacks = 0, 0, 0
            for card in (a, b, c):
                key, suits, jacks = add_card(key, suits, jacks, card)
            cards = (1 << a) | (1 << b) | (1 << c)
            if held == 3:
                count_starters(table, key, suits, jacks, cards, held, flush_size, counts)
                continue
            for d in range(c + 1, 52):
                four = add_card(key, suits, jacks, d)
                count_starters(table, four[0], four[1], four[2], cards | 1 << d, held, flush_size, counts)
