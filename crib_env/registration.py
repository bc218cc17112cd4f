"""Registers environments, by strings only, so it is quick."""

from __future__ import annotations

import re
from functools import partial
from importlib import import_module
from types import ModuleType

import gymnasium
import pettingzoo

from crib_env.errors import unknown

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
        ValueError: a name that does not end in a version, or that another environment has; nothing
            has changed then.
    """
    name = module.rpartition(".")[2]
    for given, ending in ((name, "_v0"), (gym_name, "-v0")):
        if not re.fullmatch(rf".+{ending[0]}v\d+", given):
            raise ValueError(f"an environment's name ends in its version, such as {ending}: got {given!r}")
    if _PAGES.get(name, module) != module:
        raise ValueError(f"an environment is called {name!r} already: that of {_PAGES[name]}")
    for other, taken in ENVIRONMENTS.items():
        if taken == gym_name and other != name:
            raise ValueError(f"an environment is called {gym_name!r} already: that of {_PAGES[other]}")
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
    register = partial(gymnasium.register, order_enforce=False, disable_env_checker=True)
    register(f"{package}/{gym_name}", f"{module}:gym_env", vector_entry_point=f"{module}:vector_env")
    text = {"environment": name}
    register(f"{package}/{text_name(gym_name)}", "crib_env.envs.text:text_env", kwargs=text)
    if hasattr(pettingzoo, "register"):  # from PettingZoo 1.27 on
        pettingzoo.register("aec", f"{package}/{name}", f"{module}:env")
        in_words = f"{package}/{text_name(name)}"
        pettingzoo.register("aec", in_words, "crib_env.envs.text:text_aec", kwargs=text)
