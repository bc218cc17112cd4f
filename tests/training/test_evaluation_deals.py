"""Single deals alone: `crib_training.evaluation.deals`."""

from __future__ import annotations

import re
from typing import Any

import pytest
from crib_training.evaluation import deals
from crib_training.evaluation.evaluate import evaluate
from crib_training.loading import find_env

from crib_env.policy import find_agent
from crib_env.rules import TwoHandRules


def test_the_deals_are_those_of_crib_evaluate(capsys: Any) -> None:
    deals.run(deals.Settings("rule_based", "greedy", env="five_card_v0", pairs=300, seed=4))
    said = re.search(r"makes (\S+) ± (\S+) points a deal more", capsys.readouterr().out)
    assert said is not None
    rules = TwoHandRules.preset("five_card")
    agents = find_agent("rule_based"), find_agent("greedy")
    found = evaluate(find_env("five_card_v0"), rules, *agents, 300, 4)["margin_per_deal"]
    assert float(said[1]) == pytest.approx(found["mean"], abs=1e-4)
    assert float(said[2]) == pytest.approx(found["ci95"], abs=1e-4)


def test_what_cannot_be_played_is_refused() -> None:
    with pytest.raises(ValueError, match="players"):
        deals.run(deals.Settings("greedy", "greedy", players=4))
