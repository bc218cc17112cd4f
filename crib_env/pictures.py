"""A game as a drawing, for one seat's eyes or for all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crib_env.engine.family import Family
from crib_env.engine.record import NONE, Array
from crib_env.events import Event
from crib_env.render.svg.document import document, framed
from crib_env.render.svg.scene import Scene
from crib_env.rules import Rules

KNOWS = ("seat", "seats", "all")


class Pictures:
    """What `Game` does to be looked at."""

    family: Family
    rules: Rules
    players: int
    states: Array

    @property
    def seat(self) -> int:
        """The seat to move."""
        raise NotImplementedError

    @property
    def deals(self) -> int:
        """How many deals this episode has had."""
        raise NotImplementedError

    @property
    def events(self) -> list[Event]:
        """What was pegged by the last action."""
        raise NotImplementedError

    def view(self, seat: int) -> np.void:
        """Return a copy of what ``seat`` may know, as a view record."""
        raise NotImplementedError

    def svg(
        self,
        seat: int | None = None,
        *,
        knows: str = "seat",
        theme: str = "auto",
        names: Sequence[str] | None = None,
        title: str | None = None,
    ) -> str:
        """Return the game as an SVG that needs nothing else.

        Args:
            seat: who sits below; by default the seat to move.
            knows: what is shown: ``"seat"``, what this seat may know; ``"seats"``, what all seats
                know between them; ``"all"``, for a spectator, also the starter before it is turned.
            theme: ``"light"``, ``"dark"`` or ``"auto"``, which follows the reader's system.
            names: the players', by seat; by default ``player_0`` and so on.
            title: what is played; by default the rules' name.

        Raises:
            ValueError: no such seat, knowledge or theme, or not a name for each seat.
        """
        parts = self.drawing(seat, knows=knows, names=names, title=title)
        return document(parts, title or self.rules.name, theme)

    def drawing(
        self,
        seat: int | None = None,
        *,
        knows: str = "seat",
        names: Sequence[str] | None = None,
        title: str | None = None,
        events: Sequence[Event] | None = None,
    ) -> list[str]:
        """Return the parts of the drawing, as `crib_env.render.svg.document` puts them together.

        Args:
            seat, knows, names, title: as for `svg`.
            events: what is called; by default what was pegged by the last action.
        """
        if knows not in KNOWS:
            raise ValueError(f"knows must be one of {', '.join(map(repr, KNOWS))}, got {knows!r}")
        if names is None:
            names = [f"player_{p}" for p in range(self.players)]
        if len(names) != self.players:
            raise ValueError(f"names must be {self.players}, one a seat, got {names!r}")
        seat = self.seat if seat is None else seat
        others = [p for p in range(self.players) if p != seat] if knows != "seat" else []
        hidden = self.family.hidden_card(self.states[0]) if knows == "all" else NONE
        scene = Scene(
            self.rules, title or self.rules.name, self.deals, tuple(names),
            tuple(self.events if events is None else events),
            hidden=None if hidden == NONE else hidden,
        )  # fmt: skip
        return self.family.draw([self.view(p) for p in (seat, *others)], scene)

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_html_(self) -> str:
        return framed(self.svg())
