"""Stable-Baselines3: a strong agent by MaskablePPO on the native vector environment.

    python examples/libraries/sb3.py

It learns for four CPU minutes, writes ``model.zip`` to ``--out``, and prints the share of games
that the agent wins against `rule_based`. `docs/first_agent.md` explains it.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import torch
import tyro
from crib_agents import from_sb3
from crib_agents.card_policy import CardPolicy
from crib_training.evaluation.evaluate import evaluate
from sb3_contrib import MaskablePPO

from crib_env import six_card_v0

OPTIONS: dict[str, Any] = {
    "opponent": "rule_based",
    "episode": "deal",
    "reward": "expected",
    "features": True,
    "suits": "canonical",
}


def learning_rate(left: float) -> float:
    """Return the learning rate; ``left`` falls from 1 to 0."""
    return 2e-3 * max(left, 0.02)


def main(timesteps: int = 2_000_000, pairs: int = 2000, seed: int = 1, out: Path = Path("runs/sb3")) -> float:
    """Train, and return the share of games won against the opponent."""
    torch.set_num_threads(1)  # small nets: a second thread waits more than it works
    games = six_card_v0.sb3_env(1024, **OPTIONS)  # 1,024 deals side by side, in compiled code
    games.seed(seed)
    model = MaskablePPO(
        CardPolicy, games, n_steps=24, batch_size=4096, n_epochs=4, learning_rate=learning_rate,
        gamma=1.0, gae_lambda=0.95, ent_coef=0.0005,
        vf_coef=0.02,  # rewards are points, and their variance is some 50
        policy_kwargs={"temperature": 1 / 6, "reads_score": False}, seed=seed, device="cpu",
    )  # fmt: skip
    model.learn(timesteps)
    out.mkdir(parents=True, exist_ok=True)
    model.save(out / "model.zip")

    opponent = OPTIONS["opponent"]
    cpu = time.process_time()
    won = evaluate(six_card_v0.maker, "hoyle", from_sb3(model), opponent, pairs, seed, adjust="never")["won"]
    print(f"{cpu:.0f} CPU seconds, {won['mean']:.1%} ± {won['ci95']:.1%} of games won")
    return float(won["mean"])


if __name__ == "__main__":
    tyro.cli(main)
