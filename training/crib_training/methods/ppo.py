"""Train a MaskablePPO agent against an opponent.

    crib train ppo --timesteps 1000000 --opponent rule_based --seed 1 --out runs/ppo

Writes to ``--out``: ``policy.safetensors`` (a `PolicyNetAgent`, for `crib evaluate`), ``model.zip``
(for ``--resume``), the curve (`learn.curve`), and TensorBoard events.

By default one episode is a deal and the reward is the difference in points. The points of a
decision then follow within a few steps, so a few minutes of training show an effect.
"""

from __future__ import annotations

import io
import time
import zipfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import torch
from crib_agents.card_policy import CardPolicy
from crib_agents.files import write_whole
from crib_agents.loading import TakesAgents
from crib_agents.policy_net import PolicyNetAgent, header
from crib_agents.torch_nets import tensors_of
from pydantic import Field
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecEnv, VecNormalize

from crib_env import settings as types
from crib_env.engine.family import ONE_DEAL, Family, Suits
from crib_env.envs.config import Episode
from crib_env.settings import checked_dataclass
from crib_training.learn.curve import TABLE, Strength, read_points
from crib_training.learn.run import EVENTS, POLICY, Screen, divergence_error, is_finite, kept_settings, resolve
from crib_training.loading import NamesGame, players_of
from crib_training.outputs import MODEL, resume_option, run_folder, wrote
from crib_training.provenance import differences


@dataclass(frozen=True)
class GameDefaults:
    """The settings that depend on the game, as a random search against `rule_based` found them."""

    timesteps: int = 2_000_000
    num_envs: int = 1024
    steps: int = 24
    batch_size: int = 4096
    epochs: int = 4
    hidden_sizes: tuple[int, int] = (128, 64)
    gae_lambda: float = 0.9
    ent_coef: float = 0.0005
    temperature: float | None = 1 / 6  # None learns it, from rewards scaled to a variance of 1


DEFAULTS: dict[str, GameDefaults] = {
    "six_card_v0": GameDefaults(gae_lambda=0.95),
    "five_card_v0": GameDefaults(gae_lambda=0.95),
    "pegging_v0": GameDefaults(timesteps=1_000_000),
    "discard_v0": GameDefaults(timesteps=1_000_000),
    "three_hand_v0": GameDefaults(timesteps=6_000_000, num_envs=2048, batch_size=8192),
    "four_hand_v0": GameDefaults(timesteps=6_000_000, num_envs=2048, batch_size=8192),
    "table_top_v0": GameDefaults(
        timesteps=1_000_000,
        num_envs=512,
        steps=28,
        batch_size=1024,
        epochs=3,
        hidden_sizes=(64, 32),
        ent_coef=0.001,
        temperature=None,
    ),
}
"""By environment, where they differ."""


def chosen_of(settings: Settings) -> GameDefaults:
    """Return the settings that depend on the game: those given, else the environment's."""
    known = DEFAULTS.get(settings.env, GameDefaults())
    if settings.reward == "win":  # the network's scores are then not in points
        known = replace(known, temperature=None)
    return resolve(known, settings)


class RunCallback(BaseCallback):
    """Shows a run after every rollout, and at intervals measures and saves the policy.

    The curve may begin with an earlier run's points; ``cpu_seconds`` exclude measurements.
    """

    def __init__(self, settings: Settings, model: MaskablePPO, curve: Strength, screen: Screen) -> None:
        super().__init__()
        self.settings, self.model, self.curve, self.screen = settings, model, curve, screen
        measured = asdict(curve.points[-1]) if curve.points else {"deals": 0, "cpu_seconds": 0.0}
        learned = vars(model).get("learned", measured)  # files of earlier versions lack it
        self.deals, self.cpu_seconds = learned["deals"], learned["cpu_seconds"]
        self.every = chosen_of(settings).timesteps / settings.num_evals
        self.next = screen.decisions + self.every
        self.since = time.process_time()
        self.saved: int | None = None  # the decisions of the last model saved

    def _on_rollout_start(self) -> None:
        self.check_finite()
        if self.num_timesteps >= self.next:
            self.next += self.every
            self.measure(self.num_timesteps, self.settings.eval_pairs)

    def _on_step(self) -> bool:
        self.deals += int(self.locals["dones"].sum())
        return True

    def _on_rollout_end(self) -> None:
        self.screen.learned(self.num_timesteps, self.num_timesteps, {})

    def agent(self) -> PolicyNetAgent:
        """Return the policy learned so far."""
        maker = self.curve.maker
        about = header(maker.name, self.curve.rules, maker.family, True, suits_of(maker.family))
        extractor: Any = self.model.policy.mlp_extractor
        return PolicyNetAgent(tensors_of(extractor.net), about, name="ppo")

    def check_finite(self) -> None:
        """Raise an error once the weights are not finite."""
        if not is_finite(0.0, self.model.policy):
            path = None if self.saved is None else self.settings.out / MODEL
            raise divergence_error(path, f"after {self.saved or 0:,} decisions")

    def save(self) -> None:
        """Write the model, the policy and the curve."""
        self.check_finite()
        now = time.process_time()
        self.cpu_seconds, self.since = self.cpu_seconds + now - self.since, now
        vars(self.model)["learned"] = {"deals": self.deals, "cpu_seconds": self.cpu_seconds}
        if (scaled := self.model.get_vec_normalize_env()) is not None:
            vars(self.model)["reward_scale"] = scaled.ret_rms
        data, out = io.BytesIO(), self.settings.out
        self.model.save(data)
        write_whole(out / MODEL, data.getvalue())
        self.agent().save(out / POLICY)
        self.curve.write(out)
        self.saved = self.model.num_timesteps

    def measure(self, decisions: int, pairs: int) -> None:
        """Save the agent after this many decisions, and measure it."""
        self.save()
        try:
            if pairs:
                found = self.curve.measure_agent(self.agent(), self.deals, decisions, self.cpu_seconds, pairs)
                self.screen.measured(found, decisions)
        finally:  # a stopped measurement does not count as learning either
            self.since = time.process_time()


