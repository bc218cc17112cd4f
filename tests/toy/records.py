"""The records of the toy game, and its rules as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from crib_env.engine.record import log_size, record
from crib_env.rules import PRESETS, Rules

HAND = 2
SEATS = 3  # the most that play; each is a side

DEAL = 0
GAME = 1

LOG_SIZE = log_size(5)  # heels, the highest card, and each seat's kept card


@dataclass(frozen=True, kw_only=True)
class ToyRules(Rules):
    """The rules of the toy game.

    Attributes:
        higher_points: what the highest card laid pegs.
    """

    family: ClassVar[str] = "toy"
    engine: ClassVar[str] = "toy"

    target: int = 11
    higher_points: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_whole("higher_points", 1, 9)


PRESETS["toy"] = ToyRules(name="toy")

RULES = record("players", "sides", ("side_of", SEATS), "target", "higher_points", "episode")

TOY = record(
    ("rng", 4),
    "players",
    "to_move",
    "dealer",
    ("dealt", SEATS * HAND),  # seat p's i-th card lies at HAND * p + i
    ("held", SEATS),  # which of them the seat still holds, one bit a card
    ("pile", SEATS),  # the cards laid face up, the dealer's last
    "pile_n",
    "starter",
    ("scores", SEATS),
    ("start", SEATS),
    ("gain", SEATS),
    "winner",
    "deals",
    "given",
    "given_end",
    "over",
)

VIEW = record(
    "seat",
    "players",
    "to_move",
    "dealer",  # so many seats to the left of this one
    "starter",  # NONE until it is turned, which ends the deal
    ("hand", HAND),
    "hand_n",
    "legal",  # which of hand may be laid, one bit a card
    ("pile", SEATS),
    "pile_n",
    ("scores", SEATS),  # mine, then those of the seats to the left
    "target",
)
