"""Teaching: labels are what the teacher says, nets come to agree with them, runs go on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from crib_agents.expert.discard import rank_discards
from crib_agents.expert.pegging import MY_POINTS, POINTS_NOW, THEIR_POINTS, PeggingExpert
from crib_agents.learned import Weights
from crib_training.learn import distill as made
from crib_training.learn.distill import Distillation, Settings, centred_loss, distill, modules
from crib_training.learn.run import Run

from crib_env.engine.two_hand import VIEW
from crib_env.rules import PRESETS
from learned_nets import drawn_weights

HOYLE = PRESETS["hoyle"]
CARDS = ["hoyle", "five_card"]


@pytest.fixture(scope="module", params=CARDS)
def taught(request: pytest.FixtureRequest) -> tuple[str, dict[str, made.Labels]]:
    rules = PRESETS[request.param]
    found = made.collect(
        drawn_weights(rules), PeggingExpert(), rules, 12, np.random.default_rng(3), pairs=True,
        temperature=0.1, epsilon=0.1,
    )  # fmt: skip
    return request.param, found


def test_labels_are_the_experts_findings(taught: tuple[str, dict[str, made.Labels]]) -> None:
    _, found = taught
    cards = found["pegging"]
    views = cards.views.astype(VIEW)
    findings = PeggingExpert().findings(views)
    mine = findings[:, :, POINTS_NOW] + findings[:, :, MY_POINTS]
    assert cards.points[:, :, 0] == pytest.approx(mine, abs=5e-3, nan_ok=True)
    assert cards.points[:, :, 1] == pytest.approx(
        findings[:, :, THEIR_POINTS], abs=5e-3, nan_ok=True
    )
    for role, name in enumerate(("discard_pone", "discard_dealer")):
        views = found[name].views.astype(VIEW)
        assert (views["dealer"] == 1 - role).all()
        columns = rank_discards(views)[1]
        pairs = 15 if views["dealt"][0] == 6 else 10
        value = found[name].points.astype(np.float64) @ made.SIGNS[name]
        by_columns = columns[:, :, 1] + columns[:, :, 2] - columns[:, :, 3]
        assert value[:, :pairs] == pytest.approx(by_columns[:, :pairs], abs=1e-2)
        assert np.isnan(value[:, pairs:]).all()


def test_every_label_has_a_choice_and_a_row_for_each(
    taught: tuple[str, dict[str, made.Labels]],
) -> None:
    name, found = taught
    for net, known in found.items():
        inputs, targets, of = made.rows_of(net, known, np.arange(len(known)))
        assert np.isfinite(inputs).all()
        assert np.isfinite(targets).all()
        rows = np.bincount(of, minlength=len(known))
        if net != "pegging":
            assert (rows == (15 if name == "hoyle" else 10)).all()
            continue
        views = known.views
        for view, n in zip(views, rows, strict=True):
            legal = [int(c) >> 2 for i, c in enumerate(view["hand"]) if view["legal"] >> i & 1]
            assert len(set(legal)) == n > 1


def test_labels_come_back_from_disk(
    taught: tuple[str, dict[str, made.Labels]], tmp_path: Path
) -> None:
    known = taught[1]["pegging"]
    known.save(tmp_path / "labels.npz")
    again = made.Labels.load(tmp_path / "labels.npz")
    assert (again.views == known.views).all()
    assert np.array_equal(again.points, known.points, equal_nan=True)


def test_what_all_choices_of_a_view_have_in_common_costs_nothing() -> None:
    signs, of = torch.tensor([1.0, -1.0]), torch.tensor([0, 0, 1, 1, 1])
    targets = torch.randn(5, 2, generator=torch.Generator().manual_seed(1))
    shifted = targets + torch.tensor([[2.0, 0.0]] * 2 + [[0.0, 1.0]] * 3)
    assert centred_loss(shifted, targets, signs, of, 0.0).item() == pytest.approx(0, abs=1e-9)
    assert centred_loss(shifted, targets, signs, of, 1.0).item() == pytest.approx((2 * 4 + 3) / 5)


def settings(folder: Path, **changes: Any) -> Settings:
    if not (folder / "student.safetensors").exists():
        drawn_weights(HOYLE).save(folder / "student.safetensors")
    mine = Settings(
        student=folder / "student.safetensors", rounds=2, deals=40, epochs=8.0, last_epochs=2.0,
        batch_size=32, learning_rate=2e-3, pairs=0, discard=True, out=folder / "run",
    )  # fmt: skip
    return replace(mine, **changes)


def test_nets_come_to_agree_with_the_teacher(tmp_path: Path) -> None:
    mine = settings(tmp_path)
    mine.out.mkdir()
    teaching = Distillation(mine)
    teaching.play()
    teaching.fit(3000)
    assert np.mean(teaching.losses[-20:]) < 0.5 * np.mean(teaching.losses[:5])


def test_a_run_gone_on_with_ends_as_if_left_alone(tmp_path: Path) -> None:
    alone = distill(settings(tmp_path, out=tmp_path / "alone"))
    teaching = Distillation(settings(tmp_path, out=tmp_path / "stopped"))
    teaching.settings.out.mkdir()
    teaching.iterate()
    Run(teaching).save()
    gone_on = distill(settings(tmp_path, out=tmp_path / "stopped", resume=tmp_path / "stopped"))
    assert (alone.weights == gone_on.weights).all()


def test_weights_go_through_pytorch_unchanged() -> None:
    weights = drawn_weights(HOYLE)
    from crib_agents.torch_nets import layers_of

    nets = {name: layers_of(net) for name, net in modules(weights).items()}
    again = Weights(weights.family, weights.rules, weights.rules_fields, 2, nets)
    assert (again.flat() == weights.flat()).all()
