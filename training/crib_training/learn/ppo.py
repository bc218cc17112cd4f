"""Fit a MaskablePPO agent against an opponent.

    python -m crib_training.learn.ppo --timesteps 1000000 --opponent rule_based --seed 1 --out runs/ppo

Writes to ``--out``: ``policy.safetensors`` (for `crib_agents.adapters.learned.LearnedAgent` and
``crib_training.evaluation.evaluate``), ``model.zip`` (for ``--resume``), ``learning_curve.png``,
``learning_curve.csv``, and TensorBoard logs.

One episode is a deal by default and the reward the difference in points: every decision is then
followed by its consequences within a few steps, so a few minutes are enough to learn something.
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import torch
from crib_agents.adapters.learned import LearnedAgent, header
from crib_agents.loading import load_agent
from gymnasium import spaces
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback, CallbackList, ProgressBarCallback
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import VecNormalize

from crib_env.engine.family import Family
from crib_env.envs.makers import Maker
from crib_training.learn.shaping import LineShaping
from crib_training.loading import find_maker


def arguments() -> argparse.ArgumentParser:
    """Return the command line; its help is the documentation of every setting."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    add = parser.add_argument
    add("--env", default="six_card_v0", help="the environment (default: %(default)s)")
    add("--rules", help="a preset of rules other than the game's own")
    add("--players", type=int, default=2, help="2, or 4 in Table Top")
    add("--timesteps", type=int, default=1_000_000, help="decisions to learn from (%(default)s)")
    add("--seed", type=int, default=1, help="of the deals, the network and the batches")
    add("--opponent", default="rule_based", help="an agent's name or a .safetensors file")
    add("--episode", help="what one episode is (default: one deal, or one round)")
    add("--reward", default="points", help="points or win (default: %(default)s)")
    add("--lanes", type=int, default=256, help="games side by side (default: %(default)s)")
    add("--steps", type=int, default=32, help="decisions a game between updates (%(default)s)")
    add("--batch-size", type=int, default=1024, help="of an update (default: %(default)s)")
    add("--epochs", type=int, default=8, help="passes over the decisions (default: %(default)s)")
    add("--learning-rate", type=float, default=1e-3, help="falls linearly to a tenth (%(default)s)")
    add("--gae-lambda", type=float, default=0.95, help="of the advantages (default: %(default)s)")
    add("--shaping", action="store_true", help="Table Top: pay a card when it is placed")
    add("--entropy", type=float, default=0.01, help="weight of the entropy (default: %(default)s)")
    add("--width", type=int, default=256, help="of the two hidden layers (default: %(default)s)")
    add("--resume", type=Path, help="a model.zip to go on from")
    # One thread: layers this small gain little from two, and lose much where a core is shared.
    add("--threads", type=int, default=1, help="of PyTorch (default: %(default)s)")
    add("--out", type=Path, default=Path("runs/ppo"), help="folder for results (%(default)s)")
    add("--no-progress", action="store_true", help="no progress bar")
    return parser


