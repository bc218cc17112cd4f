"""The calls at the table, and what is counted in a show."""

from __future__ import annotations

from dataclasses import dataclass

from crib_env.render.words import in_words
from crib_env.rules import Rules


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
    """

    seat: int
    name: str
    cards: tuple[int, ...]
    starter: int | None
    points: int
    call: str


def heels_call(rules: Rules) -> str:
    """Return what the dealer says when a jack is turned up (C3)."""
    return f"{in_words(rules.heels)} for his heels"
