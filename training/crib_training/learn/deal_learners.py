"""Shared parts of methods that learn a stochastic policy from deals: settings, networks, memories.

A deal has two seats; one policy plays both and learns from both. A method that learns from the
decisions just played is an `ActorCritic` with its own loss; one that draws batches of older
decisions has a `Memory`. The learning curve is the agent's exploitability, if the game allows it.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, cast

import numpy as np
import torch
from crib_agents.card_net import CardNet
from crib_agents.files import write_whole
from crib_agents.policy_net import PolicyNetAgent, header
from crib_agents.torch_nets import PolicyNet, layers_of, mlp, to_array
from pydantic import Field
from torch import Tensor, nn

from crib_env import settings as types
from crib_env.arrays import Array, Ints
from crib_env.engine.family import find_family
from crib_env.rules import TwoHandRules
from crib_env.settings import checked_dataclass
from crib_training.exploit import exploitability
from crib_training.learn.deal_batch import PLACES, DealBatch, SparseLinear, bits_of
from crib_training.learn.run import Curve, Learner, Measured, RunSettings, State, descend, follow
from crib_training.loading import find_game
from crib_training.outputs import csv_table

MEASURED_POLICY = "policy_{decisions}.safetensors"  # one per measurement
CURVE = "exploitability.csv"
HANDS_SEED = 101  # of the hands of every curve, so that curves compare hand by hand
ILLEGAL = -1e9
BatchSize = Annotated[types.Whole, Field(ge=2, le=1 << 20)]


@checked_dataclass(frozen=True, kw_only=True)
class DealSettings(RunSettings):
    """Settings that these methods share.

    Attributes:
        env: the environment, six_card_v0 or five_card_v0; each episode is one deal.
        decisions: decisions to learn from, of both seats; a decision without a choice does not
            count.
        hidden_sizes: sizes of the hidden layers of each network.
        suits: canonical, or ranks: while pegging the policy does not see its discards, so its
            exploitability is exact.
        num_evals: number of measurements of exploitability, 0 for none; by default 10 in
            five_card_v0, and 0 in six_card_v0, where it is not measured.
        eval_hands: hands per measurement, always the same.
    """

    env: types.EnvName = "five_card_v0"
    decisions: types.Count = 10_000_000
    hidden_sizes: tuple[Annotated[types.Whole, Field(ge=1, le=4096)], ...] = (256, 256)
    suits: Literal["canonical", "ranks"] = "canonical"
    num_evals: types.CountOrNone | None = None
    eval_hands: Annotated[types.Whole, Field(ge=2, le=10_000)] = 40
    save_seconds: Annotated[float, Field(ge=1, le=1e6)] = 300

    def __post_init__(self) -> None:
        if not self.hidden_sizes:
            raise ValueError("hidden_sizes must name a size at least, got ()")
        if self.rules.dealt != 5 and self.num_evals:  # it would query every hand of six cards
            raise ValueError(
                f"num_evals must be 0 in {self.env}, got {self.num_evals}: "
                "exploitability is measured in five_card_v0; leave it out, and use "
                "crib evaluate on the policy"
            )

    @property
    def measurements(self) -> int:
        """The number of measurements of exploitability."""
        if self.num_evals is None:
            return 10 if self.rules.dealt == 5 else 0
        return self.num_evals

    @property
    def rules(self) -> TwoHandRules:
        """The rules of the game."""
        maker, rules = find_game(self.env)
        if maker.phase is not None or not isinstance(rules, TwoHandRules):
            raise ValueError(
                f"{self.method} learns whole deals of two hands: env must be "
                f"six_card_v0 or five_card_v0, got {self.env!r}"
            )
        return rules


@checked_dataclass(frozen=True, kw_only=True)
class GamesSettings(DealSettings):
    """Settings of methods that learn from a `DealBatch`.

    Attributes:
        num_envs: deals side by side.
        features: rows of features, read by a `CardNet`, as in the environments.
    """

    num_envs: types.Count = 256
    features: bool = True


@checked_dataclass(frozen=True, kw_only=True)
class RolloutSettings(GamesSettings):
    """Settings of methods that play some decisions in every game between updates.

    Attributes:
        steps: decisions per game between updates.
    """

    steps: types.Count = 32

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.num_envs * self.steps < 2:
            raise ValueError("num_envs times steps must be 2 or more: one decision has no variance")


@checked_dataclass(frozen=True, kw_only=True)
class ActorCriticSettings(RolloutSettings):
    """Settings of methods that learn a policy with a critic from the decisions they play.

    Attributes:
        batch_size: decisions per step of gradient descent.
        epochs: passes over the decisions.
        learning_rate: learning rate at the start; it falls linearly, as a rule to a tenth.
        max_grad_norm: maximum norm of the gradients.
        ema_rate: step of the average of the weights at each update; the average is evaluated.
        vf_coef: weight of the critic's loss.
    """

    batch_size: types.Count = 1024
    epochs: types.Count = 2
    learning_rate: types.Positive = 4e-3
    max_grad_norm: types.Positive = 0.5
    ema_rate: types.Portion = 0.02
    vf_coef: types.Positive = 0.05


@checked_dataclass(frozen=True, kw_only=True)
class RegretSettings(GamesSettings):
    """Settings of methods that learn regrets.

    Attributes:
        batch_size: decisions per step of gradient descent.
        updates: gradient steps of the regrets and of the average policy per iteration.
        learning_rate: learning rate of all networks; it falls to a tenth.
        reservoir_size: decisions in each of the two reservoirs.
    """

    batch_size: BatchSize = 256
    updates: types.Count = 64
    learning_rate: types.Positive = 1e-3
    reservoir_size: types.Count = 400_000


# --- the curve ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """A measurement."""

    decisions: int  # decisions learned from
    cpu_seconds: float  # CPU time of learning, without measurements
    # exploitability, ci95: a best response's gain in points per deal, and half its interval
    exploitability: float
    ci95: float
    # pone, dealer: the same in one seat
    pone: float
    dealer: float
    # discard, pegging: by that phase alone
    discard: float
    pegging: float


class ExploitabilityCurve(Curve):
    """The gain of a best response in five-card deals; each measurement also writes its policy."""

    file = CURVE

    def __init__(self, settings: DealSettings) -> None:
        self.settings = settings
        self.rows: list[Row] = []

    def due(self, learner: Learner) -> bool:
        """Return whether a measurement is due."""
        done, last = learner.decisions, self.rows[-1].decisions if self.rows else 0
        evals, total = self.settings.measurements, self.settings.decisions
        return done * evals // total > last * evals // total

    def measure(self, learner: Learner) -> list[Measured]:
        """Measure the agent so far."""
        settings, agent = self.settings, learner.agent()
        ranks = settings.suits == "ranks"
        found = exploitability(
            agent,
            env=settings.env,
            hands=settings.eval_hands,
            seed=HANDS_SEED,
            suits="ranks" if ranks else None,
            abstraction=0 if ranks else 1,
        )
        gain = found.gain
        row = Row(
            learner.decisions,
            round(learner.cpu_seconds, 1),
            found.points_per_deal,
            found.ci95,
            gain["pone"]["all"].mean,
            gain["dealer"]["all"].mean,
            gain["both"]["discard"].mean,
            gain["both"]["pegging"].mean,
        )
        agent.save(settings.out / MEASURED_POLICY.format(decisions=row.decisions))
        self.rows.append(row)
        text = (
            f"{row.decisions:>11,} decisions {row.cpu_seconds:8.0f} CPU s  "
            f"exploitability {row.exploitability:.3f} ± {row.ci95:.3f} "
            f"(discard {row.discard:.3f}, pegging {row.pegging:.3f})"
        )
        return [Measured(text, {"exploitability": row.exploitability})]

    def write(self, folder: Path) -> None:
        """Write the table, if anything was measured."""
        if self.rows:
            write_whole(folder / CURVE, csv_table(Row, self.rows))

    def state(self) -> list[dict[str, Any]]:
        """Return the measurements, ready for JSON."""
        return [asdict(row) for row in self.rows]

    def restore(self, state: list[dict[str, Any]]) -> None:
        """Restore what `state` returned."""
        self.rows = [Row(**row) for row in state]


# --- the network that acts ------------------------------------------------------------------------


class Policy(PolicyNet):
    """A network that returns the logits of actions, `ILLEGAL` for illegal ones.

    With features it is a `crib_agents.card_net.CardNet`, else an MLP over the bits.
    """

    def __init__(self, games: DealBatch, hidden_sizes: tuple[int, ...]) -> None:
        super().__init__(games.layout, hidden_sizes)
        self.bits = games.bits
        with torch.no_grad():  # the first policy is nearly uniform
            if isinstance(self.net, CardNet):
                self.net.sure.weight.zero_()
                self.net.scale.zero_()
            else:
                _, *others = self.net.children()
                first = SparseLinear(games.bits, 1, 0, hidden_sizes[0])
                self.net = nn.Sequential(first, *others)
                others[-1].weight.mul_(0.01)  # type: ignore[operator]

    def forward(self, observations: Tensor, masks: Tensor | None = None) -> Tensor:
        """Return logits, float32[B, actions], from float32[B, size] and bool[B, actions]."""
        assert masks is not None
        if isinstance(self.net, CardNet):
            observations = bits_of(observations, self.bits)
        legal: Tensor = super().forward(observations).masked_fill(~masks, ILLEGAL)
        if not legal.isfinite().all():
            raise FloatingPointError("logits are not finite")
        return legal

    def agent(self, name: str, settings: GamesSettings) -> PolicyNetAgent:
        """Return a NumPy agent that samples from this policy."""
        rules = settings.rules
        about = header(
            settings.env, rules, find_family(rules.family), settings.features, suits=settings.suits, sample=True
        )
        if isinstance(self.net, CardNet):
            return self.as_agent(about, name)
        first, *others = self.net.children()
        weight, bias = cast(SparseLinear, first).dense()
        layers = [(to_array(weight), to_array(bias)), *layers_of(nn.Sequential(*others))]
        return PolicyNetAgent(layers, about, name=name)


class GamesLearner(Learner):
    """A method that learns from a `DealBatch`, and perhaps from memories of its decisions.

    Attributes:
        games: the deals that it plays.
        memories: memories of older decisions, by name; a checkpoint holds them.
    """

    average: Policy  # the stochastic policy learned so far

    def __init__(self, settings: GamesSettings) -> None:
        super().__init__(settings)
        self.curve = ExploitabilityCurve(settings)
        self.games = DealBatch(settings.rules, settings.num_envs, settings.seed, settings.features, settings.suits)
        self.memories: dict[str, Memory] = {}

    def agent(self) -> PolicyNetAgent:
        """Return the stochastic policy learned so far, as an agent that samples."""
        return self.average.agent(self.settings.method, self.settings)

    def state(self) -> dict[str, Array]:
        """Return deals and memories."""
        state = {"games": self.games.state()}
        for name, memory in self.memories.items():
            state |= memory.state(name)
        return state

    def restore(self, state: State) -> None:
        """Restore what `state` returned."""
        self.games.set_state(state["games"])
        for name, memory in self.memories.items():
            memory.restore(name, state)


# --- methods that learn from the decisions just played --------------------------------------------


class Rollout(NamedTuple):
    """T successive decisions in each of N games, of both seats.

    The decisions of a game are one timeline of both seats, so a seat may act twice in succession.
    ``gains`` and values are points of seat 0 less seat 1's; ``sign`` converts them to the mover's.
    """

    observations: Tensor  # float32[T, N, size]
    masks: Tensor  # bool[T, N, actions]
    both: Tensor  # float32[T, N, S], the input of a critic that sees both hands
    actions: Tensor  # int64[T, N]
    log_probabilities: Tensor  # float32[T, N, actions], of the policy that acted
    gains: Tensor  # float32[T, N], points between the decision and the next
    ended: Tensor  # float32[T, N], 1 where the deal ended between them
    sign: Tensor  # float32[T + 1, N], 1 where seat 0 moves, -1 where seat 1 does
    last: Tensor  # float32[N, S], the critic's input after the last row


def both_seats(games: DealBatch) -> Tensor:
    """Return the critic's input: the mover's places, the other seat's, a summary of features."""
    observations = torch.from_numpy(games.observations)
    parts = [observations[:, :PLACES], torch.from_numpy(games.others)]
    if games.size > PLACES:
        at, shape = PLACES + games.layout["rows"].start - games.bits, games.layout.rows
        rows = observations[:, at:].view(-1, *shape)[:, :, 1:]
        parts += [observations[:, PLACES:at], rows.amax(1), rows.amin(1)]
    return torch.cat(parts, 1)


