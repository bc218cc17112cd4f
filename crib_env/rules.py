"""The rules of the games as data: `Rules`, what a family of games adds to it, and the presets.

The engine reads these fields and has no branch by game. `Rules.preset` gives the games of the
sources by name; `dataclasses.replace` (or `Rules.preset(name, target=91)`) makes a house rule. A
game of another family is a subclass with fields of its own, whose preset is put into `PRESETS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from crib_env import rules_base
from crib_env.rules_base import LARGEST_MATCH_TARGET as LARGEST_MATCH_TARGET
from crib_env.rules_base import LARGEST_TARGET as LARGEST_TARGET
from crib_env.rules_base import Rules as Rules
from crib_env.rules_base import as_rules as as_rules
from crib_env.rules_base import find_rules as find_rules

NextDealer = Literal["loser", "winner"]


@dataclass(frozen=True, kw_only=True)
class HandRules(Rules):
    """The rules of a game in which hands are dealt, played and shown."""

    discards: ClassVar[int]  # cards that a seat discards

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_whole("match_target", 1, LARGEST_MATCH_TARGET)

    @property
    def players(self) -> int:
        """How many play."""
        raise NotImplementedError

    @property
    def dealt(self) -> int:
        """How many cards a seat is dealt."""
        raise NotImplementedError

    @property
    def match_target(self) -> int:
        """What wins a match."""
        raise NotImplementedError

    @property
    def kept(self) -> int:
        """How many cards a seat keeps for the play and the show (H1, F2, M3)."""
        return self.dealt - self.discards


@dataclass(frozen=True, kw_only=True)
class TwoHandRules(HandRules):
    """The rules of a game for two in which cards are discarded, played and shown.

    Attributes:
        dealt: cards a seat is dealt: 6 or 5 (H1, F2).
        single_count: play ends for good at 31 or when neither can play, and the last card's point
            is pegged then (F4, F5); otherwise counts follow each other and a go is pegged at once
            (H5, H7).
        for_last: what pone pegs before the first deal of a game (F1).
        match_target: game points that win a match, 1 to 7 (H11).
        skunk_margin: a game won by more than this counts ``skunk_points``.
        skunk_points: game points for a skunk.
        double_skunk_margin: a game won by more than this counts ``double_skunk_points``.
        double_skunk_points: game points for a double skunk.
        next_dealer: who deals first in a match's next game: the ``"loser"`` (H10) or ``"winner"``.
    """

    family: ClassVar[str] = "two_hand"
    engine: ClassVar[str] = "crib_env.engine.two_hand"
    players: ClassVar[int] = 2
    discards: ClassVar[int] = 2  # four of six cards stay (H1), three of five (F2)
    of_a_match: ClassVar[frozenset[str]] = frozenset({
        "for_last", "match_target", "skunk_margin", "skunk_points", "double_skunk_margin",
        "double_skunk_points", "next_dealer",
    })  # fmt: skip

    dealt: int = 6
    single_count: bool = False
    for_last: int = 0
    match_target: int = LARGEST_MATCH_TARGET
    skunk_margin: int = 30
    skunk_points: int = 2
    double_skunk_margin: int = 60
    double_skunk_points: int = 4
    next_dealer: NextDealer = "loser"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_whole("dealt", 5, 6)
        self.check_bool("single_count")
        self.check_whole("for_last", 0, self.target - 1)
        self.check_whole("skunk_margin", 0, LARGEST_TARGET)
        self.check_whole("double_skunk_margin", self.skunk_margin, LARGEST_TARGET)
        self.check_whole("skunk_points", 1, 99)
        self.check_whole("double_skunk_points", self.skunk_points, 99)
        self.check_choice("next_dealer", "loser", "winner")
        hand = self.kept
        if not hand <= self.flush_size <= hand + 1:
            raise ValueError(
                f"flush_size {self.flush_size} is not possible with hands of {hand} cards: "
                f"a flush takes the whole hand, so {hand}, or {hand + 1} with the starter"
            )

    @property
    def go_at_once(self) -> bool:
        """Whether a go is pegged at once (H5), or with the last card (F5)."""
        return not self.single_count

    def skunks(self, margin: Any) -> Any:
        """Return 1 if a game won by ``margin`` is a skunk, 2 if a double one (H11)."""
        return (margin > self.skunk_margin) * 1 + (margin > self.double_skunk_margin)

    @property
    def winner_deals(self) -> bool:
        """Whether a game's winner deals first in a match's next game."""
        return self.next_dealer == "winner"


@dataclass(frozen=True, kw_only=True)
class ManyHandRules(HandRules):
    """The rules of a game for three or four, each with five cards, of which one is discarded.

    Attributes:
        players: how many play, 3 or 4 (M1).
        partners: four play in two partnerships, who sits opposite with whom (M1); otherwise
            everyone plays for himself.
        second_go_ends: a count ends as soon as two seats running, with cards left, cannot play,
            even if another could; otherwise all others play on (M7).
        match_target: games that win a match, 1 to 7 (M11).
    """

    family: ClassVar[str] = "many_hand"
    engine: ClassVar[str] = "crib_env.engine.many_hand"
    dealt: ClassVar[int] = 5  # M2
    discards: ClassVar[int] = 1  # M3
    of_a_match: ClassVar[frozenset[str]] = frozenset({"match_target"})

    players: int = 3
    partners: bool = False
    second_go_ends: bool = False
    match_target: int = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_whole("players", 3, 4)
        self.check_bool("partners")
        self.check_bool("second_go_ends")
        self.check_whole("flush_size", self.kept, self.kept + 1)
        if self.partners and self.players % 2:
            raise ValueError(f"partners sit opposite each other: {self.players} players have none")

    @property
    def seating(self) -> Mapping[int, tuple[int, ...]]:
        """Each seat a side of its own, or two partnerships (M1)."""
        sides = self.players // 2 if self.partners else self.players
        return {self.players: tuple(seat % sides for seat in range(self.players))}


@dataclass(frozen=True, kw_only=True)
class TableTopRules(Rules):
    """The rules of Table Top and its variation: cards are placed on a 5x5 layout.

    Attributes:
        adjacency: a placed card must touch another (T5; not in Ship's variation, T11).
        score_difference: only the side with more points scores, and the difference (T13).
        partners_confer: partners know each other's current card and crib cards (T7).
    """

    family: ClassVar[str] = "table_top"
    engine: ClassVar[str] = "crib_env.engine.table_top"

    flush_size: int = 5
    adjacency: bool = True
    score_difference: bool = False
    partners_confer: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for field in ("adjacency", "score_difference", "partners_confer"):
            self.check_bool(field)


PRESETS: dict[str, Rules] = rules_base.PRESETS
"""The rules of every game by name, such as ``hoyle`` and ``table_top_ship``."""
PRESETS |= {
    "hoyle": TwoHandRules(name="hoyle"),
    "five_card": TwoHandRules(
        name="five_card", target=61, dealt=5, single_count=True, for_last=3, flush_size=3
    ),
    "three_hand": ManyHandRules(name="three_hand"),
    "four_hand": ManyHandRules(name="four_hand", players=4, partners=True),
    "table_top": TableTopRules(name="table_top"),
    "table_top_ship": TableTopRules(
        name="table_top_ship",
        target=31,
        flush_size=4,
        crib_flush_size=4,
        adjacency=False,
        score_difference=True,
    ),
}
