"""How long from nothing to half the games against `rule_based`, by our trainer and by SB3?

Deep Monte Carlo (`crib train`) and sb3-contrib's MaskablePPO (`crib train --method ppo`) run on one
thread, with their defaults except for the number of deals or decisions. First come the rates, in
turn: the decisions per second that each plays and learns from. Then each trains from nothing and is
measured on duplicate games as it learns. The result is the CPU seconds of playing and learning,
without measurements, until it wins half of the games, and its strength at the end.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from crib_training.learn.curve import Point, read_points
from crib_training.learn.deep_monte_carlo import loop
from crib_training.learn.deep_monte_carlo.settings import Settings as RunSettings
from crib_training.methods import ppo

from benchmarks.learned import training
from benchmarks.timing import (
    FULL,
    Contender,
    Findings,
    Rate,
    Row,
    Settings,
    race,
    rate_of,
    ratio,
)  # fmt: skip

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
        loop.train(
            RunSettings(
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


def measure(settings: Settings = FULL) -> Findings:
    """Measure rates, then both runs."""
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
