"""Compile the environments and four agents once, so that later starts are quick.

    crib warmup

Machine code is stored on disk under a digest of its sources; stored code is not compiled again. Run
it for a container image, or before many processes start at once.
"""

from __future__ import annotations

import time

import numpy as np

from crib_env.engine.cache import cache_folder
from crib_env.policy import find_agent
from crib_env.registration import ENVIRONMENTS
from crib_env.settings import AgentNames, EnvName, checked_dataclass
from crib_training.evaluation.duplicate import play_pairs
from crib_training.loading import find_env, find_game, in_phase, shortest_episode
from crib_training.progress import Progress

NUM_ENVS = 2  # the least that makes a batch


@checked_dataclass(frozen=True, kw_only=True)
class Settings:
    """Compile the environments and some agents, so that later starts are quick.

    Attributes:
        envs: the environments.
        agents: the players.
    """

    envs: tuple[EnvName, ...] = tuple(ENVIRONMENTS)
    agents: AgentNames = ("random", "greedy", "rule_based", "expert")


def one_game(name: str) -> None:
    """Take a step of one game through PettingZoo and through Gymnasium."""
    maker = find_env(name)
    env = maker.raw_env()
    env.reset(seed=1)
    env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))
    learner = maker.gym_env(features=True)
    _, info = learner.reset(seed=1)
    learner.step(int(info["action_mask"].argmax()))


def batches(name: str, agent: str) -> None:
    """Take a step of a batch against an agent, and play duplicate deals with it."""
    maker, rules = find_game(name)
    envs = maker.vector_env(NUM_ENVS, opponent=agent)
    _, info = envs.reset(seed=1)
    envs.step(np.argmax(info["action_mask"], axis=1))
    envs.close()
    player = in_phase(maker, find_agent(agent))
    play_pairs(rules, shortest_episode(maker), player, player, 1, seed=1)


def run(settings: Settings) -> None:
    """Compile by playing a little of everything, and print the time that each environment took."""
    for name in settings.envs:  # a wrong name is found before anything is compiled
        find_env(name)
    for name in settings.agents:
        find_agent(name)
    with Progress("environments and agents", len(settings.envs) * (1 + len(settings.agents))) as bar:
        for name in settings.envs:
            began = time.perf_counter()
            one_game(name)
            bar.advance(1)
            for agent in settings.agents:
                try:
                    batches(name, agent)
                except ValueError as error:  # not every agent plays every game
                    bar.say(f"{name}: {error}")
                bar.advance(1)
            seconds = time.perf_counter() - began
            bar.say(f"{name}: {seconds:.1f} s, {round(bar.done)} of {bar.total} done")
    print(f"stored in {cache_folder()}" if cache_folder() else "nothing could be stored")
