"""From the names a command line takes to environments and agents."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

from crib_agents.adapters.learned import LearnedAgent
from crib_agents.adapters.phased import PhasedAgent
from crib_agents.adapters.process import ProcessAgent

from crib_env.engine.two_hand.records import PLAY
from crib_env.envs.makers import Maker
from crib_env.policy import GROUP, Agent, agent_names, find_agent
from crib_env.registration import ENVIRONMENTS
from crib_env.rules import Rules, find_rules

IN_PROCESS = "process:"


def unknown(kind: str, name: str, choices: Collection[str]) -> ValueError:
    """Return the error of a name that is none of the choices, with the nearest of them."""
    near = get_close_matches(name, choices, n=1)
    meant = f"; did you mean {near[0]!r}?" if near else ""
    return ValueError(f"no {kind} is called {name!r}: choose from {', '.join(choices)}{meant}")


def find_maker(name: str) -> Maker:
    """Return the maker of an environment given by module name, such as ``"six_card_v0"``.

    Raises:
        ValueError: no such environment.
    """
    if name not in ENVIRONMENTS:
        raise unknown("environment", name, ENVIRONMENTS)
    maker = import_module(f"crib_env.{name}").maker
    assert isinstance(maker, Maker)
    return maker


def find_game(environment: str, rules: str | None = None) -> tuple[Maker, Rules]:
    """Return the maker of an environment, and a preset of rules or the environment's own.

    Raises:
        ValueError: no such environment, or no rules of its game.
    """
    maker = find_maker(environment)
    return maker, find_rules(rules or maker.rules, maker.family().name)


def shortest_episode(maker: Maker) -> str:
    """Return the engine's name for the shortest episode of an environment: a deal, a round."""
    return maker.episodes.get("deal", "round")


def in_phase(maker: Maker, agent: Agent) -> Agent:
    """Return who plays whole games for an agent.

    That is the agent itself, or in a phase environment the agent in that phase and the
    environment's default policy in the other.
    """
    house = maker.house
    if house is None:
        return agent
    if house.phase == PLAY:
        return PhasedAgent(discard=agent, pegging=house.default, name=agent.name)
    return PhasedAgent(discard=house.default, pegging=agent, name=agent.name)


def load_agent(name: str, move_seconds: float | None = None) -> Agent:
    """Return an agent by name, or read one from a ``.safetensors`` file.

    Two joined by a plus, such as ``"greedy+rule_based"``, make one agent of a two-hand game: the
    first lays away, the second plays the cards.

    Args:
        name: ``process:`` before it puts the agent into a process of its own.
        move_seconds: the longest such an agent may take for a decision before it is stopped.

    Raises:
        ValueError: no such agent, a file that does not fit, or one that cannot be made; the message
            is its own.
    """
    if name.startswith(IN_PROCESS):
        return ProcessAgent(name.removeprefix(IN_PROCESS), move_seconds)
    if "+" in name:
        discard, pegging = name.split("+", 1)
        return PhasedAgent(discard=load_agent(discard), pegging=load_agent(pegging))
    if name.endswith(".safetensors"):
        if not Path(name).exists():
            raise ValueError(f"there is no file {name!r}")
        return LearnedAgent.load(name)
    if ":" not in name and name not in agent_names():
        raise unknown("agent", name, agent_names())
    try:
        return find_agent(name)
    except ValueError:
        raise
    except Exception as error:  # whatever the agent's own code raises
        raise ValueError(
            f"no agent was made of {name!r}: {type(error).__name__}: {error}"
        ) from error


def agent_file(name: str) -> Path | None:
    """Return the file an agent is read from: its weights or its class's module; None if unknown."""
    if name.endswith(".safetensors"):
        return Path(name)
    modules = {point.name: point.value for point in entry_points(group=GROUP)}
    spec = find_spec(modules.get(name, name).partition(":")[0])
    return Path(spec.origin) if spec is not None and spec.has_location and spec.origin else None
