"""`rule_based` in the games for three and four."""

from __future__ import annotations

from crib_training.evaluation.duplicate import estimate, play_pairs
from crib_training.evaluation.rotation import play_sets

from crib_env.policy import find_agent
from crib_env.rules import PRESETS

AGENTS = find_agent("rule_based"), find_agent("greedy")


def test_rule_based_beats_greedy_in_partnership() -> None:
    played = play_pairs(PRESETS["four_hand"], "game", *AGENTS, 1200, 1)
    won = estimate(played.won.mean(axis=1))
    assert won.mean - won.half > 0.5


def test_rule_based_makes_more_than_two_greedy() -> None:
    points = play_sets(PRESETS["three_hand"], "deal", *AGENTS, 6000, 1).points.sum(axis=3)
    more = estimate((points[..., 0] - points[..., 1:].mean(axis=2)).mean(axis=1))
    assert more.mean - more.half > 0
