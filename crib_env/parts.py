"""Optional parts of families of games, such as a table or an expert: the one registry.

A family is found by its engine (`crib_env.engine.family`). Everything else about one family is a
part, registered by the package that has it; ours do so in their ``__init__``. If a part is missing,
an error message says so.
"""

from __future__ import annotations

from pkgutil import resolve_name
from typing import Any

from crib_env.rules_base import games_of

# What a family lacks without a part of this kind.
LACKING = {
    "learned": "nets: the agent 'learned' does not play it",
    "expert": "expert: 'random' or an agent of your own may play it",
    "analysis": "analysis of choices",
    "deep_monte_carlo": "self-play for deep Monte Carlo: train it with --method ppo",
    "table": "table: people cannot sit down to it, and no replay is made of it",
    "terminal": "board for a terminal",
}
_parts: dict[tuple[str, str], Any] = {}


def add_parts(kind: str, /, **parts: Any) -> None:
    """Register parts of a kind.

    Args:
        kind: one of `LACKING`.
        parts: by the family's name, each as such or as where it is found, ``"module:NAME"``, which
            is imported once it is needed.
    """
    if kind not in LACKING:
        raise ValueError(f"a part is one of {', '.join(LACKING)}, got {kind!r}")
    _parts.update({(kind, family): part for family, part in parts.items()})


def find_part(kind: str, family: str) -> Any:
    """Return a part of a family by its name.

    Raises:
        ValueError: the family has no such part.
    """
    part = _parts.get((kind, family))
    if part is None:
        raise ValueError(f"the game {games_of(family)} has no {LACKING[kind]}")
    if isinstance(part, str):
        part = _parts[kind, family] = resolve_name(part)
    return part


def families_with(kind: str) -> list[str]:
    """Return the names of the families that have a part of a kind, as they were registered."""
    return [family for known, family in _parts if known == kind]
