"""The view boundary: the one function that copies what a seat may know out of the full state.

A seat knows its own cards held, discarded and played, the pile with who played what, who could not
play in this count, the starter once turned, how many cards each seat holds, and the board. Seats
and sides are counted to the left from this one, so all seats see a position alike.
"""

from __future__ import annotations

from crib_env.engine.jit import kernel
from crib_env.engine.many_hand.records import HAND, PILE, SEATS
from crib_env.engine.many_hand.rules import to_the_left
from crib_env.engine.record import NONE
from crib_env.engine.slots import DISCARD, OVER, SLOT_COUNT, view_hand

ALL = (1 << HAND) - 1  # the slots of a whole hand
EACH = 0x55555555  # the lower bit of each card's two in `pile_seats`


@kernel
def from_here(players, seat, other):
    """Return how many places to the left of ``seat`` another seat is."""
    places = other - seat
    return places + (places >> 63 & players)  # without a branch


@kernel
def view(s, rules, seat, v):
    """Fill the `VIEW` record ``v`` with what ``seat`` may know of the state ``s``."""
    phase = s["phase"]
    mover = NONE if phase == OVER else from_here(rules["players"], seat, s["to_move"])
    v["seat"] = seat
    v["players"] = rules["players"]
    v["sides"] = rules["sides"]
    v["mover"] = mover
    v["to_move"] = 1 if mover == 0 else 0
    v["phase"] = phase
    v["dealer"] = from_here(rules["players"], seat, s["dealer"])
    v["starter"] = NONE if phase == DISCARD else s["starter"]
    view_hand(s, seat, v)
    view_pile(s, rules, seat, v)
    view_sides(s, rules, seat, v)
    v["count"] = s["count"]
    v["target"] = rules["target"]
    v["match_target"] = rules["match_target"]
    v["flush_size"] = rules["flush_size"]
    v["crib_flush_size"] = rules["crib_flush_size"]
    v["second_go_ends"] = rules["second_go_ends"]
    v["heels"] = rules["heels"]
    v["episode"] = rules["episode"]
    v["deals"] = s["deals"]


@kernel
def view_pile(s, rules, seat, v):
    """Copy what has been played, and by whom, counted from this seat."""
    n = s["pile_n"]
    for i in range(PILE):
        v["pile"][i] = s["pile"][i]
    players = rules["players"]
    low = s["pile_seats"] & EACH
    high = s["pile_seats"] >> 1 & EACH
    last = low & high
    shown = (EACH ^ (low | high)) * from_here(players, seat, 0)  # all its cards at once
    shown += (low ^ last) * from_here(players, seat, 1)
    shown += (high ^ last) * from_here(players, seat, 2)
    shown += last * from_here(players, seat, 3)
    v["pile_n"] = n
    v["pile_from"] = s["pile_from"]
    v["pile_seats"] = shown & ((1 << 2 * n) - 1)


@kernel
def view_sides(s, rules, seat, v):
    """Copy the public facts of each seat and each side, from this one to the left."""
    players = rules["players"]
    sides = rules["sides"]
    mine = rules["side_of"][seat]
    # While cards are discarded, how far others have got is their own affair (M3).
    discarding = s["phase"] == DISCARD
    passed = s["passed"]
    v["passed"] = (passed >> seat | passed << players - seat) & (1 << players) - 1
    for i in range(SEATS):
        sits = 1 if i < players else 0
        other = to_the_left(players, seat, i)
        v["side_of"][i] = rules["side_of"][i]  # sides are seated in turn
        held = s["held"][other] | (ALL if discarding and i else 0)
        v["held_n"][i] = sits * SLOT_COUNT[held & ALL]
        scores = 1 if i < sides else 0
        side = to_the_left(sides, mine, i)
        v["scores"][i] = scores * s["scores"][side]
        v["rear"][i] = scores * s["rear"][side]
        v["match_score"][i] = scores * s["match_score"][side]
