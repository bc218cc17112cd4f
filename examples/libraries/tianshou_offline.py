"""Tianshou 2: learn from games that `crib data` wrote, without playing any.

    crib data rule_based expert --games 93000 --out runs/offline
    python examples/libraries/tianshou_offline.py --data runs/offline

Behaviour cloning copies the decisions. Critic regularised regression (CRR) copies them too, each
weighted by its gain over the policy as its critic sees it. Rewards are points, and a deal of a seat
is an episode. Both write safetensors files that every command takes as agents.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro
from crib_agents.policy_net import PolicyNetAgent, header
from crib_training.data import load
from crib_training.evaluation.evaluate import evaluate
from gymnasium import spaces
from tianshou.algorithm.imitation.discrete_crr import DiscreteCRR
from tianshou.algorithm.imitation.imitation_base import ImitationPolicy, OfflineImitationLearning
from tianshou.algorithm.modelfree.reinforce import DiscreteActorPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory, LRSchedulerFactoryLinear
from tianshou.data import ReplayBuffer
from tianshou.trainer import OfflineTrainerParams
from torch import nn

from crib_env import PRESETS, six_card_v0
from crib_env.engine.family import find_family

COLUMNS = ("episode", "deal", "seat", "observation", "action_mask", "action", "reward")
ACTIONS = spaces.Discrete(52)


@dataclass
class Settings:
    """The data and the length of training."""

    data: Path = Path("runs/offline")
    out: Path = Path("runs/offline-policies")
    passes: float = 1.0
    batch: int = 512
    rate: float = 1e-3
    hidden: int = 256
    seeds: tuple[int, ...] = (1, 2, 3)
    pairs: int = 5000
    min_q_weight: float = 0.1


class Net(nn.Module):
    """A score for each action from packed bits; -1e6 for illegal actions."""

    def __init__(self, bits: int, settings: Settings) -> None:
        super().__init__()
        self.bits, width = bits, settings.hidden
        self.layers = nn.Sequential(
            nn.Linear(bits, width),
            nn.ReLU(),
            nn.Linear(width, width),
            nn.ReLU(),
            nn.Linear(width, width),
            nn.ReLU(),
            nn.Linear(width, 52),
        )

    def forward(self, obs: Any, state: Any = None, info: Any = None) -> Any:
        """Return the scores, [B, 52], and the state; Tianshou's policies call this."""
        bits = torch.from_numpy(np.unpackbits(obs, axis=1))
        legal = bits[:, -(-self.bits // 8) * 8 :][:, :52] == 1
        return self.layers(bits[:, : self.bits].float()).masked_fill(~legal, -1e6), state


class Critic(Net):
    """The value of each action, for `DiscreteCRR`."""

    def forward(self, obs: Any, state: Any = None, info: Any = None) -> Any:
        """Return the values, [B, 52]."""
        return super().forward(obs)[0]


def buffer_of(data: dict[str, Any]) -> ReplayBuffer:
    """Return the decisions of each seat in each deal, one after another; their bits are packed."""
    order = np.lexsort((np.arange(len(data["action"])), data["deal"], data["seat"], data["episode"]))
    key = np.stack([data[name][order] for name in ("episode", "seat", "deal")])
    ends = np.append((key[:, 1:] != key[:, :-1]).any(axis=0), True)
    seen = np.concatenate([data["observation"], data["action_mask"]], axis=1)[order]
    after = np.concatenate([seen[1:], seen[:1]])  # not read at an episode's end
    return ReplayBuffer.from_data(
        obs=seen,
        act=data["action"][order].astype(np.int64),
        rew=data["reward"][order],
        terminated=ends,
        truncated=np.zeros_like(ends),
        done=ends,
        obs_next=after,
    )


def learner(method: str, bits: int, steps: int, settings: Settings) -> tuple[Any, Net]:
    """Return an algorithm of Tianshou, and its policy's network."""
    actor = Net(bits, settings)
    adam = AdamOptimizerFactory(lr=settings.rate).with_lr_scheduler_factory(LRSchedulerFactoryLinear(1, steps, 1))
    if method == "behaviour cloning":
        copy = ImitationPolicy(actor=actor, action_space=ACTIONS, action_bound_method=None)
        return OfflineImitationLearning(policy=copy, optim=adam), actor
    policy = DiscreteActorPolicy(actor=actor, action_space=ACTIONS)
    return DiscreteCRR(
        policy=policy,
        critic=Critic(bits, settings),
        optim=adam,
        gamma=1.0,
        target_update_freq=500,
        min_q_weight=settings.min_q_weight,
    ), actor


def learn(method: str, buffer: ReplayBuffer, settings: Settings, seed: int) -> PolicyNetAgent:
    """Train a policy and return it as an agent."""
    np.random.seed(seed)  # noqa: NPY002 - Tianshou samples by NumPy's global generator
    torch.manual_seed(seed)
    steps = max(1, int(settings.passes * len(buffer) / settings.batch))
    family = find_family(PRESETS["hoyle"].family)
    algorithm, actor = learner(method, family.obs_size, steps, settings)
    algorithm.run_training(
        OfflineTrainerParams(
            buffer=buffer,
            max_epochs=1,
            epoch_num_steps=steps,
            batch_size=settings.batch,
            test_collector=None,
            show_progress=False,
        )
    )
    layers = [
        (one.weight.detach().numpy().copy(), one.bias.detach().numpy().copy())
        for one in actor.modules()
        if isinstance(one, nn.Linear)
    ]
    about = header("six_card_v0", "hoyle", family)
    return PolicyNetAgent(layers, about, name=f"{method} {seed}")


def main(settings: Settings) -> dict[tuple[str, str], float]:
    """Train by both methods and every seed; print a table, and return its means."""
    torch.set_num_threads(1)  # small nets: a second thread waits more than it works
    buffer = buffer_of(load(settings.data, COLUMNS, env="six_card_v0", packed=True))
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
            margins = [
                evaluate(six_card_v0.maker, "hoyle", agent, opponent, settings.pairs, seed=1,
                         games=False, adjust="never", forfeits=True)["margin_per_deal"]
                for agent in agents
            ]  # fmt: skip
            means = [margin["mean"] for margin in margins]
            error = np.mean([margin["ci95"] for margin in margins])
            shown = ", ".join(f"{mean:+.2f}" for mean in means)
            found[method, opponent] = float(np.mean(means))
            print(f"| {method} | {opponent} | {np.mean(means):+.2f} | {shown} | ± {error:.2f} |", flush=True)
    return found


if __name__ == "__main__":
    main(tyro.cli(Settings))
