"""Shared by the notations of all families: splitting a line, and its words.

`crib_env.notation` plays a `Line` on the engine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from crib_env.cards import parse_card
from crib_env.render.words import in_words
from crib_env.rules import Rules

Record = Any
Scores = tuple[int, ...]  # by side

CARD = r"[A2-9TJQK][CDHS]"


class Move(NamedTuple):
    """A decision in a line: its seat, the action and the card."""

    seat: int
    action: int
    card: int


@dataclass(frozen=True)
class Deal:
    """The present deal by a family's fields."""

    deck: list[int]  # the cards known to the position, in the order of the deck
    moves: list[Move]  # the actions with them, in order
    scores: Scores
    rear: Scores | None  # before the last points of each, where the game shows them
    over: bool  # whether the episode is


@dataclass(frozen=True)
class Line:
    """A parsed line; the position may still be unreachable."""

    rules: Rules
    episode: str
    players: int  # seats
    number: int  # the deal's in the episode, from 1 on
    dealer: int  # seat
    deal: Deal
    start: Scores  # at the start of the episode
    match_score: Scores  # game points of a match
    winner: int | None = None  # the side that has won the game


@dataclass(frozen=True)
class Notation:
    """How a family writes and reads the fields that are its own."""

    fields: tuple[str, ...]  # their names, in order
    extras: tuple[str, ...]  # of those given by name
    one_deal: tuple[str, ...]  # the episodes that are one deal
    read_players: Callable[[Sequence[str]], int]  # of the words
    format_body: Callable[[Record, Rules], list[str]]  # returns the words
    read_body: Callable[[Sequence[str], Rules, int, int], Deal]  # (words, rules, dealer, players)
    # Of a line and the scores before its deal: the record's other numbers by side, then.
    read_before: Callable[[Line, Scores], dict[str, Scores]]


def read_number(name: str, word: str, mark: str, low: int, high: int) -> int:
    """Return the number after ``mark``."""
    digits = word.removeprefix(mark)
    given = word.startswith(mark) and re.fullmatch(r"[0-9]{1,10}", digits)
    if not given or not low <= int(digits) <= high:
        raise ValueError(f"{name} must be {mark}{low} to {mark}{high}, got {word!r}")
    return int(digits)


def read_scores(name: str, word: str, sides: int = 2, mark: str = "/") -> Scores:
    """Return whole numbers, one a side, with ``mark`` between them."""
    if not re.fullmatch(mark.join(["[0-9]{1,6}"] * sides), word):
        example = mark.join(str(3 + 2 * side) for side in range(sides))
        raise ValueError(f"{name} must be {in_words(sides)} whole numbers such as {example}, got {word!r}")
    return tuple(map(int, word.split(mark)))


def read_each(name: str, word: str, seats: int = 2) -> list[str]:
    """Return the parts of a field that is given for each seat."""
    parts = word.split("/")
    if len(parts) != seats:
        raise ValueError(f"{name} must be given for {seats} seats, with a / between them: {word!r}")
    return parts


def read_cards(name: str, word: str) -> list[int]:
    """Return cards written without spaces."""
    cards = re.findall(CARD, word)
    if "".join(cards) != word:
        raise ValueError(f"{name} must be cards such as 5HTS, got {word!r}")
    return [parse_card(card) for card in cards]


def format_scores(values: Any) -> str:
    """Return numbers with a / between them."""
    return "/".join(str(value) for value in values)
