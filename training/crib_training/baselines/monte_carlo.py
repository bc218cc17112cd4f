"""Deep Monte Carlo by the benchmark's protocol: values of self-play, greedy or by their softmax.

    crib train --method monte_carlo --env five_card_v0 --out runs/monte_carlo
    crib train --method monte_carlo --temperature 0.08 --env five_card_v0 --out runs/mixed

The learning is that of `crib train --method deep_monte_carlo`
(`crib_training.learn.deep_monte_carlo.algorithm`), with the networks, the budget and the curve of
the other baselines. What is measured takes the choice of the highest value, or draws by the softmax
of the values, as in self-play.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from crib_agents.files import write_whole
from crib_agents.learned import MonteCarloAgent

from crib_env.answers import one_or_many
from crib_env.arrays import Doubles
from crib_env.policy import Actions, Views
from crib_env.sampling import check_rng
from crib_env.settings import Count, NewFolder, NotNegative, Portion, Positive, Share
from crib_training.baselines.learner import Learner, State
from crib_training.baselines.run import learn
from crib_training.baselines.settings import RunSettings
from crib_training.learn.deep_monte_carlo import settings as deep_monte_carlo
from crib_training.learn.deep_monte_carlo.algorithm import DeepMonteCarlo, find_self_play


@dataclass(frozen=True)
class Settings(RunSettings):
    """Learn values by deep Monte Carlo.

    Attributes:
        method: the method.
        temperature: of the softmax over values of the policy measured, in points; 0 takes the
            highest value.
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
    num_envs: Count = 4096
    batch_size: Count = 256
    learning_rate: Positive = 1e-3
    explore_temperature: Positive = 0.3
    last_explore_temperature: Positive = 0.08
    epsilon: Share = 0.1
    ema_rate: Portion = 0.005
    out: NewFolder = Path("runs/monte_carlo")


class Greedy(MonteCarloAgent):
    """Takes the choice of the highest value."""

    def save(self, path: str | Path) -> None:
        """Write the networks; `load_agent` reads them as a greedy agent."""
        write_whole(Path(path), self.sets[0].to_bytes())


class Softmax(Greedy):
    """Draws its choice by the softmax of the values.

    Args:
        agent: has the values.
        temperature: of the softmax, in points.
    """

    def __init__(self, agent: MonteCarloAgent, temperature: float) -> None:
        super().__init__(agent.sets, agent.name)
        self.temperature = temperature

    @one_or_many
    def action_probabilities(self, views: Views) -> Doubles:
        """Return the probability of each action, float64[B, actions]."""
        values = self.action_values(views) / self.temperature
        weights = np.exp(values - np.nanmax(values, axis=1, keepdims=True))
        weights = np.nan_to_num(weights, nan=0.0)
        found: Doubles = weights / weights.sum(axis=1, keepdims=True)
        return found

    @one_or_many
    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return a legal action for each view, int64[B]."""
        ladder = self.action_probabilities(views).cumsum(axis=1)
        points = check_rng(rng).random((len(views), 1)) * ladder[:, -1:]
        actions: Actions = (ladder > points).argmax(axis=1)
        return actions


class MonteCarlo(Learner):
    """Learns by its `Settings`; see `crib_training.baselines.learner.Learner`."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        if len(settings.hidden_sizes) != 2:
            raise ValueError(f"hidden_sizes of monte_carlo are two, got {settings.hidden_sizes}")
        first, second = settings.hidden_sizes
        own = deep_monte_carlo.Settings(
            env=settings.env, seed=settings.seed, num_envs=settings.num_envs,
            batch_size=settings.batch_size, learning_rate=settings.learning_rate,
            ema_rate=settings.ema_rate, temperature=settings.explore_temperature,
            last_temperature=settings.last_explore_temperature, epsilon=settings.epsilon,
            hidden_sizes=(first, second),
        )  # fmt: skip
        self.learning = DeepMonteCarlo(find_self_play(own)[1], own)
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

    def agent(self) -> Greedy:
        """Return the agent of the averaged weights, greedy or with its softmax."""
        learning = self.learning
        greedy = Greedy([learning.self_play.weights(learning.learner.mean_nets)], "monte_carlo")
        if not self.settings.temperature:
            return greedy
        return Softmax(greedy, self.settings.temperature)

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
