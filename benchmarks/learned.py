"""How many decisions per second do `learned` and its trainer make on one core?

The agent answers views of whole deals that it plays against itself, 1024 at once; only the calls of
`act` are timed. The trainer plays a batch of deals and fits its networks to it; all of this is
timed.
"""

from __future__ import annotations

import time
from itertools import count

import numpy as np
from crib_agents.learned import MonteCarloAgent
from crib_training.learn.deep_monte_carlo.settings import Settings as RunSettings
from crib_training.learn.deep_monte_carlo.training import Training
from crib_training.loading import find_env, shortest_episode

from benchmarks.timing import FULL, Contender, Findings, Rate, Settings, race
from crib_env.batch import GameBatch
from crib_env.rules import PRESETS

GAMES = {"hoyle": "six_card_v0", "five_card": "five_card_v0", "table_top": "table_top_v0"}


def answering(game: str, at_once: int) -> Rate:
    """Return the rate at which the agent decides."""
    agent, rng = MonteCarloAgent(), np.random.default_rng(1)
    seeds = count(1)
    episode = shortest_episode(find_env(GAMES[game]))

    def rate(seconds: float) -> float:
        decided, spent = 0, 0.0
        while spent <= seconds:
            games = GameBatch(PRESETS[game], at_once, episode=episode, seed=next(seeds))
            games.reset()
            running = games.running()
            while len(running):
                views = games.views(running)
                began = time.perf_counter()
                actions = agent.act(views, rng)
                spent += time.perf_counter() - began
                decided += len(views)
                games.step(running, actions)
                running = games.running(running)
        return decided / spent

    return rate


def training(environment: str, lanes: int | None) -> Rate:
    """Return the rate at which the trainer decides and learns from its decisions."""
    run = Training(RunSettings(env=environment, deals=1_000_000_000, num_envs=lanes))

    def rate(seconds: float) -> float:
        decisions, began, spent = run.decisions, time.perf_counter(), 0.0
        while spent <= seconds:
            run.iterate()
            spent = time.perf_counter() - began
        return (run.decisions - decisions) / spent

    return rate


def measure(settings: Settings = FULL) -> Findings:
    """Measure six-card and five-card cribbage and Table Top."""
    at_once, lanes = (8, 32) if settings.quick else (1024, None)
    contenders = [Contender(f"learned decides, {game}", answering(game, at_once)) for game in GAMES]
    contenders += [
        Contender(f"deep Monte Carlo plays and fits, {game}", training(env, lanes))
        for game, env in GAMES.items()
    ]
    return Findings("Learned agents", race(contenders, "decisions/s", settings))
