"""What each entry of an observation means."""

from __future__ import annotations

from importlib import import_module

from crib_env.registration import ENVIRONMENTS


def observation_layout(name: str) -> dict[str, slice]:
    """Return the slices of an environment's observation vector by name.

    Args:
        name: the environment's module, such as ``"six_card_v0"``; its meaning is described in the
            module's documentation.

    Raises:
        ValueError: no environment of that name.
    """
    module = name.replace("-", "_").removeprefix("crib_env/")
    if module not in ENVIRONMENTS:
        raise ValueError(
            f"no environment is called {name!r}: choose from {', '.join(ENVIRONMENTS)}"
        )
    family = import_module(f"crib_env.{module}").maker.family
    slices, at = {}, 0
    for part, size, _ in family.layout:
        slices[part] = slice(at, at + size)
        at += size
    return slices
