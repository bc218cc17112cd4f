"""Tables learned from an agent's choices: `python -m research.tables choices`."""

from __future__ import annotations

import numpy as np
from crib_agents.data.tables import CHOICES, ROLLOUT_POLICY, load
from crib_agents.expert.belief import SIZE

from crib_env.policy import find_agent
from crib_env.rules import TwoHandRules
from research.tables.rollouts import choices_of, fit_choices

FIVE = TwoHandRules.preset("five_card")


def test_choice_tables_predict_unseen_choices() -> None:
    views, ranks = choices_of(FIVE, find_agent("greedy"), 700, np.random.SeedSequence(1))
    for view, rank in zip(views, ranks, strict=True):
        may = {int(c) >> 2 for i, c in enumerate(view["hand"]) if view["legal"] >> i & 1}
        assert rank in may
        assert len(may) > 1
    tables, predicted = fit_choices(5, views, ranks, np.random.default_rng(2))
    assert tables.shape == (SIZE,)
    (before, hits), (after, more) = predicted[0], predicted[-1]
    assert after < before - 0.05
    assert more > hits


def test_expert_choices_differ_from_its_reflex() -> None:
    assert (load(CHOICES)["tables"] != load(ROLLOUT_POLICY)["tables"]).any(axis=1).all()
