"""How long from starting Python to the first step, with an empty kernel cache and with a full one?

Each figure is a fresh process, timed from outside: from its start to the line it prints. The import
alone is timed inside the process.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

from benchmarks.timing import FULL, Findings, Row, Settings

FIRST_STEP = """
from crib_env import six_card_v0
env = six_card_v0.raw_env()
env.reset(seed=1)
env.step(int(env.last()[0]["action_mask"].argmax()))
print("stepped", flush=True)
"""
FIRST_BATCH = """
import gymnasium, crib_env
env = gymnasium.make_vec("crib_env/SixCard-v0", num_envs=64, opponent="rule_based")
_, info = env.reset(seed=1)
env.step(info["action_mask"].argmax(axis=1))
print("stepped", flush=True)
"""
IMPORT = """
import time
began = time.perf_counter()
import crib_env
print(time.perf_counter() - began, flush=True)
"""


def run(program: str, cache: str) -> tuple[float, str]:
    """Return the seconds from starting a Python program to its first line, and the line."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    began = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        spent = time.perf_counter() - began
    if process.returncode or not line:
        raise RuntimeError(f"the program ended with code {process.returncode}:\n{program}")
    return spent, line


def measure_start(settings: Settings = FULL) -> Findings:
    """Measure a cold and a warm start to the first step, and the import."""
    values: dict[str, list[float]] = {}

    def note(name: str, value: float) -> None:
        values.setdefault(name, []).append(value)

    repeats = 1 if settings.quick else 3
    programs = {"AEC": FIRST_STEP}
    if not settings.quick:
        programs["make_vec with rule_based"] = FIRST_BATCH
    for _ in range(repeats):
        for name, program in programs.items():
            with tempfile.TemporaryDirectory() as cache:
                note(f"{name}: cold start to the first step", run(program, cache)[0])
                for _ in range(repeats):
                    note(f"{name}: warm start to the first step", run(program, cache)[0])
                    note("import crib_env", float(run(IMPORT, cache)[1]))
    rows = [Row(name, "s", tuple(found)) for name, found in values.items()]
    return Findings("Start", rows)