def make_critic(games: DealBatch, hidden_sizes: tuple[int, ...], outputs: int) -> nn.Sequential:
    """Return a network that takes `both_seats`."""
    numbers = both_seats(games).shape[1] - 2 * PLACES
    first = SparseLinear(games.bits, 2, numbers, hidden_sizes[0])
    return nn.Sequential(first, nn.ReLU(), mlp(*hidden_sizes, outputs))


@torch.no_grad()
def collect(games: DealBatch, policy: Policy, steps: int, rng: np.random.Generator) -> Rollout:
    """Play both seats with samples of a policy, for ``steps`` decisions in every game."""
    rows: list[tuple[Tensor, ...]] = []
    for _ in range(steps):
        observations = torch.from_numpy(games.observations)
        masks = torch.from_numpy(games.masks)
        both, sign = both_seats(games), 1.0 - 2.0 * torch.from_numpy(games.movers).float()
        logits = policy(observations, masks)
        log_probabilities = logits.log_softmax(1)
        actions = draw_actions(logits.softmax(1), rng)  # log_probabilities.exp() is slow at -1e9
        gains, ended = games.step(actions)
        rows.append((observations, masks, both, torch.from_numpy(actions), log_probabilities,
                     torch.from_numpy(gains), torch.from_numpy(ended).float(), sign))  # fmt: skip
    columns = [torch.stack(column) for column in zip(*rows, strict=True)]
    last_sign = 1.0 - 2.0 * torch.from_numpy(games.movers).float()
    columns[-1] = torch.cat([columns[-1], last_sign[None]])
    return Rollout._make([*columns, both_seats(games)])


