"""The fields that all rules share, and how rules are found; `crib_env.rules` has each game's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Literal, Self, TypeVar, overload

import numpy as np

from crib_env.errors import check_choice, nearest, whole_number
from crib_env.rule_words import read_changes

FirstDealer = Literal["low_card", "high_card"]

# What the observations can tell apart: points still to make, and game points of a match.
LARGEST_TARGET = 209
LARGEST_MATCH_TARGET = 7


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What the rules of every game say; those of a game are of a subclass, checked when made.

    Attributes:
        family: the family of games they belong to, of the class.
        engine: the package that plays the family, of the class.
        name: what the rules are called in texts and files.
        target: points that win a game, 1 to 209 (H9, F7, T9, T13).
        flush_size: fewest cards of one suit that score in a hand, or in a Table Top line (H8, F6,
            T8, T12). In a hand all held cards must be of the suit.
        crib_flush_size: the same for the crib with the starter (H8, F6).
        first_dealer: who deals first, by the cards cut: ``"low_card"`` (H10, F1, T10) or
            ``"high_card"``.
        heels: points that the dealer's side makes when the starter is a jack (C3, T3), 0 to 9.
    """

    family: ClassVar[str]
    engine: ClassVar[str]
    # No decision depends on these; and on those of a match none in a game or a deal by itself.
    of_no_decision: ClassVar[frozenset[str]] = frozenset({"name", "first_dealer"})
    of_a_match: ClassVar[frozenset[str]] = frozenset()

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
        self.check_choice("first_dealer", "low_card", "high_card")
        self.check_whole("heels", 0, 9)

    @property
    def seating(self) -> Mapping[int, tuple[int, ...]] | None:
        """The side of each seat, by the number of players; None: as many as the family allows."""
        return None

    @property
    def high_card_deals(self) -> bool:
        """Whether the higher card cut deals first."""
        return self.first_dealer == "high_card"

    @classmethod
    def decisive_fields(cls, episode: str | None = None) -> list[str]:
        """Return the fields on which a decision can depend, in an episode if it is given."""
        without = cls.of_no_decision | (cls.of_a_match if episode not in (None, "match") else set())
        return [field.name for field in fields(cls) if field.name not in without]

    def skunks(self, margin: Any) -> Any:
        """Return 1 if a game won by ``margin`` is a skunk, 2 if a double one; of arrays, each.

        Games that know no skunks are won plainly by any margin.
        """
        return margin * 0

    @classmethod
    def preset(cls, name: str, /, **changes: Any) -> Self:
        """Return the rules called ``name``, with ``changes`` to single fields.

        Args:
            name: a key of `PRESETS`, such as ``"hoyle"`` or ``"four_hand"``; with changes of its
                own if need be, ``"hoyle[target=91,for_last=3]"``.

        Raises:
            ValueError: no such preset, no such field, or a combination that is not possible.
        """
        name, of_its_own = read_changes(name)
        changes = of_its_own | changes
        fitting = {key: rules for key, rules in PRESETS.items() if isinstance(rules, cls)}
        if name not in fitting:
            choices = f"{', '.join(fitting)}{nearest(name, fitting)}"
            raise ValueError(f"no rules are called {name!r}: choose from {choices}")
        known = [f.name for f in fields(fitting[name])]
        for field in changes:
            if field not in known:
                raise ValueError(
                    f"the rules {name!r} have no field {field!r}, only {', '.join(known)}"
                )
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

    def check_choice(self, field: str, *accepted: str) -> None:
        """Raise a ValueError unless the field is one of the accepted words."""
        check_choice(field, getattr(self, field), accepted)


PRESETS: dict[str, Rules] = {}


def as_rules(rules: str | Rules) -> Rules:
    """Return `Rules` given as such or by name, of any family; see `find_rules` for those of one."""
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


@overload
def find_rules(rules: str | Rules, family: str) -> Rules: ...
@overload
def find_rules(rules: str | Rules, family: type[R]) -> R: ...
def find_rules(rules: str | Rules, family: str | type[Rules]) -> Rules:
    """Return `Rules` given as such or by the name of a preset, for a game of ``family``.

    Args:
        rules: the rules, or what they are called, with changes as `Rules.preset` takes them.
        family: the family's name, or the class of its rules.

    Raises:
        ValueError: an unknown name, or rules of another family; the message lists what fits.
        TypeError: neither a name nor `Rules`.
    """
    kind, name = (Rules, family) if isinstance(family, str) else (family, None)

    def fits(rules: Rules) -> bool:
        return name in (None, rules.family) and isinstance(rules, kind)

    fitting = [key for key, preset in PRESETS.items() if fits(preset)]
    if isinstance(rules, str):
        if rules.partition("[")[0] not in fitting:
            raise ValueError(f"no rules for this game are called {rules!r}: choose from "
                             f"{', '.join(map(repr, fitting))}, or pass a Rules"
                             f"{nearest(rules, fitting)}")  # fmt: skip
        return Rules.preset(rules) if "[" in rules else PRESETS[rules]
    rules = as_rules(rules)
    if not fits(rules):
        raise ValueError(f"the rules {rules.name!r} are of another game: choose from "
                         f"{', '.join(map(repr, fitting))}, or change one of these")  # fmt: skip
    return rules
