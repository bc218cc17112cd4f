"""What a seat of the toy game may know: its own cards, those laid, the score."""

from __future__ import annotations

from crib_env.engine.jit import kernel
from crib_env.engine.record import NONE
from toy.records import HAND


@kernel
def view(s, rules, seat, v):
    """Fill the `VIEW` record ``v`` with what ``seat`` may know of the state ``s``."""
    moving = s["to_move"] == seat and s["over"] == 0
    v["seat"] = seat
    v["to_move"] = 1 if moving else 0
    v["is_dealer"] = 1 if s["dealer"] == seat else 0
    v["starter"] = s["starter"] if s["over"] else NONE
    n = 0
    v["hand"][0] = v["hand"][1] = NONE
    for i in range(HAND):
        if s["held"][seat] >> i & 1:
            v["hand"][n] = s["dealt"][HAND * seat + i]
            n += 1
    v["hand_n"] = n
    v["legal"] = (1 << n) - 1 if moving else 0
    v["pile"][0] = s["pile"][0]
    v["pile"][1] = s["pile"][1]
    v["pile_n"] = s["pile_n"]
    v["scores"][0] = s["scores"][seat]
    v["scores"][1] = s["scores"][1 - seat]
    v["target"] = rules["target"]
