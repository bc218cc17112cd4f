"""How many decisions per second does the GPU batch make in random play, beside the CPU?

Random play as in `benchmarks.batch`, an observation and a mask at every decision, N from 1,024 to
1,048,576 games: ``rollout`` plays many decisions a launch, ``step`` is one launch to draw the
actions and one to step. The CPU's figure is on all its cores. Needs a CUDA device and the extra
``cuda``; without them it measures nothing and prints the reason.
"""

from __future__ import annotations

import os
from importlib.util import find_spec

from benchmarks.batch import Lanes
from benchmarks.timing import FULL, Findings, Row, Settings, race, ratio
from crib_env.rules import PRESETS

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


def race_one(rules: str, players: int, n: int, settings: Settings) -> list[Row]:
    """Return the rows of one game and size: many decisions a launch, two launches each, the CPU."""
    from numba import cuda

    from crib_env.engine.cuda import CudaBatch

    batch = CudaBatch(PRESETS[rules], n, players=players, seed=1)
    steps = 2 if settings.quick else min(256, A_PIECE // n)
    threads, cpu_lanes = os.cpu_count() or 1, 64 if settings.quick else CPU_LANES

    def rollout() -> int:
        done = batch.rollout(steps)
        cuda.synchronize()
        return done

    def stepping() -> int:
        for _ in range(steps):
            batch.step(batch.sample())
        cuda.synchronize()
        return steps * n

    game = f"{rules} for {players}"
    pieces = {
        f"{game}, GPU rollout, N={n:,}": rollout,
        f"{game}, GPU step, N={n:,}": stepping,
        f"{game}, CPU, {threads} threads (beside N={n:,})": Lanes(
            rules, cpu_lanes, threads=threads, players=players
        ).play,
    }
    return list(race(pieces, "decisions/s", settings).values())


def measure_gpu(settings: Settings = FULL) -> Findings:
    """Measure every game at every N, and the CPU beside each."""
    title = "GPU batch, random play"
    if why := why_not():
        return Findings(title, [], notes=[f"GPU: unmeasured, {why}."])
    rows: list[Row] = []
    ratios: list[Row] = []
    for rules, players in GAMES[:1] if settings.quick else GAMES:
        for n in (2,) if settings.quick else SIZES:  # one at a time: the largest takes gigabytes
            *found, cpu = race_one(rules, players, n, settings)
            rows += [*found, cpu]
            ratios += [ratio(f"{row.name} / CPU", row, cpu) for row in found]
    notes = [f"GPU: {device_name()}", f"the CPU plays N={CPU_LANES:,} games"]
    return Findings(title, rows, ratios, notes)
