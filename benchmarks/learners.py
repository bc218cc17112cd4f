"""Learning: MaskablePPO with our games, and time to strength."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from crib_training.learn.curve import Point, read_points
from crib_training.methods import deep_monte_carlo, ppo
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env.base_vec_env import VecEnv

from benchmarks.agents import training
from benchmarks.environments import in_python
from benchmarks.timing import FULL, Contender, Findings, Rate, Row, Settings, race, rate_of, ratio
from crib_env import six_card_v0

STEPS = 32
SB3_OPPONENTS = ("random", "rule_based")


class FreeEnv(VecEnv):
    """An environment of the same shapes as ``like`` that does no work.

    It returns the first observation and mask of ``like`` for ever; no episode ends.
    """

    render_mode = None

    def __init__(self, like: Any) -> None:
        super().__init__(like.num_envs, like.observation_space, like.action_space)
        self._obs: npt.NDArray[Any] = like.reset()
        self._masks = like.action_masks()
        self._rewards = np.zeros(self.num_envs, dtype=np.float32)
        self._dones = np.zeros(self.num_envs, dtype=np.bool_)
        self._infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]

    def reset(self) -> npt.NDArray[Any]:
        """Return the observations."""
        return self._obs

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        """Do nothing."""

    def step_wait(self) -> tuple[Any, Any, Any, list[dict[str, Any]]]:
        """Return the same as ever."""
        return self._obs, self._rewards, self._dones, self._infos

    def close(self) -> None:
        """Do nothing."""

    def has_attr(self, attr_name: str) -> bool:
        """Return whether it is the one method there is."""
        return attr_name == "action_masks"

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute once for each game."""
        return [getattr(self, attr_name)] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refuse."""
        raise NotImplementedError

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> Any:
        """Return the masks, bool[N, actions]."""
        return self._masks

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Return that none is."""
        return [False] * self.num_envs

    def get_images(self) -> Sequence[Any]:
        """Return no images."""
        return [None] * self.num_envs


def learning(venv: VecEnv, steps: int) -> Rate:
    """Return the rate of learning in ``venv``, in decisions of the learner: whole updates."""
    model = MaskablePPO(
        "MlpPolicy",
        venv,
        n_steps=steps,
        batch_size=2048,
        n_epochs=4,
        policy_kwargs={"net_arch": [256, 256], "activation_fn": torch.nn.ReLU},
        seed=1,
        device="cpu",
    )

    def piece() -> int:
        model.learn(venv.num_envs * steps, reset_num_timesteps=False)
        return venv.num_envs * steps

    return rate_of(piece)


def measure_sb3(settings: Settings = FULL) -> Findings:
    """What share of its own ceiling does MaskablePPO reach with our ``VecEnv``?

    The ceiling is the same algorithm with an environment that costs nothing: it returns the same
    arrays at every step, with the same shapes. 512 games, 32 steps between updates, two hidden
    layers of 256, four passes in batches of 2048; PyTorch on one thread.
    """
    lanes, steps = (16, 4) if settings.quick else (512, STEPS)
    torch.set_num_threads(1)
    free = FreeEnv(six_card_v0.sb3_env(lanes))
    contenders = [Contender(f"free environment, {lanes} games", learning(free, steps))]
    for opponent in SB3_OPPONENTS:
        venv = six_card_v0.sb3_env(lanes, opponent=opponent, episode="deal", reward="points")
        contenders.append(
            Contender(f"six_card against {opponent}, {lanes} games", learning(venv, steps))
        )
    rows = race(contenders, "decisions/s", settings)
    ratios = [ratio(f"{row.name} / {rows[0].name}", row, rows[0]) for row in rows[1:]]
    return Findings("MaskablePPO end to end", rows, ratios, in_python(SB3_OPPONENTS))


HALF = 0.5
MEASURES = 12  # in a run
PAIRS = 1000  # of duplicate deals at each, and half as many of games


def of_ppo(lanes: int, steps: int) -> Rate:
    """Return the rate at which MaskablePPO plays and learns, in whole updates."""
    settings = ppo.Settings(num_envs=lanes, steps=steps, progress=False)
    model = ppo.model_of(settings, ppo.games_of(settings))
    model.tensorboard_log = None

    def piece() -> int:
        model.learn(lanes * steps, reset_num_timesteps=False)
        return lanes * steps

    return rate_of(piece)


def run_both(deals: int, timesteps: int, pairs: int) -> dict[str, list[Point]]:
    """Return what was measured while each learned from nothing."""
    with TemporaryDirectory() as folder:
        outs = {"deep Monte Carlo": Path(folder, "deep"), "MaskablePPO": Path(folder, "ppo")}
        first, second = outs.values()
        deep_monte_carlo.train(
            deep_monte_carlo.Settings(
                deals=deals, num_evals=MEASURES, eval_pairs=pairs, final_eval_pairs=2 * pairs,
                baselines="", out=first,
            )
        )  # fmt: skip
        ppo.train(
            ppo.Settings(
                timesteps=timesteps, num_evals=MEASURES, eval_pairs=pairs,
                final_eval_pairs=2 * pairs, baselines="", out=second,
            )
        )  # fmt: skip
        return {name: read_points(out) for name, out in outs.items()}


def reached(name: str, points: list[Point]) -> tuple[list[Row], str]:
    """Return the CPU seconds after which half the games were won, if they were, and in words."""
    last = points[-1]
    end = (
        f"{name}: {100 * last.won:.1f} ± {100 * last.won_interval:.1f} % of games against "
        f"{last.opponent} after {last.decisions:,} decisions, {last.cpu_seconds:.0f} CPU s"
    )
    there = [point for point in points if point.won >= HALF]
    if not there:
        return [], f"{end}; half the games it never won"
    first = there[0].cpu_seconds
    return [Row(f"{name}, from nothing to half the games", "s", (first,))], end


def measure_learning(settings: Settings = FULL) -> Findings:
    """How long from nothing to half the games against `rule_based`, by our trainer and by SB3?

    Deep Monte Carlo (`crib train`) and sb3-contrib's MaskablePPO (`crib train --method ppo`) run on
    one thread, with their defaults except for the number of deals or decisions. First come the
    rates, in turn: the decisions per second that each plays and learns from. Then each trains from
    nothing and is measured on duplicate games as it learns. The result is the CPU seconds of
    playing and learning, without measurements, until it wins half of the games, and its strength at
    the end.
    """
    lanes, steps = (16, 4) if settings.quick else (512, 24)
    contenders = [
        Contender("deep Monte Carlo plays and learns", training("six_card_v0", None)),
        Contender("MaskablePPO plays and learns", of_ppo(lanes, steps)),
    ]
    rows = race(contenders, "decisions/s", settings)
    times = ratio("deep Monte Carlo / MaskablePPO, decisions", rows[0], rows[1])
    sizes = (200, 64, 4) if settings.quick else (350_000, 1_200_000, PAIRS)
    notes = []
    for name, points in run_both(*sizes).items():
        found, words = reached(name, points)
        rows += found
        notes.append(words)
    return Findings("Time to strength, six-card, seed 1", rows, [times], notes)
