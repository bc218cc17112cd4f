"""An adapter for players in plain Python: cards as text, two questions, no arrays.

Subclass `PlainAgent`, answer its two questions, and the class plays wherever an agent does: as an
opponent, in evaluation and in tournaments, by its ``package.module:Class``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from crib_agents.checks import refuse_other_views
from crib_env.cards import format_card, parse_card
from crib_env.engine.family import find_family
from crib_env.engine.record import NONE
from crib_env.engine.two_hand.records import LAY_AWAY
from crib_env.policy import Actions, Views


class PlainAgent(ABC):
    """Plays the two-hand games by two questions about cards written ``"5H"`` or ``"TS"``.

    Attributes:
        name: what tables call it.
    """

    name = "plain"

    @abstractmethod
    def choose_discard(
        self, hand: list[str], is_dealer: bool, scores: tuple[int, int]
    ) -> Collection[str]:
        """Return the two cards of ``hand`` to lay away.

        It is asked twice, with the same cards in the same order, since the environment takes one
        card at a time. A player who draws its pair by chance may answer otherwise the second time:
        of a pair that leaves out the card laid already, the first card goes.

        Args:
            hand: the cards dealt, six or five, ordered by rank.
            is_dealer: whether the crib is this player's.
            scores: mine and the other's.
        """

    @abstractmethod
    def choose_card(
        self,
        hand: list[str],
        pile: list[str],
        count: int,
        gone: list[str],
        starter: str,
        is_dealer: bool,
        scores: tuple[int, int],
    ) -> str:
        """Return the card of ``hand`` to play.

        It is asked only when at least one card fits.

        Args:
            hand: the cards held, ordered by rank; some may not fit.
            pile: the cards of the present count, oldest first.
            count: what they add up to.
            gone: the cards of earlier counts of this deal, oldest first.
            starter: the card turned.
            is_dealer: whether this player dealt.
            scores: mine and the other's.
        """

    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return one card for each two-hand view, int64[B].

        Raises:
            ValueError: views of another game, or an answer that is not two cards of the hand, or
                not a card.
        """
        refuse_other_views(self.name, views, find_family("two_hand"))
        return np.array([self._card(view) for view in views], dtype=np.int64)

    def _card(self, view: Any) -> int:
        held = _texts(view["hand"])
        dealer = bool(view["is_dealer"])
        scores = int(view["scores"][0]), int(view["scores"][1])
        if view["phase"] == LAY_AWAY:
            return self._to_crib(held, _texts(view["laid"]), dealer, scores)
        pile = [format_card(int(card)) for card in view["pile"][: view["pile_n"]]]
        start = int(view["pile_from"])
        starter = format_card(int(view["starter"]))
        card = self.choose_card(
            held, pile[start:], int(view["count"]), pile[:start], starter, dealer, scores
        )
        return parse_card(card)

    def _to_crib(
        self, held: Sequence[str], laid: Sequence[str], dealer: bool, scores: tuple[int, int]
    ) -> int:
        """Return the first card of the pair not laid yet."""
        hand = sorted([*held, *laid], key=parse_card)
        pair = list(self.choose_discard(list(hand), dealer, scores))
        if len(pair) != 2 or len(set(pair) & set(hand)) != 2:
            raise ValueError(f"to lay away are two cards of {' '.join(hand)}, got {pair!r}")
        return parse_card(next(card for card in pair if card not in laid))


def _texts(cards: Any) -> list[str]:
    return [format_card(card) for card in sorted(int(c) for c in cards if c != NONE)]
