"""Fit a MaskablePPO agent against an opponent.

    crib train --timesteps 1000000 --opponent rule_based --seed 1 --out runs/ppo

Writes to ``--out``: ``policy.safetensors`` (a `LearnedAgent`, for `crib evaluate`), ``model.zip``
(for ``--resume``), ``learning_curve.png``, ``learning_curve.csv``, and TensorBoard logs.

One episode is a deal by default and the reward the difference in points: every decision is then
followed by its consequences within a few steps, so a few minutes are enough to learn something.
"""

from __future__ import annotations

import csv
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import torch
from crib_agents.adapters.learned import LearnedAgent
from crib_agents.loading import load_agent, trusted
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback, CallbackList, ProgressBarCallback
from stable_baselines3.common.vec_env import VecNormalize

from crib_training.command_line import start
from crib_training.learn.networks import policy_agent, policy_of
from crib_training.learn.shaping import LineShaping
from crib_training.loading import find_game, shortest_episode


@dataclass(frozen=True)
class Settings:
    """Train an agent by MaskablePPO against an opponent.

    Attributes:
        env: the environment.
        method: how it learns.
        rules: other than the environment's own: a preset, or one with changes, such as
            hoyle[target=91,for_last=3].
        players: 2, or 4 in Table Top.
        timesteps: decisions to learn from.
        seed: of the deals, the network and the batches.
        opponent: an agent's name or a .safetensors, .zip or .onnx file.
        episode: what one episode is; by default one deal, or one round.
        reward: the points made more than the opponent, or expected: with the mean of the show in
            its place (two-hand games), or who won; by default expected where there is such.
        features: what is observed besides bits: the exact means and points of each action, also
            what the reply may make, or nothing.
        lanes: games side by side.
        steps: decisions a game between updates.
        batch_size: of an update.
        epochs: passes over the decisions.
        learning_rate: falls linearly to a tenth.
        gae_lambda: of the advantages.
        shaping: pay a card when it is placed (Table Top).
        entropy: weight of the entropy.
        width: of the two hidden layers.
        resume: a folder of an earlier run, or its model.zip, to go on from.
        trust: these .zip files are one's own: they hold a pickle, which runs code as it is read.
        threads: of PyTorch. Layers this small gain little from two, and lose much where a core is
            shared.
        out: the folder for results.
        progress: show a progress bar.
    """

    env: str = "six_card_v0"
    method: Literal["ppo"] = "ppo"
    rules: str | None = None
    players: int = 2
    timesteps: int = 1_000_000
    seed: int = 1
    opponent: str = "rule_based"
    episode: str | None = None
    reward: Literal["expected", "points", "win"] | None = None
    features: Literal["reply", "lookahead"] | None = "reply"
    lanes: int = 512
    steps: int = 24
    batch_size: int = 2048
    epochs: int = 4
    learning_rate: float = 1e-3
    gae_lambda: float = 0.95
    shaping: bool = False
    entropy: float = 0.005
    width: int = 128
    resume: Path | None = None
    trust: bool = False
    threads: int = 1
    out: Path = Path("runs/ppo")
    progress: bool = True


class LearningCurve(BaseCallback):
    """Keeps the mean reward of the learner's episodes after every update."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[tuple[int, float, float]] = []
        self.began = time.perf_counter()

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        episodes = self.model.ep_info_buffer
        if episodes:
            mean = float(np.mean([episode["r"] for episode in episodes]))
            self.rows.append((self.num_timesteps, mean, time.perf_counter() - self.began))


def train(settings: Settings) -> LearnedAgent:
    """Fit an agent as the settings say, write everything to ``out`` and return it."""
    maker, rules = find_game(settings.env, settings.rules)
    opponent = load_agent(trusted(settings.opponent, settings.trust))
    if settings.resume and not settings.trust:
        raise ValueError(
            f"{settings.resume} holds a pickle, which can run any code as it is read: if the file "
            "is your own, say --trust"
        )
    reward = settings.reward or ("expected" if maker.family.expected else "points")
    settings.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(settings.threads)
    # The masked logits are finite by construction; checking them at every step takes time.
    torch.distributions.Distribution.set_default_validate_args(False)
    games = maker.sb3_env(
        settings.lanes,
        opponent=opponent,
        rules=rules,
        episode=settings.episode or shortest_episode(maker),
        reward=reward,
        features=settings.features,
        seat=None,
        **({"players": settings.players} if settings.players != 2 else {}),
    )
    games.seed(settings.seed)
    # Only the reward is scaled; the observation is bits already. A deal is short: no discount.
    shaped = LineShaping(games) if settings.shaping else games
    venv = VecNormalize(shaped, norm_obs=False, norm_reward=True, gamma=1.0)

    def learning_rate(remaining: float) -> float:
        return float(settings.learning_rate * max(0.1, remaining))

    if settings.resume:
        saved = settings.resume
        if saved.is_dir():
            saved /= "model.zip"
        model = MaskablePPO.load(saved, env=venv, tensorboard_log=str(settings.out / "tb"))
    else:
        policy, keywords = policy_of(maker.family, settings.features, settings.width)
        model = MaskablePPO(
            policy,
            venv,
            learning_rate=learning_rate,
            n_steps=settings.steps,
            batch_size=settings.batch_size,
            n_epochs=settings.epochs,
            gamma=1.0,
            gae_lambda=settings.gae_lambda,
            ent_coef=settings.entropy,
            policy_kwargs=keywords,
            stats_window_size=2000,
            tensorboard_log=str(settings.out / "tb"),
            seed=settings.seed,
            device="cpu",
        )
    curve = LearningCurve()
    callbacks: list[BaseCallback] = [curve]
    if settings.progress:
        callbacks.append(ProgressBarCallback())
    model.learn(
        settings.timesteps,
        callback=CallbackList(callbacks),
        reset_num_timesteps=not settings.resume,
    )
    model.save(settings.out / "model.zip")
    agent = policy_agent(model, maker, rules, settings.features)
    agent.save(settings.out / "policy.safetensors")
    draw(curve.rows, settings.out, settings.opponent, reward)
    return agent


def draw(rows: list[tuple[int, float, float]], out: Path, opponent: str, reward: str) -> None:
    """Write the learning curve as a table and as a picture."""
    with open(out / "learning_curve.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["decisions", "mean_episode_reward", "seconds"])
        writer.writerows(rows)
    figure, axes = plt.subplots(figsize=(7, 4))
    axes.plot([row[0] for row in rows], [row[1] for row in rows])
    axes.axhline(0, color="grey", linewidth=0.8)
    axes.set_xlabel("learner's decisions")
    unit = "result" if reward == "win" else "points a deal more than the opponent"
    axes.set_ylabel(unit)
    axes.set_title(f"MaskablePPO learning against {opponent}")
    figure.tight_layout()
    figure.savefig(out / "learning_curve.png", dpi=120)
    plt.close(figure)


def run(settings: Settings) -> None:
    """Train, and say where the results are."""
    train(settings)
    print(f"wrote {settings.out}/policy.safetensors, model.zip, learning_curve.png")


if __name__ == "__main__":
    start(Settings, run)
