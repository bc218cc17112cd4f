"""Minari: a data set of an agent's games, for offline learning.

    python examples/libraries/minari_expert.py --agent expert --episodes 1000
    python examples/libraries/minari_expert.py --agent rule_based --name cribbage/rule-based-v0

One seat is played by the agent and recorded, the other by ``--opponent``. The legal actions of
every decision are among the infos, with the scores and who won. Data sets lie where Minari keeps
them (``MINARI_DATASETS_PATH``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gymnasium
import minari
import numpy as np
import tyro
from crib_agents.loading import load_agent
from minari import DataCollector, MinariDataset

import crib_env

ENV = "crib_env/SixCard-v0"


@dataclass
class Settings:
    """Who plays, and how much."""

    agent: str = "expert"
    opponent: str = "rule_based"
    episodes: int = 100
    name: str = "cribbage/expert-v0"
    seed: int = 1


def record(settings: Settings) -> MinariDataset:
    """Play and keep the episodes, and return them as a data set."""
    assert crib_env.ENVIRONMENTS
    games = gymnasium.make(
        ENV, opponent=settings.opponent, episode="deal", reward="points", disable_env_checker=True
    )
    env = DataCollector(games, record_infos=True)
    agent, rng = load_agent(settings.agent), np.random.default_rng(settings.seed)
    for i in range(settings.episodes):
        env.reset(seed=settings.seed + i)
        over = False
        while not over:
            view: Any = games.unwrapped.view()  # type: ignore[attr-defined]
            action = int(agent.act(view, rng))
            *_, terminated, truncated, _ = env.step(action)
            over = terminated or truncated
    return env.create_dataset(
        dataset_id=settings.name,
        algorithm_name=agent.name,
        description=f"{agent.name} against {settings.opponent}, deals of six-card cribbage",
        eval_env=ENV,
        requirements=["crib-env"],
    )


def main(settings: Settings) -> float:
    """Record a data set, read it back, and return its mean points per deal."""
    record(settings)
    data = minari.load_dataset(settings.name)
    points = [float(episode.rewards.sum()) for episode in data.iterate_episodes()]
    print(f"{settings.name}: {data.total_episodes} deals, {data.total_steps} decisions, "
          f"{np.mean(points):+.2f} points per deal more than {settings.opponent}")  # fmt: skip
    return float(np.mean(points))


if __name__ == "__main__":
    main(tyro.cli(Settings))
