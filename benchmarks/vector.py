"""How many steps a second does ``gymnasium.make_vec`` make when NumPy actions are given?

    python -m benchmarks.vector

Only ``step`` is timed. The actions are the first legal ones (``argmax`` of the mask), computed
outside the clock. The opponent is ``random``, so a step is about two decisions of the game.
"""

from __future__ import annotations

import time
from typing import Any

import gymnasium

from benchmarks import report
from benchmarks.timing import FULL, Contender, Findings, Rate, Settings, race, ratio
from crib_env.registration import ENVIRONMENTS

ID = f"crib_env/{ENVIRONMENTS['six_card_v0']}"


def rate_of_steps(env: Any) -> Rate:
    """Return the rate of ``env.step``, choosing actions left out of the clock."""
    _, info = env.reset(seed=1)
    masks = info["action_mask"]

    def rate(seconds: float) -> float:
        nonlocal masks
        spent = 0.0
        steps = 0
        while spent < seconds or not steps:
            actions = masks.argmax(axis=1)
            began = time.perf_counter()
            _, _, _, _, info = env.step(actions)
            spent += time.perf_counter() - began
            steps += 1
            masks = info["action_mask"]
        return steps * env.num_envs / spent

    return rate


def measure(settings: Settings = FULL) -> Findings:
    """Measure one thread with and without copies, and the threads it chooses by itself."""
    n = 64 if settings.quick else 4096

    def contender(name: str, target: str | None, **keywords: Any) -> Contender:
        env = gymnasium.make_vec(ID, num_envs=n, opponent="random", **keywords)
        return Contender(f"make_vec, N={n}, {name}", rate_of_steps(env), target)

    rows = race(
        [
            contender("copy=False, 1 thread", "make_vec", copy=False, threads=1),
            contender("copy=True, 1 thread", "make_vec", copy=True, threads=1),
            contender("copy=False, 2 threads", None, copy=False, threads=2),
        ],
        "steps/s",
        settings,
    )
    ratios = [ratio(f"make_vec, N={n}: 2 threads / 1 thread", rows[2], rows[0])]
    return Findings("Vector environment, actions given", rows, ratios)


if __name__ == "__main__":
    report.script(measure, __doc__)