def gae(rollout: Rollout, values: Tensor, lam: float) -> Tensor:
    """Return generalised advantages for seat 0, float32[T, N], from values float32[T + 1, N]."""
    advantages = torch.zeros_like(rollout.gains)
    trace = torch.zeros_like(rollout.gains[0])
    for t in reversed(range(len(advantages))):
        goes_on = 1 - rollout.ended[t]
        delta = rollout.gains[t] + goes_on * values[t + 1] - values[t]
        trace = delta + lam * goes_on * trace
        advantages[t] = trace
    return advantages


def flatten(*tensors: Tensor) -> list[Tensor]:
    """Return tensors [T, N, ...] as [T * N, ...]."""
    return [one.flatten(0, 1) for one in tensors]


def normalised(advantages: Tensor, targets: Tensor, played: Rollout) -> tuple[Tensor, Tensor]:
    """Return advantages and targets for seat 0 as those of the movers, advantages of variance 1."""
    sign = played.sign[:-1]
    advantages = advantages * sign
    return advantages / (advantages.std() + 1e-8), targets * sign


class ActorCritic(GamesLearner):
    """A method that plays some decisions, learns from them, and repeats.

    It has a policy, its average, a critic that sees both hands, and one optimizer for policy and
    critic. A method defines `columns`, its training data, and `loss`.
    """

    def __init__(self, settings: ActorCriticSettings) -> None:
        super().__init__(settings)
        sizes = settings.hidden_sizes
        self.policy = Policy(self.games, sizes)
        self.average = copy.deepcopy(self.policy)
        self.critic = make_critic(self.games, sizes, self.critic_outputs)
        weights = [*self.policy.parameters(), *self.critic.parameters()]
        self.adam = torch.optim.Adam(weights, settings.learning_rate, eps=1e-5, fused=True)
        self.modules = {"policy": self.policy, "average": self.average, "critic": self.critic, "adam": self.adam}

    @property
    def critic_outputs(self) -> int:
        """Outputs of the critic."""
        return 1

    def iterate(self) -> dict[str, float]:
        """Play, then learn from the decisions."""
        settings = self.settings
        self.adam.param_groups[0]["lr"] = settings.learning_rate * self.annealed(1.0, 0.1)
        columns = self.columns(collect(self.games, self.policy, settings.steps, self.rng))
        for _ in range(settings.epochs):
            order = torch.from_numpy(self.rng.permutation(len(columns[0])))
            for rows in torch.split(order, settings.batch_size):
                loss, figures = self.loss(*(column[rows] for column in columns))
                descend(self.adam, loss, settings.max_grad_norm)
                follow(self.average, self.policy, settings.ema_rate)
        self.decisions += len(order)
        return {"loss": loss.item(), **{name: one.item() for name, one in figures.items()}}

    @abstractmethod
    def columns(self, played: Rollout) -> Sequence[Tensor]:
        """Return the training data: tensors with a row for each decision played."""

    @abstractmethod
    def loss(self, *rows: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the loss over some rows, and other figures."""

    @torch.no_grad()
    def state_values(self, played: Rollout) -> Tensor:
        """Return the critic's values for seat 0, float32[T + 1, N]."""
        values: Tensor = self.critic(torch.cat([played.both, played.last[None]]))[:, :, 0] * played.sign
        return values

    def advantages(self, played: Rollout) -> tuple[Tensor, Tensor]:
        """Return the movers' advantages, of variance 1, and the critic's targets, float32[T, N]."""
        values = self.state_values(played)
        advantages = gae(played, values, self.settings.gae_lambda)
        return normalised(advantages, advantages + values[:-1], played)


# --- methods with a memory ------------------------------------------------------------------------


class Memory:
    """A buffer of rows from which to draw batches; the first `add` allocates its arrays.

    It holds the newest rows, or as a reservoir a uniform sample of all (Vitter's algorithm R).
    """

    def __init__(self, size: int, reservoir: bool, chance: np.random.Generator) -> None:
        self.size, self.reservoir, self.chance = size, reservoir, chance
        self.columns: dict[str, Array] = {}
        self.added = 0

    def __len__(self) -> int:
        """Return the number of rows held."""
        return min(self.added, self.size)

    def add(self, **columns: Tensor) -> None:
        """Add rows; floats are stored in 16 bits."""
        arrays = {name: _compact(column.numpy()) for name, column in columns.items()}
        count = len(next(iter(arrays.values())))
        if not count:
            return
        if not self.columns:
            self.columns = {
                name: np.zeros((self.size, *array.shape[1:]), array.dtype) for name, array in arrays.items()
            }
        order = self.added + np.arange(count)
        places = order % self.size
        if self.reservoir:
            drawn = self.chance.integers(0, order + 1)
            places = np.where(order < self.size, order, drawn)
        taken = places < self.size
        for name, array in arrays.items():
            self.columns[name][places[taken]] = array[taken]
        self.added += count

    def draw(self, count: int) -> dict[str, Tensor]:
        """Return ``count`` rows drawn with replacement, floats in 32 bits."""
        rows = self.chance.integers(0, len(self), count)
        drawn = {name: torch.from_numpy(array[rows]) for name, array in self.columns.items()}
        return {name: one.float() if one.is_floating_point() else one for name, one in drawn.items()}

    def state(self, name: str) -> dict[str, Array]:
        """Return the rows held and the number of rows added, for a checkpoint."""
        held = {f"{name}.{key}": array[: len(self)] for key, array in self.columns.items()}
        return held | {f"{name}.added": np.array([self.added])}

    def restore(self, name: str, state: Mapping[str, Array]) -> None:
        """Restore what `state` returned."""
        rows = {key.removeprefix(f"{name}."): array for key, array in state.items() if key.startswith(f"{name}.")}
        added = int(rows.pop("added")[0])
        if any(len(array) != min(added, self.size) for array in rows.values()):
            raise ValueError(f"{name} is of another size than {self.size:,}")
        self.added = added
        self.columns = {}
        for key, array in rows.items():
            self.columns[key] = np.zeros((self.size, *array.shape[1:]), array.dtype)
            self.columns[key][: len(array)] = array


def _compact(array: Array) -> Array:
    smaller = {"float32": np.float16, "bool": np.uint8}.get(str(array.dtype))
    return array if smaller is None else array.astype(smaller)


class RegretLearner(GamesLearner):
    """A method that learns regrets, and the average of the policies that match them.

    One network learns the mean regret of each action over all iterations, another the average
    policy; later iterations count more (linear CFR).
    """

    def __init__(self, settings: RegretSettings) -> None:
        super().__init__(settings)
        self.regrets = Policy(self.games, settings.hidden_sizes)
        self.average = Policy(self.games, settings.hidden_sizes)
        self.adams: dict[str, torch.optim.Optimizer] = {}
        self.modules = {}
        self.add_network("regrets", self.regrets)
        self.add_network("average", self.average)
        self.of_regrets, self.of_policy = (Memory(settings.reservoir_size, True, self.rng) for _ in range(2))
        self.memories = {"regrets": self.of_regrets, "policy": self.of_policy}

    def add_network(self, name: str, network: nn.Module) -> None:
        """Train a network with its own optimizer."""
        self.adams[name] = torch.optim.Adam(network.parameters(), eps=1e-5, fused=True)
        self.modules |= {name: network, f"adam_{name}": self.adams[name]}

    def set_rate(self) -> None:
        """Set the learning rate of all networks; it falls to a tenth."""
        for adam in self.adams.values():
            adam.param_groups[0]["lr"] = self.settings.learning_rate * self.annealed(1.0, 0.1)

    def learn_both(self) -> dict[str, float]:
        """Train both networks on batches from their memories; return the losses."""
        loss = imitation = 0.0
        both = len(self.of_regrets) and len(self.of_policy)  # else a seat has not moved yet
        for _ in range(self.settings.updates if both else 0):
            rows = self.of_regrets.draw(self.settings.batch_size)
            masks = rows["masks"].bool()
            errors = (self.regrets(rows["seen"], masks) - rows["regrets"]).square() * masks
            loss = descend(self.adams["regrets"], _weighted(errors.sum(1), rows["weight"])).item()
            rows = self.of_policy.draw(self.settings.batch_size)
            log_p = self.average(rows["seen"], rows["masks"].bool()).log_softmax(1)
            errors = -(rows["policy"] * log_p).sum(1)
            imitation = descend(self.adams["average"], _weighted(errors, rows["weight"])).item()
        return {"loss": loss, "imitation_loss": imitation}


def _weighted(losses: Tensor, weight: Tensor) -> Tensor:
    """Return the mean of losses, weighted by their iterations, float32[]."""
    return losses @ (weight / weight.sum())


def draw_actions(probabilities: Tensor, rng: np.random.Generator) -> Ints:
    """Draw an action from each row of probabilities, [B, actions]; return int64[B]."""
    ladder = probabilities.double().numpy().cumsum(1)
    actions: Ints = (ladder > rng.random((len(ladder), 1)) * ladder[:, -1:]).argmax(1)
    return actions


def match_regrets(regrets: Tensor, masks: Tensor) -> Tensor:
    """Return the policy in proportion to positive regrets, float32[B, actions].

    If none is positive, the policy takes the action of the highest regret. Shapes: regrets
    float32[B, actions]; masks bool[B, actions].
    """
    positive = regrets.clamp(min=0) * masks
    total = positive.sum(1, keepdim=True)
    best = torch.zeros_like(regrets).scatter(1, regrets.argmax(1, keepdim=True), 1.0)
    return torch.where(total > 1e-9, positive / total.clamp(min=1e-9), best)
