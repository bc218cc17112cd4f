"""The rollout policy: the value of a card in the pegging, without search or belief.

The value of playing a card is what it pegs, plus the sum of five table entries: the mean points,
mine minus the other's, that follow to the end of the pegging. Each table sees the position after
the card through a few features:

1. the count, the card, the card before it, and how many cards are left to me;
2. the count, the cards left to both, the least pip the other can hold, whether the go is pegged;
3. the cards left to me and the count;
4. the cards left to me and the card;
5. the last three cards.

`crib tables rollout_policy` fits the tables by self-play. The search plays every hypothesis to its
end with this policy, and assumes that the other seat plays by a softmax over its values.

MERGED:

"""

from __future__ import annotations

import math

from crib_agents.data.tables import RANKS
from crib_agents.knowledge.two_hand.pegging import DISTINCT, FIRST, LISTED, MOST
from crib_env.engine.hands.counting import sequence_points
from crib_env.engine.jit import kernel
from crib_env.engine.record import NONE

SEEN = RANKS + 1  # a rank in the sequence, or none
COUNTS = 32
LEAST = 11  # least pips: 1 to 10
LEFT = int(FIRST[MOST])  # holdings of up to three cards, what is left after one is played

TEMPERATURE = 0.5  # of that softmax, in points
UNLIKELY = -5.0  # a card this many temperatures below the best is not expected at all
OUT = 1000.0  # more than any sum of points: a card that wins the game is played

TABLES = 5
SEQUENCE = 0
CARDS = SEQUENCE + MOST * COUNTS * RANKS * SEEN
REST = CARDS + MOST * (MOST + 1) * LEAST * COUNTS * 2
TRAP = REST + LEFT * COUNTS
LAST_THREE = TRAP + LEFT * RANKS
SIZE = LAST_THREE + RANKS * SEEN * SEEN


@kernel
def earlier(sequence, n, i):
    """Return the rank ``i`` cards before the newest of a sequence of ``n``, or RANKS for none."""
    return sequence >> (4 * i) & 15 if n > i else RANKS


@kernel
def sequence_at(sequence, n, count, left):
    """Return where table 1 holds the position after the newest card; ``left``: cards to me."""
    place = (left * COUNTS + count) * RANKS + (sequence & 15)
    return SEQUENCE + place * SEEN + earlier(sequence, n, 1)


@kernel
def cards_at(count, go, left, others, least):
    """Return where table 2 does; ``others``: cards left to the other seat, ``least`` their pip."""
    place = ((left * (MOST + 1) + others) * LEAST + least) * COUNTS + count
    return CARDS + 2 * place + go


@kernel
def rest_at(count, rest):
    """Return where table 3 does; ``rest``: the holding left to me."""
    return REST + rest * COUNTS + count


@kernel
def trap_at(r, rest):
    """Return where table 4 does; ``r``: the rank played."""
    return TRAP + rest * RANKS + r


@kernel
def last_three_at(sequence, n):
    """Return where table 5 does."""
    place = (sequence & 15) * SEEN + earlier(sequence, n, 1)
    return LAST_THREE + place * SEEN + earlier(sequence, n, 2)


@kernel
def shared_value(p, seat, r, weights, base):
    """Return the part of the value of a seat's rank ``r`` that is the same whatever else it holds.

    That is what the card pegs and what tables 1, 2 and 5 say; `OUT` more if it wins the game.
    """
    sequence = p["sequence"] << 4 | r
    n = p["n"] + 1
    count = p["count"] + min(r + 1, 10)
    left = p["left"][seat] - 1
    other = 1 - seat
    points = sequence_points(sequence, n, count, p["go"])
    value = float(points)
    if points >= p["needs"][seat]:
        value += OUT
    value += weights[base + sequence_at(sequence, n, count, left)]
    value += weights[base + cards_at(count, p["go"], left, p["left"][other], p["least"][other])]
    return value + weights[base + last_three_at(sequence, n)]


@kernel
def hand_value(p, r, rest, weights, base):
    """Return the part that depends on the holding left to the seat, ``rest``: tables 3 and 4."""
    count = p["count"] + min(r + 1, 10)
    return weights[base + rest_at(count, rest)] + weights[base + trap_at(r, rest)]


@kernel
def write_places(p, seat, rest, places):
    """Write which entry of each table the seat's newest card is valued by, TABLES of them."""
    left = p["left"][seat]
    other = 1 - seat
    places[0] = sequence_at(p["sequence"], p["n"], p["count"], left)
    places[1] = cards_at(p["count"], p["go"], left, p["left"][other], p["least"][other])
    places[2] = rest_at(p["count"], rest)
    places[3] = trap_at(p["sequence"] & 15, rest)
    places[4] = last_three_at(p["sequence"], p["n"])


@kernel
def best_rank(p, seat, held, hands, weights, base):
    """Return the rank of the highest value among those the seat holds and may play."""
    listed = hands[held, LISTED]
    n = hands[held, DISTINCT]
    if n == 1:
        return listed
    room = 31 - p["count"]
    best = NONE
    most = 0.0
    for k in range(n):
        r = listed >> (4 * k) & 15
        if min(r + 1, 10) <= room:
            value = shared_value(p, seat, r, weights, base)
            value += hand_value(p, r, hands[held, r], weights, base)
            if best == NONE or value > most:
                best = r
                most = value
    return best


@kernel
def all_shared_values(p, seat, weights, base, shared):
    """Write `shared_value` of every rank that fits the count into ``shared``, float64[RANKS]."""
    room = 31 - p["count"]
    for r in range(RANKS):
        if min(r + 1, 10) <= room:
            shared[r] = shared_value(p, seat, r, weights, base)


@kernel
def softmax(p, held, hands, weights, base, shared, chance):
    """Write how likely a seat is taken to play each rank it holds: a softmax over their values.

    Shapes: shared float64[RANKS]; chance float64[MOST].
    """
    room = 31 - p["count"]
    listed = hands[held, LISTED]
    n = hands[held, DISTINCT]
    top = -OUT
    for k in range(n):
        r = listed >> (4 * k) & 15
        chance[k] = -2.0 * OUT
        if min(r + 1, 10) <= room:
            chance[k] = shared[r] + hand_value(p, r, hands[held, r], weights, base)
            top = max(top, chance[k])
    total = 0.0
    for k in range(n):
        below = (chance[k] - top) / TEMPERATURE
        chance[k] = math.exp(below) if below > UNLIKELY else 0.0
        total += chance[k]
    for k in range(n):
        chance[k] /= total
