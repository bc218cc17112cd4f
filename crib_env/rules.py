"""The rules of the games as data: `Rules`, the fields of each family of games, and the presets.

The engine reads these fields and has no branch by game. `Rules.preset` gives the games of the
sources by name; `dataclasses.replace` (or `Rules.preset(name, target=91)`) makes a house rule.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Literal, Self, TypeVar, get_args
from urllib.parse import unquote

import numpy as np

from crib_env.errors import check_choice, is_whole, nearest, whole_number

FirstDealer = Literal["low_card", "high_card"]
NextDealer = Literal["loser", "winner"]

# Limits of the observations: points still to make, and game points of a match.
LARGEST_TARGET = 209
LARGEST_MATCH_TARGET = 7


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The rules that every game has; a game's rules are of a subclass, checked when made.

    Attributes:
        family: the family of games they belong to, a class attribute.
        name: the name of the rules in texts and files.
        target: points that win a game, 1 to 209 (H9, F7, T9, T13).
        flush_size: fewest cards of one suit that score in a hand, or in a Table Top line (H8, F6,
            T8, T12). In a hand all held cards must be of the suit.
        crib_flush_size: the same for the crib with the starter (H8, F6).
        first_dealer: the first dealer, by the cards cut: ``"low_card"`` (H10, F1, T10) or
            ``"high_card"``.
        heels: points that the dealer's side makes when the starter is a jack (C3, T3), 0 to 9.
    """

    family: ClassVar[str]
    # Fields on which no decision depends, and fields on which one depends in a match only.
    never_decisive: ClassVar[frozenset[str]] = frozenset({"name", "first_dealer"})
    match_only: ClassVar[frozenset[str]] = frozenset()

    name: str
    target: int = 121
    flush_size: int = 4
    crib_flush_size: int = 5
    first_dealer: FirstDealer = "low_card"
    heels: int = 2

    def __post_init__(self) -> None:
        if type(self) is Rules:
            raise TypeError(
                "Rules is what all games have in common: make a TwoHandRules, a ManyHandRules or a "
                "TableTopRules, or take a preset, such as Rules.preset('hoyle')"
            )
        name: object = self.name
        if not isinstance(name, str) or not name:
            raise ValueError(f"name must be a text of one letter or more, got {name!r}")
        self.check_whole("target", 1, LARGEST_TARGET)
        self.check_whole("flush_size", 3, 5)
        self.check_whole("crib_flush_size", 4, 5)
        check_choice("first_dealer", self.first_dealer, get_args(FirstDealer))
        self.check_whole("heels", 0, 9)

    @property
    def seating(self) -> Mapping[int, tuple[int, ...]]:
        """The side of each seat, by the number of players, the default first."""
        raise NotImplementedError

    def sides_for(self, players: int | None = None) -> tuple[int, ...]:
        """Return the side of each seat; ``players`` is by default the fewest that can play.

        Raises:
            ValueError: a number of players that the rules do not have.
        """
        if players is None:
            return next(iter(self.seating.values()))
        if not is_whole(players) or players not in self.seating:
            choices = " or ".join(map(str, self.seating))
            raise ValueError(f"a game by rules={self.name!r} has {choices} players, got players={players!r}")
        return self.seating[players]

    @property
    def high_card_deals(self) -> bool:
        """Whether the higher card cut deals first."""
        return self.first_dealer == "high_card"

    @classmethod
    def decisive_fields(cls, episode: str | None = None) -> list[str]:
        """Return the fields on which a decision can depend, in an episode if it is given."""
        without = cls.never_decisive | (cls.match_only if episode not in (None, "match") else set())
        return [field.name for field in fields(cls) if field.name not in without]

    def why_refused(self, episode: str) -> str | None:
        """Return why these rules have no such episode; None if they have it."""
        return None

    def skunks(self, margin: Any) -> Any:
        """Return 1 if a game won by ``margin`` is a skunk, 2 if a double one; also of arrays.

        Rules without skunks return 0 for any margin.
        """
        return margin * 0

    @classmethod
    def preset(cls, name: str, /, **changes: Any) -> Self:
        """Return the rules called ``name``, with ``changes`` to single fields.

        Args:
            name: a key of `PRESETS`, such as ``"hoyle"`` or ``"four_hand"``; it may hold changes
                itself, ``"hoyle[target=91,for_last=3]"``.

        Raises:
            ValueError: no such preset, no such field, or a combination that is not possible.
        """
        name, of_its_own = read_changes(name)
        changes = of_its_own | changes
        fitting = {key: rules for key, rules in PRESETS.items() if isinstance(rules, cls)}
        if name not in fitting:
            choices = f"{', '.join(fitting)}{nearest(name, fitting)}"
            where = "" if cls is Rules else " for this game"
            raise ValueError(f"no rules{where} are called {name!r}: choose from {choices}")
        known = [f.name for f in fields(fitting[name])]
        for field in changes:
            if field not in known:
                raise ValueError(f"the rules {name!r} have no field {field!r}, only {', '.join(known)}")
        return replace(fitting[name], **changes)

    def check_whole(self, field: str, low: int, high: int) -> None:
        """Raise a ValueError unless the field is a whole number from ``low`` to ``high``."""
        object.__setattr__(self, field, whole_number(field, getattr(self, field), low, high))

    def check_bool(self, field: str) -> None:
        """Raise a ValueError unless the field is True or False."""
        value = getattr(self, field)
        if not isinstance(value, (bool, np.bool_)):
            raise ValueError(f"{field} must be True or False, got {value!r}")
        object.__setattr__(self, field, bool(value))


