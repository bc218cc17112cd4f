"""Table Top as deep Monte Carlo learns it: targets, both ways of learning, and that it learns."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from crib_agents.learned.table_top import LINES, OWING
from crib_training.learn.curve import strength
from crib_training.learn.deep_monte_carlo.table_top import (
    TRACE,
    TableTopSelfPlay,
    TurnResult,
    side_sums,
    traced,
)
from crib_training.methods.deep_monte_carlo import Learner, Settings

import small_runs
from crib_env import find_agent
from crib_env.rules import PRESETS

# A run of eight batches, of which two learn line by line.
small = partial(
    small_runs.small, env="table_top_v0", deals=80, num_envs=10, batch_size=32, workers=1
)


def self_play_of(preset: str = "table_top", players: int = 2) -> TableTopSelfPlay:
    torch.manual_seed(1)
    return TableTopSelfPlay(PRESETS[preset], players, small(Path()))


@pytest.mark.parametrize("players", [2, 4])
@pytest.mark.parametrize("preset", ["table_top", "table_top_ship"])
def test_table_top_line_targets_are_final_points(preset: str, players: int) -> None:
    samples = self_play_of(preset, players).play(40, 0.0, np.random.default_rng(3))
    group = samples.groups["lines"]
    assert samples.decisions == 40 * 28
    assert 200 < len(group["points"]) < 450  # three positions of ten, the last turn's none
    assert group["targets"].shape == group["points"].shape == group["open"].shape
    assert (group["targets"] >= group["points"]).all()  # points so far stay; a flush may come
    is_full = ~group["open"]
    assert (group["targets"][is_full] == group["points"][is_full]).all()
    assert not group["inputs"][is_full].any()
    assert group["inputs"][group["open"]].any(dim=1).all()
    assert (group["crib_targets"] >= 0).all()
    assert group["places"].min() >= 0
    assert group["places"].max() < np.prod(OWING)


def test_table_top_side_targets_are_td_lambda() -> None:
    """By the definition of TD(lambda): the mean over n-step returns, computed for each turn."""
    rng = np.random.default_rng(1)
    turns, owing = 6, rng.normal(size=9)
    came_to = rng.normal(size=(3, 2))
    none = np.empty(0)
    played = [
        TurnResult(
            none, rng.normal(size=(3, LINES)), rng.integers(9, size=(3, 2)), none, none, none, none
        )
        for _ in range(turns)
    ]
    value = [side_sums(turn.value) + owing[turn.places] for turn in played]
    value[-1] = came_to
    found = traced(played, came_to, owing)
    assert (found[-1] == came_to).all()
    for t in range(turns - 1):
        later = value[t + 1 :]
        shares = [(1 - TRACE) * TRACE**k for k in range(len(later))]
        shares[-1] = TRACE ** (len(later) - 1)
        expected = sum(share * one for share, one in zip(shares, later, strict=True))
        assert found[t] == pytest.approx(expected)


@pytest.mark.slow
@pytest.mark.parametrize(("rules", "least"), [("table_top", 0.65), ("table_top_ship", 0.60)])
def test_table_top_one_minute_beats_rule_based_for_two_and_four(
    rules: str, least: float, tmp_path: Path
) -> None:
    training = Learner(
        Settings(
            env="table_top_v0",
            rules=rules,
            deals=100_000,
            learning_rate=2e-3,
            ema_rate=0.01,
            hidden_sizes=(96, 48),
            out=tmp_path,
        )
    )
    while training.deals < 100_000:
        training.iterate()
    for players, share in ((2, least), (4, 0.60)):
        found = strength(
            training.agent(), find_agent("rule_based"), PRESETS[rules], "round", players, 4000
        )
        assert found["won"] + found["won_interval"] > share
