"""The rules that an agent plays: it names the fields that it honours, and is refused under others.

An agent honours a field of the rules if it plays correctly for any value: it reads the field, or
none of its choices depends on it. All other fields must have the values of rules that it knows.
`ByIdentity` stores which agents have been checked.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import fields
from functools import cache
from typing import Any, Generic, NamedTuple, TypeVar
from weakref import ref

import numpy as np

from crib_env.arrays import Ints
from crib_env.engine.family import Family, family_of
from crib_env.rules import PRESETS, Rules, games_of

V = TypeVar("V")

WORD = np.dtype(np.int64).itemsize  # bytes of each number in a record
ANY_RULES = "'random' plays by any rules"


class ByIdentity(Generic[V]):
    """Values by object, as long as the object lives; equal objects have separate values.

    Objects that take no weak reference are not remembered. Copies and pickles are empty.
    """

    def __init__(self) -> None:
        self._values: dict[int, tuple[ref[Any], V]] = {}

    def __len__(self) -> int:
        return len(self._values)

    def __reduce__(self) -> tuple[type[ByIdentity[V]], tuple[()]]:
        return ByIdentity, ()

    def get(self, one: object) -> V | None:
        """Return the value of an object, or None."""
        found = self._values.get(id(one))
        return found[1] if found is not None and found[0]() is one else None

    def put(self, one: object, value: V) -> None:
        """Set the value of an object."""
        values, key = self._values, id(one)
        with suppress(TypeError):  # it takes no weak reference
            values[key] = ref(one, lambda _: values.pop(key, None)), value


def refuse_rules(agent: Any, rules: Rules, episode: str | None = None) -> None:
    """Raise a ValueError unless an agent plays by these rules."""
    if (check := getattr(agent, "refuse_rules", None)) is not None:
        check(rules, episode)
    else:
        refuse_undeclared(agent, rules, episode)


def refuse_undeclared(agent: Any, rules: Rules, episode: str | None = None) -> None:
    """Raise a ValueError unless an agent's attributes declare these rules; see `refuse_rules`."""
    known: Collection[Rules] = getattr(agent, "known_rules", ())
    acts: Collection[str] = getattr(agent, "acts", ())
    if known:
        refuse_family(agent, rules, {one.family for one in known}, known)
    if acts:
        refuse_family(agent, rules, acts)
    found = {name: getattr(rules, name) for name in rules.decisive_fields(episode)}
    _refuse(agent, rules.family, found)


def refuse_family(agent: Any, rules: Rules, families: Collection[str], known: Collection[Rules] = ()) -> None:
    """Raise a ValueError unless these rules are of one of the families that an agent plays."""
    if rules.family in families:
        return
    names = [one.name for one in known or PRESETS.values() if one.family in families]
    raise ValueError(
        f"{agent.name} does not play {rules.name}: it plays {', '.join(names) or 'other games'}; "
        f"{getattr(agent, 'other_rules', ANY_RULES)}"
    )


def refuse_views(agent: Any, views: Any) -> None:
    """Raise a ValueError unless an agent plays by the rules that views show; see `refuse_rules`."""
    if not len(views):
        return
    shown = shown_fields(family_of(views))
    words = views.view(np.int64) if views.flags.c_contiguous else np.array(views).view(np.int64)
    values = words.reshape(len(views), -1)[:, shown.columns]
    known = _passed.get(agent)
    if known is not None and known.shape == values.shape[1:] and (values == known).all():
        return
    for row in np.unique(values, axis=0):
        _refuse(agent, shown.family, dict(zip(shown.names, row.tolist(), strict=True)))
    _passed.put(agent, values[0])


class Shown(NamedTuple):
    """The fields of the rules in a family's views, and their columns among a view's numbers."""

    family: str
    names: tuple[str, ...]
    columns: Ints


# The rules of an agent's last views, if it plays by them: most batches are of one game.
_passed: ByIdentity[Ints] = ByIdentity()


@cache
def shown_fields(family: Family) -> Shown:
    """Return the fields of the rules that a family's views hold."""
    preset = next(rules for rules in PRESETS.values() if rules.family == family.name)
    places = {name: place[1] for name, place in (family.view.fields or {}).items()}
    names = [field.name for field in fields(preset) if field.name in places]
    offsets = [places[name] for name in names]
    return Shown(family.name, tuple(names), np.array(offsets) // WORD)


def _refuse(agent: Any, family: str, found: Mapping[str, Any]) -> None:
    """Raise a ValueError if an agent does not play by these values of a family's rules."""
    honours = getattr(agent, "honours", None)
    if honours is None:
        return
    everywhere = getattr(agent, "known_rules", PRESETS.values())
    known = [rules for rules in everywhere if rules.family == family]
    apart = [
        {
            name: getattr(rules, name)
            for name, value in found.items()
            if honours.isdisjoint((name, f"{family}.{name}")) and getattr(rules, name) != value
        }
        for rules in known
    ]
    if known and not all(apart):
        return
    where, plays = games_of(family), [rules.name for rules in everywhere]
    if known:
        fewest = min(apart, key=len)  # views store a bool as a number
        found = {name: type(value)(found[name]) for name, value in fewest.items()}
        where = "where " + " and ".join(f"{name} is {value}" for name, value in found.items())
        plays = [
            f"{rules.name} ({', '.join(f'{name} {value}' for name, value in other.items())})"
            for rules, other in zip(known, apart, strict=True)
        ]
    raise ValueError(
        f"{agent.name} does not play {where}: it plays {', '.join(plays) or 'nothing'}; "
        f"{getattr(agent, 'other_rules', ANY_RULES)}"
    )