@dataclass(frozen=True, kw_only=True)
class HandRules(Rules):
    """The rules of a game in which hands are dealt, played and shown."""

    discards: ClassVar[int]  # cards that a seat discards
    match_advice: ClassVar[str] = "a match as a house rule, such as match_target=3"  # for errors

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_whole("match_target", 0, LARGEST_MATCH_TARGET)

    def why_refused(self, episode: str) -> str | None:
        """Return why these rules have no such episode; None if they have it."""
        if episode != "match" or self.match_target:
            return None
        return f"{self.name} has no match (match_target=0): choose another episode, or state {self.match_advice}"

    @property
    def players(self) -> int:
        """The number of players."""
        raise NotImplementedError

    @property
    def dealt(self) -> int:
        """How many cards a seat is dealt."""
        raise NotImplementedError

    @property
    def match_target(self) -> int:
        """The games or game points that win a match; 0: there is none."""
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
        for_last: the points that pone pegs before the first deal of a game (F1).
        match_target: game points that win a match, 1 to 7 (H11); 0: the game has no match, as with
            five cards (F7).
        skunk_margin: a game won by more than this counts ``skunk_points``.
        skunk_points: game points for a skunk; 1: there is none.
        double_skunk_margin: a game won by more than this counts ``double_skunk_points``.
        double_skunk_points: game points for a double skunk; 1: there is none.
        next_dealer: the first dealer of a match's next game: the ``"loser"`` (H10) or ``"winner"``.
    """

    family: ClassVar[str] = "two_hand"
    players: ClassVar[int] = 2
    seating: ClassVar[Mapping[int, tuple[int, ...]]] = {2: (0, 1)}
    discards: ClassVar[int] = 2  # four of six cards stay (H1), three of five (F2)
    match_advice: ClassVar[str] = (
        "a match as a house rule, such as Rules.preset('five_card', match_target=7) or "
        "rules='five_card[match_target=7]'; every game counts 1 there, unless you set "
        "skunk_points and skunk_margin, double_skunk_points and double_skunk_margin"
    )
    match_only: ClassVar[frozenset[str]] = frozenset(
        {
            "for_last",
            "match_target",
            "skunk_margin",
            "skunk_points",
            "double_skunk_margin",
            "double_skunk_points",
            "next_dealer",
        }
    )

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
        check_choice("next_dealer", self.next_dealer, get_args(NextDealer))
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
        single = (margin > self.skunk_margin) * 1 * (self.skunk_points > 1)
        double = (margin > self.double_skunk_margin) * 1 * (self.double_skunk_points > 1)
        return single + double * (2 - single)

    @property
    def winner_deals(self) -> bool:
        """Whether a game's winner deals first in a match's next game."""
        return self.next_dealer == "winner"


@dataclass(frozen=True, kw_only=True)
class ManyHandRules(HandRules):
    """The rules of a game for three or four, each with five cards, of which one is discarded.

    Attributes:
        players: how many play, 3 or 4 (M1).
        partners: four play in two partnerships, opposite seats together (M1); otherwise
            everyone plays alone.
        second_go_ends: a count ends as soon as two seats running, with cards left, cannot play,
            even if another could; otherwise all others play on (M7).
        match_target: games that win a match, 1 to 7 (M11); 0: the game has no match.
    """

    family: ClassVar[str] = "many_hand"
    dealt: ClassVar[int] = 5  # M2
    discards: ClassVar[int] = 1  # M3
    match_only: ClassVar[frozenset[str]] = frozenset({"match_target"})

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
        """Each seat a side, or two partnerships (M1)."""
        sides = self.players // 2 if self.partners else self.players
        return {self.players: tuple(seat % sides for seat in range(self.players))}


@dataclass(frozen=True, kw_only=True)
class TableTopRules(Rules):
    """The rules of Table Top and its variation: cards are placed on a 5x5 layout.

    Attributes:
        adjacency: a placed card must touch another (T5; not in Ship's variation, T11).
        score_difference: only the side with more points scores, and only the difference (T13).
        partners_confer: partners know each other's current card and crib cards (T7).
    """

    family: ClassVar[str] = "table_top"
    # Rows, columns; partners sit opposite (T1).
    seating: ClassVar[Mapping[int, tuple[int, ...]]] = {2: (0, 1), 4: (0, 1, 0, 1)}

    flush_size: int = 5
    adjacency: bool = True
    score_difference: bool = False
    partners_confer: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for field in ("adjacency", "score_difference", "partners_confer"):
            self.check_bool(field)


PRESETS: dict[str, Rules] = {
    "hoyle": TwoHandRules(name="hoyle"),
    "five_card": TwoHandRules(
        name="five_card",
        target=61,
        dealt=5,
        single_count=True,
        for_last=3,
        flush_size=3,
        match_target=0,
        skunk_points=1,
        double_skunk_points=1,
    ),
    "three_hand": ManyHandRules(name="three_hand"),
    "four_hand": ManyHandRules(name="four_hand", players=4, partners=True),
    "table_top": TableTopRules(name="table_top"),
    "table_top_ship": TableTopRules(
        name="table_top_ship", target=31, flush_size=4, crib_flush_size=4, adjacency=False, score_difference=True
    ),
}
"""The rules of every game by name, such as ``hoyle`` and ``table_top_ship``."""


def as_rules(rules: str | Rules) -> Rules:
    """Return `Rules` given as such or by name, of any family; `find_rules` checks the family."""
    if isinstance(rules, str):
        return Rules.preset(rules)
    if not isinstance(rules, Rules):
        raise TypeError(f"rules must be the name of a preset or a Rules, got {rules!r}")
    return rules


R = TypeVar("R", bound=Rules)


def games_of(*families: str) -> str:
    """Return families of games in a user's words, by the names of their presets."""
    names = [name for name, rules in PRESETS.items() if rules.family in families]
    return " or ".join(names or families)


def find_rules(rules: str | Rules, kind: type[R]) -> R:
    """Return `Rules` given as such or by the name of a preset, for games of one kind.

    Args:
        rules: the rules, or their name, with changes as `Rules.preset` takes them.
        kind: the class of the rules of these games.

    Raises:
        ValueError: an unknown name, or rules of another family; the message lists what fits.
        TypeError: neither a name nor `Rules`.
    """
    if isinstance(rules, str):
        return kind.preset(rules)
    given = as_rules(rules)
    if not isinstance(given, kind):
        fitting = ", ".join(repr(name) for name, preset in PRESETS.items() if isinstance(preset, kind))
        raise ValueError(f"the rules {given.name!r} are of another game: choose from {fitting}, or change one of these")
    return given


def read_changes(word: str) -> tuple[str, dict[str, Any]]:
    """Return a preset's name and the changes of a word such as ``hoyle[target=91,for_last=3]``."""
    if "[" not in word and "]" not in word:
        return word, {}
    found = re.fullmatch(r"([^\[\]]+)\[(.*)\]", word)
    if not found:
        raise ValueError(f"rules must be a preset with its changes, 'hoyle[target=91]': {word!r}")
    changes: dict[str, Any] = {}
    for change in filter(None, found[2].split(",")):
        field, _, value = change.partition("=")
        if field in changes:
            raise ValueError(f"{field!r} is changed twice: {word!r}")
        changes[field] = unquote(value)
        if field != "name" and re.fullmatch("True|False|[0-9]{1,9}", value):
            changes[field] = int(value) if value.isdigit() else value == "True"
    return found[1], changes
