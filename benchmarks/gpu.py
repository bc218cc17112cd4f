"""How many decisions per second does the GPU batch make in random play, beside the CPU?

Random play as in `benchmarks.batch`, an observation and a mask at every decision, N from 1,024 to
1,048,576 games: ``rollout`` plays many decisions a launch, ``step`` is one launch to draw the
actions and one to step. The CPU's figure is on all its cores. Needs a CUDA device and the extra
``cuda``; without them nothing is measured, and it says so.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING

from benchmarks.batch import Lanes
from benchmarks.timing import FULL, Contender, Findings, Row, Settings, race, rate_of, ratio
from crib_env.rules import PRESETS

if TYPE_CHECKING:
    from crib_env.engine.cuda import CudaBatch

SIZES = (1 << 10, 1 << 14, 1 << 17, 1 << 20)
GAMES = (("hoyle", 2), ("five_card", 2), ("table_top", 2), ("table_top", 4))
CPU_LANES = 4096
A_PIECE = 1 << 24  # decisions between two looks at the clock, at most


def why_not() -> str:
    """Return why nothing can be measured here, or nothing."""
    if find_spec("numba_cuda") is None:
        return "for lack of numba-cuda: pip install 'crib-env[cuda]'"
    from numba import cuda

    return "" if cuda.is_available() else "for lack of a CUDA device on this machine"


def device_name() -> str:
    """Return the card's name."""
    from numba import cuda

    if cuda.config.ENABLE_CUDASIM:
        return "numba-cuda's simulator, whose figures mean nothing"
    name = cuda.get_current_device().name
    return name.decode() if isinstance(name, bytes) else str(name)


def rollout(batch: CudaBatch, steps: int) -> Callable[[], int]:
    """Return a piece of work: many random decisions in one launch."""
    from numba import cuda

    def piece() -> int:
        done = batch.rollout(steps)
        cuda.synchronize()
        return done

    return piece


def stepping(batch: CudaBatch, steps: int) -> Callable[[], int]:
    """Return a piece of work: draws and steps, two launches a decision of all games."""
    from numba import cuda

    def piece() -> int:
        for _ in range(steps):
            batch.step(batch.sample())
        cuda.synchronize()
        return steps * batch.num_envs

    return piece


def measure_gpu(settings: Settings = FULL) -> Findings:
    """Measure every game at every N, and the CPU beside each."""
    title = "GPU batch, random play"
    if why := why_not():
        return Findings(title, [], notes=[f"GPU: unmeasured, {why}."])
    from crib_env.engine.cuda import CudaBatch

    threads = os.cpu_count() or 1
    sizes, cpu_lanes = (SIZES, CPU_LANES) if not settings.quick else ((2,), 64)
    rows: list[Row] = []
    ratios: list[Row] = []
    for rules, players in GAMES[:1] if settings.quick else GAMES:
        preset = PRESETS[rules]
        game = f"{rules} for {players}"
        for n in sizes:  # one size at a time: the largest takes gigabytes
            batch = CudaBatch(preset, n, players=players, seed=1)
            steps = 2 if settings.quick else min(256, A_PIECE // n)
            cpu = Lanes(rules, cpu_lanes, threads=threads, players=players)
            contenders = [
                Contender(f"{game}, GPU rollout, N={n:,}", rate_of(rollout(batch, steps))),
                Contender(f"{game}, GPU step, N={n:,}", rate_of(stepping(batch, steps))),
                Contender(f"{game}, CPU, {threads} threads (beside N={n:,})", rate_of(cpu.play)),
            ]
            found = race(contenders, "decisions/s", settings)
            rows += found
            ratios += [ratio(f"{row.name} / CPU", row, found[2]) for row in found[:2]]
    notes = [f"GPU: {device_name()}", f"the CPU plays N={cpu_lanes:,} games"]
    return Findings(title, rows, ratios, notes)
