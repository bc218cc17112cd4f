"""Kernels that read a view: the cards dealt and unseen, the sequence of play, what a card pegs.

A sequence of play is the cards of the present count as ranks, four bits each, the newest lowest: it
holds the eight cards of a deal in an int64, and the next card is one shift away.
"""

from __future__ import annotations

from crib_env.engine.jit import kernel
from crib_env.engine.record import NONE
from crib_env.engine.show import pip

ALL_RANKS = 0x4444444444444  # four of each rank, four bits a rank


@kernel
def dealt_card(v, i):
    """Return the i-th of the cards the seat was dealt and may still lay away: held, then laid."""
    return v["hand"][i] if i < v["hand_n"] else v["laid"][i - v["hand_n"]]


@kernel
def unseen_ranks(v):
    """Return how many cards of each rank the seat has not seen, four bits a rank."""
    unseen = ALL_RANKS
    for i in range(v["hand_n"]):
        unseen -= 1 << ((v["hand"][i] >> 2) << 2)
    for i in range(v["laid_n"]):
        unseen -= 1 << ((v["laid"][i] >> 2) << 2)
    for i in range(v["pile_n"]):
        unseen -= 1 << ((v["pile"][i] >> 2) << 2)
    if v["starter"] != NONE:
        unseen -= 1 << ((v["starter"] >> 2) << 2)
    return unseen


@kernel
def sequence_of(v):
    """Return the sequence of play of the present count."""
    sequence = 0
    for i in range(v["pile_from"], v["pile_n"]):
        sequence = sequence << 4 | v["pile"][i] >> 2
    return sequence


@kernel
def sequence_points(sequence, n, count, go):
    """Return what the newest card of a sequence pegs by itself (H4, H6, F5).

    Args:
        sequence: the sequence of play with that card.
        n: its cards.
        count: the count they make.
        go: 1 if this count's go point has been pegged, so that 31 is worth one point only.
    """
    points = 0
    if count == 15:
        points = 2
    elif count == 31:
        points = 2 - go
    newest = sequence & 15
    alike = 1
    while alike < n and sequence >> (4 * alike) & 15 == newest:
        alike += 1
    if alike > 1:  # a pair ends the sequence, so no run does
        return points + alike * (alike - 1)
    low = newest
    high = newest
    seen = 1 << newest
    longest = 0
    for i in range(1, n):
        r = sequence >> (4 * i) & 15
        if seen >> r & 1:
            break
        seen |= 1 << r
        low = min(low, r)
        high = max(high, r)
        if i > 1 and high - low == i:
            longest = i + 1
    return points + longest


@kernel
def alone(v):
    """Return 1 if the other seat plays no more in this count, else 0.

    It has no cards, or could not play after this seat's last one.
    """
    n = v["pile_n"]
    if v["other_n"] == 0 or (n > v["pile_from"] and v["pile_mine"] >> (n - 1) & 1):
        return 1
    return 0


@kernel
def certain_points(v, k, sequence):
    """Return what the held card ``hand[k]`` is sure to peg if it is played now.

    That is what the card makes, and the point for a go or for last where the view proves it: the
    other seat has no cards left (H5, H7, F5).
    """
    card = v["hand"][k]
    count = v["count"] + pip(card)
    n = v["pile_n"] - v["pile_from"] + 1
    points = sequence_points(sequence << 4 | card >> 2, n, count, v["go"])
    if count < 31 and v["go"] == 0 and alone(v):
        # One count: the point comes with the last card that fits. Else the go is pegged now.
        last = 1
        if v["single_count"]:
            for i in range(v["hand_n"]):
                if i != k and count + pip(v["hand"][i]) <= 31:
                    last = 0
        points += last
    return points
