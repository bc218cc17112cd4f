"""Tianshou 2: learn from games that `crib data` wrote, without playing any.

    crib data rule_based expert --games 20000 --out runs/offline
    python examples/libraries/tianshou_offline.py --data runs/offline

Behaviour cloning copies the decisions. Critic regularised regression (CRR) copies them too, each
weighted by what its critic says it gains over the policy. Both learn from points, a deal of a seat
is an episode, and both write a ``policy.safetensors`` that every command takes as an agent.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro
from crib_agents.nets import PolicyNetAgent, header
from crib_training.data import load
from crib_training.evaluation.duplicate import play_pairs
from crib_training.evaluation.referee import Referee
from gymnasium import spaces
from tianshou.algorithm.imitation.discrete_crr import DiscreteCRR
from tianshou.algorithm.imitation.imitation_base import ImitationPolicy, OfflineImitationLearning
from tianshou.algorithm.modelfree.reinforce import DiscreteActorPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import ReplayBuffer
from tianshou.trainer import OfflineTrainerParams
from tianshou.utils.net.common import Net
from torch import nn

from crib_env import PRESETS, find_agent
from crib_env.engine.family import find_family

COLUMNS = ("episode", "deal", "seat", "observation", "action", "reward")
ACTIONS = spaces.Discrete(52)


@dataclass
class Settings:
    """What is learned from, and how long."""

    data: Path = Path("runs/offline")
    out: Path = Path("runs/offline-policies")
    passes: float = 2.0
    batch: int = 1024
    hidden: int = 256
    seeds: tuple[int, ...] = (1, 2, 3)
    pairs: int = 5000
    min_q_weight: float = 0.1


class Critic(nn.Module):
    """The value of each action, as `DiscreteCRR` calls for it."""

    def __init__(self, net: Net) -> None:
        super().__init__()
        self.net = net

    def forward(self, obs: Any) -> torch.Tensor:
        """Return the values, [B, actions]."""
        values: torch.Tensor = self.net(obs)[0]
        return values


def buffer_of(data: dict[str, Any]) -> ReplayBuffer:
    """Return the decisions of each seat in each deal, one after another."""
    order = np.lexsort((np.arange(len(data["action"])), data["deal"], data["seat"],
                        data["episode"]))  # fmt: skip
    key = np.stack([data[name][order] for name in ("episode", "seat", "deal")])
    ends = np.append((key[:, 1:] != key[:, :-1]).any(axis=0), True)
    seen = data["observation"][order]
    after = np.concatenate([seen[1:], seen[:1]])  # of an end it is not read
    return ReplayBuffer.from_data(
        obs=seen, act=data["action"][order].astype(np.int64), rew=data["reward"][order],
        terminated=ends, truncated=np.zeros_like(ends), done=ends, obs_next=after,
    )  # fmt: skip


def learner(method: str, bits: int, settings: Settings) -> tuple[Any, Net]:
    """Return an algorithm of Tianshou, and its policy's network."""

    def net() -> Net:
        return Net(state_shape=(bits,), action_shape=52, hidden_sizes=[settings.hidden] * 2)

    actor, adam = net(), AdamOptimizerFactory(lr=1e-3)
    if method == "behaviour cloning":
        copy = ImitationPolicy(actor=actor, action_space=ACTIONS, action_bound_method=None)
        return OfflineImitationLearning(policy=copy, optim=adam), actor
    policy = DiscreteActorPolicy(actor=actor, action_space=ACTIONS)
    return DiscreteCRR(
        policy=policy, critic=Critic(net()), optim=adam, gamma=1.0, target_update_freq=500,
        min_q_weight=settings.min_q_weight,
    ), actor  # fmt: skip


def learn(method: str, buffer: ReplayBuffer, settings: Settings, seed: int) -> PolicyNetAgent:
    """Train a policy and return it as an agent."""
    np.random.seed(seed)  # noqa: NPY002 - Tianshou samples by NumPy's global generator
    torch.manual_seed(seed)
    algorithm, actor = learner(method, buffer.obs.shape[1], settings)
    steps = max(1, int(settings.passes * len(buffer) / settings.batch))
    algorithm.run_training(
        OfflineTrainerParams(
            buffer=buffer, max_epochs=1, epoch_num_steps=steps, batch_size=settings.batch,
            test_collector=None, show_progress=False,
        )
    )  # fmt: skip
    layers = [
        (one.weight.detach().numpy().copy(), one.bias.detach().numpy().copy())
        for one in actor.modules() if isinstance(one, nn.Linear)
    ]  # fmt: skip
    about = header("six_card_v0", "hoyle", find_family(PRESETS["hoyle"].engine))
    return PolicyNetAgent(layers, about, name=f"{method} {seed}")


def points(agent: Any, opponent: str, pairs: int) -> np.ndarray[Any, Any]:
    """Return points per deal more than an opponent, for each pair of duplicate deals."""
    played = play_pairs(PRESETS["hoyle"], "deal", Referee(agent), Referee(find_agent(opponent)),
                        pairs, 1)  # fmt: skip
    made = played.points.sum(axis=-1)  # [pair, game, side]
    lead: np.ndarray[Any, Any] = (made[..., 0] - made[..., 1]).mean(axis=1)
    return lead


def main(settings: Settings) -> dict[tuple[str, str], float]:
    """Train by both methods and every seed; print a table, and return its means."""
    torch.set_num_threads(1)  # small nets: a second thread waits more than it works
    buffer = buffer_of(load(settings.data, COLUMNS, env="six_card_v0"))
    settings.out.mkdir(parents=True, exist_ok=True)
    each = f"{settings.pairs:,} duplicate pairs of deals a seed"
    print(f"{len(buffer):,} decisions, {settings.passes:g} passes; points per deal, {each}")
    found = {}
    for method in ("behaviour cloning", "CRR"):
        agents = []
        for seed in settings.seeds:
            agents.append(learn(method, buffer, settings, seed))
            agents[-1].save(settings.out / f"{method.split()[0].lower()}-{seed}.safetensors")
        for opponent in ("rule_based", "expert"):
            leads = [points(agent, opponent, settings.pairs) for agent in agents]
            means = [float(lead.mean()) for lead in leads]
            error = 1.96 * np.mean([lead.std() for lead in leads]) / np.sqrt(settings.pairs)
            shown = ", ".join(f"{mean:+.2f}" for mean in means)
            found[method, opponent] = float(np.mean(means))
            print(f"| {method} | {opponent} | {np.mean(means):+.2f} | {shown} | ± {error:.2f} |",
                  flush=True)  # fmt: skip
    return found


if __name__ == "__main__":
    main(tyro.cli(Settings))
