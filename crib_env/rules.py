"""`Rules`: every number and choice in which the games differ, and the presets of the three sources.

Rules are data: the engine reads these fields and has no branch by game. `Rules.preset` gives the
games by name; `dataclasses.replace` (or `Rules.preset(name, target=91)`) makes a house rule.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Literal

FirstDealer = Literal["low_card", "high_card"]
NextDealer = Literal["loser", "winner"]
Family = Literal["two_hand", "table_top"]

LARGEST_TARGET = 209  # what the observation's thermometer of points still to make can tell apart


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The rules of a game, checked when made.

    Attributes:
        name: what the rules are called in texts and files.
        family: ``"two_hand"`` (lay away, play, show) or ``"table_top"`` (the 5x5 layout).
        target: points that win a game, 1 to 209 (H9, F7, T9, T13).
        dealt: cards a seat is dealt in a two-hand game: 6 or 5 (H1, F2).
        single_count: play ends for good at 31 or when neither can play, and the last card's point
            is pegged then (F4, F5); otherwise counts follow each other and a go is pegged at once
            (H5, H7).
        for_last: what pone pegs before the first deal of a game (F1).
        flush_size: fewest cards of one suit that score in a hand, or in a Table Top line (H8, F6,
            T8, T12). In a hand all held cards must be of the suit.
        crib_flush_size: the same for the crib with the starter (H8, F6).
        match_target: game points that win a match (H11).
        skunk_margin: a game won by more than this counts ``skunk_points``.
        skunk_points: game points for a skunk.
        double_skunk_margin: a game won by more than this counts ``double_skunk_points``.
        double_skunk_points: game points for a double skunk.
        first_dealer: who deals first, by the cards cut: ``"low_card"`` (H10, F1, T10) or
            ``"high_card"``.
        next_dealer: who deals first in a match's next game: the ``"loser"`` (H10) or ``"winner"``.
        adjacency: a placed card must touch another (T5; not in Ship's variation, T11).
        score_difference: only the side with more points scores, and the difference (T13).
        partners_confer: partners know each other's current card and crib cards (T7).
        muggins: claiming points the other overlooked. Counting is automatic here and overlooks
            nothing, so only ``False`` is possible.
    """

    name: str
    family: Family = "two_hand"
    target: int = 121
    dealt: int = 6
    single_count: bool = False
    for_last: int = 0
    flush_size: int = 4
    crib_flush_size: int = 5
    match_target: int = 7
    skunk_margin: int = 30
    skunk_points: int = 2
    double_skunk_margin: int = 60
    double_skunk_points: int = 4
    first_dealer: FirstDealer = "low_card"
    next_dealer: NextDealer = "loser"
    adjacency: bool = True
    score_difference: bool = False
    partners_confer: bool = True
    muggins: bool = False

    def __post_init__(self) -> None:
        _choice("family", self.family, ("two_hand", "table_top"))
        _choice("first_dealer", self.first_dealer, ("low_card", "high_card"))
        _choice("next_dealer", self.next_dealer, ("loser", "winner"))
        for name in ("single_count", "adjacency", "score_difference", "partners_confer", "muggins"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{name} must be True or False, got {getattr(self, name)!r}")
        _whole("target", self.target, 1, LARGEST_TARGET)
        _whole("dealt", self.dealt, 5, 6)
        _whole("for_last", self.for_last, 0, self.target - 1)
        _whole("flush_size", self.flush_size, 3, 5)
        _whole("crib_flush_size", self.crib_flush_size, 4, 5)
        _whole("match_target", self.match_target, 1, 99)
        _whole("skunk_margin", self.skunk_margin, 0, LARGEST_TARGET)
        _whole("double_skunk_margin", self.double_skunk_margin, 0, LARGEST_TARGET)
        _whole("skunk_points", self.skunk_points, 1, 99)
        _whole("double_skunk_points", self.double_skunk_points, 1, 99)
        if self.muggins:
            raise ValueError(
                "muggins=True is not possible: the count is automatic and overlooks nothing"
            )
        if self.double_skunk_margin < self.skunk_margin:
            raise ValueError(
                f"double_skunk_margin ({self.double_skunk_margin}) must not be below "
                f"skunk_margin ({self.skunk_margin})"
            )
        if self.double_skunk_points < self.skunk_points:
            raise ValueError(
                f"double_skunk_points ({self.double_skunk_points}) must not be below "
                f"skunk_points ({self.skunk_points})"
            )
        if self.family == "two_hand":
            if self.score_difference:
                raise ValueError("score_difference=True belongs to Table Top: a two-hand game is "
                                 "won on the board by who pegs the target first")  # fmt: skip
            hand = self.dealt - 2
            if self.flush_size < hand:
                raise ValueError(
                    f"flush_size {self.flush_size} is not possible with hands of {hand} cards: "
                    f"a flush takes the whole hand, so {hand} or {hand + 1}"
                )
            if self.flush_size > hand + 1:
                raise ValueError(
                    f"flush_size {self.flush_size} can never be reached by a hand of {hand} cards "
                    f"and the starter"
                )
        elif self.single_count or self.for_last:
            raise ValueError("single_count and for_last belong to the two-hand games: Table Top "
                             "has no play of the cards")  # fmt: skip

    @property
    def engine(self) -> str:
        """The import path of the package that plays these rules."""
        return f"crib_env.engine.{self.family}"

    @property
    def high_card_deals(self) -> bool:
        """Whether the higher card cut deals first."""
        return self.first_dealer == "high_card"

    @property
    def winner_deals(self) -> bool:
        """Whether a game's winner deals first in a match's next game."""
        return self.next_dealer == "winner"

    @classmethod
    def preset(cls, name: str, **changes: Any) -> Rules:
        """Return the rules called ``name``, with ``changes`` to single fields.

        Args:
            name: ``"hoyle"``, ``"five_card"``, ``"table_top"`` or ``"table_top_ship"``.

        Raises:
            ValueError: no such preset, no such field, or a combination that is not possible.
        """
        if name not in PRESETS:
            raise ValueError(f"no rules are called {name!r}: choose from {', '.join(PRESETS)}")
        known = [f.name for f in fields(cls)]
        for field in changes:
            if field not in known:
                raise ValueError(f"Rules has no field {field!r}: its fields are {', '.join(known)}")
        return replace(PRESETS[name], **changes)


def _choice(name: str, value: object, accepted: tuple[str, ...]) -> None:
    if value not in accepted:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, accepted))}, got {value!r}")


