"""The points of a reference's deals, and the probabilities of winning that follow."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from crib_agents.data.tables import DEALT, REFERENCE_DEALS, load

from crib_env.arrays import Array
from crib_env.rules import PRESETS, TwoHandRules
from crib_training.evaluation.aivat.chance import solve

# The rules that decide what a deal brings; where a game ends is no matter.
OF_A_DEAL = ("dealt", "single_count", "flush_size", "crib_flush_size", "heels")


@dataclass(frozen=True, eq=False)
class ReferenceOutcomes:
    """Points of many deals, each counted with every possible starter.

    Attributes:
        deals: how many there were, times the starters.
        points: float64[6], the mean points of each kind (`crib_training.evaluation.aivat.course`).
        ends: float64[P, D], in how many deals pone made p points and the dealer d.
        reached: float64[P, D], in how many pone made its p-th point when the dealer had made d.
        exact: whether they come from exactly the rules that are played.
    """

    deals: float
    points: Array
    ends: Array
    reached: Array
    exact: bool = True


@cache
def win_table(outcomes: ReferenceOutcomes, target: int) -> Array:
    """Return pone's probability of winning at the beginning of a deal, float64[T + 1, T + 1].

    The indices are the points that pone and the dealer still need; 0 does not occur.
    """
    wins = np.zeros((target + 1, target + 1))
    solve(outcomes.ends, outcomes.reached, outcomes.deals, wins)
    return wins


@cache
def shipped_outcomes(rules: TwoHandRules) -> ReferenceOutcomes:
    """Return the outcomes of `rule_based`: for rules with hands of as many cards."""
    held, game = load(REFERENCE_DEALS), DEALT.index(rules.dealt)
    deals = float(held["deals"][game])
    alike = (
        isinstance(preset, TwoHandRules)
        and all(getattr(preset, name) == getattr(rules, name) for name in OF_A_DEAL)
        for preset in PRESETS.values()
    )
    ends, reached = (np.ascontiguousarray(held[name][game]) for name in ("ends", "reached"))
    return ReferenceOutcomes(deals, held["points"][game] / deals, ends, reached, any(alike))