HiddenSize = Annotated[types.Whole, Field(ge=1, le=4096)]


@checked_dataclass(frozen=True, kw_only=True)
class Settings(NamesGame, TakesAgents):
    """Train an agent by MaskablePPO against an opponent.

    Attributes:
        timesteps: decisions to learn from; by default the environment's, as num_envs, steps,
            batch_size, epochs, gae_lambda, ent_coef, hidden_sizes and temperature are.
        seed: seed of the deals, the network and the batches.
        opponent: an agent's name or a .safetensors, .zip or .onnx file.
        episode: length of an episode; by default one deal, or one round.
        reward: points: the points beyond the opponent's. expected: the same with the mean of the
            show, paid at the discard (two-hand games). expected_at_show: the same, paid at the
            show. win: the game's result. By default expected where the game has it.
        num_envs: games side by side.
        steps: decisions per game between updates.
        batch_size: decisions per minibatch.
        epochs: passes over the decisions.
        learning_rate: learning rate; it falls linearly to a fiftieth.
        gae_lambda: lambda of GAE.
        ent_coef: weight of the entropy bonus.
        hidden_sizes: units of the two hidden layers of `CardNet`.
        temperature: that of `CardNet`, in points; at Table Top, and for the reward win, the run
            learns it.
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

    method: ClassVar[str] = "ppo"
    timesteps: types.Count | None = None
    seed: Annotated[types.Whole, Field(ge=0, le=2**32 - 1)] = 1  # as Stable-Baselines3 takes them
    opponent: types.AgentName = "rule_based"
    episode: Episode | None = None
    reward: Literal["expected", "expected_at_show", "points", "win"] | None = None
    num_envs: types.Count | None = None
    steps: types.Count | None = None
    batch_size: Annotated[types.Whole, Field(ge=2, le=types.MANY)] | None = None
    epochs: types.Count | None = None
    learning_rate: types.Positive = 2e-3
    gae_lambda: types.Share | None = None
    ent_coef: types.NotNegative | None = None
    hidden_sizes: tuple[HiddenSize, HiddenSize] | None = None
    temperature: types.Positive | None = None
    eval_opponents: str | None = None
    baselines: str = "greedy"
    num_evals: types.Count = 8
    eval_pairs: types.Pairs = 500
    final_eval_pairs: types.Pairs = 2000
    resume: types.FileOrFolder | None = None
    threads: types.Threads = 1
    out: types.NewFolder = Path("runs/ppo")
    progress: bool = True

    def __post_init__(self) -> None:
        chosen = chosen_of(self)
        if chosen.num_envs * chosen.steps < 2:
            raise ValueError("num_envs times steps must be 2 or more: one decision has no variance")


def suits_of(family: Family) -> Suits:
    """Return how suits look in training: canonical, where the game allows it."""
    return "canonical" if family.canonical else "real"


def games_of(settings: Settings) -> VecEnv:
    """Return the SB3 environment that settings describe, with the opponent in it."""
    maker, rules = settings.game
    games = maker.sb3_env(
        chosen_of(settings).num_envs,
        opponent=settings.load_agent(settings.opponent),
        rules=rules,
        episode=settings.episode or "deal",
        reward=settings.reward or ("expected" if maker.family.expected else "points"),
        features=True,
        suits=suits_of(maker.family),
        seat=None,
        players=settings.players,
    )
    games.seed(settings.seed)
    if chosen_of(settings).temperature:  # scores, rewards and values are all in points
        return games
    # Only the reward is scaled; the observation is near 1 already. A deal is short: no discount.
    return VecNormalize(games, norm_obs=False, norm_reward=True, gamma=1.0)


def model_of(settings: Settings, games: VecEnv) -> MaskablePPO:
    """Return a new model, or the one to resume."""
    torch.set_num_threads(settings.threads)
    # The masked logits are finite by construction; checking them at every step takes time.
    torch.distributions.Distribution.set_default_validate_args(False)
    events = str(settings.out / EVENTS)
    if settings.resume:
        return _load(_folder(settings.resume) / MODEL, settings, games, events)

    chosen = chosen_of(settings)
    hidden, inner = chosen.hidden_sizes

    def learning_rate(remaining: float) -> float:
        return float(settings.learning_rate * max(0.02, remaining))

    model = MaskablePPO(
        CardPolicy,
        games,
        learning_rate=learning_rate,
        n_steps=chosen.steps,
        batch_size=chosen.batch_size,
        n_epochs=chosen.epochs,
        gamma=1.0,
        gae_lambda=chosen.gae_lambda,
        ent_coef=chosen.ent_coef,
        vf_coef=0.02 if chosen.temperature else 0.5,  # errors in points have a variance of some 50
        policy_kwargs={
            "hidden": hidden,
            "inner": inner,
            "temperature": chosen.temperature,
            "reads_score": settings.episode not in (None, *ONE_DEAL),
        },
        stats_window_size=2000,
        tensorboard_log=events,
        seed=settings.seed,
        device="cpu",
    )
    vars(model)["run"] = kept_settings(_settled(settings))  # saved with the model
    return model


def _settled(settings: Settings) -> Settings:
    """Return settings with the environment's for None, and defaults for those that may change."""
    own = asdict(chosen_of(settings)) | {"timesteps": None, "threads": 1, "trust": False}
    return replace(settings, **own)


