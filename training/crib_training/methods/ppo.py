"""Train a MaskablePPO agent against an opponent.

    crib train --method ppo --timesteps 1000000 --opponent rule_based --seed 1 --out runs/ppo

Writes to ``--out``: ``policy.safetensors`` (a `PolicyNetAgent`, for `crib evaluate`), ``model.zip``
(for ``--resume``), the curve (`learn.curve`), and TensorBoard events.

By default one episode is a deal and the reward is the difference in points. The points of a
decision then follow within a few steps, so a few minutes of training show an effect.
"""

from __future__ import annotations

import io
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import torch
from crib_agents.files import write_whole
from crib_agents.loading import TakesAgents
from crib_agents.policy_net import PolicyNetAgent, header
from crib_agents.torch_nets import Head, hidden_layers
from gymnasium import spaces
from numba import int64, void
from pydantic import Field
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import VecEnvWrapper, VecNormalize
from torch import nn

from crib_env.arrays import Array, Ints
from crib_env.engine.family import Family
from crib_env.engine.jit import entry
from crib_env.engine.record import TABLE_T
from crib_env.engine.show import show_table
from crib_env.engine.table_top.lines import line_through, nob_through, points_so_far
from crib_env.engine.table_top.records import SIZE, VIEWS_T
from crib_env.envs.makers import EnvMaker
from crib_env.envs.sb3 import CribbageVecEnv
from crib_env.rules import Rules
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
from crib_training.learn.curve import TABLE, Strength, read_points
from crib_training.learn.run import EVENTS, POLICY, Screen, diverged, is_finite
from crib_training.loading import find_game, seats_of
from crib_training.outputs import MODEL, run_folder, wrote


@entry(void(VIEWS_T, TABLE_T, int64[::1]))
def lines_so_far(views, table, differences):
    """Write for each view what its side's five lines score as they lie, less the other side's."""
    for k in range(views.shape[0]):
        v = views[k]
        total = 0
        for i in range(SIZE):
            for rows in range(2):
                cell = SIZE * i if rows else i
                cards = line_through(v, cell, rows)
                nob = nob_through(v, cell, rows)
                points = points_so_far(table, cards, v["flush_size"], nob)
                total += points if rows == v["scores_rows"] else -points
        differences[k] = total


class LineShaping(VecEnvWrapper):
    """Adds the change of the lines' potential to every reward of a Table Top environment."""

    def __init__(self, venv: CribbageVecEnv) -> None:
        super().__init__(venv)
        self._batch = venv.batch
        self._before = np.zeros(self.num_envs, dtype=np.int64)

    def reset(self) -> Any:
        """Begin episodes, from the potential they begin with."""
        observations = self.venv.reset()
        self._before = self._potential()
        return observations

    def step_wait(self) -> tuple[Any, Array, Array, list[dict[str, Any]]]:
        """Return the step with the shaped reward; where an episode ended, its end counts 0."""
        observations, rewards, dones, infos = self.venv.step_wait()
        now = self._potential()
        shaped = rewards + np.where(dones, 0, now) - self._before
        self._before = now
        return observations, shaped.astype(np.float32), dones, infos

    def _potential(self) -> Ints:
        batch = self._batch
        views = batch.games.views(np.arange(self.num_envs), batch.seats)
        potential = np.zeros(self.num_envs, dtype=np.int64)
        lines_so_far(views, show_table(), potential)
        return potential


def card_blocks(family: Family) -> tuple[int, ...]:
    """Return where the observation's blocks of 52 cards begin."""
    starts, at = [], 0
    for _, size, _ in family.layout:
        if size == 52:
            starts.append(at)
        at += size
    return tuple(starts)


