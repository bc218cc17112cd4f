"""RLlib, new API stack: PPO with masks on the native batch, on one machine or a cluster.

    python examples/libraries/rllib.py
    python examples/libraries/rllib.py --address auto --runners 16

An env runner steps the batch that `gymnasium.make_vec` makes, opponents included. Env runners that
die are restarted, and lose their own samples only. For self-play, RLlib's `PettingZooEnv` wraps
``six_card_v0.env(mask_in_observation="rllib")``.
"""

from __future__ import annotations

import time
from typing import Any

import gymnasium
import ray
import torch
import tyro
from crib_agents import from_torch
from crib_agents.card_net import CardNet
from crib_training.evaluation.evaluate import evaluate
from ray.rllib.algorithms.ppo import PPO, PPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis import ValueFunctionAPI
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.core.rl_module.torch import TorchRLModule

from crib_env import observation_layout, six_card_v0

OPTIONS: dict[str, Any] = {
    "opponent": "rule_based",
    "episode": "deal",
    "reward": "expected",
    "features": True,
    "suits": "canonical",
    "mask_in_observation": "rllib",
    "autoreset_mode": "NextStep",
}


class CardModule(TorchRLModule, ValueFunctionAPI):  # type: ignore[misc]
    """`CardNet` as RLlib's module; the mask is in the observation."""

    def setup(self) -> None:
        """Make the network."""
        self.net = CardNet(observation_layout("six_card_v0", features=True), temperature=1 / 6, reads_score=False)

    def _forward(self, batch: dict[str, Any], **_: Any) -> dict[str, Any]:
        seen = batch[Columns.OBS]
        logits, values = self.net.logits_and_value(seen["observations"])
        logits = logits.masked_fill(seen["action_mask"] == 0, -1e9)
        return {Columns.ACTION_DIST_INPUTS: logits, Columns.EMBEDDINGS: values}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> Any:
        """Return the values, [B]: those of a forward pass of the same batch, if there was one."""
        return self._forward(batch)[Columns.EMBEDDINGS] if embeddings is None else embeddings


def algorithm(timesteps: int = 200_000, batch: int = 6144, runners: int = 0, games: int = 256, seed: int = 1) -> PPO:
    """Return PPO against the opponent; without runners, the driver steps the games."""
    config = (
        PPOConfig()
        .environment("crib_env:crib_env/SixCard-v0", env_config=OPTIONS)
        .env_runners(
            num_env_runners=runners,
            num_envs_per_env_runner=games,
            gym_env_vectorize_mode=gymnasium.VectorizeMode.VECTOR_ENTRY_POINT,
        )
        .rl_module(rl_module_spec=RLModuleSpec(module_class=CardModule))
        .training(
            train_batch_size=batch,
            minibatch_size=max(1, batch // 6),
            num_epochs=4,
            gamma=1.0,
            lambda_=0.95,
            lr=[[0, 2e-3], [timesteps, 4e-5]],
            entropy_coeff=0.0005,
            vf_loss_coeff=0.02,
            vf_clip_param=1000.0,  # of a squared error in points
            use_kl_loss=False,
            grad_clip=0.5,
        )
        .fault_tolerance(restart_failed_env_runners=True)
        .debugging(seed=seed)
    )
    return config.build_algo()


def main(
    timesteps: int = 200_000,
    batch: int = 6144,
    games: int = 256,
    runners: int = 0,
    address: str | None = None,
    pairs: int = 2000,
    seed: int = 1,
) -> float:
    """Train; return the share of games won against the opponent.

    Args:
        timesteps: decisions of the learner.
        batch: decisions between two updates.
        games: how many a runner plays at once.
        runners: processes that play; without any, the driver plays.
        address: of a Ray cluster.
        pairs: duplicate pairs of games to play at the end.
        seed: fixes the deals and the network.
    """
    torch.set_num_threads(1)  # small nets: a second thread waits more than it works
    ray.init(address=address, ignore_reinit_error=True, log_to_driver=False)
    learner = algorithm(timesteps, batch, runners, games, seed)
    sampled = 0
    while sampled < timesteps:
        found = learner.train()["env_runners"]
        sampled += int(found.get("num_env_steps_sampled", 0))
        mean = found.get("episode_return_mean", 0.0)
        print(f"{sampled:>9,} steps  {mean:+.2f} points per deal more")
    cpu, agent = time.process_time(), from_torch(learner.get_module().net, features=True, suits="canonical")
    learner.stop()
    won = evaluate(six_card_v0.maker, "hoyle", agent, OPTIONS["opponent"], pairs, seed, adjust="never")["won"]
    print(f"{cpu:.0f} CPU seconds, {won['mean']:.1%} ± {won['ci95']:.1%} of games won")
    return float(won["mean"])


if __name__ == "__main__":
    tyro.cli(main)
