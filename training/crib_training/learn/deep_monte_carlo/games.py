"""The games that deep Monte Carlo learns."""

from __future__ import annotations

import torch

from crib_env.envs.makers import EnvSpec
from crib_training.learn.deep_monte_carlo.algorithm import SelfPlay
from crib_training.learn.deep_monte_carlo.settings import Settings
from crib_training.learn.deep_monte_carlo.table_top import TableTopSelfPlay
from crib_training.learn.deep_monte_carlo.two_hand import TwoHandSelfPlay
from crib_training.loading import find_game

GAMES: dict[str, type[SelfPlay]] = {
    game.family.name: game for game in (TwoHandSelfPlay, TableTopSelfPlay)
}
"""The self-play of each family of games; a family of anyone's may be added."""


def find_self_play(settings: Settings) -> tuple[EnvSpec, SelfPlay]:
    """Return the environment that settings name, and its game as something to learn.

    Raises:
        ValueError: there is no such game, or nothing learns it.
    """
    maker, rules = find_game(settings.env, settings.rules)
    family = maker.family
    if family.name not in GAMES:
        raise ValueError(f"{settings.env} is of the family {family.name!r}, and deep Monte "
                         f"Carlo learns {', '.join(GAMES)}")  # fmt: skip
    players = family.players[0] if settings.players is None else settings.players
    family.rules_record(rules, "game", players)  # it refuses wrong numbers
    torch.manual_seed(settings.seed)
    return maker, GAMES[family.name](rules, players, settings)
