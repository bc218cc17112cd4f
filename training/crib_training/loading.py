"""From the names a command line takes to environments; see `crib_agents.loading` for agents."""

from __future__ import annotations

from importlib import import_module

from crib_env.envs.makers import Maker
from crib_env.registration import ENVIRONMENTS


def find_maker(name: str) -> Maker:
    """Return the maker of an environment given by module name, such as ``"six_card_v0"``.

    Raises:
        ValueError: no such environment.
    """
    if name not in ENVIRONMENTS:
        raise ValueError(
            f"no environment is called {name!r}: choose from {', '.join(ENVIRONMENTS)}"
        )
    maker = import_module(f"crib_env.{name}").maker
    assert isinstance(maker, Maker)
    return maker
