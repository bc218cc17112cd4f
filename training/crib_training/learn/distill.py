"""Distil the values of `expert` into networks of the agent ``learned``.

    crib distill --env six_card_v0 --out runs/distilled

The student plays, and the expert labels its decisions. So the labels cover the positions that the
student itself reaches (DAgger). Each round fits the networks to all labels so far; a last phase
does so once more at a falling learning rate. Only differences between choices matter, so the loss
takes the errors less their mean in a view.

Writes to ``--out``: ``policy.safetensors``; the labels of each round, ``labels_000.npz`` and so on;
and ``checkpoint.safetensors``, from which ``--resume`` continues to the same result.
"""

from __future__ import annotations

import copy
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from crib_agents.expert.pegging import PeggingExpert
from crib_agents.files import write_whole
from crib_agents.learned import MonteCarloAgent, Weights
from crib_agents.learned.agent import shipped
from crib_agents.loading import load_agent
from torch import nn

from crib_env.policy import Agent
from crib_env.rules import Rules, TwoHandRules
from crib_training.command_line import command
from crib_training.evaluation.duplicate import estimate, play_pairs
from crib_training.evaluation.figures import as_json, shown_percent
from crib_training.interrupts import Stopped
from crib_training.learn.deep_monte_carlo.checkpoint import FILE, Checkpoint
from crib_training.learn.distill_settings import FREE, Settings
from crib_training.learn.labels import NETS, SIGNS, Labels, collect, rows_of
from crib_training.learn.learner import Learner, diverged, layers_of, mlp
from crib_training.loading import find_game
from crib_training.outputs import run_folder

SEED = 3_000_000  # of the deals that strength is measured on


