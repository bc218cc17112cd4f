"""What a table needs from a family of games; a module for each family provides it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from crib_env.events import Event
from crib_env.render.words import in_words
from crib_env.rules import Rules
from crib_env.scoring.explained import Score


@dataclass(frozen=True)
class Call:
    """Something a player says.

    Attributes:
        seat: who says it; where sides score, one of the side.
        text: the words, such as ``"fifteen for two"``.
        points: what is pegged with it, 0 for words alone.
        cards: the ids of the cards it is about, all open to everybody.
    """

    seat: int
    text: str
    points: int = 0
    cards: tuple[int, ...] = ()


@dataclass(frozen=True)
class Counted:
    """A hand, a crib or a line that is counted, face up (H8, T8).

    Attributes:
        seat: whose points they are; where sides score, one of the side.
        name: ``"hand"``, ``"crib"``, ``"row 1"``, ``"column 5"``.
        cards: the ids, without the starter; of a line all five in order.
        starter: the starter, where it is counted with them and is not one of them; else None.
        points: what they make.
        call: the count as spoken.
        parts: what scores, in the order in which it is counted: name, points and cards.
    """

    seat: int
    name: str
    cards: tuple[int, ...]
    starter: int | None
    points: int
    call: str
    parts: tuple[tuple[str, int, tuple[int, ...]], ...]

    @classmethod
    def of(
        cls, seat: int, name: str, cards: Sequence[int], starter: int | None, score: Score
    ) -> Counted:
        """Return what is counted, with its score."""
        parts = tuple((part.name, part.points, part.cards) for part in score.parts)
        return cls(seat, name, tuple(cards), starter, score.points, score.call, parts)


def heels_call(rules: Rules) -> str:
    """Return what the dealer says when a jack is turned up (C3)."""
    return f"{in_words(rules.heels)} for heels"


View = Any
Sight = dict[str, Any]


@dataclass(frozen=True)
class Done:
    """A turn just taken, as those may know it who speak of it.

    Attributes:
        rules: the rules.
        seat: who took it.
        dealer: the seat that deals.
        actions: what was done, two actions where two cards were discarded at once.
        before: what each seat knew before it, by seat.
        after: what the seat that took it knows now.
        events: what was pegged, and what was counted and made nothing.
        ended: whether it ended the deal, or in Table Top the round.
    """

    rules: Rules
    seat: int
    dealer: int
    actions: tuple[int, ...]
    before: Sequence[View]
    after: View
    events: Sequence[Event]
    ended: bool


@dataclass(frozen=True)
class TableFamily:
    """A family of games as it is played at a table.

    Attributes:
        name: the family's.
        sides: what the sides are called that score together; None where each seat is its own.
        to_choose: of a view of a seat to move, how many actions it decides on at once.
        phase: of a view of a seat to move, what the decision is called.
        sight: of a view and rules, what its seat sees, as plain data for any screen.
        opening: of a view and rules, what is said aloud before the first turn.
        calls_of: what is said aloud with a turn. counted: what is counted at the end of it.
        spoken: of a view and actions, words for them, such as ``"play 5H"``.
        read: of the words a person typed and a view, the actions meant.
        ask: what to type, in a few words; how: in full.
    """

    name: str
    sides: tuple[str, str] | None
    to_choose: Callable[[View], int]
    phase: Callable[[View], str]
    sight: Callable[[View, Rules], Sight]
    opening: Callable[[View, Rules], list[Call]]
    calls_of: Callable[[Done], list[Call]]
    counted: Callable[[Done], list[Counted]]
    spoken: Callable[[View, Sequence[int]], str]
    read: Callable[[str, View], tuple[int, ...]]
    ask: Callable[[View], str]
    how: str