def _folder(resume: Path) -> Path:
    return resume if resume.is_dir() else resume.parent


def _load(path: Path, settings: Settings, games: VecEnv, events: str) -> MaskablePPO:
    """Return the saved model; the checksums of zip detect a damaged file."""
    if not path.exists():
        raise ValueError(f"there is no run to resume in {path.parent}: it has no {MODEL}")
    try:
        model = MaskablePPO.load(path, tensorboard_log=events)
    except (ValueError, zipfile.BadZipFile, EOFError, KeyError, RuntimeError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from None
    if (before := vars(model).get("run")) is None:
        raise ValueError(f"{path} is not of a run of `crib train ppo`")
    if changed := differences(before, kept_settings(_settled(settings))):
        raise ValueError(f"the run in {path.parent} is another: {changed}")
    model.set_env(games)
    if isinstance(games, VecNormalize):
        games.ret_rms = vars(model).get("reward_scale", games.ret_rms)
    if not is_finite(0.0, model.policy):
        raise ValueError(f"{path} holds weights that are not finite")
    return model


def train(settings: Settings) -> PolicyNetAgent:
    """Train an agent by the settings, write everything to ``out`` and return it."""
    maker, rules = settings.game
    if settings.resume and not settings.trust:
        raise ValueError(
            f"{settings.resume} holds a pickle, which can run any code as it is read: if the file "
            "is your own, say --trust"
        )
    players = players_of(rules, settings.players)
    curve = Strength(maker, rules, players, f"MaskablePPO, seed {settings.seed}", settings)
    games = games_of(settings)
    resume = _folder(settings.resume) if settings.resume else None
    with run_folder(settings.out, resume):
        model = model_of(settings, games)
        if resume is not None and (resume / TABLE).exists():
            curve.points = read_points(resume)
        return _train(settings, model, curve)


def _train(settings: Settings, model: MaskablePPO, curve: Strength) -> PolicyNetAgent:
    out, done = settings.out, model.num_timesteps if settings.resume else 0
    timesteps, pairs = chosen_of(settings).timesteps, settings.eval_pairs
    total = done + timesteps
    with Screen("decisions", total, done, done, out, settings.progress) as screen:
        run = RunCallback(settings, model, curve, screen)
        try:  # the first measurement fails if the folder cannot be written
            run.measure(done, 0 if settings.resume else pairs)
            model.learn(timesteps, callback=run, log_interval=10, reset_num_timesteps=not settings.resume)
            run.measure(model.num_timesteps, settings.final_eval_pairs if pairs else 0)
        except KeyboardInterrupt:
            run.save()
            raise KeyboardInterrupt(
                f"the run is saved after {model.num_timesteps:,} decisions; to resume, add "
                f"{resume_option(out)} --trust to the same command, with the --timesteps that are "
                "left"
            ) from None
        curve.finish()
        curve.write(out)
        curve.draw(out)
    return run.agent()


def run(settings: Settings) -> None:
    """Train, and print where the results are."""
    train(settings)
    print(wrote(settings.out, POLICY, MODEL, "curve.csv", "curve.png"))
