"""The games that deep Monte Carlo learns, and the task that settings name."""

from __future__ import annotations

import torch

from crib_env.envs.makers import EnvSpec
from crib_env.parts import find_part
from crib_env.rules import Rules
from crib_training.learn.deep_monte_carlo.settings import Settings
from crib_training.learn.deep_monte_carlo.task import Task
from crib_training.loading import find_game


def find_task(settings: Settings) -> tuple[EnvSpec, Rules, int, Task]:
    """Return the environment that settings name, its rules, the number of players, and the task.

    Raises:
        ValueError: there is no such game, or nothing learns it.
    """
    maker, rules = find_game(settings.env, settings.rules)
    family = maker.family
    task: type[Task] = find_part("deep_monte_carlo", family.name)
    players = family.players[0] if settings.players is None else settings.players
    family.rules_record(rules, "game", players)  # it refuses wrong numbers
    torch.manual_seed(settings.seed)
    return maker, rules, players, task(rules, players, settings)
