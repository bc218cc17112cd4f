"""What a seat of the toy game may know: its own cards, those laid, the score."""

from __future__ import annotations

from crib_env.engine.jit import kernel
from crib_env.engine.record import NONE
from toy.records import HAND, SEATS


@kernel
def view(s, rules, seat, v):
    """Fill the `VIEW` record ``v`` with what ``seat`` may know of the state ``s``."""
    moving = s["to_move"] == seat and s["over"] == 0
    v["seat"] = seat
    v["to_move"] = 1 if moving else 0
    players = s["players"]
    v["players"] = players
    v["dealer"] = (s["dealer"] - seat) % players
    v["starter"] = s["starter"] if s["over"] else NONE
    n = 0
    v["hand"][0] = v["hand"][1] = NONE
    for i in range(HAND):
        if s["held"][seat] >> i & 1:
            v["hand"][n] = s["dealt"][HAND * seat + i]
            n += 1
    v["hand_n"] = n
    v["legal"] = (1 << n) - 1 if moving else 0
    for i in range(SEATS):
        v["pile"][i] = s["pile"][i]
        v["scores"][i] = s["scores"][(seat + i) % players] if i < players else 0
    v["pile_n"] = s["pile_n"]
    v["target"] = rules["target"]
