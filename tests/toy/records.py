"""The records of the toy game, and its rules as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from crib_env.engine.log import log_size
from crib_env.engine.record import record
from crib_env.rules import PRESETS, Rules

HAND = 2

DEAL = 0
GAME = 1

LOG_SIZE = log_size(4)  # heels, the higher card, and each seat's kept card


@dataclass(frozen=True, kw_only=True)
class ToyRules(Rules):
    """The rules of the toy game.

    Attributes:
        higher_points: what the higher card laid pegs.
    """

    family: ClassVar[str] = "toy"
    engine: ClassVar[str] = "toy"

    target: int = 11
    higher_points: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_whole("higher_points", 1, 9)


PRESETS["toy"] = ToyRules(name="toy")

RULES = record("players", "sides", ("side_of", 2), "target", "higher_points", "episode")

TOY = record(
    ("rng", 4),
    "to_move",
    "dealer",
    ("dealt", 2 * HAND),  # seat p's i-th card lies at HAND * p + i
    ("held", 2),  # which of them the seat still holds, one bit a card
    ("pile", 2),  # the cards laid face up: pone's, the dealer's
    "pile_n",
    "starter",
    ("scores", 2),
    ("start", 2),
    ("gain", 2),
    "winner",
    "deals",
    "given",
    "given_end",
    "over",
)

VIEW = record(
    "seat",
    "to_move",
    "is_dealer",
    "starter",  # NONE until it is turned, which ends the deal
    ("hand", HAND),
    "hand_n",
    "legal",  # which of hand may be laid, one bit a card
    ("pile", 2),
    "pile_n",
    ("scores", 2),  # mine, theirs
    "target",
)
