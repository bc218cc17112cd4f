"""What the counts after the play will bring, as far as a seat knows while the play goes on.

Its own hand it can count. Of the other seat's it supposes the ranks, and leaves flushes and his nob
aside; of the crib it knows its own pair and the starter, and how often the other seat's role lays a
card of each rank.
"""

from __future__ import annotations

from agents.counting import unseen_ranks
from agents.expert.holdings import KEY, RANKS
from agents.expert.outcomes import COUNT_SIZE
from crib_env.engine.jit import kernel
from crib_env.engine.records import PLAY_ONLY
from crib_env.engine.show import FOUR, JACK, KEYS, score_flush_and_nob


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
        elif v["pile_mine"] >> (i - v["hand_n"]) & 1:
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
def count_others(v, n, s, hands, table):
    """Write what the other seat's hand counts under each of ``n`` hypotheses, by its ranks."""
    key = KEYS[v["starter"] >> 2] + (FOUR if v["dealt"] == 5 else 0)
    for i in range(v["pile_n"]):
        if v["pile_mine"] >> i & 1 == 0:
            key += KEYS[v["pile"][i] >> 2]
    held = s["held"]
    counts = s["counts"]
    for j in range(n):
        counts[j] = table[key + hands[held[j], KEY]]


@kernel
def fill_crib(v, s, laid, table):
    """Write the chances of the crib's points into ``s["crib"]``, by the ranks of its cards.

    Args:
        laid: float64[RANKS], how often the other's role lays a card it was dealt away, by rank.
    """
    crib = s["crib"]
    key = KEYS[v["starter"] >> 2] + KEYS[v["laid"][0] >> 2] + KEYS[v["laid"][1] >> 2]
    unseen = unseen_ranks(v)
    total = 0.0
    for r in range(RANKS):
        for t in range(r + 1):
            left = unseen >> (4 * r) & 15
            ways = left * (unseen >> (4 * t) & 15) if t < r else left * (left - 1) // 2
            if ways > 0:
                likely = ways * laid[r] * laid[t]
                crib[table[key + KEYS[r] + KEYS[t]]] += likely
                total += likely
    for points in range(COUNT_SIZE):
        crib[points] /= total


@kernel
def look_ahead(v, n, s, hands, laid, table):
    """Write what the counts will bring: nothing where the play is all there is."""
    crib = s["crib"]
    for points in range(COUNT_SIZE):
        crib[points] = 0.0
    if v["episode"] == PLAY_ONLY:
        s["count"] = 0
        for j in range(n):
            s["counts"][j] = 0
        crib[0] = 1.0
        return
    s["count"] = count_own(v, table)
    count_others(v, n, s, hands, table)
    fill_crib(v, s, laid, table)
