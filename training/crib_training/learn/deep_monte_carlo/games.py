"""The games that deep Monte Carlo learns."""

from __future__ import annotations

import torch

from crib_env.envs.makers import EnvSpec
from crib_env.parts import find_part
from crib_training.learn.deep_monte_carlo.algorithm import SelfPlay
from crib_training.learn.deep_monte_carlo.settings import Settings
from crib_training.loading import find_game


def find_self_play(settings: Settings) -> tuple[EnvSpec, SelfPlay]:
    """Return the environment that settings name, and its game as something to learn.

    Raises:
        ValueError: there is no such game, or nothing learns it.
    """
    maker, rules = find_game(settings.env, settings.rules)
    family = maker.family
    self_play: type[SelfPlay] = find_part("deep_monte_carlo", family.name)
    players = family.players[0] if settings.players is None else settings.players
    family.rules_record(rules, "game", players)  # it refuses wrong numbers
    torch.manual_seed(settings.seed)
    return maker, self_play(rules, players, settings)
