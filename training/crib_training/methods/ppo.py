"""Train a MaskablePPO agent against an opponent.

    crib train --method ppo --timesteps 1000000 --opponent rule_based --seed 1 --out runs/ppo

Writes to ``--out``: ``policy.safetensors`` (a `PolicyNetAgent`, for `crib evaluate`), ``model.zip``
(for ``--resume``), the curve (`learn.curve`), and TensorBoard events.

By default one episode is a deal and the reward is the difference in points. The points of a
decision then follow within a few steps, so a few minutes of training show an effect.
"""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Annotated, Literal

import torch
from crib_agents.files import write_whole
from crib_agents.loading import TakesAgents
from crib_agents.nets import PolicyNetAgent
from pydantic import Field
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import VecNormalize

from crib_env.engine.family import Family
from crib_env.settings import (
    MANY,
    Count,
    FileOrFolder,
    NewFolder,
    NotNegative,
    Pairs,
    Players,
    Positive,
    Share,
    Threads,
    Whole,
    checked_dataclass,
)
from crib_training.learn.callback import ProgressCallback
from crib_training.learn.curve import TABLE, Strength, read_points
from crib_training.learn.networks import policy_agent, policy_of
from crib_training.learn.run import EVENTS, POLICY, Screen, diverged, is_finite
from crib_training.learn.shaping import LineShaping
from crib_training.loading import find_game, seats_of
from crib_training.outputs import MODEL, run_folder, wrote

HiddenSize = Annotated[Whole, Field(ge=1, le=4096)]


@checked_dataclass(frozen=True, kw_only=True)
class Settings(TakesAgents):
    """Train an agent by MaskablePPO against an opponent.

    Attributes:
        env: the environment.
        method: the method.
        rules: a preset other than the environment's own, or a preset with changes, such as
            hoyle[target=91,for_last=3].
        players: how many play, by default the fewest the rules allow.
        timesteps: decisions to learn from.
        seed: seed of the deals, the network and the batches.
        opponent: an agent's name or a .safetensors, .zip or .onnx file.
        episode: length of an episode; by default one deal, or one round.
        reward: points: the points beyond the opponent's. expected: the same with the mean of the
            show, paid at the discard (two-hand games). expected_at_show: the same, paid at the
            show. win: who won. By default expected where the game has it.
        features: per-action features beside the bits: lookahead for exact means and points, reply
            for the possible points of the reply too (two-hand games), all for whatever the game
            has, or None for none.
        num_envs: games side by side.
        steps: decisions per game between updates.
        batch_size: decisions per minibatch.
        epochs: passes over the decisions.
        learning_rate: learning rate; it falls linearly to a tenth.
        gae_lambda: lambda of GAE.
        shaping: pay the points of a card when it is placed (Table Top).
        ent_coef: weight of the entropy bonus.
        hidden_sizes: sizes of the two hidden layers.
        eval_opponents: reference opponents, built-in names joined by commas; by default the
            opponent.
        baselines: built-in agents to draw as lines in the picture: their own strength against the
            first reference opponent; joined by commas.
        num_evals: number of measurements of strength; each also saves the run.
        eval_pairs: pairs of duplicate deals per measurement, and half as many pairs of games; 0
            measures nothing.
        final_eval_pairs: the same for the measurement after the last decision.
        resume: the folder of an earlier run to continue, or its model.zip.
        threads: threads of PyTorch; small layers gain little from two, and lose much if another
            process needs the core.
        out: the folder for results.
        progress: show progress.
    """

    env: str = "six_card_v0"
    method: Literal["ppo"] = "ppo"
    rules: str | None = None
    players: Players | None = None
    timesteps: Count = 1_000_000
    seed: Annotated[Whole, Field(ge=0, le=2**32 - 1)] = 1  # as Stable-Baselines3 takes them
    opponent: str = "rule_based"
    episode: str | None = None
    reward: Literal["expected", "expected_at_show", "points", "win"] | None = None
    features: Literal["all", "reply", "lookahead"] | None = "all"
    num_envs: Count = 512
    steps: Count = 24
    batch_size: Annotated[Whole, Field(ge=2, le=MANY)] = 2048
    epochs: Count = 4
    learning_rate: Positive = 1e-3
    gae_lambda: Share = 0.95
    shaping: bool = False
    ent_coef: NotNegative = 0.005
    hidden_sizes: tuple[HiddenSize, HiddenSize] = (128, 128)
    eval_opponents: str | None = None
    baselines: str = "greedy"
    num_evals: Count = 8
    eval_pairs: Pairs = 500
    final_eval_pairs: Pairs = 2000
    resume: FileOrFolder | None = None
    threads: Threads = 1
    out: NewFolder = Path("runs/ppo")
    progress: bool = True

    def __post_init__(self) -> None:
        if self.num_envs * self.steps < 2:
            raise ValueError("num_envs times steps must be 2 or more: one decision has no variance")


def features_of(settings: Settings, family: Family) -> str | None:
    """Return the level of features that settings name: with ``all`` the family's highest."""
    return settings.features if settings.features != "all" else [None, *family.features][-1]


