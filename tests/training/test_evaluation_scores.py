"""What deals do to the chance of winning by score: `crib evaluate --by-score`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crib_training.command_line import main
from crib_training.evaluation.by_score import dealt_at, gains
from crib_training.evaluation.duplicate import estimate, play_pairs

from crib_env.policy import find_agent
from crib_env.rules import TwoHandRules

FIVE = TwoHandRules.preset("five_card")


def test_an_agent_gains_nothing_on_itself_from_any_score() -> None:
    greedy = find_agent("greedy")
    known, _ = dealt_at(FIVE, np.random.SeedSequence(1))
    assert known.min() >= 0
    assert known.max() < FIVE.target
    gained = gains(FIVE, (greedy, greedy), known[:200], np.random.SeedSequence(2))
    assert np.abs(gained).max() < 1e-12


def test_what_deals_gain_adds_up_to_what_games_do() -> None:
    agents = find_agent("rule_based"), find_agent("greedy")
    known, deals = dealt_at(FIVE, np.random.SeedSequence(1))
    some = known[np.random.default_rng(1).integers(len(known), size=3000)]
    by_deals = estimate(deals * gains(FIVE, agents, some, np.random.SeedSequence(2)))
    games = play_pairs(FIVE, "game", *agents, 800, 3)
    by_games = estimate(games.returns[..., 0].mean(axis=1) / 2)
    assert by_deals.mean == pytest.approx(by_games.mean, abs=1.5 * (by_deals.half + by_games.half))


def test_the_command_prints_a_row_for_the_scores_there_are(capsys: Any, tmp_path: Path) -> None:
    out = tmp_path / "scores.json"
    words = "rule_based greedy --env five_card_v0 --pairs 100 --by-score"
    main(f"evaluate {words} --json {out}".split())
    output = capsys.readouterr().out
    assert "| 1 to 5 " in output
    assert "| all " in output
    scores = json.loads(out.read_text())["scores"]
    parts = [row["per_game"]["mean"] for name, row in scores.items() if name != "all"]
    assert sum(parts) == pytest.approx(scores["all"]["per_game"]["mean"])
    assert sum(row["deals"] for row in scores.values()) == pytest.approx(2)


def test_table_top_has_no_scores_of_deals(capsys: Any) -> None:
    with pytest.raises(SystemExit):
        main(["evaluate", "greedy", "random", "--env", "table_top_v0", "--by-score"])
    assert "--by-score is for six and five cards" in capsys.readouterr().err
