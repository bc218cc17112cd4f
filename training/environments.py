"""From the names a command line takes to environments and agents."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from agents.learned import LearnedAgent
from agents.phased import PhasedAgent
from crib_env.envs.makers import Maker
from crib_env.opponents import Agent, find_agent
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


def load_agent(name: str) -> Agent:
    """Return an agent by name, or read one from a ``.safetensors`` file.

    Two joined by a plus, such as ``"greedy+rule_based"``, make one agent of a two-hand game: the
    first lays away, the second plays the cards.

    Raises:
        ValueError: no such agent, or a file that does not fit.
    """
    if "+" in name:
        discard, pegging = name.split("+", 1)
        return PhasedAgent(discard=load_agent(discard), pegging=load_agent(pegging))
    if name.endswith(".safetensors"):
        if not Path(name).exists():
            raise ValueError(f"there is no file {name!r}")
        return LearnedAgent.load(name)
    return find_agent(name)
