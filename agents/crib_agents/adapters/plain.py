"""An adapter for players in plain Python: cards as text, two methods, no arrays.

Subclass `PlainAgent` and write its two methods. The class then plays wherever an agent does: as an
opponent, in evaluation and in tournaments, by its ``package.module:Class``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from crib_agents.honours import presets_of
from crib_env.cards import format_card, parse_card, pip
from crib_env.engine.family import check_family
from crib_env.engine.hands.records import DISCARD
from crib_env.engine.record import NONE
from crib_env.policy import Actions, SecondDiscards, Views, one_or_many


class Play(NamedTuple):
    """A card played, and whether by this player."""

    card: str
    mine: bool


@dataclass(frozen=True)
class Go:
    """A go: a player held cards and could play none of them.

    Attributes:
        count: the count at that moment.
        mine: whether it was this player.
        after: the number of cards played in the deal before it.
    """

    count: int
    mine: bool
    after: int


@dataclass(frozen=True)
class Deal:
    """A player's knowledge of a deal besides the arguments of its methods.

    Attributes:
        number: of the deal in the game, from 1.
        discarded: the cards this player has discarded.
        plays: the cards of the deal so far, oldest first, with their players.
        gos: the gos of the deal so far.
    """

    number: int
    discarded: tuple[str, ...]
    plays: tuple[Play, ...]
    gos: tuple[Go, ...]


class PlainAgent(ABC):
    """Plays the two-hand games by two methods that take cards as text, ``"5H"`` or ``"TS"``.

    Attributes:
        name: its name in tables.
        deal: further knowledge of the current deal.
    """

    name = "plain"
    known_rules = presets_of("two_hand")
    deal: Deal

    @abstractmethod
    def choose_discard(self, hand: list[str], is_dealer: bool, scores: tuple[int, int]) -> Collection[str]:
        """Return the two cards of ``hand`` to discard.

        It runs once per deal; the environment takes the pair one card at a time. (It runs again if
        another player discarded the first card.)

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

        It runs only when at least one card fits.

        Args:
            hand: the cards held, ordered by rank; some may not fit.
            pile: the cards of the present count, oldest first.
            count: their sum.
            gone: the cards of earlier counts of this deal, oldest first.
            starter: the card turned.
            is_dealer: whether this player dealt.
            scores: mine and the other's.
        """

    @one_or_many
    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return one card for each two-hand view, int64[B].

        Raises:
            ValueError: views of another game, or an answer that is not two cards of the hand, or
                not a card.
        """
        check_family(self.name, views, ["two_hand"])
        return np.array([self._card(view) for view in views], dtype=np.int64)

    def _card(self, view: Any) -> int:
        self.deal = read_deal(view)
        held = _texts(view["hand"])
        dealer = bool(view["dealer"] == 0)
        scores = int(view["scores"][0]), int(view["scores"][1])
        if view["phase"] == DISCARD:
            return self._to_crib(view, held, dealer, scores)
        pile = [play.card for play in self.deal.plays]
        start = int(view["pile_from"])
        starter = format_card(int(view["starter"]))
        card = self.choose_card(held, pile[start:], int(view["count"]), pile[:start], starter, dealer, scores)
        return parse_card(card)

    def _to_crib(self, view: Any, held: Sequence[str], dealer: bool, scores: tuple[int, int]) -> int:
        """Return the first card of the pair that is not discarded yet."""
        # A subclass need not call __init__.
        seconds: SecondDiscards = self.__dict__.setdefault("_seconds", SecondDiscards())
        discarded = self.deal.discarded
        if discarded and (second := seconds.take(view)) is not None:
            return second
        hand = sorted([*held, *discarded], key=parse_card)
        pair = list(self.choose_discard(list(hand), dealer, scores))
        if len(pair) != 2 or len(set(pair) & set(hand)) != 2:
            raise ValueError(f"to discard are two cards of {' '.join(hand)}, got {pair!r}")
        card, *others = (parse_card(card) for card in pair if card not in discarded)
        if not discarded:
            seconds.put(view, card, others[0])
        return card


def read_deal(view: Any) -> Deal:
    """Return the `Deal` of a two-hand view."""
    n = int(view["pile_n"])
    mine = [bool(view["pile_seats"] >> 2 * i & 1 == 0) for i in range(n)]
    cards = [int(card) for card in view["pile"][:n]]
    plays = tuple(Play(format_card(card), who) for card, who in zip(cards, mine, strict=True))
    mover = [*mine[1:], True]  # the player of the next card; this player is to play now
    gos: list[Go] = []
    gone: set[bool] = set()
    count = 0
    for i, card in enumerate(cards):
        count += pip(card)
        last = mine[i]
        # A count ends before a card that does not fit; after the last card see ``pile_from``.
        ended = count + pip(cards[i + 1]) > 31 if i + 1 < n else int(view["pile_from"]) == n
        unable = []
        if count < 31 and (ended or mover[i] == last):
            unable = [not last, *([last] if ended else [])]
        for who in unable:
            if who not in gone and mine[: i + 1].count(who) < int(view["dealt"]) - 2:
                gos.append(Go(count, who, i + 1))
                gone.add(who)
        if ended:
            count = 0
            gone.clear()
    return Deal(int(view["deals"]), tuple(_texts(view["discarded"])), plays, tuple(gos))


def _texts(cards: Any) -> list[str]:
    return [format_card(card) for card in sorted(int(c) for c in cards if c != NONE)]
