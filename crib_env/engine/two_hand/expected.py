"""What `crib_env.engine.expected` needs of the two-hand games: the cards dealt, and who shows.

An episode of pegging alone has no show, so nothing changes there.
"""

from __future__ import annotations

from crib_env.engine.counting import DECK
from crib_env.engine.jit import kernel
from crib_env.engine.two_hand.records import HAND, PEGGING_ONLY


@kernel
def undealt(rules):
    """Return how many cards are not dealt to a seat."""
    return DECK - 2 * rules["dealt"]


@kernel
def dealt_cards(s, rules):
    """Return the cards dealt to the seats as a mask."""
    dealt = 0
    for seat in range(2):
        for i in range(rules["dealt"]):
            dealt |= 1 << s["dealt"][HAND * seat + i]
    return dealt


@kernel
def has_show(rules):
    """Return whether hands and crib are counted."""
    return rules["episode"] != PEGGING_ONLY
