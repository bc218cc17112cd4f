"""Has anything become slower? Ratios of speeds in one run against a recorded baseline.

    python -m benchmarks.perfcheck            # exits 1 if a ratio has grown by more than a third
    python -m benchmarks.perfcheck --record   # write the baseline anew

Absolute times differ between machines and hours; the ratio of our time to that of a fixed piece of
work, measured in turns with it in the same run, differs far less. Compiled work is divided by a
compiled loop over the generator, Python work by a loop over a dictionary.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from types import ModuleType

import numba
import numpy as np

from benchmarks.lanes import Lanes
from crib_env import discard_v0, pegging_v0, sample_legal, six_card_v0
from crib_env.engine import rng
from crib_env.engine.jit import OPTIONS

BASELINE = Path(__file__).parent / "perf_baseline.json"
WORSE = 1.33
REPEATS = 15
LANES = 1024
Work = Callable[[], object]


@numba.njit(**OPTIONS)
def draw(state, times):  # type: ignore[no-untyped-def]
    """Draw ``times`` words: the compiled yardstick."""
    total = 0
    for _ in range(times):
        total += rng.next_word(state)
    return total


def compiled_yardstick() -> Work:
    """Return a fixed piece of compiled work."""
    state = np.array([1, 2, 3, 4])
    return lambda: draw(state, 2_000_000)


def python_yardstick() -> None:
    """Do a fixed piece of Python work."""
    totals = {"a": 0, "b": 0}
    for i in range(60_000):
        totals["a" if i & 1 else "b"] += i


def vector(environment: ModuleType, **keywords: str) -> Work:
    """Return steps of a vector environment with drawn actions."""
    env = environment.vector_env(LANES, opponent="greedy", threads=1, **keywords)
    chance = np.random.default_rng(1)
    masks = [env.reset(seed=1)[1]["action_mask"]]

    def work() -> None:
        for _ in range(10):
            masks[0] = env.step(sample_legal(masks[0], chance))[4]["action_mask"]

    return work


def aec() -> Work:
    """Return steps of the AEC environment with the first legal card."""
    env = six_card_v0.raw_env()
    env.reset(seed=1)

    def work() -> None:
        for _ in range(3000):
            observation, _, over, _, _ = env.last()
            if over or observation is None:
                env.reset()
            else:
                env.step(int(observation["action_mask"].argmax()))

    return work


def ratios() -> dict[str, float]:
    """Return the time of each piece of work over that of its yardstick, medians of turns."""
    compiled = compiled_yardstick()
    works: dict[str, tuple[Work, Work]] = {
        "rollout six_card": (Lanes("hoyle", LANES, steps=50).play, compiled),
        "rollout five_card": (Lanes("five_card", LANES, steps=50).play, compiled),
        "rollout table_top": (Lanes("table_top", LANES, steps=50).play, compiled),
        "vector step six_card": (vector(six_card_v0), compiled),
        "vector step discard": (vector(discard_v0, pegging_policy="random"), compiled),
        "vector step pegging": (vector(pegging_v0, discard_policy="random"), compiled),
        "AEC step six_card": (aec(), python_yardstick),
    }
    found: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(REPEATS + 1):
        for name, (work, yardstick) in works.items():
            found[name].append(seconds(work) / seconds(yardstick))
    return {name: median(values[1:]) for name, values in found.items()}  # the first warms up


def seconds(work: Work) -> float:
    """Return how long a piece of work takes once."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--record", action="store_true", help="write the baseline anew")
    args = parser.parse_args()
    now = ratios()
    if args.record:
        BASELINE.write_text(json.dumps(now, indent=2) + "\n")
    before: dict[str, float] = json.loads(BASELINE.read_text())
    slower = [name for name, ratio in now.items() if ratio > WORSE * before[name]]
    for name, ratio in now.items():
        verdict = "SLOWER" if name in slower else "ok"
        print(f"{name:22} {ratio:8.3f}  baseline {before[name]:8.3f}  {verdict}")
    sys.exit(1 if slower else 0)


if __name__ == "__main__":
    main()
