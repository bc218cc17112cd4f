"""The view boundary of Table Top: the one function that copies a seat's knowledge from the state.

Open to all: the layout with the turn that placed each card, the starter, the turns in which a card
went to the crib, and the scores. Private to a seat are the card in turn and its cards in the crib,
shared with its partner where partners confer (T2, T7). No seat knows cards still to come.
"""

from __future__ import annotations

from crib_env.engine.jit import kernel
from crib_env.engine.record import NONE
from crib_env.engine.table_top.records import CELLS, CENTRE, CRIB_CARDS, SEATS
from crib_env.engine.table_top.transitions import legal_mask


@kernel
def view(s, rules, seat, v):
    """Fill the `TABLE_VIEW` record ``v`` with what ``seat`` may know of the state ``s``."""
    players = s["players"]
    last = players - 1  # two or four play, so a mask takes the remainder of a seat
    side = rules["side_of"][seat]
    over = s["over"]
    turn = s["turn"]
    dealer = (s["dealer"] - seat) & last
    mover = NONE if over else (s["to_move"] - seat) & last
    # A partner sits opposite; two players have none.
    partner = 2 if players == SEATS and rules["partners_confer"] else NONE
    v["seat"] = seat
    v["players"] = players
    v["to_move"] = 1 if mover == 0 else 0
    v["mover"] = mover
    v["dealer"] = dealer
    v["my_crib"] = 1 if rules["side_of"][s["dealer"]] == side else 0
    v["scores_rows"] = 1 - side
    v["turn"] = turn
    v["over"] = over
    v["starter"] = s["layout"][CENTRE]
    v["card"] = s["deck"][turn] if mover == 0 else NONE
    v["partner_card"] = s["deck"][turn] if not over and mover == partner else NONE
    v["legal"] = legal_mask(s, rules) if mover == 0 else 0
    for cell in range(CELLS):
        v["layout"][cell] = s["layout"][cell]
        v["turns"][cell] = s["turns"][cell]
    v["placed"] = s["placed"]
    for i in range(CRIB_CARDS):  # branch-free: the branch would be unpredictable
        laid = s["crib"][i]
        by = (dealer + 1 + laid) & last
        known = (laid != NONE) & ((by == 0) | (by == partner))
        card = s["deck"][max(laid, 0)]
        v["crib_turns"][i] = laid
        v["crib"][i] = card if known else NONE
    v["crib_n"] = s["crib_n"]
    for i in range(SEATS):
        v["owed"][i] = s["owed"][(seat + i) & last] if i < players else 0
    v["scores"][0] = s["scores"][side]
    v["scores"][1] = s["scores"][1 - side]
    v["target"] = rules["target"]
    v["adjacency"] = rules["adjacency"]
    v["flush_size"] = rules["flush_size"]
    v["crib_flush_size"] = rules["crib_flush_size"]
    v["score_difference"] = rules["score_difference"]
    v["partners_confer"] = rules["partners_confer"]
    v["heels"] = rules["heels"]
    v["episode"] = rules["episode"]
