"""Rules and agents: the fields that agents honour, checks of views, rules read from files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt

from crib_agents.files import shown
from crib_env.policy import Views
from crib_env.rules import PRESETS, Rules, TwoHandRules

LONGEST = 400  # characters shown of an error

# Fields that the expert honours: its tables are measured under the presets. In the two-hand games
# `knowledge.deal_points` adjusts the measured points to other heels.
HONOURS = frozenset({"target", "match_target", "partners_confer", "two_hand.heels"})
# Fields that do not affect a choice made for the points of a deal.
FOR_POINTS = TwoHandRules.match_only | {"target", "heels", "score_difference", "partners_confer"}
# The same for simple agents: `greedy` reads a flush's length from its view and ignores the crib;
# `rule_based` uses its charts under any rules.
BY_CARDS = FOR_POINTS | {
    "dealt",
    "single_count",
    "flush_size",
    "crib_flush_size",
    "adjacency",
    "second_go_ends",
    "players",
    "partners",
}


def presets_of(family: str) -> tuple[Rules, ...]:
    """Return the presets of one family, as ``known_rules`` of an agent that plays only these."""
    return tuple(rules for rules in PRESETS.values() if rules.family == family)


def refuse_waiting_seats(name: str, views: Views) -> None:
    """Raise a ValueError if a view is of a seat that is not to move."""
    if not views["legal"].all():
        i = int(np.flatnonzero(views["legal"] == 0)[0])
        raise ValueError(f"{name} was given view {i} of seat {views['seat'][i]}, which is not to move")


def group_rows(keys: npt.NDArray[Any]) -> Iterator[tuple[tuple[int, ...], npt.NDArray[np.intp]]]:
    """Yield each distinct row of int64[B, K], with the indices of the rows equal to it."""
    distinct, group = np.unique(keys, axis=0, return_inverse=True)
    for i, key in enumerate(distinct.tolist()):
        yield tuple(key), np.flatnonzero(group.ravel() == i)


def one_line(error: BaseException) -> str:
    """Return an error's first line without terminal colours, cut to `LONGEST`."""
    plain = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", str(error))
    text = next(filter(None, map(str.strip, plain.splitlines())), type(error).__name__)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."


def fields_of(rules: Rules) -> dict[str, Any]:
    """Return the fields of rules, without their name."""
    fields = asdict(rules)
    del fields["name"]
    return fields


def read_rules(family: object, name: object, fields: Any, needs: Iterable[str] = ()) -> Rules:
    """Return the rules stated in a file's header, which must have the fields ``needs``."""
    kinds = {rules.family: type(rules) for rules in PRESETS.values()}
    if not isinstance(family, str) or family not in kinds:
        raise ValueError(f"expected a family of games ({', '.join(kinds)}), found {shown(family)}")
    if not isinstance(name, str) or not isinstance(fields, dict):
        raise ValueError(f"expected the name of the rules and their fields, found {shown(name)} and {shown(fields)}")
    if missing := [need for need in needs if need not in fields]:
        raise ValueError(f"its header lacks {missing[0]!r} of the rules {shown(name)}")
    try:
        return kinds[family](**{**fields, "name": name})
    except (TypeError, ValueError) as error:  # an unknown field, or an invalid value
        raise ValueError(f"its rules {shown(name)} are not possible: {error}") from None
