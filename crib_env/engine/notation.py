"""Shared by the notations of all families: a family's fields, and how words are read.

`crib_env.notation` plays a `Deal` on the engine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from crib_env.cards import format_card, parse_card
from crib_env.render.words import in_words
from crib_env.rules import Rules

Record = Any
Scores = tuple[int, ...]  # by side

CARD = r"[A2-9TJQK][CDHS]"


class Deal(NamedTuple):
    """The present deal, as a family's fields describe it."""

    deck: list[int]  # the cards known to the position, in the order of the deck
    actions: list[int]  # taken in this deal, in order


class Notation(NamedTuple):
    """The fields that a family writes and reads itself."""

    fields: tuple[str, ...]  # their names, in order
    format_fields: Callable[[Record, Rules], list[str]]  # returns their words
    read_fields: Callable[[Sequence[str], Rules, int, int], Deal]  # (words, rules, dealer, players)


def read_number(name: str, word: str, mark: str, low: int, high: int) -> int:
    """Return the number after ``mark``."""
    digits = word.removeprefix(mark)
    given = word.startswith(mark) and re.fullmatch(r"[0-9]{1,10}", digits)
    if not given or not low <= int(digits) <= high:
        raise ValueError(f"{name} must be {mark}{low} to {mark}{high}, got {word!r}")
    return int(digits)


def read_scores(name: str, word: str, sides: int) -> Scores:
    """Return whole numbers, one a side."""
    if not re.fullmatch("/".join(["[0-9]{1,6}"] * sides), word):
        example = "/".join(str(3 + 2 * side) for side in range(sides))
        raise ValueError(f"{name} must be {in_words(sides)} whole numbers such as {example}, got {word!r}")
    return tuple(map(int, word.split("/")))


def read_cards(name: str, word: str) -> list[int]:
    """Return cards written without spaces, ``-`` for none."""
    cards = re.findall(CARD, word)
    if word != "-" and "".join(cards) != word:
        raise ValueError(f"{name} must be cards such as 5HTS, or - for none, got {word!r}")
    return [parse_card(card) for card in cards]


def format_cards(cards: Sequence[int]) -> str:
    """Return cards without spaces, ``-`` for none."""
    return "".join(map(format_card, cards)) or "-"


def format_scores(values: Any) -> str:
    """Return numbers with a / between them."""
    return "/".join(str(value) for value in values)
