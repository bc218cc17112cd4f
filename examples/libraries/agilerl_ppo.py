"""AgileRL: PPO with masks on the native batch, a population whose settings evolve as it learns.

    python examples/libraries/agilerl_ppo.py

AgileRL reads masks where ours are, in ``info["action_mask"]``, so the vector environment is handed
to it as it is. Its DQN masks its actions but not its targets; its PPO masks both.
Its multi-agent algorithms take parallel environments, in which all act at once; cribbage is played
in turns, so the opponent is one of ours.
"""

from __future__ import annotations

import random
from typing import Any

import gymnasium
import numpy as np
import torch
import tyro
from agilerl.algorithms import PPO
from agilerl.algorithms.core.registry import HyperparameterConfig, RLParameter
from agilerl.hpo.mutation import Mutations
from agilerl.hpo.tournament import TournamentSelection
from agilerl.training.train_on_policy import train_on_policy

import crib_env

OPTIONS: dict[str, Any] = {"opponent": "rule_based", "episode": "deal", "reward": "points"}


def main(
    steps: int = 400_000, generation: int = 50_000, agents: int = 3, games: int = 256, seed: int = 1
) -> float:
    """Train, and return the best agent's mean points per deal over the last test.

    Args:
        steps: decisions of each agent.
        generation: decisions between two selections.
        agents: how many there are.
        games: how many are played at once.
        seed: fixes the games and the population.
    """
    assert crib_env.ENVIRONMENTS
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 - AgileRL selects and mutates by global generators
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # small nets: a second thread waits more than it works

    envs = gymnasium.make_vec("crib_env/SixCard-v0", num_envs=games, **OPTIONS)
    envs.reset(seed=seed)
    rates = HyperparameterConfig(lr=RLParameter(min=1e-4, max=2e-3))
    population = [
        PPO(
            envs.single_observation_space,
            envs.single_action_space,
            index=index,
            hp_config=rates,
            net_config={"encoder_config": {"hidden_size": [128, 128]}},
            num_envs=games,
            learn_step=16 * games,
            batch_size=1024,
            lr=5e-4,
            gamma=1.0,
        )
        for index in range(agents)
    ]
    _, fitnesses = train_on_policy(
        envs,
        env_name="crib_env/SixCard-v0",
        algo="PPO",
        pop=population,
        max_steps=steps,
        evo_steps=min(generation, steps),
        eval_loop=4,
        selection_strategy=TournamentSelection(2, True, agents),
        mutation=Mutations(
            no_mutation=0.6, architecture=0.0, new_layer_prob=0.0, parameters=0.1, activation=0.0,
            rl_hp=0.3, rand_seed=seed,
        ),
        verbose=False,
    )  # fmt: skip
    best = float(max(fitnesses))
    print(f"{best:+.2f} points per deal against {OPTIONS['opponent']}, the best of the last test")
    return best


if __name__ == "__main__":
    tyro.cli(main)
