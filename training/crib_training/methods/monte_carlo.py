"""Deep Monte Carlo by the benchmark's protocol: values of self-play, greedy or by their softmax.

    crib train --method monte_carlo --env five_card_v0 --out runs/monte_carlo
    crib train --method monte_carlo --temperature 0.08 --env five_card_v0 --out runs/mixed

The learning is that of `crib train --method deep_monte_carlo`
(`crib_training.learn.deep_monte_carlo.algorithm`), with the networks, the budget and the curve of
the other baselines. What is measured takes the choice of the highest value, or draws by the softmax
of the values, as in self-play. Its files do not say so if its networks learned with
``--suits ranks``: measure them by ``crib exploit policy.safetensors --suits ranks``.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from crib_agents.learned import MixedAgent, MonteCarloAgent

from crib_env.settings import (
    Count,
    NewFolder,
    NotNegative,
    Portion,
    Positive,
    Share,
    checked_dataclass,
)
from crib_training.baselines.learner import Learner, State
from crib_training.baselines.run import learn
from crib_training.baselines.settings import RunSettings
from crib_training.command_line import command
from crib_training.learn.deep_monte_carlo import settings as deep_monte_carlo
from crib_training.learn.deep_monte_carlo.algorithm import DeepMonteCarlo, find_self_play
from crib_training.learn.deep_monte_carlo.two_hand import TwoHandSelfPlay


@checked_dataclass(frozen=True, kw_only=True)
class Settings(RunSettings):
    """Learn values by deep Monte Carlo.

    Attributes:
        method: the method.
        temperature: of the softmax over values of the policy measured, in points; 0 takes the
            highest value.
        features: none to choose: its networks read features of their own.
        num_envs: deals of an iteration, each played to its end.
        batch_size: decisions per update.
        learning_rate: learning rate; it falls to a twentieth.
        explore_temperature: temperature of the softmax in self-play.
        last_explore_temperature: that temperature at the end.
        epsilon: the share of decisions drawn uniformly; falls to 0.
        ema_rate: step of the average of the weights at each update; the average is evaluated.
        out: the folder for results.
    """

    method: Literal["monte_carlo"] = "monte_carlo"
    temperature: NotNegative = 0.0
    features: Literal["lookahead", "reply"] | None = None
    num_envs: Count = 4096
    batch_size: Count = 256
    learning_rate: Positive = 1e-3
    explore_temperature: Positive = 0.3
    last_explore_temperature: Positive = 0.08
    epsilon: Share = 0.1
    ema_rate: Portion = 0.005
    out: NewFolder = Path("runs/monte_carlo")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.features is not None:
            raise ValueError(f"features: the networks of monte_carlo read features of their own, "
                             f"leave --features {self.features} out; selfplay_ppo and the other "
                             "methods take it")  # fmt: skip
        if len(self.hidden_sizes) != 2:
            raise ValueError(f"hidden_sizes of monte_carlo are two, got {self.hidden_sizes}")


class MonteCarlo(Learner):
    """Learns by its `Settings`; see `crib_training.baselines.learner.Learner`."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        first, second = settings.hidden_sizes
        own = deep_monte_carlo.Settings(
            env=settings.env, seed=settings.seed, num_envs=settings.num_envs,
            batch_size=settings.batch_size, learning_rate=settings.learning_rate,
            ema_rate=settings.ema_rate, temperature=settings.explore_temperature,
            last_temperature=settings.last_explore_temperature, epsilon=settings.epsilon,
            hidden_sizes=(first, second),
        )  # fmt: skip
        self_play = find_self_play(own)[1]
        assert isinstance(self_play, TwoHandSelfPlay)
        self_play.hides_discards = settings.suits == "ranks"
        self.learning = DeepMonteCarlo(self_play, own)
        learner = self.learning.learner
        self.modules = {
            "nets": learner.nets, "average": learner.mean_nets, "adam": learner.optimizer,
        }  # fmt: skip

    def iterate(self) -> dict[str, float]:
        """Play deals to their end, then learn from the decisions."""
        learning, progress = self.learning, self.decisions / self.settings.decisions
        samples = learning.self_play.play(self.settings.num_envs, progress, learning.rng)
        learning.fit(samples, progress)
        self.decisions += samples.decisions
        return {"loss": learning.loss}

    def agent(self) -> MonteCarloAgent:
        """Return the agent of the averaged weights, greedy or with its softmax."""
        learning, temperature = self.learning, self.settings.temperature
        made_by = command(
            "crib train", self.settings, ("out", "resume", "progress"), ("method", "env")
        )
        weights = learning.self_play.weights(learning.learner.mean_nets, made_by)
        kind = MixedAgent if temperature else MonteCarloAgent
        return kind([replace(weights, temperature=temperature)], "monte_carlo")

    def state(self) -> dict[str, Any]:
        """Return the generator."""
        rng = json.dumps(self.learning.rng.bit_generator.state).encode()
        return {"rng": np.frombuffer(rng, np.uint8)}

    def restore(self, state: State) -> None:
        """Restore what `state` returned."""
        self.learning.rng.bit_generator.state = json.loads(state["rng"].tobytes())


def run(settings: Settings) -> None:
    """Learn, and print where the results are."""
    learn(MonteCarlo(settings))
