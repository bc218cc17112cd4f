"""What each entry of an observation means."""

from __future__ import annotations

from crib_env.registration import find_page


def observation_layout(name: str, features: bool | str | None = None) -> dict[str, slice]:
    """Return the slices of an environment's observation vector by name.

    Args:
        name: the environment's module, such as ``"six_card_v0"``; its meaning is described in the
            module's documentation.
        features: as the environment was made with. A feature's slice has one entry an action.

    Raises:
        ValueError: no environment of that name, or no such features.
    """
    family = find_page(name.replace("-", "_").rpartition("/")[2]).maker.family
    slices, at = {}, 0
    for part, size, _ in family.layout_at(family.level_of(features)):
        slices[part] = slice(at, at + size)
        at += size
    return slices
