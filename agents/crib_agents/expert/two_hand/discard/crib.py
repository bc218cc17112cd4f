"""The mean crib of a pair, given what the other seat is likely to discard.

The other seat's discard rates are a table of `MODEL`: how often its role discards a pair of given
ranks, of one suit or of two, when it could. Over the pairs still possible once this seat has seen
its own cards, these weights are the probabilities. The mean is exact under these rates, his nob
and flushes included; in the distribution these two are independent of the ranks.

The rates alone are not enough: if this seat holds the sevens, the other's eights and nines make no
runs and are discarded more often. So the difference from measured cribs is added for each pair.
"""

from __future__ import annotations

from crib_agents.data.tables import RANKS
from crib_agents.kernels.discard import cell
from crib_agents.knowledge.two_hand.measured import COUNT_SIZE
from crib_env.engine.jit import kernel
from crib_env.engine.show import JACK, KEYS

DECK = 52
SUITS = 4
FLUSH = 5  # all of a crib and the starter


@kernel
def weigh_pairs(discard_rate, m, s):
    """Weigh every pair the other seat may lay, for all of this seat's pairs at once.

    Fills, as probabilities times the number of starters then left, ``s["ranks"][r, t]`` of its
    ranks r <= t; and as probabilities ``s["starter"][suit]`` of the starter's suit,
    ``s["both"][suit]`` of a pair in one suit, ``s["flush"][suit]`` of that and a starter in it too,
    ``s["nob"]`` of its laying the starter's jack.

    Shapes: discard_rate float64[169].
    """
    n = 0
    for card in range(DECK):
        if m >> card & 1:
            s["unseen"][n] = card
            n += 1
    for r in range(RANKS):
        for t in range(RANKS):
            s["ranks"][r, t] = 0.0
    for suit in range(SUITS):
        s["starter"][suit] = 0.0
        s["both"][suit] = 0.0
        s["in_suit"][suit] = 0
    for i in range(n):
        s["in_suit"][s["unseen"][i] & 3] += 1
    total = 0.0
    nob = 0.0
    for i in range(n):
        x = s["unseen"][i]
        for j in range(i + 1, n):
            y = s["unseen"][j]
            w = discard_rate[cell(x, y)]
            total += w
            s["ranks"][x >> 2, y >> 2] += w
            s["starter"][x & 3] += w  # the cards of the suit that are gone, for now
            s["starter"][y & 3] += w
            alike = 1 if x & 3 == y & 3 else 0
            if alike:
                s["both"][x & 3] += w
            if x >> 2 == JACK:
                nob += w * (s["in_suit"][x & 3] - 1 - alike)
            if y >> 2 == JACK:
                nob += w * (s["in_suit"][y & 3] - 1 - alike)
    starters = n - 2
    s["nob"] = nob / (total * starters)
    for suit in range(SUITS):
        of_suit = s["in_suit"][suit]
        s["starter"][suit] = (of_suit - s["starter"][suit] / total) / starters
        s["both"][suit] /= total
        s["flush"][suit] = s["both"][suit] * (of_suit - 2) / starters
    for r in range(RANKS):
        for t in range(r, RANKS):
            s["ranks"][r, t] /= total * starters


@kernel
def fill_crib(table, s, unseen, low, high, smallest, crib):
    """Fill ``crib`` (float64[30]) with the probabilities of its points for a discarded pair."""
    for points in range(COUNT_SIZE):
        crib[points] = 0.0
    pair = KEYS[low >> 2] + KEYS[high >> 2]
    for r in range(RANKS):
        for t in range(r, RANKS):
            chance = s["ranks"][r, t]
            if chance == 0.0:
                continue
            key = pair + KEYS[r] + KEYS[t]
            left = unseen - (1 << (4 * r)) - (1 << (4 * t))
            for k in range(RANKS):
                crib[table[key + KEYS[k]]] += chance * (left >> (4 * k) & 15)
    nob = s["nob"]
    if low >> 2 == JACK:
        nob += s["starter"][low & 3]
    if high >> 2 == JACK:
        nob += s["starter"][high & 3]
    add(crib, 1, nob)
    if low & 3 == high & 3:
        flush = s["flush"][low & 3]
        add(crib, FLUSH, flush)
        if smallest < FLUSH:
            add(crib, FLUSH - 1, s["both"][low & 3] - flush)


@kernel
def add(count, points, chance):
    """Add ``points`` to a count's probabilities (float64[30]), with an independent probability."""
    for i in range(COUNT_SIZE - 1 - points, -1, -1):
        moved = chance * count[i]
        count[i] -= moved
        count[i + points] += moved


@kernel
def shift(count, by):
    """Raise the mean of a count (its probabilities, float64[30]) by ``by`` points, -1 to 1."""
    if by >= 0.0:
        add(count, 1, by)
        return
    for i in range(1, COUNT_SIZE):
        moved = -by * count[i]
        count[i] -= moved
        count[i - 1] += moved


@kernel
def mean(count):
    """Return the mean of a count given by its probabilities, float64[30]."""
    total = 0.0
    for points in range(COUNT_SIZE):
        total += points * count[points]
    return total
