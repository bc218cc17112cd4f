"""Single deals alone: `crib evaluate --no-games`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from crib_training.command_line import main
from crib_training.evaluation.evaluate import evaluate
from crib_training.loading import find_env

from crib_env.policy import find_agent
from crib_env.rules import TwoHandRules


def test_the_deals_are_those_played_beside_games(capsys: Any, tmp_path: Path) -> None:
    out = tmp_path / "deals.json"
    words = "rule_based greedy --env five_card_v0 --pairs 300 --seed 4 --no-games"
    main(f"evaluate {words} --json {out}".split())
    alone = json.loads(out.read_text())
    rules = TwoHandRules.preset("five_card")
    agents = find_agent("rule_based"), find_agent("greedy")
    found = evaluate(find_env("five_card_v0"), rules, *agents, 300, 4)
    for key in ("margin_per_deal", "points_per_deal", "more_per_deal"):
        assert alone[key] == found[key]
    assert alone["won"] == {"mean": None, "ci95": None}
    more = found["margin_per_deal"]
    message = f"makes {more['mean']:+.4f} ± {more['ci95']:.4f} points per deal more than greedy"
    assert message in capsys.readouterr().out


def test_luck_is_taken_out_of_deals_alone() -> None:
    agents = find_agent("rule_based"), find_agent("greedy")
    env = find_env("five_card_v0")
    found = evaluate(env, "five_card", *agents, 20, 4, games=False, adjusted=True)
    assert found["adjusted"]["margin_per_deal"]["mean"] is not None
    assert found["adjusted"]["won"]["mean"] is None


def test_what_cannot_be_played_is_refused(capsys: Any) -> None:
    with pytest.raises(SystemExit):
        main(["evaluate", "greedy", "greedy", "--players", "4", "--no-games"])
    assert "players" in capsys.readouterr().err
