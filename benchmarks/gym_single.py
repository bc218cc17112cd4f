"""How many steps per second does a single Gymnasium environment make against a compiled opponent?

The loop is Gymnasium's: a random legal action, ``step``, ``reset`` at an episode's end. A step is
about two decisions of the game, the learner's and the opponent's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import gymnasium

from benchmarks.aec import sample
from benchmarks.timing import FULL, Contender, Findings, Settings, race, rate_of
from crib_env.policy import CompiledAgent, find_agent
from crib_env.registration import ENVIRONMENTS

ID = f"crib_env/{ENVIRONMENTS['six_card_v0']}"
OPPONENTS = ("random", "greedy", "rule_based")


def loop(env: Any) -> Callable[[], int]:
    """Return a piece of work: one episode."""
    env.reset(seed=1)

    def piece() -> int:
        steps = 0
        _, info = env.reset()
        terminated = False
        while not terminated:
            _, _, terminated, _, info = env.step(sample(info["action_mask"]))
            steps += 1
        return steps

    return piece


def in_python(names: Iterable[str]) -> list[str]:
    """Return a note for every opponent that has no compiled entry, so plays in Python."""
    return [
        f"{name} has no compiled entry here: it was asked in Python"
        for name in names
        if not isinstance(find_agent(name), CompiledAgent)
    ]


def measure(settings: Settings = FULL) -> Findings:
    """Measure it against each compiled opponent."""
    contenders = [
        Contender(f"gymnasium.make, opponent {name}", rate_of(loop(env)))
        for name in OPPONENTS
        for env in [gymnasium.make(ID, opponent=name)]
    ]
    return Findings(
        "Gymnasium, one game", race(contenders, "steps/s", settings), notes=in_python(OPPONENTS)
    )
