"""The computer player of magmacrunch-cribbage, a terminal game on PyPI, as an agent.

    pip install magmacrunch-cribbage
    crib tournament rule_based examples.magmacrunch:Magmacrunch --pairs 500

That package's licence is PolyForm Noncommercial: it is no part of crib-env, and it is here for
comparison only. Its player chooses both its discards and its play by a hand-made score.
"""

from __future__ import annotations

from typing import Any

from crib_agents.adapters.plain import PlainAgent
from cribbage import ai
from cribbage.cards import Card

SUITS = {"C": "clubs", "D": "diamonds", "H": "hearts", "S": "spades"}


def theirs(card: str) -> Card:
    """Return a card as magmacrunch writes it."""
    return Card(SUITS[card[1]], card[0].replace("T", "10"))


def ours(card: Card) -> str:
    """Return magmacrunch's card as text."""
    return str(card.rank.replace("10", "T") + card.suit[0].upper())


class Magmacrunch(PlainAgent):
    """Asks magmacrunch's ``select_crib_cards`` and ``select_pegging_card``."""

    name = "magmacrunch"

    def choose_discard(self, hand: list[str], is_dealer: bool, scores: tuple[int, int]) -> list[str]:
        """Return the discards."""
        pair = ai.select_crib_cards([theirs(card) for card in hand], not is_dealer)
        return [ours(card) for card in pair]

    def choose_card(self, hand: list[str], pile: list[str], count: int, *_: Any, **__: Any) -> str:
        """Return the card to play."""
        played = [theirs(card) for card in pile]
        return ours(ai.select_pegging_card([theirs(card) for card in hand], count, played))
