"""An agent of the two-hand games: it always uses its lowest card."""

from __future__ import annotations

from typing import ClassVar

from crib_env.policy import Act, CompiledAgent
from low_cards.order import before


def act(view, rng, table, weights):
    """Return the lowest of the cards that may be used now."""
    best = -1
    for i in range(view["hand_n"]):
        card = view["hand"][i]
        if view["legal"] >> i & 1 and (best < 0 or before(card, best)):
            best = card
    return best


class LowCards(CompiledAgent):
    """Uses its lowest card, in all of a deal."""

    name = "low_cards"
    acts: ClassVar[dict[str, Act]] = {"two_hand": act}
