"""The toy game as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crib_env.cards import format_card, format_cards
from crib_env.engine.record import NONE
from crib_env.events import Event
from crib_env.render.words import pegged
from crib_env.rules import Rules


def hand_of(view: Any) -> list[int]:
    """Return the cards that the seat of a view holds."""
    return _cards(view["hand"])


def why_illegal(view: Any, card: int) -> str:
    """Return why ``card`` may not be laid by the seat of a view."""
    name = format_card(card) if 0 <= card < 52 else "no card"
    held = format_cards(hand_of(view))
    return f"{name} (action {card}) is not held: player_{int(view['seat'])} holds {held}"


def render(view: Any, rules: Rules, name: str, deals: int, events: Sequence[Event]) -> str:
    """Return the game as the seat of ``view`` may see it."""
    me, players = int(view["seat"]), int(view["players"])
    mover = (me + int(view["dealer"]) + 1 + int(view["pile_n"])) % players
    scores = ", ".join(str(int(score)) for score in view["scores"][:players])
    lines = [
        f"{name}, {rules.name} to {rules.target}, deal {deals}",
        f"player_{me}{'' if view['dealer'] else ' deals'} and holds "
        f"{format_cards(hand_of(view)) or 'nothing'}",
        f"laid {format_cards(_cards(view['pile'])) or 'nothing'}",
        f"scores {scores}",
        f"player_{mover} to move",
        *(f"player_{event.seat}: {pegged(event.reason, event.points, 1)}" for event in events),
    ]
    return "\n".join(lines)


def _cards(cards: Any) -> list[int]:
    return [int(card) for card in cards if card != NONE]
