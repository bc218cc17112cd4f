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
        hidden: a card that no seat knows, where it may be shown: the starter before it is turned.
    """

    rules: Rules
    title: str
    deals: int
    names: Sequence[str]
    events: Sequence[Event] = ()
    hidden: int | None = None
