"""Stable-Baselines3: MaskablePPO on the native vector environment, or on single games.

    python examples/libraries/sb3.py
    python examples/libraries/sb3.py --form single --timesteps 4096

`sb3_env` steps all games in compiled code, opponents included, and answers MaskablePPO's question
for masks; it is the one to train with. A single Gymnasium game answers it as well, so that
`make_vec_env` and everything else of SB3 works, a hundred times slower.
"""

from __future__ import annotations

from typing import Any, Literal

import gymnasium
import torch
import tyro
from crib_agents.card_policy import CardPolicy
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import VecEnv

from crib_env import six_card_v0

OPTIONS: dict[str, Any] = {
    "opponent": "rule_based", "episode": "deal", "reward": "expected", "features": True,
    "suits": "canonical",
}  # fmt: skip


def main(
    form: Literal["native", "single"] = "native", timesteps: int = 200_000, seed: int = 1
) -> float:
    """Train, and return the mean points per deal more than the opponent."""
    torch.set_num_threads(1)  # small nets: a second thread waits more than it works
    if form == "native":
        games: VecEnv = six_card_v0.sb3_env(256, **OPTIONS)
    else:
        games = make_vec_env("crib_env/SixCard-v0", 4, seed=seed, env_kwargs=OPTIONS)
    model = MaskablePPO(
        CardPolicy, games, n_steps=24, batch_size=1024, n_epochs=4, learning_rate=2e-3, seed=seed,
        gamma=1.0, gae_lambda=0.9, vf_coef=0.02, device="cpu",
    )  # fmt: skip
    model.learn(timesteps)
    single = gymnasium.make("crib_env/SixCard-v0", **OPTIONS)
    mean, spread = evaluate_policy(model, single, n_eval_episodes=200, warn=False)
    assert isinstance(mean, float)
    print(f"{mean:+.2f} points per deal more than {OPTIONS['opponent']} (spread {spread:.1f})")
    return mean


if __name__ == "__main__":
    tyro.cli(main)
