"""Pairs of cards to discard: an agent chooses both, the game takes one at a time."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from crib_env.engine.hands.text import hand_of

MOST_STORED = 10_000  # of games that were broken off


class SecondDiscards:
    """The second card of each pair that was chosen, until its decision comes.

    A view does not name its game, so the lookup uses what its seat knows. If two games are equal in
    that, their pairs may change places.
    """

    def __init__(self) -> None:
        self._cards: dict[Hashable, list[int]] = {}

    def put(self, view: Any, first: int, second: int, game: Hashable = None) -> None:
        """Store the second card of a pair chosen in a view; ``game`` tells equal games apart."""
        if len(self._cards) >= MOST_STORED:
            self._cards.pop(next(iter(self._cards)))
        self._cards.setdefault((game, _decision(view, first)), []).append(second)

    def take(self, view: Any, game: Hashable = None) -> int | None:
        """Return the card stored for this decision, once, or None."""
        if not self._cards or "discarded" not in view.dtype.names:
            return None
        key = game, _decision(view)
        if (cards := self._cards.get(key)) is None:
            return None
        card = cards.pop(0)
        if not cards:
            del self._cards[key]
        return card


def _decision(view: Any, *gone: int) -> Hashable:
    """Return what tells the decision after the cards ``gone`` are discarded from all others."""
    discarded = {*view["discarded"][: view["discarded_n"]].tolist(), *gone}
    return (
        frozenset({*hand_of(view), *discarded}), frozenset(discarded), int(view["seat"]),
        int(view["dealer"]), int(view["deals"]), *view["scores"].tolist(),
        *view["match_score"].tolist(),
    )  # fmt: skip
