"""The view boundary: the one function that copies what a seat may know out of the full state.

Observations, opponents and renderings take a view and nothing else, so a leak has one place to
hide. A seat knows its own cards held, discarded and played, the pile with who played what, the
starter once turned, how many cards the other holds, and the board.
"""

from __future__ import annotations

from crib_env.engine.jit import kernel
from crib_env.engine.record import NONE
from crib_env.engine.slots import view_hand
from crib_env.engine.two_hand.records import DISCARD, HAND, OVER, PILE


@kernel
def view(s, rules, seat, v):
    """Fill the `VIEW` record ``v`` with what ``seat`` may know of the state ``s``."""
    other = 1 - seat
    phase = s["phase"]
    moving = 1 if s["to_move"] == seat and phase != OVER else 0
    v["seat"] = seat
    v["to_move"] = moving
    v["phase"] = phase
    v["is_dealer"] = 1 if s["dealer"] == seat else 0
    v["starter"] = NONE if phase == DISCARD else s["starter"]
    view_hand(s, seat, v)
    n = s["pile_n"]
    for i in range(PILE):
        v["pile"][i] = s["pile"][i] if i < n else NONE
    other_held = 0
    for i in range(HAND):
        other_held += s["held"][other] >> i & 1
    # While the other discards, how far it has got is its own affair: discarding is simultaneous.
    # Since seats move in turn, a seat to move sees the other with all its cards or all discarded.
    v["other_n"] = rules["dealt"] if phase == DISCARD else other_held
    v["pile_n"] = n
    v["pile_from"] = s["pile_from"]
    mine = s["pile_seats"] if seat else ~s["pile_seats"]
    v["pile_mine"] = mine & ((1 << n) - 1)
    v["count"] = s["count"]
    v["go"] = s["go"]
    v["scores"][0] = s["scores"][seat]
    v["scores"][1] = s["scores"][other]
    v["rear"][0] = s["rear"][seat]
    v["rear"][1] = s["rear"][other]
    v["match_score"][0] = s["match_score"][seat]
    v["match_score"][1] = s["match_score"][other]
    v["target"] = rules["target"]
    v["match_target"] = rules["match_target"]
    v["dealt"] = rules["dealt"]
    v["single_count"] = rules["single_count"]
    v["flush_size"] = rules["flush_size"]
    v["crib_flush_size"] = rules["crib_flush_size"]
    v["heels"] = rules["heels"]
    v["episode"] = rules["episode"]
    v["deals"] = s["deals"]
