"""What `crib_env.engine.expected` needs of the games for three and four: the cards dealt.

With three players, they include the card dealt to the crib, though no seat sees it. It is dealt
before anybody discards, and only the luck of the starter is removed.
"""

from __future__ import annotations

from crib_env.engine.counting import DECK
from crib_env.engine.jit import kernel
from crib_env.engine.many_hand.records import CRIB_SLOT, HAND, KEPT


@kernel
def undealt(rules):
    """Return how many cards are dealt neither to a seat nor to the crib (M2)."""
    players = rules["players"]
    return DECK - HAND * players - max(KEPT - players, 0)


@kernel
def dealt_cards(s, rules):
    """Return the cards dealt to the seats and to the crib as a mask."""
    dealt = 0
    for i in range(HAND * rules["players"]):
        dealt |= 1 << s["dealt"][i]
    if rules["players"] < KEPT:
        dealt |= 1 << s["dealt"][CRIB_SLOT]
    return dealt


@kernel
def has_show(rules):
    """Return True: hands and crib are always counted."""
    return True
