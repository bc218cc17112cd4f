"""Deep Monte Carlo: self-play, and regression on the return of each choice; for every game.

    crib train --method deep_monte_carlo --env six_card_v0 --deals 400000 --out runs/six_card

1. Play a batch of deals, every seat with the current networks. A softmax over the predicted values
   draws each choice; temperature and epsilon fall over the run.
2. Fit the networks to the returns of the choices: squared errors, every decision once, in batches.
   The learning rate falls linearly.
3. Update the average of the weights at every step. Evaluation and saved files use the average.

Inputs, targets and self-play of each game are in `crib_training.learn.deep_monte_carlo`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
import torch
from crib_agents.learned import MonteCarloAgent
from crib_agents.learned.network import WIDEST
from crib_agents.loading import load_agent
from crib_play.replay import write_replay
from pydantic import Field

from crib_env.arrays import Array
from crib_env.settings import (
    Count,
    NewFolder,
    Pairs,
    Players,
    Portion,
    Positive,
    Share,
    Threads,
    Whole,
    Workers,
    checked_dataclass,
)
from crib_training.command_line import command
from crib_training.learn import run as runs
from crib_training.learn.curve import Strength
from crib_training.learn.deep_monte_carlo.actors import (
    Actors,
    Cluster,
    ProcessActors,
    RolloutResult,
    joined,
    split_round,
)
from crib_training.learn.deep_monte_carlo.self_play import Samples, batches, find_self_play
from crib_training.learn.nets import AveragedNets
from crib_training.learn.run import FREE, RunSettings, State, module_tensors
from crib_training.loading import find_game

BEHAVIOUR = "acting."  # the prefix of the nets that play the round after this, in a checkpoint
HiddenSize = Annotated[Whole, Field(ge=1, le=WIDEST)]


@checked_dataclass(frozen=True, kw_only=True)
class Settings(RunSettings):
    """Train an agent by deep Monte Carlo: self-play, and regression on the return of each choice.

    Attributes:
        env: the environment whose game to learn.
        method: the method.
        rules: a preset other than the environment's own, or a preset with changes, such as
            hoyle[target=91,for_last=3].
        players: 2, or 4 in Table Top; by default the smallest number that the game allows.
        deals: deals (in Table Top rounds) to play in all.
        num_envs: deals side by side between updates; by default the game's.
        batch_size: decisions per update; with 2048, the same strength takes ten times the deals.
        learning_rate: learning rate of Adam, by default the game's; it falls linearly to the share
            ``final_learning_rate`` of this.
        final_learning_rate: the share of the learning rate at the end.
        ema_rate: step of the average of the weights at each update, by default the game's;
            measurements and saved files use the average.
        temperature: temperature of the softmax over the values of choices, in points; by default
            the game's.
        final_temperature: the temperature at the end.
        epsilon: the share of decisions drawn uniformly from all choices; falls to 0.
        hidden_sizes: sizes of the two hidden layers; by default the game's.
        eval_opponents: the reference opponents, built-in names joined by commas.
        baselines: built-in agents to draw as lines in the picture: their own strength against the
            first reference opponent; joined by commas.
        num_evals: number of measurements of strength.
        eval_pairs: pairs of duplicate deals per measurement, and half as many pairs of games; 0
            measures nothing.
        final_eval_pairs: the same for the measurement after the last deal.
        workers: processes that play while this one learns; with 1, this process does both in turn.
            A run repeats exactly with the same seed and number of workers.
        ray_address: address of a Ray cluster where the workers play as actors; auto on one of its
            nodes.
        device: device of the networks' training, cpu or cuda; play always runs on the CPU.
        threads: threads of PyTorch; with 1, every run of the same settings is identical to the bit.
        out: the folder for results.
        replay: write a page with one game of the trained agent against the first opponent.
    """

    env: str = "six_card_v0"
    method: Literal["deep_monte_carlo"] = "deep_monte_carlo"
    rules: str | None = None
    players: Players | None = None
    deals: Count = 400_000
    num_envs: Count | None = None
    batch_size: Count = 256
    learning_rate: Positive | None = None
    final_learning_rate: Share = 0.05
    ema_rate: Portion | None = None
    temperature: Positive | None = None
    final_temperature: Positive | None = None
    epsilon: Share = 0.1
    hidden_sizes: tuple[HiddenSize, HiddenSize] | None = None
    eval_opponents: str = "rule_based"
    baselines: str = "greedy"
    num_evals: Count = 8
    eval_pairs: Pairs = 1000
    final_eval_pairs: Pairs = 4000
    workers: Workers = 1
    ray_address: str | None = None
    device: Literal["cpu", "cuda"] = "cpu"
    threads: Threads = 1
    out: NewFolder = Path("runs/deep_monte_carlo")
    replay: bool = False

    def __post_init__(self) -> None:
        if self.ray_address is not None and self.workers < 2:
            raise ValueError(f"workers must be at least 2 on a cluster, got {self.workers}")


class Learner(runs.Learner):
    """Learns by its `Settings`.

    Attributes:
        self_play: the game. nets: its networks, with their average.
        deals: of self-play so far. rounds: batches of deals so far.
        actors: who plays, None for this process.
        behaviour_nets: the nets that the next round is played by, if others play it.
    """

    unit = "deals"
    counts = ("deals", "decisions", "rounds")

    def __init__(self, settings: Settings) -> None:
        if settings.device == "cuda" and not torch.cuda.is_available():
            raise ValueError(
                "device cuda needs an NVIDIA card and a PyTorch built for it: here is none"
            )
        super().__init__(settings)
        maker, self.self_play = find_self_play(settings)
        self.self_play.nets.to(settings.device)
        chosen = self.self_play.chosen
        self.nets = AveragedNets(self.self_play.nets, chosen.learning_rate, chosen.ema_rate)
        self.modules = self.nets.modules
        self.deals = self.rounds = 0
        self.actors: Actors | None = None
        self.behaviour_nets = self._nets() if settings.workers > 1 else {}
        self.curve: Strength = Strength(
            maker, self.self_play.rules, self.self_play.players,
            f"deep Monte Carlo, seed {settings.seed}", settings.eval_opponents, settings.baselines,
            (settings.num_evals, settings.eval_pairs, settings.final_eval_pairs),
        )  # fmt: skip

    def __enter__(self) -> Self:
        settings = self.settings
        self.self_play.play(2, 0.0, np.random.default_rng(0))  # compiles what no cache holds
        if settings.ray_address is not None or settings.workers > 1:
            playing = Cluster if settings.ray_address is not None else ProcessActors
            self._playing = playing(settings)
            self.actors = self._playing.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        """End the processes that play."""
        if self.actors is not None:
            self.actors = None
            self._playing.__exit__(*error)

    def iterate(self) -> dict[str, float]:
        """Play one batch of deals and learn from it."""
        progress = self.deals / self.settings.deals
        samples, deals = self.collect(self.batch_of_deals(self.deals), progress)
        self.rounds += 1
        loss = 0.0
        if samples is not None:
            loss = self.fit(samples, progress)
            self.deals += deals
            self.decisions += samples.decisions
        return {"loss": loss}

    def fit(self, samples: Samples, progress: float) -> float:
        """Learn from every sample once, and return the mean loss."""
        settings = self.settings
        share = max(settings.final_learning_rate, 1.0 - progress)
        samples = samples.to(settings.device)
        losses = []
        for rows in batches(samples, settings.batch_size, self.rng):
            loss = self.self_play.loss(samples, rows)
            self.nets.step(loss, share)
            losses.append(loss.detach())
        return float(torch.stack(losses).mean())

    def batch_of_deals(self, after: int) -> int:
        """Return the number of deals in the next round."""
        left: int = self.settings.deals - after
        return min(self.self_play.chosen.num_envs, left)

    def collect(self, deals: int, progress: float) -> tuple[Samples | None, int]:
        """Return what self-play brought here or elsewhere; None if all workers' parts were lost."""
        if self.actors is None:
            return self.self_play.play(deals, progress, self.rng), deals
        parts = self._collect_remote(self.actors, deals, progress)
        self.cpu_seconds += sum(part.cpu_seconds for part in parts)
        return (joined(parts) if parts else None), sum(part.deals for part in parts)

    def _collect_remote(self, actors: Actors, n: int, progress: float) -> list[RolloutResult]:
        """Return a round of ``n`` deals played by `behaviour_nets`, and begin the next one."""
        total, workers = self.settings.deals, self.settings.workers
        if not actors.waiting:
            actors.begin(split_round(self.rounds, n, progress, workers), self.behaviour_nets)
        nets, then = self._nets(), self.deals + n
        if then < total:
            following = self.batch_of_deals(then)
            actors.begin(split_round(self.rounds + 1, following, then / total, workers), nets)
        played = actors.finish()
        self.behaviour_nets = nets
        return played

    def _nets(self) -> dict[str, Any]:
        """Return the nets as they are now."""
        return module_tensors("", self.self_play.nets)

    def agent(self) -> MonteCarloAgent:
        """Return the agent of the averaged weights."""
        made_by = command(f"crib train --method {self.settings.method}", self.settings, FREE, ())
        return MonteCarloAgent([self.self_play.weights(self.nets.average, made_by)], "learning")

    def state(self) -> dict[str, Array]:
        """Return the nets of the next round, if others play it."""
        return {BEHAVIOUR + name: array for name, array in self.behaviour_nets.items()}

    def restore(self, state: State) -> None:
        """Restore what `state` returned."""
        self.behaviour_nets = {
            name.removeprefix(BEHAVIOUR): array.copy()
            for name, array in state.items()
            if name.startswith(BEHAVIOUR)
        }


def train(settings: Settings) -> MonteCarloAgent:
    """Learn by the settings, write everything to ``out``, and return the agent."""
    agent = runs.Run(Learner(settings)).go()
    assert isinstance(agent, MonteCarloAgent)
    return agent


def run(settings: Settings) -> None:
    """Train, and print where the results are."""
    agent = runs.learn(Learner(settings))
    if settings.replay:
        _, rules = find_game(settings.env, settings.rules)
        agents = agent, load_agent(settings.eval_opponents.split(",")[0])
        file = settings.out / "replay.html"
        write_replay(file, rules, agents, settings.seed, players=settings.players)
        print(f"wrote {file}")
