"""What a picture shows besides what views hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from crib_env.events import Event
from crib_env.rules import Rules


@dataclass(frozen=True)
class Scene:
    """What is the same for whoever looks.

    Attributes:
        rules: the rules.
        title: what is played, such as ``"six_card_v0"``.
        deals: deals dealt in this episode.
        names: the players', by seat.
        events: what was pegged last, to be called.
        calls: what is called, as side and words, where it is not what was pegged.
        says: a line in place of whose turn it is.
        marked: cards to be outlined, where nobody is to move.
        crib: the crib, once it lies open to be counted.
        hidden: a card that no seat knows, where it may be shown: the starter before it is turned.
    """

    rules: Rules
    title: str
    deals: int
    names: Sequence[str]
    events: Sequence[Event] = ()
    calls: Sequence[tuple[int, str]] | None = None
    says: str | None = None
    marked: frozenset[int] = frozenset()
    crib: Sequence[int] = ()
    hidden: int | None = None

    def heading(self, deal: str) -> str:
        """Return what is played, to how many points, and which deal it is.

        Args:
            deal: what a deal is called.
        """
        named = f"{self.title} · " if self.title != self.rules.name else ""
        return f"{named}{self.rules.name} to {self.rules.target} · {deal} {self.deals}"
