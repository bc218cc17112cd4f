"""Cards: ids, ranks, suits and their text.

A card is an ``int`` from 0 to 51, ``4 * rank + suit``: rank 0 is the ace and 12 the king, suits in
the order clubs, diamonds, hearts, spades (C1). Its text is rank then suit: ``"5H"``, ``"TS"``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from crib_env.errors import is_whole

RANKS = "A23456789TJQK"
SUITS = "CDHS"
SYMBOLS = "♣♦♥♠"
RANK_NAMES = ("ace", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "jack", "queen", "king")
SUIT_NAMES = ("clubs", "diamonds", "hearts", "spades")
DECK_SIZE = 52
JACK = 10  # its rank
CRIB = 4  # cards in a crib


def rank(card: int) -> int:
    """Return the rank of a card id, 0 for an ace to 12 for a king."""
    return card >> 2


def suit(card: int) -> int:
    """Return the suit of a card id: 0 clubs, 1 diamonds, 2 hearts, 3 spades."""
    return card & 3


def pip(card: int) -> int:
    """Return the count of a card in play: the ace 1, court cards 10 (C1)."""
    return min((card >> 2) + 1, 10)


def parse_card(text: str) -> int:
    """Return the id of a card written as rank and suit, such as ``"5H"`` or ``"TS"``.

    Raises:
        ValueError: the text is not a card; the message names the accepted texts.
    """
    if isinstance(text, str):
        shown = text.strip().upper()
        if shown.startswith("10"):
            shown = "T" + shown[2:]
        if len(shown) == 2 and shown[0] in RANKS and shown[1] in SUITS:
            return 4 * RANKS.index(shown[0]) + SUITS.index(shown[1])
    raise ValueError(f"{text!r} is not a card: write a rank of {RANKS} and a suit of {SUITS}, such as '5H'")


def format_card(card: int) -> str:
    """Return the text of a card id: ``format_card(18) == "5H"``.

    Raises:
        ValueError: the id is not in 0..51.
    """
    if not is_whole(card) or not 0 <= card < DECK_SIZE:
        raise ValueError(f"{card!r} is not a card id: ids are 0 to 51")
    return RANKS[card >> 2] + SUITS[card & 3]


def parse_cards(text: str) -> list[int]:
    """Return the ids of cards separated by spaces: ``parse_cards("5H JS")``."""
    return [parse_card(word) for word in (text.split() if hasattr(text, "split") else [text])]


def format_cards(cards: Iterable[int]) -> str:
    """Return cards as text separated by spaces."""
    return " ".join(format_card(card) for card in cards)


def card_name(card: int) -> str:
    """Return a card in words: ``"five of hearts"``."""
    format_card(card)
    return f"{RANK_NAMES[card >> 2]} of {SUIT_NAMES[card & 3]}"


def refuse_twice(cards: Sequence[int]) -> None:
    """Raise a ValueError if a card occurs more than once."""
    twice = sorted({card for card in cards if cards.count(card) > 1})
    if twice:
        raise ValueError(f"{format_cards(twice)} given more than once in {format_cards(cards)}")
