"""Pegging points as they are made, in the pegging and the show (C5, H4), for one record.

A seat pegs for its side (``side_of`` in the rules record). The log names the side.
"""

from __future__ import annotations

from crib_env.engine.jit import kernel
from crib_env.engine.log import FIFTEEN, FOR_LAST, PAIR, RUN, SHOW, note, note_cards
from crib_env.engine.record import NONE
from crib_env.engine.show import JACK


@kernel
def peg(s, rules, log, side, points, reason, cards):
    """Peg points at once; the first to reach the target wins and nothing more is pegged (C5)."""
    if s["winner"] != NONE or points == 0:
        return
    points = min(points, rules["target"] - s["scores"][side])
    s["rear"][side] = s["scores"][side]
    s["scores"][side] += points
    s["gain"][side] += points
    note(log, side, points, reason, cards)
    if s["scores"][side] >= rules["target"]:
        s["winner"] = side


@kernel
def count_cards(s, rules, log, side, points, reason, cards):
    """Peg what a hand or the crib makes; log it also where it makes nothing."""
    if points == 0 and s["winner"] == NONE:
        note_cards(log, side, 0, reason, cards)
    peg(s, rules, log, side, points, reason, cards)


@kernel
def phase_of(reason):
    """Return where a tally keeps points: play with heels, hand, crib; three for last nowhere."""
    return NONE if reason == FOR_LAST else max(0, reason - SHOW + 1)


@kernel
def heels_points(s, rules):
    """Return what the starter pegs the dealer as it is turned up (C3)."""
    return rules["heels"] if s["starter"] >> 2 == JACK else 0


@kernel
def pile_cards(s, start):
    """Return the cards of the pile from ``start`` on as a mask."""
    mask = 0
    for i in range(start, s["pile_n"]):
        mask |= 1 << s["pile"][i]
    return mask


@kernel
def paired(s):
    """Return how many cards of the last rank end the present count (H4)."""
    n = s["pile_n"]
    r = s["pile"][n - 1] >> 2
    alike = 1
    for i in range(n - 2, s["pile_from"] - 1, -1):
        if s["pile"][i] >> 2 != r:
            break
        alike += 1
    return alike


@kernel
def run_length(s):
    """Return the length of the longest run that ends the present count, 0 for none (H4)."""
    low = 12
    high = 0
    seen = 0
    longest = 0
    n = s["pile_n"]
    for cards in range(1, n - s["pile_from"] + 1):
        r = s["pile"][n - cards] >> 2
        if seen >> r & 1:
            break
        seen |= 1 << r
        low = min(low, r)
        high = max(high, r)
        longest = cards if high - low == cards - 1 else longest
    return longest if longest > 2 else 0


@kernel
def peg_combinations(s, rules, log, side):
    """Peg the fifteen, the pair and the run that the last card of the pile makes (H4)."""
    n = s["pile_n"]
    if s["count"] == 15:
        peg(s, rules, log, side, 2, FIFTEEN, pile_cards(s, s["pile_from"]))
    alike = paired(s)
    if alike > 1:
        peg(s, rules, log, side, alike * (alike - 1), PAIR, pile_cards(s, n - alike))
    length = run_length(s)
    if length > 2:
        peg(s, rules, log, side, length, RUN, pile_cards(s, n - length))
