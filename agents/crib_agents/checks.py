"""What agents check: that views are of their games and rules, and that rules in a file can be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crib_agents.files import shown
from crib_env.engine.family import Family, find_family
from crib_env.policy import Views
from crib_env.rules import PRESETS, Rules


def refuse_other_views(name: str, views: Views, *families: Family) -> None:
    """Raise a ValueError unless the views are of a game of the families that ``name`` plays."""
    if all(views.dtype != family.view for family in families):
        played = " and ".join(family.name for family in families)
        raise ValueError(f"{name} plays {played} alone, got views of fields "
                         f"{', '.join(views.dtype.names or ('none',))}")  # fmt: skip


def read_rules(family: object, name: object, fields: Any) -> Rules:
    """Return the rules that the header of a file states.

    Args:
        family: the name of their family. name: what they are called.
        fields: what they say, by name.

    Raises:
        ValueError: they are no possible rules of a family that is known here.
    """
    kinds = {rules.family: type(rules) for rules in PRESETS.values()}
    if not isinstance(family, str) or family not in kinds:
        raise ValueError(f"expected a family of games ({', '.join(kinds)}), found {shown(family)}")
    if not isinstance(name, str) or not isinstance(fields, dict):
        raise ValueError(f"expected the name of the rules and their fields, found {shown(name)} "
                         f"and {shown(fields)}")  # fmt: skip
    try:
        return kinds[family](**{**fields, "name": name})
    except (TypeError, ValueError) as error:  # a field that the family does not have, or its value
        raise ValueError(f"its rules {shown(name)} are not possible: {error}") from None


def refuse_other_rules(name: str, views: Views, rules: str, fields: Mapping[str, Any]) -> None:
    """Raise a ValueError unless the first view is of a game under these rules.

    Args:
        name: the agent's.
        views: of a family whose rules have such fields.
        rules: what the rules that it was trained under are called.
        fields: what they say, by the name of the field.
    """
    for field in (views.dtype.names or ()) if len(views) else ():
        expected, found = fields.get(field), views[field][0]
        if expected is not None and found != expected:
            played = _preset_of(views)
            raise ValueError(
                f"{name} was trained under the rules {rules!r}, {field} {expected}: it does "
                f"not play where {field} is {found}{f', as in {played!r}' if played else ''}"
            )


def _preset_of(views: Views) -> str | None:
    """Return the preset whose rules the first view is played by, if there is one."""
    names = views.dtype.names or ()
    for preset in PRESETS.values():
        shared = [field for field in names if hasattr(preset, field)]
        if find_family(preset.engine).view == views.dtype and all(
            views[field][0] == getattr(preset, field) for field in shared
        ):
            return preset.name
    return None