class RankFeatures(BaseFeaturesExtractor):
    """The observation with the cards' ranks counted beside it, and features summed up.

    Points go by rank far more than by suit; counting ranks in every block of 52 cards spares the
    network learning thirteen times over which four inputs belong together. The map is linear and
    fixed, so `policy_agent` folds it into the first layer. Of each feature the highest and the
    lowest over all actions follow. ``bits`` is the observation's size without features.
    """

    def __init__(
        self, observation_space: spaces.Box, blocks: tuple[int, ...], bits: int, actions: int
    ) -> None:
        self.bits: int = bits
        self.actions: int = actions
        self.count: int = (observation_space.shape[0] - bits) // actions
        size = bits + 13 * len(blocks) + 2 * self.count + actions * self.count
        super().__init__(observation_space, size)
        ranks = torch.zeros(bits, 13 * len(blocks))
        for i, block in enumerate(blocks):
            for card in range(52):
                ranks[block + card, 13 * i + card // 4] = 1.0
        self.register_buffer("ranks", ranks)
        self.ranks: torch.Tensor

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return bits, ranks, highest and lowest features, then all features, float32[B, size]."""
        bits = observations[:, : self.bits]
        if not self.count:
            return torch.cat([bits, bits @ self.ranks], dim=1)
        of_actions = observations[:, self.bits :]
        each = of_actions.view(-1, self.count, self.actions)
        return torch.cat([bits, bits @ self.ranks, each.amax(2), each.amin(2), of_actions], dim=1)


class ActionExtractor(nn.Module):
    """Logits from the state, and for each action from its features by weights all actions share.

    The value of a card on a cell, or in the hand, is then learned once and not for every action.
    """

    def __init__(self, inputs: int, count: int, actions: int, sizes: tuple[int, int]) -> None:
        super().__init__()
        self.state_inputs, self.count, self.actions = inputs - count * actions, count, actions
        self.policy = hidden_layers(self.state_inputs, *sizes)
        self.value = hidden_layers(self.state_inputs, *sizes)
        self.logits = nn.Linear(sizes[1], actions)
        self.head = Head(sizes[1], count)
        self.latent_dim_pi, self.latent_dim_vf = actions, sizes[1]

    def begin(self) -> None:
        """Set the last layers so that the first policy is nearly uniform."""
        for last in (self.logits, self.head.out, self.head.skip):
            nn.init.normal_(last.weight, std=0.01)
        nn.init.zeros_(self.logits.bias)

    def forward(self, inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits float32[B, actions] and the value's latent float32[B, latent]."""
        return self.forward_actor(inputs), self.forward_critic(inputs)

    def forward_actor(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return logits, float32[B, actions]."""
        hidden = self.policy(inputs[:, : self.state_inputs])
        features = inputs[:, self.state_inputs :].view(-1, self.count, self.actions).transpose(1, 2)
        added = self.head(features, self.head.of_state(hidden).unsqueeze(1))
        logits: torch.Tensor = self.logits(hidden) + added
        return logits

    def forward_critic(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the value's latent, float32[B, latent]."""
        latent: torch.Tensor = self.value(inputs[:, : self.state_inputs])
        return latent


class ActionPolicy(MaskableActorCriticPolicy):
    """A policy over `ActionExtractor`, whose output are the logits themselves."""

    def __init__(self, *args: Any, hidden_sizes: tuple[int, int], **kwargs: Any) -> None:
        self._sizes = hidden_sizes
        super().__init__(*args, **kwargs)

    def _build_mlp_extractor(self) -> None:
        extractor = self.features_extractor
        assert isinstance(extractor, RankFeatures)
        count, actions = extractor.count, extractor.actions
        self.mlp_extractor: Any = ActionExtractor(self.features_dim, count, actions, self._sizes)

    def _build(self, lr_schedule: Callable[[float], float]) -> None:
        super()._build(lr_schedule)
        self.mlp_extractor.begin()  # sb3-contrib has set all layers alike
        self.action_net = nn.Identity()


def policy_of(
    family: Family, features: str | None, hidden_sizes: tuple[int, int]
) -> tuple[Any, dict[str, Any]]:
    """Return MaskablePPO's policy and its keywords for an environment."""
    keywords: dict[str, Any] = {
        "features_extractor_class": RankFeatures,
        "features_extractor_kwargs": {
            "blocks": card_blocks(family), "bits": family.obs_size, "actions": family.actions,
        },
    }  # fmt: skip
    if features is not None:
        return ActionPolicy, keywords | {"hidden_sizes": hidden_sizes}
    return "MlpPolicy", keywords | {"net_arch": [*hidden_sizes], "activation_fn": nn.ReLU}


def policy_agent(
    model: MaskablePPO, maker: EnvMaker, rules: Rules, features: str | None
) -> PolicyNetAgent:
    """Return the policy of a trained model as an agent of ours."""
    state: dict[str, Any] = {key: value.numpy() for key, value in model.policy.state_dict().items()}
    if features is None:
        places = ["mlp_extractor.policy_net.0", "mlp_extractor.policy_net.2", "action_net"]
    else:
        places = [f"mlp_extractor.{name}" for name in ("policy.0", "policy.2", "logits")]
    weights = [(state[f"{name}.weight"], state[f"{name}.bias"]) for name in places]
    (weight, bias), ranks = weights[0], state["features_extractor.ranks"]
    bits, counted = len(ranks), len(ranks) + ranks.shape[1]
    folded = weight[:, :bits] + weight[:, bits:counted] @ ranks.T
    head, extractor = None, model.policy.mlp_extractor
    if isinstance(extractor, ActionExtractor):
        folded = torch.cat([torch.tensor(folded), torch.tensor(weight[:, counted:])], 1).numpy()
        head = extractor.head.weights()
    weights[0] = folded, bias
    about = header(maker.name, rules, maker.family, features)
    return PolicyNetAgent(weights, about, name="ppo", head=head)


class RunCallback(BaseCallback):
    """Shows a run after every rollout, and now and then measures and saves what it has learned.

    The curve may begin with an earlier run's points; ``cpu_seconds`` are without measuring.
    """

    def __init__(
        self, settings: Settings, model: MaskablePPO, curve: Strength, screen: Screen
    ) -> None:
        super().__init__()
        self.settings, self.model, self.curve, self.screen = settings, model, curve, screen
        before = curve.points[-1:]
        self.deals = before[0].deals if before else 0
        self.cpu_seconds = before[0].cpu_seconds if before else 0.0
        self.every = settings.timesteps / settings.num_evals
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
        features = features_of(self.settings, maker.family)
        assert isinstance(self.model, MaskablePPO)
        return policy_agent(self.model, maker, self.curve.rules, features)

    def check_finite(self) -> None:
        """Raise an error once the weights are not finite."""
        if not is_finite(0.0, self.model.policy):
            path = None if self.saved is None else self.settings.out / MODEL
            raise diverged(path, f"after {self.saved or 0:,} decisions")

    def save(self) -> None:
        """Write the model, the policy and the curve."""
        self.check_finite()
        data, out = io.BytesIO(), self.settings.out
        self.model.save(data)
        write_whole(out / MODEL, data.getvalue())
        self.agent().save(out / POLICY)
        self.curve.write(out)
        self.saved = self.model.num_timesteps

    def measure(self, decisions: int, pairs: int) -> None:
        """Save the agent after this many decisions, and measure it."""
        self.cpu_seconds += time.process_time() - self.since
        self.save()
        if pairs:
            found = self.curve.measure_agent(
                self.agent(), self.deals, decisions, self.cpu_seconds, pairs
            )
            self.screen.measured(found, decisions)
        self.since = time.process_time()


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
    out, done = settings.out, model.num_timesteps if settings.resume else 0
    total, pairs = done + settings.timesteps, settings.eval_pairs
    with Screen("decisions", total, done, done, out, settings.progress) as screen:
        run = RunCallback(settings, model, curve, screen)
        try:  # the first measurement finds out what cannot be written
            run.measure(done, 0 if settings.resume else pairs)
            model.learn(
                settings.timesteps, callback=run, log_interval=10,
                reset_num_timesteps=not settings.resume,
            )  # fmt: skip
            run.measure(model.num_timesteps, settings.final_eval_pairs if pairs else 0)
        except KeyboardInterrupt:
            run.save()
            raise KeyboardInterrupt(
                f"the run is saved after {model.num_timesteps:,} decisions; to resume, add "
                f"--resume {out} --trust to the same command, with the --timesteps that are left"
            ) from None
        curve.finish()
        curve.write(out)
        curve.draw(out)
    return run.agent()


def run(settings: Settings) -> None:
    """Train, and print where the results are."""
    train(settings)
    print(wrote(settings.out, POLICY, MODEL, "curve.csv", "curve.png"))
