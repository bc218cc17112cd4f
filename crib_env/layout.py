"""What each entry of an observation means."""

from __future__ import annotations

from crib_env.registration import find_page


def observation_layout(name: str) -> dict[str, slice]:
    """Return the slices of an environment's observation vector by name.

    Args:
        name: the environment's module, such as ``"six_card_v0"``; its meaning is described in the
            module's documentation.

    Raises:
        ValueError: no environment of that name.
    """
    family = find_page(name.replace("-", "_").rpartition("/")[2]).maker.family
    slices, at = {}, 0
    for part, size, _ in family.layout:
        slices[part] = slice(at, at + size)
        at += size
    return slices
