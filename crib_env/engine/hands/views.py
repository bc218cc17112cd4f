"""The view boundary: the one function that copies a seat's knowledge from the full state.

Observations, opponents and renderings take a view and nothing else, so a leak has one place to
hide. A seat knows its own cards held, discarded and played, the pile with the seat of each card,
the seats that could not play in this count, the starter once turned, the number of cards of each
seat, and the board. Seats and sides are counted to the left from this one, so all seats see a
position alike.
"""

from __future__ import annotations

from crib_env.engine.family import Kernel
from crib_env.engine.hands.records import DISCARD, OVER, Sizes, to_the_left
from crib_env.engine.hands.slots import SLOT_COUNT, view_hand
from crib_env.engine.jit import kernel
from crib_env.engine.record import NONE

EACH = 0x55555555  # the lower bit of each card's two in `pile_seats`


def view_kernel(size: Sizes) -> Kernel:
    """Return the kernel ``(s, rules, seat, v)`` that fills a view.

    A view of a game for two lacks the fields of the sides. ``many`` is captured, so the compiler
    knows its value before it infers types, and drops the code that reads them.
    """
    seats = size.seats
    many = seats > 2

    @kernel
    def from_here(rules, seat, other):
        """Return how many places to the left of ``seat`` another seat is."""
        if many:
            places = other - seat
            return places + (places >> 63 & rules["players"])  # without a branch
        return other ^ seat

    @kernel
    def view_rules(rules, v):
        """Copy the rules that a seat plays by, in the order of both records."""
        if many:
            v["players"] = rules["players"]
            v["sides"] = rules["sides"]
            for place in range(seats):
                v["side_of"][place] = rules["side_of"][place]  # sides are seated in turn
            v["second_go_ends"] = rules["second_go_ends"]
        v["dealt"] = rules["dealt"]
        v["target"] = rules["target"]
        v["match_target"] = rules["match_target"]
        v["single_count"] = rules["single_count"]
        v["flush_size"] = rules["flush_size"]
        v["crib_flush_size"] = rules["crib_flush_size"]
        v["heels"] = rules["heels"]
        v["episode"] = rules["episode"]

    @kernel
    def view_pile(s, rules, seat, v):
        """Copy the played cards and their players."""
        n = s["pile_n"]
        for i in range(s["pile"].shape[0]):
            v["pile"][i] = s["pile"][i]
        low = s["pile_seats"] & EACH
        if many:
            high = s["pile_seats"] >> 1 & EACH
            last = low & high
            shown = (EACH ^ (low | high)) * from_here(rules, seat, 0)  # all its cards at once
            shown += (low ^ last) * from_here(rules, seat, 1)
            shown += (high ^ last) * from_here(rules, seat, 2)
            shown += last * from_here(rules, seat, 3)
        else:
            shown = low ^ EACH * seat
        v["pile_n"] = n
        v["pile_from"] = s["pile_from"]
        v["pile_seats"] = shown & ((1 << 2 * n) - 1)

    @kernel
    def view_seats(s, rules, seat, v):
        """Copy the number of cards of each seat and the seats that could not play."""
        players = rules["players"] if many else 2
        whole = (1 << rules["dealt"]) - 1
        # While seats discard, a view hides how far the others have got (H1, M3).
        hidden = whole if s["phase"] == DISCARD else 0
        passed = s["passed"]
        v["passed"] = (passed >> seat | passed << players - seat) & (1 << players) - 1
        v["held_n"][0] = v["hand_n"]
        for i in range(1, seats):
            held = s["held"][to_the_left(s, rules, seat, i)] | hidden
            v["held_n"][i] = SLOT_COUNT[held & 63] if i < players else 0

    @kernel
    def view_sides(s, rules, seat, v):
        """Copy the board of each side."""
        if many:
            sides = rules["sides"]
            mine = rules["side_of"][seat]
            for i in range(seats):
                known = 1 if i < sides else 0
                side = mine + i
                side = (side - sides if side >= sides else side) & 3
                v["scores"][i] = known * s["scores"][side]
                v["rear"][i] = known * s["rear"][side]
                v["match_score"][i] = known * s["match_score"][side]
        else:
            for i in range(2):
                v["scores"][i] = s["scores"][seat ^ i]
                v["rear"][i] = s["rear"][seat ^ i]
                v["match_score"][i] = s["match_score"][seat ^ i]

    @kernel
    def view(s, rules, seat, v):
        """Fill the view ``v`` with what ``seat`` may know of the state ``s``."""
        phase = s["phase"]
        mover = NONE if phase == OVER else from_here(rules, seat, s["to_move"])
        view_rules(rules, v)
        v["seat"] = seat
        v["to_move"] = 1 if mover == 0 else 0
        v["mover"] = mover
        v["phase"] = phase
        v["dealer"] = from_here(rules, seat, s["dealer"])
        v["starter"] = NONE if phase == DISCARD else s["starter"]
        view_hand(s, seat, v)
        view_pile(s, rules, seat, v)
        view_seats(s, rules, seat, v)
        view_sides(s, rules, seat, v)
        v["count"] = s["count"]
        v["go"] = s["go"]
        v["deals"] = s["deals"]

    return view
