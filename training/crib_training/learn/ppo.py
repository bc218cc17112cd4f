"""Fit a MaskablePPO agent against an opponent.

    crib train --timesteps 1000000 --opponent rule_based --seed 1 --out runs/ppo

Writes to ``--out``: ``policy.safetensors`` (a `LearnedAgent`, for `crib evaluate`), ``model.zip``
(for ``--resume``), the curve (`learn.curve`), and what TensorBoard reads.

One episode is a deal by default and the reward the difference in points: every decision is then
followed by its consequences within a few steps, so a few minutes are enough to learn something.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch
from crib_agents.adapters.learned import LearnedAgent
from crib_agents.loading import TakesAgents
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import VecNormalize

from crib_training.command_line import start
from crib_training.learn.curve import Curve, read_points
from crib_training.learn.deep_monte_carlo.checkpoint import write_whole
from crib_training.learn.display import EVENTS, Display
from crib_training.learn.networks import policy_agent, policy_of
from crib_training.learn.shaping import LineShaping
from crib_training.learn.watch import Watch
from crib_training.loading import find_game, shortest_episode

MODEL = "model.zip"


@dataclass(frozen=True)
class Settings(TakesAgents):
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
            its place, paid at the discard, or expected_at_show: paid when the hands are shown
            (two-hand games), or who won; by default expected where there is such.
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
        against: reference opponents, built-in names joined by commas; by default the opponent.
        lines: built-in agents whose own strength against the first of those the picture shows as
            lines, joined by commas.
        measures: how often strength is measured, and the run saved.
        measure_pairs: pairs of duplicate deals at each, and half as many pairs of games; 0 measures
            nothing.
        last_pairs: the same after the last decision.
        resume: a folder of an earlier run, or its model.zip, to go on from.
        threads: of PyTorch. Layers this small gain little from two, and lose much where a core is
            shared.
        out: the folder for results.
        progress: show how it goes.
    """

    env: str = "six_card_v0"
    method: Literal["ppo"] = "ppo"
    rules: str | None = None
    players: int = 2
    timesteps: int = 1_000_000
    seed: int = 1
    opponent: str = "rule_based"
    episode: str | None = None
    reward: Literal["expected", "expected_at_show", "points", "win"] | None = None
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
    against: str | None = None
    lines: str = "greedy"
    measures: int = 8
    measure_pairs: int = 500
    last_pairs: int = 2000
    resume: Path | None = None
    threads: int = 1
    out: Path = Path("runs/ppo")
    progress: bool = True


def games_of(settings: Settings) -> VecNormalize:
    """Return the games that settings name, with an opponent in them, as SB3 takes them."""
    maker, rules = find_game(settings.env, settings.rules)
    games = maker.sb3_env(
        settings.lanes,
        opponent=settings.load_agent(settings.opponent),
        rules=rules,
        episode=settings.episode or shortest_episode(maker),
        reward=settings.reward or ("expected" if maker.family.expected else "points"),
        features=settings.features,
        seat=None,
        **({"players": settings.players} if settings.players != 2 else {}),
    )
    games.seed(settings.seed)
    # Only the reward is scaled; the observation is bits already. A deal is short: no discount.
    shaped = LineShaping(games) if settings.shaping else games
    return VecNormalize(shaped, norm_obs=False, norm_reward=True, gamma=1.0)


def model_of(settings: Settings, games: VecNormalize) -> MaskablePPO:
    """Return what learns, from nothing or as it was saved."""
    torch.set_num_threads(settings.threads)
    # The masked logits are finite by construction; checking them at every step takes time.
    torch.distributions.Distribution.set_default_validate_args(False)
    events = str(settings.out / EVENTS)
    if settings.resume:
        return MaskablePPO.load(_folder(settings.resume) / MODEL, env=games, tensorboard_log=events)

    def learning_rate(remaining: float) -> float:
        return float(settings.learning_rate * max(0.1, remaining))

    maker, _ = find_game(settings.env, settings.rules)
    policy, keywords = policy_of(maker.family, settings.features, settings.width)
    return MaskablePPO(
        policy,
        games,
        learning_rate=learning_rate,
        n_steps=settings.steps,
        batch_size=settings.batch_size,
        n_epochs=settings.epochs,
        gamma=1.0,
        gae_lambda=settings.gae_lambda,
        ent_coef=settings.entropy,
        policy_kwargs=keywords,
        stats_window_size=2000,
        tensorboard_log=events,
        seed=settings.seed,
        device="cpu",
    )


def _folder(resume: Path) -> Path:
    return resume if resume.is_dir() else resume.parent


def train(settings: Settings) -> LearnedAgent:
    """Fit an agent as the settings say, write everything to ``out`` and return it.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed; the run is saved.
        ValueError: settings that are not possible, or a run to go on with that is not trusted.
    """
    maker, rules = find_game(settings.env, settings.rules)
    if settings.resume and not settings.trust:
        raise ValueError(
            f"{settings.resume} holds a pickle, which can run any code as it is read: if the file "
            "is your own, say --trust"
        )
    curve = Curve(
        maker, rules, settings.players, f"MaskablePPO, seed {settings.seed}",
        settings.against or settings.trusted(settings.opponent), settings.lines,
    )  # fmt: skip
    if settings.resume:
        curve.points = read_points(_folder(settings.resume))
    settings.out.mkdir(parents=True, exist_ok=True)
    model = model_of(settings, games_of(settings))

    def agent() -> LearnedAgent:
        return policy_agent(model, maker, rules, settings.features)

    out, done = settings.out, model.num_timesteps if settings.resume else 0

    def save() -> None:
        kept = io.BytesIO()
        model.save(kept)
        write_whole(out / MODEL, kept.getvalue())
        agent().save(out / "policy.safetensors")
        curve.write(out)

    with Display(
        "decisions", done + settings.timesteps, done, done, out, settings.progress
    ) as display:
        every, pairs = settings.timesteps / settings.measures, settings.measure_pairs
        watch = Watch(display, curve, every, pairs, agent, save)
        watch.measure(done, 0 if settings.resume else pairs)  # what cannot be written is found out
        try:
            model.learn(
                settings.timesteps, callback=watch, log_interval=10,
                reset_num_timesteps=not settings.resume,
            )  # fmt: skip
        except KeyboardInterrupt:
            save()
            raise KeyboardInterrupt(
                f"{model.num_timesteps:,} decisions are learned from; go on by the same command "
                f"with --resume {out} --trust, and as many --timesteps as are left"
            ) from None
        watch.measure(model.num_timesteps, settings.last_pairs if pairs else 0)
        if pairs:
            curve.measure_lines(pairs)
        curve.write(out)
        curve.draw(out)
    return agent()


def run(settings: Settings) -> None:
    """Train, and say where the results are."""
    train(settings)
    print(f"wrote {settings.out}/policy.safetensors, model.zip, curve.csv, curve.png")


if __name__ == "__main__":
    start(Settings, run)
