"""OpenSpiel: its outcome-sampling CFR learns on the whole five-card deal, one deal at a time.

    python examples/libraries/open_spiel_deal.py --deals 2000

The deal is `crib_env.envs.open_spiel`, a game of OpenSpiel's with tensors and sampled chance, so
that any of its algorithms can train on it. Tables hold every information state that was met; it
takes a network to learn from so many.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyspiel
import tyro
from open_spiel.python.algorithms import outcome_sampling_mccfr

import crib_env.envs.open_spiel  # registers the game


@dataclass
class Settings:
    """How many deals are played."""

    deals: int = 200
    seed: int = 1


def main(settings: Settings) -> int:
    """Learn, and return how many information states were met."""
    np.random.seed(settings.seed)  # noqa: NPY002 - OpenSpiel draws from it
    game = pyspiel.load_game(crib_env.envs.open_spiel.TYPE.short_name)
    solver = outcome_sampling_mccfr.OutcomeSamplingSolver(game)
    for _ in range(settings.deals // 2):  # each iteration plays a deal for either player
        solver.iteration()
    met = len(solver._infostates)
    print(f"{settings.deals} deals: {met} information states met")
    return met


if __name__ == "__main__":
    main(tyro.cli(Settings))
