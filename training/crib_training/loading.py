"""Environments and rules by their names on a command line; see `crib_agents.loading` for agents."""

from __future__ import annotations

from dataclasses import dataclass

from crib_agents.adapters.agent_wrappers import PhasedAgent
from crib_agents.loading import load_agent

from crib_env.engine.hands.records import PEGGING
from crib_env.engine.record import count_sides
from crib_env.envs.makers import EnvMaker
from crib_env.policy import Agent
from crib_env.registration import env_module
from crib_env.rules import Rules
from crib_env.settings import EnvName, Players
from crib_env.supported_rules import refuse_rules


def find_env(name: str) -> EnvMaker:
    """Return the maker of an environment given by module name, such as ``"six_card_v0"``."""
    maker = env_module(name).maker
    assert isinstance(maker, EnvMaker)
    return maker


def find_game(environment: str, rules: str | Rules | None = None) -> tuple[EnvMaker, Rules]:
    """Return the maker of an environment, and the named rules or the environment's own."""
    maker = find_env(environment)
    return maker, maker.find_rules(rules)


@dataclass(frozen=True, kw_only=True)
class NamesGame:
    """The base of the settings of commands that name a game by its environment.

    Attributes:
        env: the environment.
        rules: a preset other than the environment's own, or a preset with changes, such as
            hoyle[target=91,for_last=3].
        players: how many play, by default the fewest the rules allow.
    """

    env: EnvName = "six_card_v0"
    rules: str | None = None
    players: Players | None = None

    @property
    def game(self) -> tuple[EnvMaker, Rules]:
        """The maker of the environment, and the rules."""
        return find_game(self.env, self.rules)


def shortest_episode(maker: EnvMaker) -> str:
    """Return the engine's name for the shortest episode of an environment: a deal, a round."""
    return maker.episodes.get("deal", "round")


def players_of(rules: Rules, players: int | None) -> int:
    """Return how many play a game, by default the fewest the rules allow."""
    return len(rules.sides_for(players))


def sides_of(rules: Rules, players: int | None) -> int:
    """Return how many sides a game has, by default of the fewest seats the rules allow."""
    return count_sides(rules.sides_for(players))


def plays(name: str, rules: Rules) -> bool:
    """Return whether an agent, given by its name, plays whole games by these rules."""
    try:
        refuse_rules(load_agent(name), rules, "game")
    except ValueError:
        return False
    return True


def in_phase(maker: EnvMaker, agent: Agent) -> Agent:
    """Return the agent; in a phase environment, with its default policy in the other phase."""
    phase = maker.phase
    if phase is None:
        return agent
    if phase.phase == PEGGING:
        return PhasedAgent(discard=agent, pegging=phase.default, name=agent.name)
    return PhasedAgent(discard=phase.default, pegging=agent, name=agent.name)
