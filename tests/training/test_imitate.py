"""`research.imitate`: a stochastic policy's pegging network fitted to `equilibrium`."""

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


def test_card_targets_are_the_teachers_probability_of_each_legal_rank() -> None:
    views = pegging_views(seed=3)
    _, _, wanted, decisions = imitate.card_targets(views)
    teacher = Equilibrium().action_probabilities(views)
    expected = []
    for i, view in enumerate(views):
        ranks = {int(view["hand"][k]) >> 2: k for k in reversed(range(view["hand_n"])) if view["legal"] >> k & 1}
        in_order = sorted(ranks, key=ranks.__getitem__)
        expected += [(i, teacher[i, 4 * rank : 4 * rank + 4].sum()) for rank in in_order]
    assert decisions.tolist() == [i for i, _ in expected]
    assert wanted == pytest.approx([probability for _, probability in expected], abs=1e-6)


def test_cross_entropy_equals_that_of_each_decision() -> None:
    values = torch.tensor([0.5, -1.0, 2.0, 7.0, 6.0])
    wanted = torch.tensor([0.2, 0.3, 0.5, 1.0, 0.0])
    slow = [-(wanted[part] * torch.log_softmax(values[part], 0)).sum() for part in (slice(0, 3), slice(3, 5))]
    found = imitate.cross_entropy(values, wanted, torch.tensor([0, 0, 0, 1, 1]))
    assert float(found) == pytest.approx(float(sum(slow)) / 2)


def test_imitate_comes_closer_to_equilibrium_and_keeps_the_discards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    targets = imitate.card_targets
    seen: list[Views] = []
    monkeypatch.setattr(imitate, "card_targets", lambda views: seen.append(views) or targets(views))
    student, out = tmp_path / "student.safetensors", tmp_path / "fitted.safetensors"
    replace(drawn_weights(PRESETS["five_card"]), temperature=0.1).save(student)
    imitate.run(imitate.Settings(student=student, out=out, rounds=6, deals=512, batch_size=16))
    assert len(seen) == 6
    assert not any(views["discarded_n"].any() for views in seen)
    before, after = Weights.load(student), Weights.load(out)
    options = "--rounds 6 --deals 512 --learning-rate 0.001 --batch-size 16"
    assert after.made_by == f"a test, then python -m research.imitate {options} --seed 1"
    for name, layers in before.nets.items():
        same = [np.array_equal(a[0], b[0]) for a, b in zip(layers, after.nets[name], strict=True)]
        assert all(same) == (name != "pegging")
    views = pegging_views(seed=4)
    teacher = Equilibrium().action_probabilities(views).reshape(len(views), 13, 4).sum(axis=2)

    def distance(weights: Weights) -> float:
        own = MixedAgent([weights]).action_probabilities(views).reshape(len(views), 13, 4)
        held = (own > 0).sum(axis=2).clip(1)
        shares = own.sum(axis=2) / held
        return float(np.abs(shares / shares.sum(axis=1, keepdims=True) - teacher).sum(axis=1).mean())

    assert distance(after) < 0.8 * distance(before)


def test_imitate_refuses_a_student_that_is_not_mixed_or_of_another_family(tmp_path: Path) -> None:
    drawn_weights(PRESETS["five_card"]).save(tmp_path / "x.safetensors")
    settings = imitate.Settings(student=tmp_path / "x.safetensors", out=tmp_path / "y.safetensors")
    with pytest.raises(ValueError, match="temperature above 0"):
        imitate.run(settings)
    drawn_weights(PRESETS["table_top"]).save(tmp_path / "x.safetensors")
    with pytest.raises(ValueError, match="table_top: only two-hand games have a teacher"):
        imitate.run(settings)
