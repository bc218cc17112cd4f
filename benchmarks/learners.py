"""Learning: MaskablePPO with our games, and time to strength."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from crib_training.learn.curve import Point, read_points
from crib_training.learn.deal_batch import SparseLinear, bits_of, places_of
from crib_training.methods import METHODS, deep_monte_carlo, ppo
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import VecEnv, VecEnvWrapper

from benchmarks.agents import training
from benchmarks.timing import FULL, Findings, Piece, Row, Settings, race, ratio
from crib_env import six_card_v0

OPPONENTS = ("random", "rule_based")
HALF = 0.5  # of the games
OF_DEALS = ("selfplay_ppo", "mmd", "vrpo", "r_nad", "nfsp", "escher", "deep_cfr")
BITS, ONES, WIDTH = 425, 24, 256  # of an observation of five_card_v0, and a hidden layer


class FreeEnv(VecEnvWrapper):
    """Does no work: returns the first observation and mask of an environment at every step."""

    def reset(self) -> Any:
        """Return the observations."""
        self.first = self.venv.reset()
        return self.first

    def step_async(self, actions: Any) -> None:
        """Do nothing."""

    def step_wait(self) -> Any:
        """Return the first observations and rewards of 0; no episode ends."""
        zeros = np.zeros(self.num_envs, dtype=np.float32)
        return self.first, zeros, zeros.astype(np.bool_), [{}] * self.num_envs


def learning(model: MaskablePPO) -> Piece:
    """Return a piece of work: a whole update, in decisions of the learner."""
    decisions = model.n_envs * model.n_steps

    def piece() -> int:
        model.learn(decisions, reset_num_timesteps=False)
        return decisions

    return piece


def measure_sb3(settings: Settings = FULL) -> Findings:
    """What share of its own ceiling does MaskablePPO reach with our ``VecEnv``?

    The ceiling is the same algorithm with an environment that costs nothing: it returns the same
    arrays at every step, with the same shapes. 512 games, 32 steps between updates, two hidden
    layers of 256, four passes in batches of 2048; PyTorch on one thread.
    """
    lanes, steps = (16, 4) if settings.quick else (512, 32)
    torch.set_num_threads(1)
    games: dict[str, VecEnv] = {f"free environment, {lanes} games": FreeEnv(six_card_v0.sb3_env(lanes))}
    for opponent in OPPONENTS:
        games[f"six_card against {opponent}, {lanes} games"] = six_card_v0.sb3_env(
            lanes, opponent=opponent, episode="deal", reward="points"
        )
    pieces = {
        name: learning(
            MaskablePPO(
                "MlpPolicy",
                venv,
                n_steps=steps,
                batch_size=2048,
                n_epochs=4,
                seed=1,
                device="cpu",
                policy_kwargs={"net_arch": [256, 256], "activation_fn": torch.nn.ReLU},
            )
        )
        for name, venv in games.items()
    }
    free, *ours = rows = race(pieces, "decisions/s", settings).values()
    ratios = [ratio(f"{row.name} / {free.name}", row, free) for row in ours]
    return Findings("MaskablePPO end to end", rows, ratios)


def train_both(deals: int, timesteps: int, pairs: int) -> dict[str, list[Point]]:
    """Return the curves of both methods, trained from scratch, with twelve measurements each."""
    measured: dict[str, Any] = {"num_evals": 12, "eval_pairs": pairs, "final_eval_pairs": 2 * pairs, "baselines": ""}
    with TemporaryDirectory() as folder:
        deep, sb3 = Path(folder, "deep"), Path(folder, "ppo")
        deep_monte_carlo.train(deep_monte_carlo.Settings(deals=deals, out=deep, **measured))
        ppo.train(ppo.Settings(timesteps=timesteps, out=sb3, **measured))
        return {"deep Monte Carlo": read_points(deep), "MaskablePPO": read_points(sb3)}


def measure_learning(settings: Settings = FULL) -> Findings:
    """How long until a new network wins half its games against `rule_based`, with us and with SB3?

    Deep Monte Carlo (`crib train`) and sb3-contrib's MaskablePPO (`crib train ppo`) run on
    one thread, with their defaults except for the number of deals or decisions. First come the
    rates, in turn: the decisions per second that each plays and learns from. Then each trains from
    scratch and is measured on duplicate games as it learns. The result is the CPU seconds of
    playing and learning, without measurements, until it wins half of the games, and its strength at
    the end.
    """
    lanes, steps = (16, 4) if settings.quick else (None, None)
    of_ppo = ppo.Settings(num_envs=lanes, steps=steps, progress=False)
    model = ppo.model_of(of_ppo, ppo.games_of(of_ppo))
    model.tensorboard_log = None
    pieces = {
        "deep Monte Carlo plays and learns": training("six_card_v0", None),
        "MaskablePPO plays and learns": learning(model),
    }
    rows = list(race(pieces, "decisions/s", settings).values())
    times = ratio("deep Monte Carlo / MaskablePPO, decisions", *rows)
    notes = []
    sizes = (200, 64, 4) if settings.quick else (350_000, 1_200_000, 1000)
    for name, points in train_both(*sizes).items():
        last, there = points[-1], [point for point in points if point.won >= HALF]
        if there:
            values = (there[0].cpu_seconds,)
            rows.append(Row(f"{name}, from nothing to half the games", "s", values))
        notes.append(
            f"{name}: {100 * last.won:.1f} ± {100 * last.won_interval:.1f} % of games against "
            f"{last.opponent} after {last.decisions:,} decisions, {last.cpu_seconds:.0f} CPU s"
            + ("" if there else "; half the games it never won")
        )
    return Findings("Time to strength, six-card, seed 1", rows, [times], notes)


def iterating(learner: Any) -> Piece:
    """Return a piece of work: a batch of decisions, played and learned from."""

    def piece() -> int:
        before = learner.decisions
        learner.iterate()
        return int(learner.decisions - before)

    return piece


def first_layers(rows: int) -> dict[str, Piece]:
    """Return forward and backward passes of a first layer: a product with bits, a sum of rows."""
    rng = np.random.default_rng(1)
    bits = (rng.random((rows, BITS)) < ONES / BITS).astype(np.uint8)
    places = torch.from_numpy(places_of(bits))
    seen = bits_of(places, BITS)

    def passing(layer: torch.nn.Module, given: torch.Tensor) -> Piece:
        def piece() -> int:
            layer.zero_grad()
            layer(given).sum().backward()
            return rows

        return piece

    return {
        "first layer, product with bits": passing(torch.nn.Linear(BITS, WIDTH), seen),
        "first layer, sum of rows": passing(SparseLinear(BITS, 1, 0, WIDTH), places),
    }


def measure_baselines(settings: Settings = FULL) -> Findings:
    """How many decisions per second do the methods of the benchmark's raw track learn from?

    Each plays and learns on one thread with its defaults; NFSP with 64 updates. Beside them a first
    layer alone, forward and backward: the sum of the rows of set bits, and the product with bits.
    """
    torch.set_num_threads(1)
    small = {"num_envs": 16, "hidden_sizes": (16, 16)} if settings.quick else {}
    pieces = first_layers(64 if settings.quick else 1024)
    for name in OF_DEALS:
        module = import_module(METHODS[name])
        more = {"updates": 2 if settings.quick else 64} if name == "nfsp" else {}
        pieces[name] = iterating(
            module.Learner(module.Settings(num_evals=0, features=False, suits="ranks", progress=False, **small, **more))
        )
    product, rows, *methods = race(pieces, "decisions/s", settings).values()
    ratios = [ratio("first layer, sum of rows / product with bits", rows, product)]
    return Findings("Methods of the benchmark", [product, rows, *methods], ratios)
