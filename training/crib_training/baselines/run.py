"""What every baseline shares: the games it learns, what it writes down, and how it goes on.

A run is a folder: ``checkpoint.pt``, from which it resumes to the same result; ``curve.csv``, a row
for each evaluation; ``policy.safetensors``, the policy at the last one, which every command takes
as an agent; and what TensorBoard reads.
"""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol

import numpy.typing as npt
import torch
from crib_agents.adapters.action_head import ActionHead
from crib_agents.adapters.learned import PolicyNetAgent, header
from crib_agents.files import write_whole
from torch import nn
from torch.nn import functional
from torch.utils.tensorboard import SummaryWriter

from crib_env.batch import GameBatch
from crib_env.engine.family import family_for
from crib_env.rules import Rules
from crib_env.settings import Between, Count, NewFolder, Seed, Several, Threads, check_numbers
from crib_training.exploit.run import exploit
from crib_training.outputs import claimed

Array = npt.NDArray[Any]
Tensor = torch.Tensor
ENVIRONMENT, RULES = "five_card_v0", "five_card"
FAMILY = family_for(Rules.preset(RULES).engine, "expected", "canonical")
UNIT = 52 - 2 * 5  # how many of a state's `gain` make a point: the cards that may be the starter
CHECKPOINT, CURVE, POLICY = "checkpoint.pt", "curve.csv", "policy.safetensors"
INNER = 32  # hidden units of the part that reads the features of one action
HANDS_SEED = 101  # of the hands that a best response is found for: the same for every run


@dataclass(frozen=True)
class RunSettings:
    """What all baselines have in common.

    Attributes:
        decisions: decisions to learn from.
        seed: fixes the deals, the networks and the batches.
        num_envs: deals that are played side by side between updates.
        hidden: units in each of the two hidden layers.
        features: what the policy reads besides bits: a level of the environment's features, or
            "none".
        evals: how often exploitability is measured, at equal distances.
        eval_hands: hands that a best response is found for at each.
        threads: of PyTorch.
        out: the folder of the run; a run that lies there is resumed.
    """

    decisions: Count = 10_000_000
    seed: Seed = 1
    num_envs: Count = 2048
    hidden: Annotated[int, Between(1, 4096)] = 256
    features: Literal["none", "lookahead", "reply"] = "lookahead"
    evals: Count = 10
    eval_hands: Several = 40
    threads: Threads = 1
    out: NewFolder = Path("runs/baseline")

    def __post_init__(self) -> None:
        check_numbers(self)


class Trainer(Protocol):
    """What learns.

    Attributes:
        decisions: learned from so far.
        policy: the policy that is measured.
    """

    decisions: int
    policy: Policy

    def iterate(self) -> dict[str, float]:
        """Play some deals, learn from them, and return figures for the log."""

    def state(self) -> dict[str, Any]:
        """Return what `load` takes, tensors and numbers."""

    def load(self, state: dict[str, Any]) -> None:
        """Go on from a state."""


@dataclass
class Row:
    """A line of the curve; exploitability in points per deal.

    Attributes:
        decisions: learned from so far.
        cpu_seconds: spent learning, evaluations left out.
        exploitability: what a best response gains, the mean of both seats.
        ci95: half the 95 % interval of it.
        by_discards: what it gains by its discards alone.
        by_pegging: what it gains by its pegging alone.
    """

    decisions: int
    cpu_seconds: float
    exploitability: float
    ci95: float
    by_discards: float
    by_pegging: float


@dataclass
class Progress:
    """How far a run is."""

    cpu_seconds: float = 0.0
    rows: list[Row] = field(default_factory=list)


def new_deals(n: int, seed: int) -> GameBatch:
    """Return ``n`` five-card deals just dealt; points are expected ones, suits canonical."""
    deals = GameBatch(RULES, n, episode="deal", seed=seed, family=FAMILY)
    deals.reset()
    return deals


def margins(deals: GameBatch, lanes: Array) -> Array:
    """Return float64[K], by how many points seat 0 is ahead in each lane so far."""
    gained = deals.states["gain"][lanes] / UNIT
    ahead: Array = gained[:, 0] - gained[:, 1]
    return ahead


def network(inputs: int, hidden: int, outputs: int) -> nn.Sequential:
    """Return a network of two hidden layers."""
    return nn.Sequential(
        nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(),
        nn.Linear(hidden, outputs),
    )  # fmt: skip


