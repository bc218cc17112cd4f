"""`research.imitate`: a mixed policy's pegging network fitted to `equilibrium`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from crib_agents.equilibrium import Equilibrium
from crib_agents.learned import MixedAgent, Weights

from crib_env.engine.hands.records import PEGGING
from crib_env.policy import Views
from crib_env.rules import PRESETS
from learned_nets import drawn_weights, views_of
from research import imitate


def pegging_views(seed: int) -> Views:
    """Return pegging views of five-card deals that hide the seat's discards."""
    views: Views = views_of("five_card", 150, seed=seed, agent="greedy")
    views = views[(views["phase"] == PEGGING) & (views["hand_n"] > 1)]
    views["discarded_n"] = 0
    return views


def test_asked_has_a_card_of_each_legal_rank_with_the_teachers_probability() -> None:
    views = pegging_views(seed=3)
    _, _, wanted, decisions = imitate.asked(views)
    cards = imitate.one_card_per_rank(views)
    legal = [{int(v["hand"][k]) >> 2 for k in range(v["hand_n"]) if v["legal"] >> k & 1} for v in views]
    found: list[set[int]] = [set() for _ in views]
    for at, place in cards:
        found[at].add(int(views[at]["hand"][place]) >> 2)
    assert found == legal
    assert len(cards) == sum(map(len, legal)) == len(wanted)
    totals = np.bincount(decisions, wanted)
    assert totals == pytest.approx(1.0, abs=1e-6)


def test_cross_entropy_equals_that_of_each_decision() -> None:
    values = torch.tensor([0.5, -1.0, 2.0, 7.0, 6.0])
    wanted = torch.tensor([0.2, 0.3, 0.5, 1.0, 0.0])
    slow = [-(wanted[part] * torch.log_softmax(values[part], 0)).sum() for part in (slice(0, 3), slice(3, 5))]
    found = imitate.cross_entropy(values, wanted, torch.tensor([0, 0, 0, 1, 1]))
    assert float(found) == pytest.approx(float(sum(slow)) / 2)


def test_imitate_comes_closer_to_equilibrium_and_keeps_the_discards(tmp_path: Path) -> None:
    student, out = tmp_path / "student.safetensors", tmp_path / "fitted.safetensors"
    replace(drawn_weights(PRESETS["five_card"]), temperature=0.1).save(student)
    imitate.main(student, out, rounds=6, deals=512, batch_size=16)
    before, after = Weights.load(student), Weights.load(out)
    assert after.made_by == "a test, then python -m research.imitate --rounds 6 --deals 512 --seed 1"
    for name, layers in before.nets.items():
        same = [np.array_equal(a[0], b[0]) for a, b in zip(layers, after.nets[name], strict=True)]
        assert all(same) == (name != "pegging")
    views = pegging_views(seed=4)
    teacher = Equilibrium().action_probabilities(views).reshape(len(views), 13, 4).sum(axis=2)

    def apart(weights: Weights) -> float:
        own = MixedAgent([weights]).action_probabilities(views).reshape(len(views), 13, 4)
        held = (own > 0).sum(axis=2).clip(1)
        shares = own.sum(axis=2) / held
        return float(np.abs(shares / shares.sum(axis=1, keepdims=True) - teacher).sum(axis=1).mean())

    assert apart(after) < 0.8 * apart(before)


def test_imitate_refuses_a_student_that_is_not_mixed(tmp_path: Path) -> None:
    drawn_weights(PRESETS["five_card"]).save(tmp_path / "x.safetensors")
    with pytest.raises(ValueError, match="temperature above 0"):
        imitate.main(tmp_path / "x.safetensors", tmp_path / "y.safetensors")
