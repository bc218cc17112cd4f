"""The points pegged, as objects: `Event`, read from the engine's log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from crib_env.cards import format_cards

# Why points are pegged; the indices are the reason numbers of crib_env.engine.record.
REASONS = (
    "for_last", "heels", "fifteen", "pair", "run", "thirty_one", "go", "last", "hand", "crib",
    "line", "difference",
)  # fmt: skip
LOG_WIDTH = 4  # of a row of the log: side (its seat, of two hands), points, reason, cards as a 52-bit mask


@dataclass(frozen=True)
class Event:
    """Points pegged at one moment.

    Attributes:
        seat: the seat that pegged them; the side, if partners score together.
        points: how many, after the cap at the target (C5).
        reason: one of `REASONS`.
        cards: the ids of the cards that made them, ascending; empty where none did.
        name: the name of partners in texts; empty where each seat is a side.
    """

    seat: int
    points: int
    reason: str
    cards: tuple[int, ...]
    name: str = field(default="", compare=False, repr=False)

    def __str__(self) -> str:
        cards = f" ({format_cards(self.cards)})" if self.cards else ""
        return f"{self.name or f'player_{self.seat}'} {self.reason} {self.points}{cards}"


def read_log(log: npt.NDArray[np.int64], *, include_zero: bool = False, sides: Sequence[int] = ()) -> list[Event]:
    """Return the events in an engine log (int64[L]); ``sides`` only for the names of partners."""
    partners: dict[int, str] = {}
    for side in {*sides}:
        seats = [str(seat) for seat, of in enumerate(sides) if of == side]
        partners[side] = f"seats {', '.join(seats)}" if len(seats) > 1 else ""
    events = []
    for row in range(int(log[0])):
        seat, points, reason, mask = (int(x) for x in log[1 + LOG_WIDTH * row : 1 + LOG_WIDTH * (row + 1)])
        if points == 0 and not include_zero:
            continue
        cards = tuple(card for card in range(52) if mask >> card & 1)
        events.append(Event(seat, points, REASONS[reason], cards, partners.get(seat, "")))
    return events
