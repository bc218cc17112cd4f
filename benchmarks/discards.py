"""How many discards per second does `expert` choose on one core?

Views of seats that are about to discard, as many at once as in a tournament: far from the end,
where the value of a pair is linear, and near it, where both seats may go out.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from crib_agents.expert.discard import rank_discards

from benchmarks.timing import FULL, Contender, Findings, Settings, race, rate_of
from crib_env.batch import GameBatch
from crib_env.rules import PRESETS

POINTS_LEFT = {"far from the end": None, "with 30 points to make": 30}


def choosing(game: str, left: int | None, at_once: int) -> Callable[[], int]:
    """Return a piece of work: so many choices of a pair with ``left`` points to make."""
    rules = PRESETS[game]
    scores = None if left is None else (rules.target - left, rules.target - left)
    deals = GameBatch(rules, at_once, seed=np.random.SeedSequence(1).spawn(1)[0])
    deals.reset(dealer=0, scores=scores)
    views = deals.views(deals.running())

    def piece() -> int:
        rank_discards(views)
        return at_once

    return piece


def measure(settings: Settings = FULL) -> Findings:
    """Measure both games, far from the end and near it."""
    at_once = 2 if settings.quick else 64
    contenders = [
        Contender(f"{game}, {words}", rate_of(choosing(game, left, at_once)))
        for game in ("hoyle", "five_card")
        for words, left in POINTS_LEFT.items()
    ]
    return Findings("Discards by expectation", race(contenders, "discards/s", settings))