class RankFeatures(BaseFeaturesExtractor):
    """The observation with the cards' ranks counted beside it.

    Points go by rank far more than by suit; counting ranks in every block of 52 cards spares the
    network learning thirteen times over which four inputs belong together. The map is linear and
    fixed, so `policy_agent` folds it into the first layer and the saved network stays a plain MLP.
    """

    def __init__(self, observation_space: spaces.Box, blocks: tuple[int, ...]) -> None:
        size = observation_space.shape[0]
        super().__init__(observation_space, size + 13 * len(blocks))
        ranks = torch.zeros(size, 13 * len(blocks))
        for i, start in enumerate(blocks):
            for card in range(52):
                ranks[start + card, 13 * i + card // 4] = 1.0
        self.register_buffer("ranks", ranks)
        self.ranks: torch.Tensor

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Map float32[B, size] to float32[B, size + 13 * blocks]."""
        return torch.cat([observations, observations @ self.ranks], dim=1)


def card_blocks(family: Family) -> tuple[int, ...]:
    """Return where the observation's blocks of 52 cards begin."""
    starts, at = [], 0
    for _, size, _ in family.layout:
        if size == 52:
            starts.append(at)
        at += size
    return tuple(starts)


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


def train(args: argparse.Namespace) -> LearnedAgent:
    """Fit an agent as the arguments say, write everything to ``args.out`` and return it."""
    maker = find_maker(args.env)
    args.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(args.threads)
    # The masked logits are finite by construction; checking them at every step takes time.
    torch.distributions.Distribution.set_default_validate_args(False)
    short = "deal" if "deal" in maker.episodes else "round"
    games = maker.sb3_env(
        args.lanes,
        opponent=load_agent(args.opponent),
        rules=args.rules,
        episode=args.episode or short,
        reward=args.reward,
        seat=None,
        **({"players": args.players} if args.players != 2 else {}),
    )
    games.seed(args.seed)
    # Only the reward is scaled; the observation is bits already. A deal is short: no discount.
    shaped = LineShaping(games) if args.shaping else games
    venv = VecNormalize(shaped, norm_obs=False, norm_reward=True, gamma=1.0)

    def learning_rate(remaining: float) -> float:
        return float(args.learning_rate * max(0.1, remaining))

    if args.resume:
        model = MaskablePPO.load(args.resume, env=venv, tensorboard_log=str(args.out / "tb"))
    else:
        model = MaskablePPO(
            "MlpPolicy",
            venv,
            learning_rate=learning_rate,
            n_steps=args.steps,
            batch_size=args.batch_size,
            n_epochs=args.epochs,
            gamma=1.0,
            gae_lambda=args.gae_lambda,
            ent_coef=args.entropy,
            policy_kwargs={
                "net_arch": [args.width, args.width],
                "activation_fn": torch.nn.ReLU,
                "features_extractor_class": RankFeatures,
                "features_extractor_kwargs": {"blocks": card_blocks(maker.family())},
            },
            stats_window_size=2000,
            tensorboard_log=str(args.out / "tb"),
            seed=args.seed,
            device="cpu",
        )
    curve = LearningCurve()
    callbacks: list[BaseCallback] = [curve]
    if not args.no_progress:
        callbacks.append(ProgressBarCallback())
    model.learn(
        args.timesteps, callback=CallbackList(callbacks), reset_num_timesteps=not args.resume
    )
    model.save(args.out / "model.zip")
    agent = policy_agent(model, maker, args.rules or maker.rules)
    agent.save(args.out / "policy.safetensors")
    draw(curve.rows, args.out, args.opponent, args.reward)
    return agent


def policy_agent(model: MaskablePPO, maker: Maker, rules: str) -> LearnedAgent:
    """Return the policy of a trained model as an agent of ours."""
    state: dict[str, Any] = {key: value.numpy() for key, value in model.policy.state_dict().items()}
    names = sorted({key.rsplit(".", 1)[0] for key in state if "mlp_extractor.policy_net" in key})
    layers = [(state[f"{name}.weight"], state[f"{name}.bias"]) for name in [*names, "action_net"]]
    (weight, bias), ranks = layers[0], state["features_extractor.ranks"]
    layers[0] = weight[:, : len(ranks)] + weight[:, len(ranks) :] @ ranks.T, bias
    return LearnedAgent(layers, header(maker.name, rules, maker.family()), name="ppo")


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
    unit = "points a deal more than the opponent" if reward == "points" else "result"
    axes.set_ylabel(unit)
    axes.set_title(f"MaskablePPO learning against {opponent}")
    figure.tight_layout()
    figure.savefig(out / "learning_curve.png", dpi=120)
    plt.close(figure)


def main() -> None:
    """Run the command line."""
    args = arguments().parse_args()
    train(args)
    print(f"wrote {args.out}/policy.safetensors, model.zip, learning_curve.png")


if __name__ == "__main__":
    main()
