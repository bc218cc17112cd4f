"""Registers environments and optional parts of families, by strings only, so it is quick.

A family is found by its engine (`crib_env.engine.family`). What else belongs to one family, such as
a table or an expert, is a part, registered by the package that has it; ours do so in their
``__init__``. A missing part gives an error message that names it.
"""

from __future__ import annotations

import re
from importlib import import_module
from pkgutil import resolve_name
from types import ModuleType
from typing import Any

import gymnasium
import pettingzoo

from crib_env.errors import unknown
from crib_env.rules import games_of

ENVIRONMENTS = {
    "six_card_v0": "SixCard-v0",
    "five_card_v0": "FiveCard-v0",
    "three_hand_v0": "ThreeHand-v0",
    "four_hand_v0": "FourHand-v0",
    "table_top_v0": "TableTop-v0",
    "discard_v0": "Discard-v0",
    "pegging_v0": "Pegging-v0",
}
"""The Gymnasium name of each environment, by the name of its module."""
_PAGES = {name: f"crib_env.{name}" for name in ENVIRONMENTS}


def register_environments() -> None:
    """Register every built-in environment, once."""
    for name, gym_name in ENVIRONMENTS.items():
        _register(name, f"crib_env.{name}", gym_name)


def register_environment(module: str, gym_name: str) -> None:
    """Register your own environment, so that it is found like the built-in ones.

    Args:
        module: the import path of its page, such as ``"my_games.toy_v0"``: a module with a
            ``maker`` (`crib_env.envs.makers.EnvMaker`) and its forms. The last part is the
            environment's name. It is imported when the environment is first made.
        gym_name: its name in Gymnasium, such as ``"Toy-v0"``. The ids begin with the package:
            ``"my_games/Toy-v0"``, and in PettingZoo ``"my_games/toy-v0"``.

    Raises:
        ValueError: another environment has that name.
    """
    name = module.rpartition(".")[2]
    if _PAGES.get(name, module) != module:
        raise ValueError(f"an environment is called {name!r} already: that of {_PAGES[name]}")
    _PAGES[name] = module
    ENVIRONMENTS[name] = gym_name
    _register(name, module, gym_name)


def gym_id(name: str) -> str:
    """Return the Gymnasium id of an environment: ``"crib_env/SixCard-v0"``."""
    return f"{_page(name).partition('.')[0]}/{ENVIRONMENTS[name]}"


def text_name(name: str) -> str:
    """Return the name of an environment's text form: ``"SixCardText-v0"``."""
    stem, mark, version = re.match(r"(.*)([-_])(v\d+)$", name).groups()  # type: ignore[union-attr]
    return f"{stem}{'Text' if mark == '-' else '_text'}{mark}{version}"


def env_module(name: str) -> ModuleType:
    """Return the module of an environment, with its ``maker`` and its documentation.

    Args:
        name: such as ``"six_card_v0"``.

    Raises:
        ValueError: no environment of that name.
    """
    return import_module(_page(name))


def _page(name: str) -> str:
    if name not in _PAGES:
        raise unknown("environment", name, _PAGES)
    return _PAGES[name]


def _register(name: str, module: str, gym_name: str) -> None:
    package = module.partition(".")[0]
    if f"{package}/{gym_name}" in gymnasium.registry:
        return
    # The environments check order and actions themselves; Gymnasium's wrappers would take several
    # times as long as a step.
    gymnasium.register(
        id=f"{package}/{gym_name}",
        entry_point=f"{module}:gym_env",
        vector_entry_point=f"{module}:vector_env",
        order_enforce=False,
        disable_env_checker=True,
    )
    text = {"environment": name}
    gymnasium.register(
        id=f"{package}/{text_name(gym_name)}",
        entry_point="crib_env.envs.text:text_env",
        kwargs=text,
        order_enforce=False,
        disable_env_checker=True,
    )
    if hasattr(pettingzoo, "register"):  # there is none before PettingZoo 1.27
        pettingzoo.register("aec", f"{package}/{name}", f"{module}:env")
        in_words = f"{package}/{text_name(name)}"
        pettingzoo.register("aec", in_words, "crib_env.envs.text:text_aec", kwargs=text)


# Error text for a missing part, by kind.
LACKING = {
    "learned": "nets: the agent 'learned' does not play it",
    "expert": "expert: 'random' or an agent of your own may play it",
    "analysis": "analysis of choices",
    "values": "values of actions by expert",
    "deep_monte_carlo": "self-play for deep Monte Carlo: train it by crib train ppo",
    "table": "table: people cannot sit down to it, and no replay is made of it",
    "terminal": "board for a terminal",
    "words": "words for language models",
}
_parts: dict[tuple[str, str], Any] = {}


def add_parts(kind: str, /, **parts: Any) -> None:
    """Register parts of a kind, one of `LACKING`, by the name of the family.

    A part is an object, or its place ``"module:NAME"``, imported at the first use.
    """
    if kind not in LACKING:
        raise ValueError(f"a part is one of {', '.join(LACKING)}, got {kind!r}")
    _parts.update({(kind, family): part for family, part in parts.items()})


def find_part(kind: str, family: str) -> Any:
    """Return a part of a family by the family's name; raise ValueError if there is none."""
    part = _parts.get((kind, family))
    if part is None:
        raise ValueError(f"the game {games_of(family)} has no {LACKING[kind]}")
    if isinstance(part, str):
        part = _parts[kind, family] = resolve_name(part)
    return part


def families_with(kind: str) -> list[str]:
    """Return the names of the families that have a part of a kind, as they were registered."""
    return [family for known, family in _parts if known == kind]
