"""Functions that a table needs from a family of games; each family has a module."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from crib_env.arrays import View
from crib_env.events import Event
from crib_env.render.words import in_words
from crib_env.rules import Rules
from crib_env.scoring.explained import Score


@dataclass(frozen=True)
class Call:
    """A call by a player."""

    seat: int  # the speaker; if sides score, a seat of the side
    text: str  # such as "fifteen for two"
    points: int = 0  # points pegged with it, 0 for words alone
    cards: tuple[int, ...] = ()  # the ids of the cards it is about, all public


@dataclass(frozen=True)
class Counted:
    """A hand, a crib or a line that is counted, face up (H8, T8)."""

    seat: int  # the seat that scores; if sides score, a seat of the side
    name: str  # "hand", "crib", "row 1", "column 5"
    cards: tuple[int, ...]  # the ids, without the starter; of a line all five in order
    starter: int | None  # if it is counted with the cards and is not one of them
    points: int
    call: str  # the count as spoken
    parts: tuple[tuple[str, int, tuple[int, ...]], ...]  # each combination's name, points, cards

    @classmethod
    def of(cls, seat: int, name: str, cards: Sequence[int], starter: int | None, score: Score) -> Counted:
        """Return the counted cards with their score."""
        parts = tuple((part.name, part.points, part.cards) for part in score.parts)
        return cls(seat, name, tuple(cards), starter, score.points, score.call, parts)


def heels_call(rules: Rules) -> str:
    """Return the dealer's call for a jack turned up (C3)."""
    return f"{in_words(rules.heels)} for heels"


Sight = dict[str, Any]


@dataclass(frozen=True)
class Done:
    """A turn just taken, with the views of all seats before it."""

    rules: Rules
    seat: int  # the seat that took it
    dealer: int  # the seat that dealt
    actions: tuple[int, ...]  # two where two cards were discarded at once
    before: Sequence[View]  # the view of each seat before it, by seat
    after: View  # the acting seat's view after it
    events: Sequence[Event]  # points pegged, and counts of zero points
    ended: bool  # whether it ended the deal, or in Table Top the round


@dataclass(frozen=True)
class TableFamily:
    """A family of games as it is played at a table."""

    name: str
    sides: tuple[str, str] | None  # names of the sides; None: each seat is a side
    to_choose: Callable[[View], int]  # how many actions the seat to move decides on at once
    phase: Callable[[View], str]  # the name of its decision
    sight: Callable[[View, Rules], Sight]  # a seat's view as plain data for any screen
    opening: Callable[[View, Rules], list[Call]]  # calls before the first turn
    calls_of: Callable[[Done], list[Call]]  # calls with a turn
    counted: Callable[[Done], list[Counted]]  # the counts at its end
    spoken: Callable[[View, Sequence[int]], str]  # words for actions, such as "play 5H"
    read: Callable[[str, View], tuple[int, ...]]  # the actions named by typed text
    ask: Callable[[View], str]  # what to type, in a few words
    how: str  # and in full
    judge: str = "expert"  # the agent whose values hints, costs and reviews show
