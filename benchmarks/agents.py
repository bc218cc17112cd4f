"""How many games per second do the agents play against themselves on one core?

Whole six-card games to 121 by `play_pairs` of `crib_training`: the way tournaments and
evaluations play, every decision made from a view.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from crib_training.evaluation.duplicate import play_pairs

from benchmarks.timing import FULL, Contender, Findings, Settings, race, rate_of
from crib_env.policy import find_agent
from crib_env.rules import PRESETS

NAMES = ("random", "greedy", "rule_based")


def games(name: str, pairs: int) -> Callable[[], int]:
    """Return a piece of work: so many duplicate pairs of games of an agent against itself."""
    agent = find_agent(name)
    rules = PRESETS["hoyle"]
    seeds = count(1)

    def piece() -> int:
        play_pairs(rules, "game", agent, agent, pairs, next(seeds))
        return 2 * pairs

    return piece


def measure(settings: Settings = FULL) -> Findings:
    """Measure every agent that plays in compiled code."""
    pairs = 4 if settings.quick else 256
    contenders = [
        Contender(f"{name} against {name}", rate_of(games(name, pairs))) for name in NAMES
    ]
    return Findings("Agents, whole games", race(contenders, "games/s", settings))