def _whole(name: str, value: object, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ValueError(f"{name} must be a whole number from {low} to {high}, got {value!r}")


PRESETS: dict[str, Rules] = {
    "hoyle": Rules(name="hoyle"),
    "five_card": Rules(
        name="five_card", target=61, dealt=5, single_count=True, for_last=3, flush_size=3
    ),
    "table_top": Rules(name="table_top", family="table_top", flush_size=5),
    "table_top_ship": Rules(
        name="table_top_ship",
        family="table_top",
        target=31,
        flush_size=4,
        crib_flush_size=4,
        adjacency=False,
        score_difference=True,
    ),
}


def find_rules(rules: str | Rules, family: Family) -> Rules:
    """Return `Rules` given as such or by the name of a preset, for a game of ``family``.

    Raises:
        ValueError: an unknown name, or rules of another family; the message lists what fits.
        TypeError: neither a name nor `Rules`.
    """
    if isinstance(rules, str):
        fitting = [name for name, preset in PRESETS.items() if preset.family == family]
        if rules not in fitting:
            raise ValueError(f"no rules for this game are called {rules!r}: choose from "
                             f"{', '.join(map(repr, fitting))}, or pass a Rules")  # fmt: skip
        return PRESETS[rules]
    if not isinstance(rules, Rules):
        raise TypeError(f"rules must be the name of a preset or a Rules, got {rules!r}")
    if rules.family != family:
        raise ValueError(f"the rules {rules.name!r} are of the family {rules.family!r}; this "
                         f"environment plays {family!r}")  # fmt: skip
    return rules