class Policy(nn.Module):
    """Logits from an observation; what reads an action's features is the same for all actions.

    It computes what a `PolicyNetAgent` with an `ActionHead` does; the first policy is nearly
    uniform.

    Args:
        hidden: units in each of the two hidden layers.
        features: the level of features that are observed, or "none".
    """

    def __init__(self, hidden: int, features: str) -> None:
        super().__init__()
        self.features = None if features == "none" else features
        self.count = len(FAMILY.features_at(FAMILY.level_of(self.features)))
        inputs = FAMILY.obs_size + 2 * self.count
        self.first, self.second = nn.Linear(inputs, hidden), nn.Linear(hidden, hidden)
        self.logits = nn.Linear(hidden, FAMILY.actions)
        nn.init.normal_(self.logits.weight, std=0.01)
        nn.init.zeros_(self.logits.bias)
        if self.count:
            self.of_features = nn.Linear(self.count, INNER)
            self.of_state = nn.Linear(hidden, INNER, bias=False)
            self.out = nn.Linear(INNER, 1, bias=False)
            self.skip = nn.Linear(self.count, 1, bias=False)
            nn.init.normal_(self.out.weight, std=0.01)
            nn.init.normal_(self.skip.weight, std=0.01)

    def forward(self, obs: Tensor) -> Tensor:
        """Return logits, float32[B, actions], of observations float32[B, obs_size]."""
        bits, rest = obs[:, : FAMILY.obs_size], obs[:, FAMILY.obs_size :]
        if not self.count:
            hidden = functional.relu(self.second(functional.relu(self.first(bits))))
            return self.logits(hidden)
        each = rest.view(-1, self.count, FAMILY.actions)
        inputs = torch.cat([bits, each.amax(dim=2), each.amin(dim=2)], dim=1)
        hidden = functional.relu(self.second(functional.relu(self.first(inputs))))
        of_each = each.transpose(1, 2)
        inner = functional.relu(self.of_features(of_each) + self.of_state(hidden)[:, None])
        return self.logits(hidden) + (self.out(inner) + self.skip(of_each))[:, :, 0]

    def agent(self, name: str) -> PolicyNetAgent:
        """Return the agent that draws its actions from this policy."""
        of = {key: value.numpy().copy() for key, value in self.state_dict().items()}
        layers = [(of[f"{layer}.weight"], of[f"{layer}.bias"])
                  for layer in ("first", "second", "logits")]  # fmt: skip
        head = None
        if self.count:
            head = ActionHead(
                of["of_features.weight"], of["of_state.weight"], of["of_features.bias"],
                of["out.weight"][0], of["skip.weight"][0],
            )  # fmt: skip
        about = header(ENVIRONMENT, RULES, FAMILY, self.features, suits="canonical", sample=True)
        return PolicyNetAgent(layers, about, name, head=head)


def train(method: str, settings: RunSettings, trainer: Trainer) -> Sequence[Row]:
    """Run a trainer to its end, measure it on the way, and write everything down.

    Args:
        method: its name.
        settings: of the run.
        trainer: just made from the settings.

    Returns:
        the curve.

    Raises:
        ValueError: the folder holds a run of other settings.
    """
    torch.set_num_threads(settings.threads)
    out = settings.out
    with claimed(out), SummaryWriter(out) as board:
        progress = _resume(out / CHECKPOINT, method, settings, trainer)
        every = settings.decisions / settings.evals
        while len(progress.rows) < settings.evals:
            start = time.process_time()
            while trainer.decisions < every * (len(progress.rows) + 1):
                figures = trainer.iterate()
            progress.cpu_seconds += time.process_time() - start
            agent = trainer.policy.agent(method)
            row = _measure(agent, trainer.decisions, progress.cpu_seconds, settings.eval_hands)
            progress.rows.append(row)
            for name, figure in {**figures, **asdict(row)}.items():
                board.add_scalar(name, figure, row.decisions)
            agent.save(out / POLICY)
            write_whole(out / CURVE, _csv(progress.rows))
            _save(out / CHECKPOINT, method, settings, trainer, progress)
            print(f"{row.decisions:>12,} decisions {row.cpu_seconds:8.0f} CPU s  exploitability "
                  f"{row.exploitability:.3f} ± {row.ci95:.3f}  (discards {row.by_discards:.3f}, "
                  f"pegging {row.by_pegging:.3f})", flush=True)  # fmt: skip
    return progress.rows


def _measure(agent: PolicyNetAgent, decisions: int, cpu_seconds: float, hands: int) -> Row:
    found = exploit(agent, Rules.preset(RULES), hands, HANDS_SEED, abstraction=1)["gain"]["both"]
    return Row(
        decisions, cpu_seconds, found["all"]["mean"], found["all"]["ci95"],
        found["discard"]["mean"], found["rollouts"]["mean"],
    )  # fmt: skip


def _csv(rows: Sequence[Row]) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(asdict(rows[0])), lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) for row in rows)
    return text.getvalue().encode()


def _identity(method: str, settings: RunSettings) -> dict[str, Any]:
    """Return what must be the same for a run to be resumed."""
    chosen = {name: value for name, value in asdict(settings).items()
              if name not in ("out", "threads")}  # fmt: skip
    return {"method": method, **chosen}


def _save(
    path: Path, method: str, settings: RunSettings, trainer: Trainer, progress: Progress
) -> None:
    whole = io.BytesIO()
    torch.save(
        {
            "identity": _identity(method, settings), "progress": asdict(progress),
            "trainer": trainer.state(), "torch_rng": torch.get_rng_state(),
        },
        whole,
    )  # fmt: skip
    write_whole(path, whole.getvalue())


def _resume(path: Path, method: str, settings: RunSettings, trainer: Trainer) -> Progress:
    if not path.exists():
        return Progress()
    saved = torch.load(path, weights_only=True)
    mine = _identity(method, settings)
    other = {name for name in mine if saved["identity"].get(name) != mine[name]}
    if other:
        raise ValueError(f"{path.parent} holds a run of other settings ({', '.join(sorted(other))})"
                         ": choose another --out")  # fmt: skip
    trainer.load(saved["trainer"])
    torch.set_rng_state(saved["torch_rng"])
    rows = [Row(**row) for row in saved["progress"]["rows"]]
    return Progress(saved["progress"]["cpu_seconds"], rows)
