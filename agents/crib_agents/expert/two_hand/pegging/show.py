"""The expected show: what a seat that is pegging knows of the counts that follow.

The seat can count its own hand. For the other hand it has hypotheses of the ranks, and the
probability that such ranks make a flush or hold his nob: players keep hands of one suit more often
than they are dealt. For the crib it knows its own pair, the starter, and the discard rates of the
other seat's role.
"""

from __future__ import annotations

from crib_agents.data.tables import RANKS
from crib_agents.expert.two_hand.discard.crib import DECK, SUITS, shift
from crib_agents.kernels.discard import cell
from crib_agents.knowledge.two_hand.measured import COUNT_SIZE
from crib_agents.knowledge.two_hand.pegging import COUNTED, KEY
from crib_env.engine.hands.counting import unseen_ranks
from crib_env.engine.hands.records import PEGGING_ONLY
from crib_env.engine.jit import kernel
from crib_env.engine.show import FOUR, JACK, KEYS, score_flush_and_nob

EVERY_SUIT = (1 << SUITS) - 1


@kernel
def count_own(v, table):
    """Return what this seat's hand counts, the cards it has played included (H8, F6)."""
    starter = v["starter"]
    key = KEYS[starter >> 2]
    suits = 0
    nob = 0
    held = v["dealt"] - 2
    for i in range(v["hand_n"] + v["pile_n"]):
        if i < v["hand_n"]:
            card = v["hand"][i]
        elif v["pile_seats"] >> 2 * (i - v["hand_n"]) & 1 == 0:
            card = v["pile"][i - v["hand_n"]]
        else:
            continue
        key += KEYS[card >> 2]
        suits += 1 << (8 * (card & 3))
        nob |= card == 4 * JACK + (starter & 3)
    if held == 3:
        key += FOUR
    return table[key] + score_flush_and_nob(suits, held, starter, v["flush_size"], nob)


@kernel
def unseen_cards(v):
    """Return the cards that a seat has not seen in the pegging, as a 52-bit mask."""
    unseen = (1 << DECK) - 1 - (1 << v["starter"])
    for i in range(v["hand_n"]):
        unseen -= 1 << v["hand"][i]
    for i in range(v["discarded_n"]):
        unseen -= 1 << v["discarded"][i]
    for i in range(v["pile_n"]):
        unseen -= 1 << v["pile"][i]
    return unseen


@kernel
def in_one_suit(counted, suits, unseen, ranks):
    """Return the chance that cards drawn for the ranks held are all of one of the suits."""
    total = 0.0
    for suit in range(SUITS):
        if suits >> suit & 1:
            chance = 1.0
            for r in range(RANKS):
                n = counted >> (4 * r) & 15
                if n > 0:
                    there = unseen >> (4 * r + suit) & 1
                    chance = chance * there / (ranks >> (4 * r) & 15) if n == 1 else 0.0
            total += chance
    return total


@kernel
def count_others(v, n, s, hands, suited, table):
    """Write what the other seat's hand counts under each of ``n`` hypotheses.

    By its ranks, and separately the probabilities of a flush and of his nob.
    """
    starter = v["starter"]
    his_nob = 4 * JACK + (starter & 3)
    key = KEYS[starter >> 2] + (FOUR if v["dealt"] - 2 == 3 else 0)
    # Where only the starter can complete a flush, it is of the starter's suit.
    suits = EVERY_SUIT if v["flush_size"] <= v["dealt"] - 2 else 1 << (starter & 3)
    shown = 0
    for i in range(v["pile_n"]):
        if v["pile_seats"] >> 2 * i & 1:
            card = v["pile"][i]
            key += KEYS[card >> 2]
            suits &= 1 << (card & 3)
            shown |= card == his_nob
    unseen = unseen_cards(v)
    ranks = unseen_ranks(v)
    jacks = ranks >> (4 * JACK) & 15
    for j in range(n):
        held = s["held"][j]
        counted = hands[held, COUNTED]
        s["counts"][j] = table[key + hands[held, KEY]] + shown
        one_suit = in_one_suit(counted, suits, unseen, ranks)
        s["flush"][j] = suited * one_suit / (1.0 - one_suit + suited * one_suit)
        s["nob"][j] = 0.0
        if unseen >> his_nob & 1:
            s["nob"][j] = (counted >> (4 * JACK) & 15) / jacks


@kernel
def fill_crib(v, s, model, table):
    """Write the probabilities of the crib's points into ``s["crib"]``: exact under those rates.

    What such cribs were measured to make beyond that is added; see `crib`.
    """
    crib = s["crib"]
    starter = v["starter"]
    his_nob = 4 * JACK + (starter & 3)
    low = min(v["discarded"][0], v["discarded"][1])
    high = max(v["discarded"][0], v["discarded"][1])
    key = KEYS[starter >> 2] + KEYS[low >> 2] + KEYS[high >> 2]
    suits = (1 << (8 * (low & 3))) + (1 << (8 * (high & 3)))
    mine = low == his_nob or high == his_nob
    discard_rate = model["discard_rate"][v["dealer"]]
    unseen = unseen_cards(v)
    total = 0.0
    for x in range(DECK):
        if unseen >> x & 1 == 0:
            continue
        for y in range(x + 1, DECK):
            if unseen >> y & 1:
                likely = discard_rate[cell(x, y)]
                all_suits = suits + (1 << (8 * (x & 3))) + (1 << (8 * (y & 3)))
                nob = 1 if mine or x == his_nob or y == his_nob else 0
                points = table[key + KEYS[x >> 2] + KEYS[y >> 2]] + score_flush_and_nob(
                    all_suits, 4, starter, v["crib_flush_size"], nob
                )
                crib[points] += likely
                total += likely
    for points in range(COUNT_SIZE):
        crib[points] /= total
    shift(crib, model["excess"][1 - v["dealer"], cell(low, high)])


@kernel
def look_ahead(v, n, s, hands, model, suited, table):
    """Write what the counts will bring: nothing where only the pegging is played."""
    crib = s["crib"]
    for points in range(COUNT_SIZE):
        crib[points] = 0.0
    s["flush_points"] = v["flush_size"]
    if v["episode"] == PEGGING_ONLY:
        s["count"] = 0
        for j in range(n):
            s["counts"][j] = 0
            s["flush"][j] = 0.0
            s["nob"][j] = 0.0
        crib[0] = 1.0
        return
    s["count"] = count_own(v, table)
    count_others(v, n, s, hands, suited, table)
    fill_crib(v, s, model, table)
