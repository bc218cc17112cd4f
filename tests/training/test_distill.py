"""`research.distill`: the pegging network of a file, fitted to the values of `expert`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crib_agents.expert.pegging import MY_POINTS, POINTS_NOW, findings
from crib_agents.learned import Weights

from crib_env.engine.hands.records import PEGGING
from crib_env.rules import PRESETS
from learned_nets import drawn_weights, views_of
from research import distill


def test_distill_changes_the_pegging_network_alone(tmp_path: Path) -> None:
    student, out = tmp_path / "student.safetensors", tmp_path / "fitted.safetensors"
    drawn_weights(PRESETS["five_card"]).save(student)
    distill.run(distill.Settings(student=student, out=out, rounds=2, deals=8, last_epochs=20, batch_size=8))
    before, after = Weights.load(student), Weights.load(out)
    options = "--rounds 2 --deals 8 --learning-rate 0.0005 --batch-size 8 --seed 1 --last-epochs 20"
    assert after.made_by == f"a test, then python -m research.distill {options}"
    for name, layers in before.nets.items():
        same = [np.array_equal(a[0], b[0]) for a, b in zip(layers, after.nets[name], strict=True)]
        assert all(same) == (name != "pegging")


def test_distill_targets_and_sure_points_are_the_experts() -> None:
    """Also where the last card's point is sure, which `expert` pegs after the card."""
    views = views_of("hoyle", 150, seed=2, agent="greedy")
    views = views[(views["phase"] == PEGGING) & (views["hand_n"] > 1)]
    _, targets, decisions = distill.priced(views)
    found = findings(views)
    legal = np.isfinite(found[..., MY_POINTS])
    assert np.array_equal(decisions, np.nonzero(legal)[0])
    total = (found[..., POINTS_NOW] + found[..., MY_POINTS])[legal]
    sure = total - targets[:, 0]
    assert (sure > -1e-4).all()
    late = found[..., POINTS_NOW][legal] < sure - 0.5
    assert late.any()


def test_distill_refuses_other_games(tmp_path: Path) -> None:
    drawn_weights(PRESETS["table_top"]).save(tmp_path / "x.safetensors")
    settings = distill.Settings(student=tmp_path / "x.safetensors", out=tmp_path / "y.safetensors")
    with pytest.raises(ValueError, match="table_top: only two-hand games have a teacher"):
        distill.run(settings)


@pytest.mark.parametrize(
    ("changed", "message"),
    [({"out": "no/file"}, "out: there is no folder no"), ({"rounds": 0}, "rounds must be a whole number from 1")],
)
def test_distill_refuses_wrong_settings_before_it_plays(changed: dict[str, Any], message: str, tmp_path: Path) -> None:
    student = tmp_path / "x.safetensors"
    drawn_weights(PRESETS["five_card"]).save(student)
    with pytest.raises(ValueError, match=message):
        distill.Settings(**{"student": student, "out": tmp_path / "y", **changed})
