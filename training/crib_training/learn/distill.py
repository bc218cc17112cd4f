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
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
from crib_agents.expert.discard import CRIB_MEAN, OTHER_PEGS, OWN_PEGS, PAIRS, rank_discards
from crib_agents.expert.pegging import MY_POINTS, POINTS_NOW, THEIR_POINTS, PeggingExpert
from crib_agents.files import read_arrays, write_whole
from crib_agents.learned import MonteCarloAgent, Weights
from crib_agents.learned.agent import shipped
from crib_agents.learned.network import MOST_INPUTS
from crib_agents.learned.two_hand import (
    FAMILY,
    card_features,
    discard_features,
    holdable,
    mean_hand,
    shared_features,
)
from crib_agents.loading import load_agent
from crib_agents.torch_nets import layers_of, mlp
from numba import int64
from pydantic import Field
from torch import nn

from crib_env.arrays import Array
from crib_env.batch import GameBatch
from crib_env.engine import stack
from crib_env.engine.hands.counting import (
    alone,
    certain_points,
    least_pip,
    sequence_of,
    unseen_ranks,
)
from crib_env.engine.jit import entry
from crib_env.engine.record import TABLE_T
from crib_env.engine.show import show_table
from crib_env.engine.two_hand import HAND, VIEW, VIEWS_T
from crib_env.policy import Agent, Views
from crib_env.rules import Rules, TwoHandRules
from crib_env.settings import (
    MANY,
    Count,
    CountOrNone,
    File,
    Folder,
    NewFolder,
    NotNegative,
    Pairs,
    Portion,
    Positive,
    Share,
    Threads,
    Whole,
    checked_dataclass,
)
from crib_training.command_line import command
from crib_training.evaluation.duplicate import estimate, play_pairs
from crib_training.evaluation.figures import as_json, shown_percent
from crib_training.learn.deep_monte_carlo.two_hand import INPUTS_T, ROLES, play_cards, spread
from crib_training.learn.run import (
    FREE,
    AveragedNets,
    Learner,
    Run,
    RunSettings,
    SavedAgent,
    State,
)
from crib_training.loading import find_game

NETS = ("pegging", *ROLES)
SIGNS = {"pegging": (1, -1), "discard_pone": (-1, 1, -1), "discard_dealer": (1, 1, -1)}
"""How the outputs of a net add up to the value of a choice."""
COMPACT = np.dtype([(name, np.int16, VIEW[name].shape) for name in VIEW.names or ()])


@dataclass(frozen=True, eq=False)
class Labels:
    """What a teacher expects of the choices in views, for one net."""

    views: Array  # `COMPACT` [N]
    # float16[N, choices, outputs]; NaN where there is no such choice. Of cards the choices are
    # those of ``hand``, of pairs those of the cards in order of ids
    points: Array

    def __len__(self) -> int:
        return len(self.views)

    @classmethod
    def joined(cls, parts: Sequence[Labels]) -> Labels:
        """Return all labels of the parts, in their order."""
        return cls(
            np.concatenate([part.views for part in parts]),
            np.concatenate([part.points for part in parts]),
        )

    def save(self, path: Path) -> None:
        """Write them, 600 bytes a label before they are packed, some 40 after."""
        held = io.BytesIO()
        np.savez_compressed(held, views=self.views, points=self.points)
        write_whole(path, held.getvalue())

    @classmethod
    def load(cls, path: Path) -> Labels:
        """Read what `save` wrote."""
        held = read_arrays(path)
        views, points = held.get("views"), held.get("points")
        if views is None or points is None or views.dtype != COMPACT:
            raise ValueError(f"{path} holds no labels of this version")
        if views.ndim != 1 or points.ndim != 3 or len(views) != len(points):
            raise ValueError(f"{path} holds {views.shape} views and {points.shape} labels of them")
        return cls(views, points)


def label_cards(views: Views, teacher: PeggingExpert) -> Labels:
    """Return the expert's labels of views of the pegging."""
    found = teacher.findings(views)
    mine = found[:, :, POINTS_NOW] + found[:, :, MY_POINTS]
    points = np.stack([mine, found[:, :, THEIR_POINTS]], axis=2)
    return Labels(views.astype(COMPACT), points.astype(np.float16))


