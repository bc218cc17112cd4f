"""TorchRL: the batch as a native `EnvBase`, and the AEC environment by TorchRL's own wrapper.

    python examples/libraries/torchrl_ppo.py
    python examples/libraries/torchrl_ppo.py --wrapper

TorchRL wraps any PettingZoo environment (`PettingZooWrapper`), one game at a time. `CribbageEnv`
hands it the native batch instead: all games in one tensordict, opponents included.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import torch
import tyro
from gymnasium.spaces import Box, Discrete
from tensordict import TensorDict, TensorDictBase
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.data import Binary, Categorical, Composite, Unbounded
from torchrl.envs import EnvBase, PettingZooWrapper
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from crib_env import six_card_v0

OPTIONS: dict[str, Any] = {"opponent": "rule_based", "episode": "deal", "reward": "points"}


class CribbageEnv(EnvBase):  # type: ignore[misc]
    """N games of one learner each as a TorchRL environment of batch size [N].

    Finished games have been reset by the time `_step` returns: it gives the ended game's last
    observation, and `_reset` hands out the new game's first.

    Args:
        games: N.
        **options: of `six_card_v0.vector_env`.
    """

    batch_locked = True

    def __init__(self, games: int, **options: Any) -> None:
        super().__init__(device="cpu", batch_size=[games])
        self.games = six_card_v0.vector_env(games, **options)
        space, choices = self.games.single_observation_space, self.games.single_action_space
        assert isinstance(space, Box)
        assert isinstance(choices, Discrete)
        size, actions = space.shape[0], int(choices.n)
        self.observation_spec = Composite(
            observation=Unbounded((games, size), dtype=torch.float32),
            action_mask=Binary(actions, (games, actions), dtype=torch.bool),
            shape=[games],
        )
        self.action_spec = Categorical(actions, (games,), mask=None)
        self.reward_spec = Unbounded((games, 1))
        self.done_spec = Composite(
            done=Binary(1, (games, 1), dtype=torch.bool),
            terminated=Binary(1, (games, 1), dtype=torch.bool),
            shape=[games],
        )
        self._now: TensorDict | None = None

    def _observed(self, observation: Any, mask: Any) -> TensorDict:
        seen = torch.from_numpy(np.asarray(observation, np.float32))
        return TensorDict(
            {"observation": seen, "action_mask": torch.from_numpy(mask != 0)}, self.batch_size
        )

    def _reset(self, tensordict: TensorDictBase | None, **_: Any) -> TensorDictBase:
        # A tensordict is no dict: `in` needs its keys.
        partly = tensordict is not None and "_reset" in tensordict.keys()  # noqa: SIM118
        if self._now is None or not partly:
            observation, info = self.games.reset()
            self._now = self._observed(observation, info["action_mask"])
        return self._now.clone()

    def _step(self, tensordict: TensorDictBase) -> TensorDictBase:
        observation, reward, ended, _, info = self.games.step(tensordict["action"].numpy())
        self._now = self._observed(observation, info["action_mask"])
        shown = self._now.clone()
        for game in np.flatnonzero(ended):
            last = np.asarray(info["final_obs"][game], np.float32)
            shown["observation"][game] = torch.from_numpy(last)
        done = torch.from_numpy(ended.copy())[:, None]
        shown.update(
            {
                "reward": torch.from_numpy(np.asarray(reward, np.float32))[:, None],
                "done": done,
                "terminated": done.clone(),
            }
        )
        return shown

    def _set_seed(self, seed: int | None) -> None:
        observation, info = self.games.reset(seed=seed)
        self._now = self._observed(observation, info["action_mask"])


def step_wrapped(frames: int, seed: int) -> float:
    """Play the AEC form by TorchRL's wrapper at random; return steps per second."""
    env = PettingZooWrapper(six_card_v0.env(episode="deal"), use_mask=True, seed=seed)
    began, steps = time.perf_counter(), 0
    while steps < frames:
        steps += env.rollout(1000, break_when_any_done=True).numel()
    speed = steps / (time.perf_counter() - began)
    print(f"{speed:,.0f} steps per second")
    return speed


def main(frames: int = 200_000, games: int = 256, seed: int = 1, wrapper: bool = False) -> float:
    """Train by PPO; return the mean points per deal in the last batch.

    Args:
        frames: decisions of the learner.
        games: how many are played at once.
        seed: fixes the deals and the networks.
        wrapper: step PettingZoo's form by TorchRL's wrapper, at random, and say how fast, instead.
    """
    if wrapper:
        return step_wrapped(frames, seed)
    env = CribbageEnv(games, **OPTIONS)
    env.set_seed(seed)
    torch.set_num_threads(1)  # small nets: a second thread waits more than it works
    torch.manual_seed(seed)
    size, actions = env.observation_spec["observation"].shape[-1], env.action_spec.n
    net = nn.Sequential(nn.Linear(size, 128), nn.Tanh(), nn.Linear(128, actions))
    actor = ProbabilisticActor(
        TensorDictModule(net, in_keys=["observation"], out_keys=["logits"]),
        in_keys={"logits": "logits", "mask": "action_mask"},
        distribution_class=MaskedCategorical,
        return_log_prob=True,
    )
    values = nn.Sequential(nn.Linear(size, 128), nn.Tanh(), nn.Linear(128, 1))
    critic = ValueOperator(values, in_keys=["observation"])
    loss = ClipPPOLoss(actor, critic, entropy_coeff=0.005)
    advantage = GAE(gamma=1.0, lmbda=0.95, value_network=critic)
    optimizer = torch.optim.Adam(loss.parameters(), 1e-3)
    batch = games * 32
    collector = Collector(env, actor, frames_per_batch=batch, total_frames=max(batch, frames))
    mean = 0.0
    for data in collector:
        with torch.no_grad():
            advantage(data)
        flat = data.reshape(-1)
        for _ in range(4):
            for rows in torch.randperm(len(flat)).chunk(8):
                terms = loss(flat[rows])
                names = terms.keys()
                total = sum(terms[name] for name in names if name.startswith("loss_"))
                optimizer.zero_grad()
                total.backward()
                optimizer.step()
        ended = data["next", "done"].sum().clamp_min(1)
        mean = float(data["next", "reward"].sum() / ended)
        print(f"{mean:+.2f} points per deal more than {OPTIONS['opponent']}")
    collector.shutdown()
    return mean


if __name__ == "__main__":
    tyro.cli(main)
