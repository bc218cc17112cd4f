"""What a table needs from a family of games; a module for each family provides it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from crib_env.events import Event
from crib_env.rules import Rules
from crib_play.table.calls import Call, Counted

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