def games_of(settings: Settings) -> VecNormalize:
    """Return the games that settings name, with an opponent in them, as SB3 takes them."""
    maker, rules = find_game(settings.env, settings.rules)
    games = maker.sb3_env(
        settings.num_envs,
        opponent=settings.load_agent(settings.opponent),
        rules=rules,
        episode=settings.episode or "deal",
        reward=settings.reward or ("expected" if maker.family.expected else "points"),
        features=features_of(settings, maker.family),
        seat=None,
        players=settings.players,
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
        return _load(_folder(settings.resume) / MODEL, games, events)

    def learning_rate(remaining: float) -> float:
        return float(settings.learning_rate * max(0.1, remaining))

    maker, _ = find_game(settings.env, settings.rules)
    features = features_of(settings, maker.family)
    policy, keywords = policy_of(maker.family, features, settings.hidden_sizes)
    return MaskablePPO(
        policy,
        games,
        learning_rate=learning_rate,
        n_steps=settings.steps,
        batch_size=settings.batch_size,
        n_epochs=settings.epochs,
        gamma=1.0,
        gae_lambda=settings.gae_lambda,
        ent_coef=settings.ent_coef,
        policy_kwargs=keywords,
        stats_window_size=2000,
        tensorboard_log=events,
        seed=settings.seed,
        device="cpu",
    )


def _folder(resume: Path) -> Path:
    return resume if resume.is_dir() else resume.parent


def _load(path: Path, games: VecNormalize, events: str) -> MaskablePPO:
    """Return the saved learner; the checksums of zip detect a damaged file."""
    if not path.exists():
        raise ValueError(f"there is no run to resume in {path.parent}: it has no {MODEL}")
    try:
        model = MaskablePPO.load(path, env=games, tensorboard_log=events)
    except (ValueError, zipfile.BadZipFile, EOFError, KeyError, RuntimeError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from None
    if not is_finite(0.0, model.policy):
        raise ValueError(f"{path} holds weights that are not finite")
    return model


def train(settings: Settings) -> PolicyNetAgent:
    """Train an agent by the settings, write everything to ``out`` and return it."""
    maker, rules = find_game(settings.env, settings.rules)
    if settings.resume and not settings.trust:
        raise ValueError(
            f"{settings.resume} holds a pickle, which can run any code as it is read: if the file "
            "is your own, say --trust"
        )
    players = len(seats_of(maker, rules, settings.players))
    curve = Strength(
        maker, rules, players, f"MaskablePPO, seed {settings.seed}",
        settings.eval_opponents or settings.trusted(settings.opponent), settings.baselines,
        (settings.num_evals, settings.eval_pairs, settings.final_eval_pairs),
    )  # fmt: skip
    games = games_of(settings)
    resume = _folder(settings.resume) if settings.resume else None
    with run_folder(settings.out, resume):
        model = model_of(settings, games)
        if resume is not None and (resume / TABLE).exists():
            curve.points = read_points(resume)
        return _train(settings, model, curve)


def _train(settings: Settings, model: MaskablePPO, curve: Strength) -> PolicyNetAgent:
    def agent() -> PolicyNetAgent:
        features = features_of(settings, curve.maker.family)
        return policy_agent(model, curve.maker, curve.rules, features)

    out, done = settings.out, model.num_timesteps if settings.resume else 0
    saved: list[int] = []  # the decisions of the models saved

    def check_finite() -> None:
        if not is_finite(0.0, model.policy):
            last = f"after {saved[-1]:,} decisions" if saved else ""
            raise diverged(out / MODEL if saved else None, last)

    def save() -> None:
        check_finite()
        data = io.BytesIO()
        model.save(data)
        write_whole(out / MODEL, data.getvalue())
        agent().save(out / POLICY)
        curve.write(out)
        saved.append(model.num_timesteps)

    total = done + settings.timesteps
    with Screen("decisions", total, done, done, out, settings.progress) as progress:
        every, pairs = settings.timesteps / settings.num_evals, settings.eval_pairs
        callback = ProgressCallback(progress, curve, every, pairs, agent, save, check_finite)
        try:  # the first measurement finds out what cannot be written
            callback.measure(done, 0 if settings.resume else pairs)
            model.learn(
                settings.timesteps, callback=callback, log_interval=10,
                reset_num_timesteps=not settings.resume,
            )  # fmt: skip
            callback.measure(model.num_timesteps, settings.final_eval_pairs if pairs else 0)
        except KeyboardInterrupt:
            save()
            raise KeyboardInterrupt(
                f"the run is saved after {model.num_timesteps:,} decisions; to resume, add "
                f"--resume {out} --trust to the same command, with the --timesteps that are left"
            ) from None
        curve.finish()
        curve.write(out)
        curve.draw(out)
    return agent()


def run(settings: Settings) -> None:
    """Train, and print where the results are."""
    train(settings)
    print(wrote(settings.out, POLICY, MODEL, "curve.csv", "curve.png"))