def label_pairs(views: Views) -> Labels:
    """Return the expert's labels of views of a seat that holds all its cards."""
    columns = rank_discards(views)[1]
    points = np.stack(
        [np.abs(columns[:, :, CRIB_MEAN]), columns[:, :, OWN_PEGS], columns[:, :, OTHER_PEGS]],
        axis=2,
    )
    dealt = int(views["dealt"][0])
    points[:, dealt * (dealt - 1) // 2 :] = np.nan
    return Labels(views.astype(COMPACT), points.astype(np.float16))


def collect(
    weights: Weights, teacher: PeggingExpert, rules: Rules, deals: int, rng: np.random.Generator, *,
    pairs: bool, temperature: float, epsilon: float,
) -> dict[str, Labels]:  # fmt: skip
    """Let a student play deals and label every decision with a choice; return labels by net.

    The student plays cards by a softmax of ``temperature`` (see `gumbel`), the share ``epsilon`` of
    them evenly. With ``pairs`` discarding is labelled too.
    """
    games = GameBatch(rules, deals, episode="deal", seed=int(rng.integers(1 << 62)))
    games.reset()
    lanes, student, flat = np.arange(deals), MonteCarloAgent([weights]), weights.flat()
    labels = {}
    seats = np.stack([1 - games.states["dealer"], games.states["dealer"]])  # by role
    for role, name in enumerate(ROLES):
        if pairs:
            labels[name] = label_pairs(games.views(lanes, seats[role]))
        for _ in range(2):
            games.ask(student, lanes, rng)
    seen = [views for _, views, _, _ in play_cards(games, flat, temperature, epsilon, rng)]
    labels["pegging"] = label_cards(np.concatenate(seen), teacher)
    return labels


@entry(int64(VIEWS_T, INPUTS_T, int64[:, ::1]), "learn.card_rows")
def card_rows(views, inputs, about):
    """Write what the net for the play sees of every rank that may be played; return how many rows.

    Shapes: inputs float32[rows, inputs]; about int64[rows, 3].
    """
    places = stack.ints(MOST_INPUTS)
    values = stack.floats(MOST_INPUTS)
    row = 0
    for b in range(views.shape[0]):
        v = views[b]
        sequence = sequence_of(v)
        unseen = unseen_ranks(v)
        least = least_pip(v)
        total = holdable(unseen, least)
        is_alone = alone(v)
        shared = shared_features(v, unseen, least, total, is_alone, places, values)
        ranks = 0
        for k in range(v["hand_n"]):
            rank = v["hand"][k] >> 2
            if not v["legal"] >> k & 1 or ranks >> rank & 1:
                continue
            ranks |= 1 << rank
            now = certain_points(v, k, sequence)
            n = card_features(
                v, k, now, sequence, unseen, least, total, is_alone, places, values, shared
            )
            spread(inputs[row], places, values, n)
            about[row, 0] = b
            about[row, 1] = k
            about[row, 2] = now
            row += 1
    return row


@entry(int64(VIEWS_T, TABLE_T, INPUTS_T, int64[:, ::1]), "learn.pair_rows")
def pair_rows(views, table, inputs, about):
    """Write what a net for discarding sees of every pair, as `card_rows` does; certain is 0."""
    places = stack.ints(MOST_INPUTS)
    values = stack.floats(MOST_INPUTS)
    cards = stack.ints(HAND)
    row = 0
    for b in range(views.shape[0]):
        v = views[b]
        for i in range(v["hand_n"]):
            j = i
            while j > 0 and cards[j - 1] > v["hand"][i]:
                cards[j] = cards[j - 1]
                j -= 1
            cards[j] = v["hand"][i]
        pair = 0
        for i in range(v["hand_n"]):
            for j in range(i + 1, v["hand_n"]):
                mean = mean_hand(v, table, cards[i], cards[j])
                n = discard_features(v, cards[i], cards[j], mean, places, values)
                spread(inputs[row], places, values, n)
                about[row, 0] = b
                about[row, 1] = pair
                about[row, 2] = 0
                pair += 1
                row += 1
    return row


def rows_of(name: str, labels: Labels, chosen: Array) -> tuple[Array, Array, Array]:
    """Return what a net sees of all choices in some of the views, and what it is to put out.

    Shapes: chosen int64[B]; the result float32[rows, inputs].
    """
    views = labels.views[chosen].astype(VIEW)
    most = HAND if name == "pegging" else PAIRS
    inputs = np.empty((most * len(views), FAMILY.nets[name].inputs), dtype=np.float32)
    about = np.empty((most * len(views), 3), dtype=np.int64)
    if name == "pegging":
        rows = card_rows(views, inputs, about)
    else:
        # What is certain of a pair is the hand, which is no part of its labels.
        rows = pair_rows(views, show_table(), inputs, about)
    about = about[:rows]
    targets = labels.points[chosen[about[:, 0]], about[:, 1]].astype(np.float32)
    targets[:, 0] -= about[:, 2]
    return inputs[:rows], targets, about[:, 0]


SEED = 3_000_000  # of the deals that strength is measured on


@checked_dataclass(frozen=True, kw_only=True)
class Settings(RunSettings):
    """Distil the expert's values of every choice into a learned agent of a two-hand game.

    Attributes:
        env: the environment whose game to learn.
        rules: a preset other than the environment's own.
        student: initial weights, a file of `crib train --method deep_monte_carlo`; by default those
            of the package.
        rounds: rounds in which the student plays and `expert` labels its decisions.
        deals: deals that the student plays per round; a six-card deal brings about nine labels.
        labels_from: the folder of an earlier run whose labels to learn from as well.
        discard: distil discarding too, not only pegging.
        batch_size: views per update.
        learning_rate: learning rate of Adam; after the rounds it falls to 0.02 of this.
        ema_rate: step of the average of the weights at each update; saved files hold the average.
        epochs: passes of each round, over as many labels as it brought.
        last_epochs: passes over all labels after the rounds.
        scale: weight of the points themselves, beside the differences between choices.
        temperature: temperature of the softmax by which the student pegs, in points.
        epsilon: the share of the student's cards drawn uniformly.
        threads: threads of PyTorch.
        eval_opponents: opponents of the measurement at the end, joined by commas.
        pairs: pairs of duplicate games for that measurement; 0 measures nothing.
    """

    env: str = "six_card_v0"
    rules: str | None = None
    student: File | None = None
    rounds: CountOrNone = 20
    deals: Count = 2048
    labels_from: Folder | None = None
    discard: bool = False
    batch_size: Annotated[Whole, Field(ge=4, le=MANY)] = 256
    learning_rate: Positive = 5e-4
    ema_rate: Portion = 0.005
    epochs: NotNegative = 2.0
    last_epochs: NotNegative = 5.0
    scale: NotNegative = 0.05
    temperature: Positive = 0.1
    epsilon: Share = 0.05
    threads: Threads = 1
    eval_opponents: str = "rule_based"
    pairs: Pairs = 1000
    out: NewFolder = Path("runs/distilled")

    def __post_init__(self) -> None:
        if self.rounds == 0 and self.labels_from is None:
            raise ValueError("rounds must be 1 or more, or labels_from name a run with labels")


class Distillation(Learner):
    """Learns by its `Settings`; ``parts`` are the labels of each round, by the name of the net."""

    unit = "rounds"
    counts = ("rounds", "decisions")
    program = "crib distill"

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        _, rules = find_game(settings.env, settings.rules)
        if not isinstance(rules, TwoHandRules):
            raise ValueError(f"{settings.env} is not a two-hand game: the expert labels only those")
        self.rules = rules
        self.opponents = [
            load_agent(name) for name in filter(None, settings.eval_opponents.split(","))
        ]
        self.student = find_student(settings.student, rules)
        self.teacher = PeggingExpert()
        self.student_nets = modules(self.student)
        self.nets = AveragedNets(self.student_nets, settings.learning_rate, settings.ema_rate)
        self.modules = self.nets.modules
        self.names = NETS if settings.discard else NETS[:1]
        self.rounds = 0
        self.losses: list[float] = []
        self.parts: dict[str, list[Labels]] = {name: [] for name in self.names}
        if settings.labels_from is not None:
            self._read(settings.labels_from, None)

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

    def agent(self) -> MonteCarloAgent:
        """Return what has been learned so far."""
        return MonteCarloAgent([self.weights(self.nets.average)], "distilled")

    def iterate(self) -> dict[str, float]:
        """Let the student play a round, label it, and learn from all labels."""
        return {"loss": self.fit(int(self.settings.epochs * self.play()))}

    def play(self) -> int:
        """Let the student play a round, label it, and return how many labels that brought."""
        settings = self.settings
        found = collect(
            self.weights(self.student_nets), self.teacher, self.rules, settings.deals, self.rng,
            pairs=settings.discard, temperature=settings.temperature, epsilon=settings.epsilon,
        )  # fmt: skip
        for name in self.names:
            self.parts[name].append(found[name])
            found[name].save(settings.out / f"labels_{self.rounds:03}_{name}.npz")
        self.rounds += 1
        self.decisions += len(found["pegging"])
        return len(found["pegging"])

    def fit(self, views: int, last: bool = False) -> float:
        """Learn from random views of each network; return the mean loss."""
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
                found = self.student_nets[name](inputs)
                total = total + centred_loss(found, targets, signs, of, settings.scale)
            self.nets.step(total, max(0.02, 1 - step / steps) if last else 1.0)
            losses.append(total.item())
        self.losses += losses
        return float(np.mean(losses[-200:]))

    def finish(self) -> None:
        """Learn from all labels once more at a falling rate, and measure what came of it."""
        labelled = sum(len(part) for part in self.parts["pegging"])
        loss = self.fit(int(self.settings.last_epochs * labelled), last=True)
        print(f"{labelled:,} labels, loss {loss:.4f} at the end", flush=True)
        for opponent in self.opponents if self.settings.pairs else ():
            won = games_won(self.agent(), opponent, self.rules, self.settings.pairs)
            print(f"against {opponent.name}: {won}", flush=True)

    def restore(self, state: State) -> None:
        """Read the labels of the rounds that are over."""
        self._read(self.settings.resume, self.rounds)

    def _read(self, folder: Path, rounds: int | None) -> None:
        """Read the labels of a run, those of its first rounds or of all."""
        for name in self.names:
            found = sorted(folder.glob(f"labels_*_{name}.npz"))[:rounds]
            if not found and rounds != 0:
                raise ValueError(f"{folder} holds no labels for {name}")
            self.parts[name] += [Labels.load(path) for path in found]


def distill(settings: Settings) -> SavedAgent:
    """Distil by the settings, write everything to ``out``, and return the agent."""
    return Run(Distillation(settings)).go()


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
