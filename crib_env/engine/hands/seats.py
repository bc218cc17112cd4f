"""The other seats' possible cards and points, from the view of a game for three or four.

A seat is taken to hold any unseen card but those that it could not play, or would have pegged with.
"""

from __future__ import annotations

from crib_env.engine.hands.counting import sequence_points
from crib_env.engine.jit import kernel
from crib_env.engine.ranks import RANKS, pips
from crib_env.engine.show import pip

LACKING = 16  # where what seats lack begins in `known_of`, behind four bits a seat


@kernel
def least_pips(v):
    """Return the least pip value each seat's cards can have, four bits a seat, by its passes (M7).

    A seat could not play where the turn went past it, and no seat could where a count below 31
    ended; with ``second_go_ends`` some could.
    """
    least = 0x1111
    count = 0
    players = v["players"]
    before = 0
    for i in range(v["pile_n"] + 1):
        here = i == v["pile_n"]
        who = 0 if here else v["pile_seats"] >> 2 * i & 3
        card = 0 if here else pip(v["pile"][i])
        ended = v["count"] == 0 if here else count == 31 or count + card > 31
        if count > 21 and count < 31 and not (ended and v["second_go_ends"]):
            seat = before
            for _ in range(players):
                seat = seat + 1 if seat + 1 < players else 0
                if seat == who and not ended:
                    break
                known = least >> 4 * seat & 15
                least += max(0, 32 - count - known) << 4 * seat
        count = card if ended else count + card
        before = who
    return least


@kernel
def lacking(v):
    """Return the ranks each other seat lacks by its passes, from bit ``13 * (seat - 1)`` on.

    A seat that pegged nothing with its card had none for a pair or a fifteen.
    """
    lacks = 0
    sequence = 0
    n = 0
    count = 0
    for i in range(v["pile_n"]):
        rank = v["pile"][i] >> 2
        card = pip(v["pile"][i])
        if count == 31 or count + card > 31 or i == v["pile_from"]:
            sequence = 0
            n = 0
            count = 0
        seat = v["pile_seats"] >> 2 * i & 3
        before = sequence & 15
        left = 15 - count
        sequence = sequence << 4 | rank
        n += 1
        count += card
        if seat and n > 1 and sequence_points(sequence, n, count, 0) == 0:
            at = RANKS * (seat - 1)
            if count - card + pips(before) <= 31:
                lacks |= 1 << at + before
            if left > 0 and left < 10:
                lacks |= 1 << at + left - 1
            elif left == 10:
                lacks |= 15 << at + 9
    return lacks


@kernel
def known_of(v):
    """Return the knowledge of the others' cards: `least_pips` in 16 bits, then `lacking`."""
    return lacking(v) << LACKING | least_pips(v)


@kernel
def share_of(unseen, r, known, seat):
    """Return the unseen cards of rank ``r`` that a seat may hold."""
    may = pips(r) >= known >> 4 * seat & 15
    may &= 1 - (known >> LACKING + RANKS * (seat - 1) + r & 1)
    return unseen >> (4 * r) & 15 if may else 0


@kernel
def cards_of(unseen, known, seat):
    """Return how many unseen cards a seat may hold, at least 1."""
    total = 0
    for r in range(RANKS):
        total += share_of(unseen, r, known, seat)
    return max(1, total)


@kernel
def no_fit(v, seat, count, unseen, known):
    """Return how likely a seat has no card that fits."""
    fits = 0.0
    for r in range(min(RANKS, 31 - count) if count > 21 else RANKS):
        fits += share_of(unseen, r, known, seat)
    return max(0.0, 1.0 - fits / cards_of(unseen, known, seat)) ** v["held_n"][seat]


@kernel
def able(v, seat):
    """Return the first seat from ``seat`` to the left that may still play in this count, or 0."""
    while seat < v["players"] and (v["held_n"][seat] == 0 or v["passed"] >> seat & 1):
        seat += 1
    return seat if seat < v["players"] else 0


@kernel
def reply(v, seat, sequence, n, count, unseen, known):
    """Return the likely points of a seat's next card on a sequence."""
    cards = cards_of(unseen, known, seat)
    held = v["held_n"][seat]
    scoring = 0.0
    points = 0.0
    for r in range(RANKS):
        total = count + pips(r)
        if total > 31:
            break
        made = sequence_points(sequence << 4 | r, n + 1, total, 0)
        if made > 0:
            chance = min(1.0, held * share_of(unseen, r, known, seat) / cards)
            scoring += chance
            points += chance * made
    return points / max(1.0, scoring)
