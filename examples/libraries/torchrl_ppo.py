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
from crib_agents import from_torch
from crib_agents.card_net import CardNet
from crib_training.evaluation.evaluate import evaluate
from gymnasium.spaces import Box, Discrete
from tensordict import TensorDict, TensorDictBase
from tensordict.nn import TensorDictModule
from torch import Tensor, nn
from torchrl.collectors import Collector
from torchrl.data import Binary, Categorical, Composite, Unbounded
from torchrl.envs import EnvBase, PettingZooWrapper
from torchrl.modules import MaskedCategorical, ProbabilisticActor
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from crib_env import observation_layout, six_card_v0

OPTIONS: dict[str, Any] = {
    "opponent": "rule_based",
    "episode": "deal",
    "reward": "expected",
    "features": True,
    "suits": "canonical",
}


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
        return TensorDict({"observation": seen, "action_mask": torch.from_numpy(mask != 0)}, self.batch_size)

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


class ActorCritic(nn.Module):
    """`CardNet` for any batch size: TorchRL also passes whole rollouts, [N, T]."""

    def __init__(self) -> None:
        super().__init__()
        self.net = CardNet(observation_layout("six_card_v0", features=True), temperature=1 / 6, reads_score=False)

    def forward(self, observation: Tensor) -> tuple[Tensor, Tensor]:
        """Return the logits, [..., actions], and the values, [..., 1]."""
        logits, value = self.net.logits_and_value(observation.flatten(0, -2))
        size = observation.shape[:-1]
        return logits.reshape(*size, -1), value.reshape(*size, 1)


def step_wrapped(frames: int, seed: int) -> float:
    """Play the AEC form by TorchRL's wrapper at random; return steps per second."""
    env = PettingZooWrapper(six_card_v0.env(episode="deal"), use_mask=True, seed=seed)
    began, steps = time.perf_counter(), 0
    while steps < frames:
        steps += env.rollout(1000, break_when_any_done=True).numel()
    speed = steps / (time.perf_counter() - began)
    print(f"{speed:,.0f} steps per second")
    return speed


def main(timesteps: int = 500_000, games: int = 256, pairs: int = 2000, seed: int = 1, wrapper: bool = False) -> float:
    """Train by PPO; return the share of games won against the opponent.

    Args:
        timesteps: decisions of the learner.
        games: how many are played at once.
        pairs: duplicate pairs of games to play at the end.
        seed: fixes the deals and the networks.
        wrapper: step PettingZoo's form by TorchRL's wrapper, at random, and say how fast, instead.
    """
    if wrapper:
        return step_wrapped(timesteps, seed)
    env = CribbageEnv(games, **OPTIONS)
    env.set_seed(seed)
    torch.set_num_threads(1)  # small nets: a second thread waits more than it works
    torch.manual_seed(seed)
    both = ActorCritic()
    logits = TensorDictModule(both, in_keys=["observation"], out_keys=["logits", "_"])
    critic = TensorDictModule(both, in_keys=["observation"], out_keys=["_", "state_value"])
    actor = ProbabilisticActor(
        logits,
        in_keys={"logits": "logits", "mask": "action_mask"},
        distribution_class=MaskedCategorical,
        return_log_prob=True,
    )
    loss = ClipPPOLoss(
        actor, critic, entropy_coeff=0.0005, critic_coeff=0.02, loss_critic_type="l2", normalize_advantage=True
    )
    # `CardNet` picks rows by their contents, which `vmap` cannot.
    advantage = GAE(gamma=1.0, lmbda=0.95, value_network=critic, deactivate_vmap=True)
    optimizer = torch.optim.Adam(both.parameters(), 2e-3)
    batch = games * 24
    collector = Collector(env, actor, frames_per_batch=batch, total_frames=max(batch, timesteps))
    done = 0
    for data in collector:
        optimizer.param_groups[0]["lr"] = 2e-3 * max(0.02, 1 - done / timesteps)
        with torch.no_grad():
            advantage(data)
        flat = data.reshape(-1)
        for _ in range(4):
            for rows in torch.randperm(len(flat)).chunk(6):
                terms = loss(flat[rows])
                names = terms.keys()
                total = sum(terms[name] for name in names if name.startswith("loss_"))
                optimizer.zero_grad()
                total.backward()
                nn.utils.clip_grad_norm_(both.parameters(), 0.5)
                optimizer.step()
        done += batch
        ended = data["next", "done"].sum().clamp_min(1)
        mean = float(data["next", "reward"].sum() / ended)
        print(f"{done:>9,} steps  {mean:+.2f} points per deal more than {OPTIONS['opponent']}")
    collector.shutdown()
    cpu, agent = time.process_time(), from_torch(both.net, features=True, suits="canonical")
    won = evaluate(six_card_v0.maker, "hoyle", agent, OPTIONS["opponent"], pairs, seed, adjust="never")["won"]
    print(f"{cpu:.0f} CPU seconds, {won['mean']:.1%} ± {won['ci95']:.1%} of games won")
    return float(won["mean"])


if __name__ == "__main__":
    tyro.cli(main)
