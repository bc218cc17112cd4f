"""What an agent that plays one family of games says to views of another."""

from __future__ import annotations

from crib_env.engine.family import Family
from crib_env.policy import Views


def refuse_other_views(name: str, views: Views, family: Family) -> None:
    """Raise a ValueError unless the views are of a game of the family that ``name`` plays."""
    if views.dtype != family.view:
        raise ValueError(f"{name} plays {family.name} alone, got views of fields "
                         f"{', '.join(views.dtype.names or ('none',))}")  # fmt: skip
