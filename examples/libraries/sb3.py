"""Stable-Baselines3: MaskablePPO on the native vector environment, or on single games.

    python examples/libraries/sb3.py
    python examples/libraries/sb3.py --form single --timesteps 4096

`sb3_env` steps all games in compiled code, opponents included, and answers MaskablePPO's question
for masks; it is the one to train with. A single Gymnasium game answers it as well, so that
`make_vec_env` and everything else of SB3 works, a hundred times slower.
"""

from __future__ import annotations

import time
from typing import Any, Literal

import torch
import tyro
from crib_agents import from_sb3
from crib_agents.card_policy import CardPolicy
from crib_training.evaluation.evaluate import evaluate
from sb3_contrib import MaskablePPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import VecEnv

from crib_env import six_card_v0

OPTIONS: dict[str, Any] = {
    "opponent": "rule_based", "episode": "deal", "reward": "expected", "features": True,
    "suits": "canonical",
}  # fmt: skip


def main(
    form: Literal["native", "single"] = "native",
    timesteps: int = 500_000,
    pairs: int = 2000,
    seed: int = 1,
) -> float:
    """Train; return the share of games won against the opponent.

    Args:
        form: the native batch, or Gymnasium games one by one.
        timesteps: decisions of the learner.
        pairs: duplicate pairs of games to play at the end.
        seed: fixes the deals and the network.
    """
    torch.set_num_threads(1)  # small nets: a second thread waits more than it works
    if form == "native":
        games: VecEnv = six_card_v0.sb3_env(256, **OPTIONS)
    else:
        games = make_vec_env("crib_env/SixCard-v0", 4, seed=seed, env_kwargs=OPTIONS)
    model = MaskablePPO(
        CardPolicy, games, n_steps=24, batch_size=1024, n_epochs=4, ent_coef=0.0005, seed=seed,
        learning_rate=lambda left: 2e-3 * left, gamma=1.0, gae_lambda=0.9, vf_coef=0.02,
        device="cpu",
    )  # fmt: skip
    model.learn(timesteps)
    cpu = time.process_time()
    won = evaluate(
        six_card_v0.maker, "hoyle", from_sb3(model), OPTIONS["opponent"], pairs, seed,
        adjusted=False,
    )["won"]  # fmt: skip
    print(f"{cpu:.0f} CPU seconds, {won['mean']:.1%} ± {won['ci95']:.1%} of games won")
    return float(won["mean"])


if __name__ == "__main__":
    tyro.cli(main)