class Distillation:
    """A run.

    Args:
        settings: settings of the run.

    Raises:
        ValueError: impossible settings, or settings of another run than the one to continue.

    Attributes:
        learner: the nets with their optimizer, and the average of their weights.
        parts: the labels of each round, by the name of the net.
        rounds: how many are over.
        losses: of each update.
        saved: the last checkpoint, if there is one.
    """

    def __init__(self, settings: Settings) -> None:
        torch.set_num_threads(settings.threads)
        self.settings = settings
        _, rules = find_game(settings.env, settings.rules)
        if not isinstance(rules, TwoHandRules):
            raise ValueError(f"{settings.env} is not a two-hand game: the expert labels only those")
        self.rules = rules
        self.student = find_student(settings.student, rules)
        self.teacher = PeggingExpert()
        self.nets = modules(self.student)
        self.learner = Learner(self.nets, settings.learning_rate, settings.ema_rate)
        self.names = NETS if settings.discard else NETS[:1]
        self.rng = np.random.default_rng(settings.seed)
        self.rounds, self.cpu_seconds = 0, 0.0
        self.losses: list[float] = []
        self.saved: Path | None = None
        self.parts: dict[str, list[Labels]] = {name: [] for name in self.names}
        if settings.labels_from is not None:
            self._read(settings.labels_from, None)
        if settings.resume is not None:
            self._restore(settings.resume)

    def weights(self, nets: nn.Module) -> Weights:
        """Return nets as the agent reads them."""
        assert isinstance(nets, nn.ModuleDict)
        student = self.student
        return Weights(
            student.family, student.rules, student.rules_fields, student.players,
            {name: layers_of(net) for name, net in nets.items()},
            f"{student.made_by}; {self.made_by}",
        )  # fmt: skip

    @property
    def made_by(self) -> str:
        """The command, without folders and what changes nothing."""
        shown = copy.copy(self.settings)  # unchecked: its paths become names
        for name, value in vars(self.settings).items():
            if isinstance(value, Path):
                object.__setattr__(shown, name, Path(value.name))
        return command("crib distill", shown, FREE, ())

    @property
    def agent(self) -> MonteCarloAgent:
        """What has been learned so far, as an agent."""
        return MonteCarloAgent([self.weights(self.learner.mean_nets)], "distilled")

    @property
    def labelled(self) -> int:
        """How many views of pegging have labels."""
        return sum(len(part) for part in self.parts["pegging"])

    def play(self) -> int:
        """Let the student play a round, label it, and return how many labels that brought."""
        began = time.process_time()
        settings = self.settings
        found = collect(
            self.weights(self.nets), self.teacher, self.rules, settings.deals, self.rng,
            pairs=settings.discard, temperature=settings.temperature, epsilon=settings.epsilon,
        )  # fmt: skip
        for name in self.names:
            self.parts[name].append(found[name])
            found[name].save(settings.out / f"labels_{self.rounds:03}_{name}.npz")
        self.rounds += 1
        self.cpu_seconds += time.process_time() - began
        return len(found["pegging"])

    def fit(self, views: int, last: bool = False) -> float:
        """Learn from random views of each network; return the mean loss."""
        began = time.process_time()
        settings = self.settings
        steps = max(1, views // settings.batch_size)
        labels = {name: Labels.joined(parts) for name, parts in self.parts.items()}
        losses = []
        for step in range(steps):
            total = torch.zeros(())
            for name, known in labels.items():
                size = settings.batch_size if name == "pegging" else settings.batch_size // 4
                chosen = self.rng.integers(len(known), size=size)
                inputs, targets, of = map(torch.from_numpy, rows_of(name, known, chosen))
                signs = torch.tensor(SIGNS[name], dtype=torch.float32)
                found = self.nets[name](inputs)
                total = total + centred_loss(found, targets, signs, of, settings.scale)
            self.learner.step(total, max(0.02, 1 - step / steps) if last else 1.0)
            losses.append(total.item())
        if not self.learner.is_finite(sum(losses)):
            raise diverged(self.saved, "after the last complete round")
        self.losses += losses
        self.cpu_seconds += time.process_time() - began
        return float(np.mean(losses[-200:]))

    def save(self) -> None:
        """Write weights and checkpoint."""
        out = self.settings.out
        write_whole(out / "policy.safetensors", self.agent.sets[0].to_bytes())
        about = {
            "settings": self._fixed(),
            "rounds": self.rounds,
            "cpu_seconds": self.cpu_seconds,
            "generator": self.rng.bit_generator.state,
        }
        Checkpoint(about, self.learner.tensors()).save(out)
        self.saved = out / FILE

    def _fixed(self) -> dict[str, Any]:
        return {k: str(v) for k, v in asdict(self.settings).items() if k not in FREE}

    def _restore(self, folder: Path) -> None:
        saved = Checkpoint.load(folder)
        if saved.about["settings"] != self._fixed():
            raise ValueError(f"the run in {folder} has other settings: {saved.about['settings']}")
        self.learner.restore(saved.tensors)
        self.rounds, self.cpu_seconds = saved.about["rounds"], saved.about["cpu_seconds"]
        self.rng.bit_generator.state = saved.about["generator"]
        self._read(folder, self.rounds)

    def _read(self, folder: Path, rounds: int | None) -> None:
        """Read the labels of a run, those of its first rounds or of all."""
        for name in self.names:
            found = sorted(folder.glob(f"labels_*_{name}.npz"))[:rounds]
            if not found and rounds != 0:
                raise ValueError(f"{folder} holds no labels for {name}")
            self.parts[name] += [Labels.load(path) for path in found]


def distill(settings: Settings) -> MonteCarloAgent:
    """Distil by the settings, write everything to ``out``, and return the agent."""
    opponents = [load_agent(name) for name in filter(None, settings.eval_opponents.split(","))]
    new = Distillation(settings) if settings.resume is None else None
    with run_folder(settings.out, settings.resume):
        run = new or Distillation(settings)
        try:
            return _distill(run, settings, opponents)
        except KeyboardInterrupt:
            if not (settings.out / FILE).exists():
                raise
            raise Stopped(f"the run is saved as it was after its last round; to resume, add "
                          f"--resume {settings.out} to the same command") from None  # fmt: skip


def _distill(run: Distillation, settings: Settings, opponents: list[Agent]) -> MonteCarloAgent:
    while run.rounds < settings.rounds:
        new_labels = run.play()
        loss = run.fit(int(settings.epochs * new_labels))
        run.save()
        print(f"round {run.rounds}: {run.labelled:,} labels, loss {loss:.4f}, "
              f"{run.cpu_seconds:.0f} CPU s", flush=True)  # fmt: skip
    loss = run.fit(int(settings.last_epochs * run.labelled), last=True)
    # The checkpoint stays that before the last epochs, so that they can be made again.
    write_whole(settings.out / "policy.safetensors", run.agent.sets[0].to_bytes())
    print(f"last: loss {loss:.4f}, {run.cpu_seconds:.0f} CPU s", flush=True)
    for opponent in opponents if settings.pairs else ():
        won = games_won(run.agent, opponent, run.rules, settings.pairs)
        print(f"against {opponent.name}: {won}", flush=True)
    return run.agent


def find_student(path: Path | None, rules: Rules) -> Weights:
    """Return the weights to begin with: those of a file, or those that come with the package."""
    known = shipped() if path is None else (Weights.load(path),)
    for weights in known:
        if weights.rules == rules.name:
            return weights
    raise ValueError(f"there are no weights for {rules.name}: train some by crib train --method "
                     f"deep_monte_carlo, and give them as --student")  # fmt: skip


def modules(weights: Weights) -> nn.ModuleDict:
    """Return the nets of weights for PyTorch."""
    made = nn.ModuleDict()
    for name, layers in weights.nets.items():
        (first, _), (second, _), (last, _) = layers
        made[name] = mlp(first.shape[1], len(first), len(second), len(last))
        linear = [layer for layer in made[name].modules() if isinstance(layer, nn.Linear)]
        for layer, (weight, bias) in zip(linear, layers, strict=True):
            layer.weight.data = torch.tensor(weight)
            layer.bias.data = torch.tensor(bias)
    return made


def centred_loss(
    found: torch.Tensor, targets: torch.Tensor, signs: torch.Tensor, of: torch.Tensor, scale: float
) -> torch.Tensor:
    """Return the mean squared error of the values of choices, less its mean over each view.

    Shapes: found, targets float32[rows, outputs]; signs float32[outputs]; of int64[rows].
    """
    wrong = found - targets
    value = wrong @ signs
    views = int(of[-1]) + 1
    rows = torch.zeros(views).index_add_(0, of, torch.ones(len(of)))
    mean = torch.zeros(views).index_add_(0, of, value) / rows
    return ((value - mean[of]) ** 2 + scale * (wrong**2).sum(dim=1)).mean()


def games_won(agent: Agent, opponent: Agent, rules: Rules, pairs: int) -> str:
    """Return the share of duplicate games that an agent wins, as words."""
    games = play_pairs(rules, "game", agent, opponent, pairs, SEED)
    won = as_json(estimate(games.shares_won))
    return f"{shown_percent(won)} of games, {pairs} pairs"


def run(settings: Settings) -> None:
    """Distil, and print where the results are."""
    distill(settings)
    print(f"wrote {settings.out}/policy.safetensors")
