"""What an agent says to views of games that it does not play."""

from __future__ import annotations

from crib_env.engine.family import Family
from crib_env.policy import Views


def refuse_other_views(name: str, views: Views, *families: Family) -> None:
    """Raise a ValueError unless the views are of a game of the families that ``name`` plays."""
    if all(views.dtype != family.view for family in families):
        played = " and ".join(family.name for family in families)
        raise ValueError(f"{name} plays {played} alone, got views of fields "
                         f"{', '.join(views.dtype.names or ('none',))}")  # fmt: skip
