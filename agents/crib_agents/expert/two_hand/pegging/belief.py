"""Belief: the hands that the other seat may hold in the pegging, with their weights.

The weight of a holding is the number of ways to draw it from the unseen cards, times the rate at
which players keep such a hand, times the probability that a seat with it would have played the
cards that were played. Holdings that a go rules out have weight 0.
"""

from __future__ import annotations

from crib_agents.expert.two_hand.pegging.rollout_policy import all_shared_values, softmax
from crib_agents.knowledge.two_hand.pegging import (
    COUNTED,
    DISTINCT,
    FIRST,
    LISTED,
    LOWEST,
    ME,
    THEM,
    begin_count,
    begin_play,
    could_not_play,
    number,
    put,
)
from crib_env.engine.hands.counting import unseen_ranks
from crib_env.engine.jit import kernel
from crib_env.engine.show import pip

FLOOR = 0.3  # how often the other seat is taken to play any card at all


@kernel
def ways_to_draw(counted, unseen):
    """Return in how many ways cards ``counted`` by rank can be drawn from those ``unseen``."""
    ways = 1
    while counted != 0:
        left = unseen & 15
        for i in range(counted & 15):
            ways = ways * (left - i) // (i + 1)
        counted >>= 4
        unseen >>= 4
    return ways


@kernel
def weigh_card(p, r, n, s, hands, weights):
    """Weigh each of ``n`` holdings by how likely it plays the rank ``r`` in ``p``; it is played."""
    held = s["held"]
    ways = s["ways"]
    chance = s["chance"]
    all_shared_values(p, THEM, weights, s["base"], s["shared"])
    room = 31 - p["count"]
    for j in range(n):
        softmax(p, held[j], hands, weights, s["base"], s["shared"], chance)
        listed = hands[held[j], LISTED]
        likely = 0.0
        fitting = 0
        for k in range(hands[held[j], DISTINCT]):
            rank = listed >> (4 * k) & 15
            fitting += min(rank + 1, 10) <= room
            if rank == r:
                likely = chance[k]
        ways[j] *= FLOOR / fitting + (1.0 - FLOOR) * likely
        held[j] = hands[held[j], r]


@kernel
def replay(v, p, n, s, hands, weights):
    """Play the view's cards again from the first lead, into ``p``, weighing ``n`` hands by them.

    The other seat's whole hands in ``s["held"]`` become what is left of them.
    """
    begin_play(p, v["dealt"] - 2)
    for i in range(v["pile_n"]):
        card = v["pile"][i]
        seat = THEM if v["pile_seats"] >> 2 * i & 1 else ME
        if p["count"] == 31 or p["count"] + pip(card) > 31 or i == v["pile_from"]:
            count_over(p)
        elif p["last"] == seat:
            alone(p, v["single_count"])
        if seat == THEM:
            weigh_card(p, card >> 2, n, s, hands, weights)
        put(p, seat, card >> 2)
    if v["pile_from"] == v["pile_n"]:
        count_over(p)
    elif p["last"] == ME:
        alone(p, v["single_count"])
    p["needs"][ME] = v["target"] - v["scores"][0]
    p["needs"][THEM] = v["target"] - v["scores"][1]


@kernel
def count_over(p):
    """Begin the next count, noting that if this one fell short of 31 nobody could play."""
    if 0 < p["count"] < 31:
        could_not_play(p, ME)
        could_not_play(p, THEM)
    begin_count(p)


@kernel
def alone(p, single):
    """Note that the seat of the newest card plays on because the other could not (H5, F5)."""
    could_not_play(p, 1 - p["last"])
    p["go"] = 1 - single


@kernel
def enumerate_hands(v, p, s, hands, weights, rates):
    """Write the holdings the other seat may have now and their weights; return how many.

    Shapes: rates float64[HOLDINGS].
    """
    played = 0
    for i in range(v["pile_n"]):
        if v["pile_seats"] >> 2 * i & 1:
            played += 1 << (4 * (v["pile"][i] >> 2))
    unseen = unseen_ranks(v)
    held = s["held"]
    ways = s["ways"]
    n = 0
    for now in range(FIRST[v["held_n"][1]], FIRST[v["held_n"][1] + 1]):
        draws = ways_to_draw(hands[now, COUNTED], unseen)
        if draws > 0:
            whole = now if played == 0 else number(hands[now, COUNTED] + played)
            held[n] = whole
            ways[n] = draws * rates[whole]
            n += 1
    replay(v, p, n, s, hands, weights)
    possible = 0
    for j in range(n):
        if hands[held[j], LOWEST] >= p["least"][THEM]:
            held[possible] = held[j]
            ways[possible] = ways[j]
            possible += 1
    return possible


@kernel
def systematic_resample(n, most, s):
    """Keep at most ``most`` of ``n`` holdings, by evenly spaced draws along their weights.

    The weights left sum to one. Returns how many holdings are left.
    """
    held = s["held"]
    ways = s["ways"]
    total = 0.0
    for j in range(n):
        total += ways[j]
    step = total / most
    reached = 0.5 * step
    passed = 0.0
    left = 0
    for j in range(n):
        share = ways[j] / total
        if n > most:
            passed += ways[j]
            drawn = 0
            while reached < passed and left + drawn < n:
                drawn += 1
                reached += step
            share = drawn / most
        if share > 0.0:
            held[left] = held[j]
            ways[left] = share
            left += 1
    return left
