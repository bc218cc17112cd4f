"""Deep Monte Carlo by the benchmark's protocol: values of self-play, greedy or by their softmax.

    crib train monte_carlo --env five_card_v0 --out runs/monte_carlo
    crib train monte_carlo --policy-temperature 0.08 --env five_card_v0 --out runs/mixed

The learning is that of `crib train deep_monte_carlo` (`deep_monte_carlo`), with the networks, the
budget and the curve of the other baselines; with `--all-cards` that of `pegging_tree` in the
pegging. The measured agent takes the choice of the highest value, or draws by the softmax of the
values, as in self-play. Its files do not store ``--suits ranks``: measure such networks by
``crib exploit policy.safetensors --suits ranks``.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from crib_agents.learned import MixedAgent, MonteCarloAgent

from crib_env import settings as types
from crib_env.settings import checked_dataclass
from crib_training.learn import run as runs
from crib_training.learn.deal_learners import Exploitability, RunSettings
from crib_training.learn.deep_monte_carlo.two_hand import TwoHandSelfPlay
from crib_training.methods import deep_monte_carlo
from crib_training.outputs import command

DEALS_OF_ALL_CARDS = 512


@checked_dataclass(frozen=True, kw_only=True)
class Settings(RunSettings):
    """Learn values by deep Monte Carlo.

    Attributes:
        policy_temperature: of the softmax over values that is measured and saved, in points; 0
            takes the highest value.
        features: no choice here: its networks always read the rows of features.
        all_cards: in the pegging, learn the mean points after every card of a decision instead
            of the points after the card played. The policy plays on from each card, with both
            hands known, and the loss is of the differences between the cards, plus a twentieth of
            the squared errors. Positions with a choice that are played on from count as
            decisions, some 18 a deal with five cards.
        num_envs: deals of an iteration, each played to its end; by default 4096, or 512 with
            all_cards, where 4096 deals of six cards take 2 GB.
        batch_size: decisions per update.
        learning_rate: learning rate; it falls to a twentieth.
        temperature: temperature of the softmax in self-play.
        final_temperature: that temperature at the end.
        epsilon: the share of decisions drawn uniformly; falls to 0. With all_cards, the
            probability in the pegging that a seat chose uniformly on the way to a decision.
        ema_rate: step of the average of the weights at each update; the average is evaluated.
    """

    method: ClassVar[str] = "monte_carlo"
    policy_temperature: types.NotNegative = 0.0
    features: bool = False
    all_cards: bool = False
    num_envs: types.Count | None = None  # type: ignore[assignment]  # GamesLearner reads it, not this
    batch_size: types.Count = 256
    learning_rate: types.Positive = 1e-3
    temperature: types.Positive = 0.3
    final_temperature: types.Positive = 0.08
    epsilon: types.Share = 0.1
    ema_rate: types.Portion = 0.005
    out: types.NewFolder = Path("runs/monte_carlo")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.features:
            raise ValueError(
                "features: the networks of monte_carlo always read them, "
                "leave --features out; selfplay_ppo and the other methods take it"
            )
        if len(self.hidden_sizes) != 2:
            raise ValueError(f"hidden_sizes of monte_carlo are two, got {self.hidden_sizes}")


class Learner(runs.Learner):
    """Learns by its `Settings`."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        first, second = settings.hidden_sizes
        own = deep_monte_carlo.Settings(
            env=settings.env,
            seed=settings.seed,
            num_envs=settings.num_envs or (DEALS_OF_ALL_CARDS if settings.all_cards else None),
            batch_size=settings.batch_size,
            learning_rate=settings.learning_rate,
            ema_rate=settings.ema_rate,
            temperature=settings.temperature,
            final_temperature=settings.final_temperature,
            epsilon=settings.epsilon,
            hidden_sizes=(first, second),
            eval_pairs=0,
        )
        self.learning = deep_monte_carlo.Learner(own)
        self_play = self.learning.self_play
        assert isinstance(self_play, TwoHandSelfPlay)
        self_play.hides_discards = settings.suits == "ranks"
        self_play.all_cards = settings.all_cards
        self.modules, self.rng = self.learning.modules, self.learning.rng
        self.curve = Exploitability(settings)

    def iterate(self) -> dict[str, float]:
        """Play deals to their end, then learn from the decisions."""
        learning, progress = self.learning, self.decisions / self.settings.decisions
        samples = learning.self_play.play(learning.self_play.resolved.num_envs, progress, learning.rng)
        loss = learning.fit(samples, progress)
        self.decisions += samples.decisions
        return {"loss": loss}

    def agent(self) -> MonteCarloAgent:
        """Return the agent of the averaged weights, greedy or with its softmax."""
        learning, temperature = self.learning, self.settings.policy_temperature
        free = ("out", "resume", "progress")
        made_by = command("crib train monte_carlo", self.settings, free, ("env",))
        weights = learning.self_play.weights(learning.nets.average, made_by)
        kind = MixedAgent if temperature else MonteCarloAgent
        return kind([replace(weights, temperature=temperature)], "monte_carlo")
