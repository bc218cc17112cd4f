"""Deep Monte Carlo by the benchmark's protocol: values of self-play, greedy or by their softmax.

    crib train monte_carlo --env five_card_v0 --out runs/monte_carlo
    crib train monte_carlo --policy-temperature 0.08 --env five_card_v0 --out runs/mixed

The learning is that of `crib train deep_monte_carlo` (`deep_monte_carlo`), with the networks, the
budget and the curve of the benchmark's other methods; with `--all-cards` that of `pegging_tree` in
the pegging. The measured agent takes the choice of the highest value, or draws by the softmax of
the values, as in self-play. Its files do not store ``--suits ranks``: measure such networks by
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
from crib_training.learn.deal_learners import DealSettings, ExploitabilityCurve
from crib_training.learn.deep_monte_carlo.two_hand import TwoHandSelfPlay
from crib_training.methods.deep_monte_carlo import HiddenSize, fit
from crib_training.outputs import command

DEALS_OF_ALL_CARDS = 512
FINAL_RATE = 0.05  # the share of the learning rate at the end


@checked_dataclass(frozen=True, kw_only=True)
class Settings(DealSettings):
    """Learn values by deep Monte Carlo.

    Attributes:
        policy_temperature: of the softmax over values that is measured and saved, in points; 0
            takes the highest value.
        all_cards: in the pegging, learn the mean points after every card of a decision instead
            of the points after the card played. The policy plays on from each card, with both
            hands known, and the loss is of the differences between the cards, plus a twentieth of
            the squared errors. Positions with a choice that are played on from count as
            decisions, some 18 a deal with five cards.
        hidden_sizes: sizes of the two hidden layers of each network.
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
    all_cards: bool = False
    hidden_sizes: tuple[HiddenSize, HiddenSize] = (256, 256)
    num_envs: types.Count | None = None
    batch_size: types.Count = 256
    learning_rate: types.Positive = 1e-3
    temperature: types.Positive = 0.3
    final_temperature: types.Positive = 0.08
    epsilon: types.Share = 0.1
    ema_rate: types.Portion = 0.005
    out: types.NewFolder = Path("runs/monte_carlo")


class Learner(runs.Learner):
    """Learns by its `Settings`."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        num_envs = settings.num_envs or (DEALS_OF_ALL_CARDS if settings.all_cards else None)
        self.self_play = TwoHandSelfPlay(settings.rules, 2, replace(settings, num_envs=num_envs))
        self.self_play.hides_discards = settings.suits == "ranks"
        self.self_play.all_cards = settings.all_cards
        self.nets = runs.AveragedNets(self.self_play.nets, settings.learning_rate, settings.ema_rate)
        self.modules = self.nets.modules
        self.curve = ExploitabilityCurve(settings)

    def iterate(self) -> dict[str, float]:
        """Play deals to their end, then learn from the decisions."""
        progress, share = self.decisions / self.settings.decisions, max(FINAL_RATE, self.left)
        samples = self.self_play.play(self.self_play.resolved.num_envs, progress, self.rng)
        loss = fit(self.self_play, self.nets, samples, self.settings.batch_size, share, self.rng)
        self.decisions += samples.decisions
        return {"loss": loss}

    def agent(self) -> MonteCarloAgent:
        """Return the agent of the averaged weights, greedy or with its softmax."""
        temperature = self.settings.policy_temperature
        made_by = command("crib train monte_carlo", self.settings, runs.FREE, ("env",))
        weights = self.self_play.weights(self.nets.average, made_by)
        kind = MixedAgent if temperature else MonteCarloAgent
        return kind([replace(weights, temperature=temperature)], "monte_carlo")
