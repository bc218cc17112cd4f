"""Compiled entries that count hands given outright: many at once, and all there are."""

from __future__ import annotations

from numba import int64, void

from crib_env.engine.jit import entry, kernel
from crib_env.engine.record import TABLE_T
from crib_env.engine.show import FOUR, JACK, KEYS, score_flush_and_nob

ILLEGAL = -1
HIGHEST = 29


@kernel
def with_starter(table, key, suits, jacks, held, starter, flush_size):
    """Return the points of held cards with the starter.

    Args:
        key: the sum of the held cards' keys.
        suits: the number of held cards of each suit, packed in bytes.
        jacks: the suits of the held jacks, one bit each.
        held: how many cards are held, 3 or 4.
    """
    at = key + KEYS[starter >> 2] + (FOUR if held == 3 else 0)
    nob = jacks >> (starter & 3) & 1
    return table[at] + score_flush_and_nob(suits, held, starter, flush_size, nob)


@entry(void(int64[:, ::1], int64[::1], int64, TABLE_T, int64[::1]))
def score_hands(hands, starters, flush_size, table, points):
    """Write the points of ``hands[i]`` with ``starters[i]`` into ``points[i]`` (int64[N]).

    ``hands`` is int64[N, 3 or 4]. A row that is not of different cards gets `ILLEGAL`: checked
    here because checking in NumPy takes several times what the counting does.
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
            key += KEYS[card >> 2]
            suits += 1 << (8 * (card & 3))
            if card >> 2 == JACK:
                jacks |= 1 << (card & 3)
        if good:
            points[i] = with_starter(table, key, suits, jacks, held, starter, flush_size)
        else:
            points[i] = ILLEGAL


@kernel
def count_starters(table, key, suits, jacks, cards, held, flush_size, counts):
    """Count every starter that the held ``cards`` (a mask) leave."""
    for starter in range(52):
        if cards >> starter & 1 == 0:
            points = with_starter(table, key, suits, jacks, held, starter, flush_size)
            counts[points] += 1


@entry(void(int64, int64, TABLE_T, int64[::1]))
def histogram(held, flush_size, table, counts):
    """Count the points of every hand of ``held`` cards, 3 or 4, with every starter.

    ``counts`` (int64[30]) is added to.
    """
    for a in range(52):
        for b in range(a + 1, 52):
            for c in range(b + 1, 52):
                key = KEYS[a >> 2] + KEYS[b >> 2] + KEYS[c >> 2]
                suits = (1 << (8 * (a & 3))) + (1 << (8 * (b & 3))) + (1 << (8 * (c & 3)))
                cards = (1 << a) | (1 << b) | (1 << c)
                jacks = 0
                for card in (a, b, c):
                    if card >> 2 == JACK:
                        jacks |= 1 << (card & 3)
                if held == 3:
                    count_starters(table, key, suits, jacks, cards, held, flush_size, counts)
                    continue
                for d in range(c + 1, 52):
                    more = jacks | (1 << (d & 3)) if d >> 2 == JACK else jacks
                    count_starters(
                        table, key + KEYS[d >> 2], suits + (1 << (8 * (d & 3))), more,
                        cards | (1 << d), held, flush_size, counts,
                    )  # fmt: skip
