"""AgileRL: PPO with masks on the native batch, a population whose settings evolve as it learns.

    python examples/libraries/agilerl_ppo.py

AgileRL reads masks from ``info["action_mask"]``, where our environments put them. Its DQN masks its
actions but not its targets; its PPO masks both. Its multi-agent algorithms take parallel
environments, in which all act at once; cribbage is played in turns, so the opponent is one of ours.

`CardNet` is the encoder that actor and critic share. It returns the logits and the value side by
side, and each head takes its part.
"""

from __future__ import annotations

import random
import time
from typing import Any

import gymnasium
import numpy as np
import torch
import tyro
from agilerl.algorithms import PPO
from agilerl.algorithms.core.registry import HyperparameterConfig, RLParameter
from agilerl.hpo.mutation import Mutations
from agilerl.hpo.tournament import TournamentSelection
from agilerl.modules.dummy import DummyEvolvable
from agilerl.networks import StochasticActor, ValueNetwork
from agilerl.networks.distributions import EvolvableDistribution
from agilerl.training.train_on_policy import train_on_policy
from crib_agents import from_torch
from crib_agents.card_net import CardNet
from crib_training.evaluation.evaluate import evaluate
from torch import Tensor, nn

from crib_env import observation_layout, six_card_v0

OPTIONS: dict[str, Any] = {
    "opponent": "rule_based",
    "episode": "deal",
    "reward": "expected",
    "features": True,
    "suits": "canonical",
}


class Encoder(nn.Module):
    """The logits of `CardNet` and its value, [B, 53]."""

    num_outputs, activation = 53, None

    def __init__(self) -> None:
        super().__init__()
        self.net = CardNet(observation_layout("six_card_v0", features=True), temperature=1 / 6, reads_score=False)

    def forward(self, observations: Tensor) -> Tensor:
        """Return logits and value side by side."""
        logits, value = self.net.logits_and_value(observations)
        return torch.cat([logits, value.unsqueeze(1)], dim=1)


class Columns(nn.Module):
    """Some columns of the encoder's output."""

    def __init__(self, first: int, end: int) -> None:
        super().__init__()
        self.net_config: dict[str, Any] = {}  # AgileRL reads it from a head
        self.columns = slice(first, end)

    def forward(self, encoded: Tensor) -> Tensor:
        """Return the columns."""
        return encoded[:, self.columns]


def evolvable(module: type[nn.Module], *args: int) -> DummyEvolvable:
    """Return a network that AgileRL clones and trains, and does not reshape."""
    return DummyEvolvable("cpu", module_fn=lambda: module(*args), module_kwargs={})


class CardActor(StochasticActor):  # type: ignore[misc]
    """The policy: the encoder's logits."""

    def build_network_head(self, net_config: Any) -> None:
        """Take the logits as they are."""
        self.head_net = EvolvableDistribution(self.action_space, evolvable(Columns, 0, 52))


class CardCritic(ValueNetwork):  # type: ignore[misc]
    """The critic: the encoder's value."""

    def build_network_head(self, net_config: Any) -> None:
        """Take the value as it is."""
        self.head_net = evolvable(Columns, 52, 53)


def main(
    timesteps: int = 200_000, generations: int = 10, agents: int = 2, games: int = 256, pairs: int = 2000, seed: int = 1
) -> float:
    """Train; return the best agent's share of games won against the opponent.

    Args:
        timesteps: decisions of each agent.
        generations: how often they are selected. The learning rate falls after each, at random more
            or less, so that selection chooses how fast.
        agents: how many there are.
        games: how many are played at once.
        pairs: duplicate pairs of games to play at the end.
        seed: fixes the games and the population.
    """
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 - AgileRL selects and mutates by global generators
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # small nets: a second thread waits more than it works

    envs = gymnasium.make_vec("crib_env/SixCard-v0", num_envs=games, **OPTIONS)
    envs.reset(seed=seed)
    seen, actions = envs.single_observation_space, envs.single_action_space
    population = [
        PPO(
            seen,
            actions,
            index=index,
            hp_config=HyperparameterConfig(lr=RLParameter(min=4e-5, max=2e-3, shrink_factor=0.6, grow_factor=0.8)),
            actor_network=CardActor(seen, actions, encoder=evolvable(Encoder)),
            critic_network=CardCritic(seen, encoder=evolvable(Encoder)),
            num_envs=games,
            learn_step=24 * games,
            batch_size=4 * games,
            lr=2e-3,
            gamma=1.0,
            gae_lambda=0.95,
            ent_coef=0.0005,
            vf_coef=0.02,
        )
        for index in range(agents)
    ]
    trained, _ = train_on_policy(
        envs,
        env_name="crib_env/SixCard-v0",
        algo="PPO",
        pop=population,
        max_steps=timesteps,
        evo_steps=timesteps // generations,
        eval_loop=4,
        selection_strategy=TournamentSelection(2, True, agents),
        mutation=Mutations(
            no_mutation=0.0,
            architecture=0.0,
            new_layer_prob=0.0,
            parameters=0.0,
            activation=0.0,
            rl_hp=1.0,
            rand_seed=seed,
        ),
        verbose=False,
    )
    cpu, best = time.process_time(), max(trained, key=lambda one: one.fitness[-1])
    agent = from_torch(best.actor.encoder.net, features=True, suits="canonical")
    won = evaluate(six_card_v0.maker, "hoyle", agent, OPTIONS["opponent"], pairs, seed, adjust="never")["won"]
    print(f"{cpu:.0f} CPU seconds, {won['mean']:.1%} ± {won['ci95']:.1%} of games won")
    return float(won["mean"])


if __name__ == "__main__":
    tyro.cli(main)
