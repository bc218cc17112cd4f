"""From how many decisions per CPU second do the baselines, and SB3's MaskablePPO, learn?

The five-card deal with canonical suits and features, two hidden layers of 256 units in policy and
critic, 256 deals side by side, 32 decisions in each between updates, PyTorch on one thread. The
baselines use their default settings and learn from both seats. MaskablePPO learns from one seat
against `random`, the cheapest opponent: once with its defaults (ten epochs of batches of 64) and
once with those of `selfplay_ppo` (two of 1,024).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import torch
from crib_training.learn.train import METHODS
from sb3_contrib import MaskablePPO

from benchmarks.timing import FULL, Contender, Findings, Rate, Settings, race, ratio
from crib_env import five_card_v0

LEARNERS = {"selfplay_ppo": "PPO", "mmd": "MMD"}
WIDTH = (256, 256)
AS_OURS = {"batch_size": 1024, "n_epochs": 2}


def cpu_rate_of(piece: Callable[[], int]) -> Rate:
    """Return the rate of a piece of work in CPU seconds; see `benchmarks.timing.rate_of`."""

    def rate(seconds: float) -> float:
        done, began = 0, time.process_time()
        while True:
            done += piece()
            spent = time.process_time() - began
            if spent >= seconds:
                return done / spent

    return rate


def baseline(method: str, lanes: int, steps: int) -> Rate:
    """Return the rate of a baseline, in decisions of both seats: whole updates."""
    module = import_module(METHODS[method])
    settings = module.Settings(
        num_envs=lanes, steps=steps, hidden_sizes=WIDTH, num_evals=0, progress=False
    )
    learner = getattr(module, LEARNERS[method])(settings)

    def piece() -> int:
        learner.iterate()
        learner.decisions = 0  # rates and weights stay those of the beginning
        return lanes * steps

    return cpu_rate_of(piece)


def maskable_ppo(lanes: int, steps: int, **settings: Any) -> Rate:
    """Return the rate of MaskablePPO, in decisions of the learner: whole updates."""
    venv = five_card_v0.sb3_env(
        lanes, opponent="random", episode="deal", reward="expected", suits="canonical",
        features="lookahead",
    )  # fmt: skip
    net = {"pi": list(WIDTH), "vf": list(WIDTH)}
    model = MaskablePPO(
        "MlpPolicy", venv, n_steps=steps, seed=1, device="cpu",
        policy_kwargs={"net_arch": net, "activation_fn": torch.nn.ReLU}, **settings,
    )  # fmt: skip

    def piece() -> int:
        model.learn(lanes * steps, reset_num_timesteps=False)
        return lanes * steps

    return cpu_rate_of(piece)


def measure(settings: Settings = FULL) -> Findings:
    """Measure all, in turn."""
    lanes, steps = (16, 8) if settings.quick else (256, 32)
    torch.set_num_threads(1)
    contenders = [
        *(Contender(f"{method}, by itself", baseline(method, lanes, steps)) for method in LEARNERS),
        Contender("MaskablePPO, its defaults", maskable_ppo(lanes, steps), peer=True),
        Contender("MaskablePPO, batches and epochs as selfplay_ppo",
                  maskable_ppo(lanes, steps, **AS_OURS), peer=True),
    ]  # fmt: skip
    rows = race(contenders, "decisions/s", settings)
    ratios = [
        ratio(f"{ours.name} / {theirs.name}", ours, theirs)
        for ours in rows[: len(LEARNERS)]
        for theirs in rows[len(LEARNERS) :]
    ]
    notes = ["Seconds are CPU seconds. MaskablePPO's decisions include those without a choice."]
    return Findings(
        "Learning from self-play: the baselines beside MaskablePPO", rows, ratios, notes
    )
