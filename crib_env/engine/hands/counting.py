"""Kernels that read the view of a hand: cards dealt and unseen, the sequence of play, its points.

A sequence of play is the cards of the present count as ranks, four bits each, the newest lowest: it
holds the at most thirteen cards of a count in an int64, and the next card is one shift away.
"""

from __future__ import annotations

from crib_env.engine.jit import kernel
from crib_env.engine.ranks import DECK, RANKS, pips
from crib_env.engine.record import NONE
from crib_env.engine.show import FOUR, JACK, KEYS, add_card, pip, with_starter

IN_SUIT = 13
ALL_RANKS = 0x4444444444444  # four of each rank, four bits a rank


@kernel
def ways(n, k):
    """Return the number of ways to choose ``k`` (0 to 4) of ``n``."""
    if k == 0:
        return 1
    if k == 1:
        return n
    if k == 2:
        return n * (n - 1) // 2
    three = n * (n - 1) * (n - 2) // 6
    return three if k == 3 else three * (n - 3) // 4


@kernel
def dealt_card(v, i):
    """Return the i-th card dealt to a seat that discards: first those held, then the discards."""
    return v["hand"][i] if i < v["hand_n"] else v["discarded"][i - v["hand_n"]]


@kernel
def unseen_ranks(v):
    """Return how many cards of each rank the seat has not seen, four bits a rank."""
    unseen = ALL_RANKS
    for i in range(v["hand_n"]):
        unseen -= 1 << ((v["hand"][i] >> 2) << 2)
    for i in range(v["discarded_n"]):
        unseen -= 1 << ((v["discarded"][i] >> 2) << 2)
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
    """Return the points of a sequence's newest card, without the point for a go (H4, H6, F5)."""
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
def starters_total(v, table, low, high):
    """Return the points of the hand, added up over every starter the seat has not seen.

    Exact, with flushes and nobs (C2, C4, H8, F6). ``low`` and ``high`` are the discards, equal if
    the seat discards one card.
    """
    n = v["hand_n"] + v["discarded_n"]
    key = 0
    size = 0
    suits = 0  # of all the cards dealt, packed in bytes
    hand_suits = 0
    jacks = 0
    for i in range(n):
        card = dealt_card(v, i)
        suits += 1 << (8 * (card & 3))
        if card != low and card != high:
            key += KEYS[card >> 2]
            size += 1
            hand_suits += 1 << (8 * (card & 3))
            if card >> 2 == JACK:
                jacks |= 1 << (card & 3)
    if size == 3:
        key += FOUR  # three cards and the starter are a set of four
    unseen = unseen_ranks(v)
    total = 0
    for r in range(13):
        total += (unseen >> (4 * r) & 15) * table[key + KEYS[r]]
    for suit in range(4):
        of_suit = IN_SUIT - (suits >> (8 * suit) & 255)
        if jacks >> suit & 1:
            total += of_suit
        if hand_suits >> (8 * suit) & 255 == size:
            if size + 1 >= v["flush_size"]:
                total += (size + 1) * of_suit
            if size >= v["flush_size"]:
                total += size * (DECK - n - of_suit)
    return total


@kernel
def count_hand(v, table, low, high, each, counts):
    """Write ``counts``, float64[30]: by points, ``each`` times the unseen starters that make them.

    The seat discards ``low`` and ``high``. Flushes and nobs are included (C2, C4, H8, F6).
    """
    key, suits, jacks, seen = 0, 0, 0, 0
    dealt = v["hand_n"] + v["discarded_n"]
    for i in range(dealt):
        card = dealt_card(v, i)
        seen |= 1 << card
        if card != low and card != high:
            key, suits, jacks = add_card(key, suits, jacks, card)
    for points in range(counts.shape[0]):
        counts[points] = 0.0
    for card in range(DECK):
        if not seen >> card & 1:
            points = with_starter(table, key, suits, jacks, dealt - 2, card, v["flush_size"])
            counts[points] += each


@kernel
def alone(v):
    """Return 1 if no other seat plays any more in this count, else 0 (H5, M7)."""
    for i in range(1, v["held_n"].shape[0]):
        if v["held_n"][i] and not v["passed"] >> i & 1:
            return 0
    return 1


@kernel
def certain_points(v, k, sequence):
    """Return the points that the held card ``hand[k]`` is certain to peg if it is played now.

    These are the card's points, and the point for a go or the last card where the view proves it:
    no other seat plays any more in this count (H5, H7). Where this point comes with the last card
    that fits, no other card of this seat may fit either (F5, M7).
    """
    card = v["hand"][k]
    count = v["count"] + pip(card)
    n = v["pile_n"] - v["pile_from"] + 1
    points = sequence_points(sequence << 4 | card >> 2, n, count, v["go"])
    if count < 31 and v["go"] == 0 and alone(v):
        last = 1
        if v["single_count"] or v["held_n"].shape[0] > 2:
            for i in range(v["hand_n"]):
                if i != k and count + pip(v["hand"][i]) <= 31:
                    last = 0
        points += last
    return points


@kernel
def least_pip(v):
    """Return the least pip value of the other's cards, given its passes, in a game for two.

    It could not play where this seat played twice running, nor at the end of a count.
    """
    least = 1
    count = 0
    for i in range(v["pile_n"]):
        card = pip(v["pile"][i])
        ended = count == 31 or count + card > 31
        mine = v["pile_seats"] >> 2 * i & 3 == 0
        twice = i > 0 and mine and v["pile_seats"] >> 2 * (i - 1) & 3 == 0
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


# --- the other seats' possible cards and points, with three and four -----------------------------
# A seat may hold any unseen card, except those that its passes rule out or that it would have
# pegged with.


LACKING = 16  # the first bit of `lacking` in `known_of`, behind four bits a seat


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
    """Return the ranks each other seat lacks by its plays, from bit ``13 * (seat - 1)`` on.

    A seat that pegged nothing with its card is taken to lack the ranks of a pair and a fifteen.
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
    """Return how many unseen cards of rank ``r`` a seat may hold."""
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
    """Return the estimated probability that a seat has no card that fits."""
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
    """Return the estimated points of a seat's next card on a sequence."""
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
