"""What deals do to the chance of winning by score: `crib_training.evaluation.scores`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from crib_training.evaluation import scores
from crib_training.evaluation.duplicate import estimate, play_pairs
from crib_training.reading import read_settings

from crib_env.policy import find_agent
from crib_env.rules import TwoHandRules

FIVE = TwoHandRules.preset("five_card")


def test_an_agent_gains_nothing_on_itself_from_any_score() -> None:
    greedy = find_agent("greedy")
    known, _ = scores.dealt_at(FIVE, np.random.SeedSequence(1))
    assert known.min() >= 0
    assert known.max() < FIVE.target
    gained = scores.gains(FIVE, (greedy, greedy), known[:500], np.random.SeedSequence(2))
    assert np.abs(gained).max() < 1e-12


def test_what_deals_gain_adds_up_to_what_games_do() -> None:
    agents = find_agent("rule_based"), find_agent("greedy")
    known, deals = scores.dealt_at(FIVE, np.random.SeedSequence(1))
    some = known[np.random.default_rng(1).integers(len(known), size=6000)]
    by_deals = estimate(deals * scores.gains(FIVE, agents, some, np.random.SeedSequence(2)))
    games = play_pairs(FIVE, "game", *agents, 1500, 3)
    by_games = estimate(games.result.mean(axis=1) / 2)
    assert by_deals.mean == pytest.approx(by_games.mean, abs=1.5 * (by_deals.half + by_games.half))


def test_the_command_prints_a_row_for_the_scores_there_are(capsys: Any) -> None:
    scores.run(scores.Settings("rule_based", "greedy", env="five_card_v0", pairs=300))
    said = capsys.readouterr().out
    assert "| 1 to 5 " in said
    assert "| all " in said
    with pytest.raises(ValueError, match="--pairs: 1 is not a whole number from 2"):
        read_settings(scores.Settings, ["rule_based", "greedy", "--pairs", "1"], "scores")
