"""What an agent says to views of games, and of rules, that it does not play."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crib_env.engine.family import Family, find_family
from crib_env.policy import Views
from crib_env.rules import PRESETS


def refuse_other_views(name: str, views: Views, *families: Family) -> None:
    """Raise a ValueError unless the views are of a game of the families that ``name`` plays."""
    if all(views.dtype != family.view for family in families):
        played = " and ".join(family.name for family in families)
        raise ValueError(f"{name} plays {played} alone, got views of fields "
                         f"{', '.join(views.dtype.names or ('none',))}")  # fmt: skip


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
