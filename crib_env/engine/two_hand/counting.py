"""Kernels that read a view: what a card pegs for sure, and what may answer it.

What any hand's view is read by is in `crib_env.engine.counting`.
"""

from __future__ import annotations

from crib_env.engine.counting import ALL_RANKS as ALL_RANKS
from crib_env.engine.counting import DECK as DECK
from crib_env.engine.counting import IN_SUIT as IN_SUIT
from crib_env.engine.counting import dealt_card as dealt_card
from crib_env.engine.counting import hand_total
from crib_env.engine.counting import sequence_of as sequence_of
from crib_env.engine.counting import sequence_points as sequence_points
from crib_env.engine.counting import unseen_ranks as unseen_ranks
from crib_env.engine.jit import kernel
from crib_env.engine.show import pip


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


@kernel
def least_pip(v):
    """Return the least pip value the other seat's cards can have, by what it could not play.

    It could not play where this seat played twice running, nor at the end of a count.
    """
    least = 1
    count = 0
    for i in range(v["pile_n"]):
        card = pip(v["pile"][i])
        ended = count == 31 or count + card > 31
        twice = i > 0 and v["pile_mine"] >> (i - 1) & v["pile_mine"] >> i & 1
        if ended or (twice and count > 0):
            least = max(least, 32 - count)
        count = card if ended else count + card
    return least


@kernel
def best_answer(v, k, sequence, n, count, go):
    """Return the most this seat could peg next without the card ``hand[k]`` it plays now."""
    most = 0
    for i in range(v["hand_n"]):
        card = v["hand"][i]
        total = count + pip(card)
        if i != k and total <= 31:
            most = max(most, sequence_points(sequence << 4 | card >> 2, n + 1, total, go))
    return most


@kernel
def starters_total(v, table, low, high):
    """Return the points of the hand, added up over every starter the seat has not seen."""
    return hand_total(v, table, low, high, 1)
