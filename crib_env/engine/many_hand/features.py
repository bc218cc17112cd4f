"""Features of the games for three and four: values of each action by the rules alone.

They are written from a view; `FEATURES` says what they mean. They treat what the others hold or
discard, and the card dealt to the crib, as drawn uniformly from the unseen cards.
"""

from __future__ import annotations

import numpy as np

from crib_env.engine.counting import (
    DECK,
    IN_SUIT,
    dealt_card,
    hand_total,
    sequence_of,
    unseen_ranks,
    ways,
)
from crib_env.engine.jit import kernel
from crib_env.engine.kernels import Feature
from crib_env.engine.many_hand.counting import certain_points
from crib_env.engine.many_hand.encode import ACTIONS
from crib_env.engine.show import JACK, KEYS
from crib_env.engine.slots import DISCARD

RANKS = 13
MOST = 29  # points of a hand or a crib
PEGGED = 16  # more than any card pegs

FEATURES: dict[str, tuple[Feature, ...]] = {
    "lookahead": (
        Feature("mean_hand", 0, MOST, "discarding: the exact mean of the hand kept without this "
                "card, over every unseen starter"),
        Feature("mean_crib", -MOST, MOST, "discarding: the exact mean of the crib with this card, "
                "over every three cards that may join it and every starter, all drawn from the "
                "unseen; negative if the crib is not my side's"),
        Feature("points_now", 0, PEGGED, "pegging: what the card is sure to peg at once"),
    ),
}  # fmt: skip

MEAN_HAND = 0
MEAN_CRIB = ACTIONS
POINTS_NOW = 2 * ACTIONS


@kernel
def write_features(v, table, level, out):
    """Write the features of a view into ``out``, float32[3 * 52]."""
    out[:] = 0
    if v["to_move"] == 0:
        return
    if v["phase"] == DISCARD:
        discard_features(v, table, out)
        return
    sequence = sequence_of(v)
    for k in range(v["hand_n"]):
        if v["legal"] >> k & 1:
            out[POINTS_NOW + v["hand"][k]] = certain_points(v, k, sequence)


@kernel
def discard_features(v, table, out):
    """Write the mean hand and the mean crib for each card that may be discarded."""
    n = v["hand_n"]
    left = DECK - n
    sign = 1 if v["side_of"][v["dealer"]] == 0 else -1
    add_crib_ranks(v, table, out)
    cribs = 4 * ways(left, 4)  # every three cards and a starter
    for i in range(n):
        card = v["hand"][i]
        out[MEAN_HAND + card] = hand_total(v, table, card, card, 1) / left
        by_rank = 4.0 * out[MEAN_CRIB + card]
        out[MEAN_CRIB + card] = sign * (by_rank + suited_crib(v, card)) / cribs


@kernel
def add_crib_ranks(v, table, out):
    """Add up, for each card, the ranks' points of the crib (C2) over every four unseen cards.

    Whichever of them is the starter. The sums are whole numbers below 2**24, so float32 holds them
    exactly.
    """
    unseen = unseen_ranks(v)
    for a in range(RANKS):
        of_a = unseen >> (4 * a) & 15
        for b in range(a, RANKS):
            of_b = (unseen >> (4 * b) & 15) - (b == a)
            for c in range(b, RANKS):
                of_c = (unseen >> (4 * c) & 15) - (c == b) - (c == a)
                for d in range(c, RANKS):
                    of_d = (unseen >> (4 * d) & 15) - (d == c) - (d == b) - (d == a)
                    if min(of_a, of_b, of_c, of_d) <= 0:
                        continue
                    # In how many orders equal ranks would come.
                    same = 1 + (b == a)
                    same *= 1 + (c == b) + (c == a)
                    same *= 1 + (d == c) + (d == b) + (d == a)
                    sets = of_a * of_b * of_c * of_d // same
                    four = KEYS[a] + KEYS[b] + KEYS[c] + KEYS[d]
                    for i in range(v["hand_n"]):
                        card = v["hand"][i]
                        points = np.int64(table[four + KEYS[card >> 2]])
                        out[MEAN_CRIB + card] += sets * points


@kernel
def suited_crib(v, laid):
    """Return a crib's points of flushes and his nob, added up over three cards and the starter."""
    n = v["hand_n"]
    left = DECK - n
    total = 0
    for suit in range(4):
        of_suit = IN_SUIT
        jack = 1
        for i in range(n):
            card = dealt_card(v, i)
            of_suit -= card & 3 == suit
            jack -= card == 4 * JACK + suit
        if jack:  # another may lay it
            total += (of_suit - 1) * ways(left - 2, 2)
        elif laid == 4 * JACK + suit:
            total += of_suit * ways(left - 1, 3)
        if laid & 3 == suit:
            total += 5 * ways(of_suit, 3) * (of_suit - 3)
            if v["crib_flush_size"] <= 4:
                total += 4 * ways(of_suit, 3) * (left - of_suit)
    return total
