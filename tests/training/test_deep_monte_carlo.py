"""Deep Monte Carlo: a stopped run resumes to the same result, and it learns."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from crib_agents.files import BESIDE
from crib_agents.learned import MonteCarloAgent
from crib_agents.learned.table_top import LINES, OWING
from crib_training.learn.curve import strength
from crib_training.learn.deep_monte_carlo.table_top import TRACE, TableTopSelfPlay, TurnResult, side_sums, traced
from crib_training.learn.deep_monte_carlo.two_hand import MEAN_CRIB_AT, TwoHandSelfPlay
from crib_training.methods.deep_monte_carlo import Learner, Samples, Settings, batches, run, train

import small_runs
from commands import files_of_at_most
from crib_env import find_agent
from crib_env.batch import GameBatch
from crib_env.rules import PRESETS
from small_runs import begun

small = partial(small_runs.small, workers=1)


def test_deep_monte_carlo_full_disk_keeps_the_last_good_files(tmp_path: Path) -> None:
    training = begun(small(tmp_path))
    training.learn_batch()
    training.save()
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    training.learn_batch()
    why = r"policy\.safetensors cannot be written: File too large"
    with files_of_at_most(2000), pytest.raises(OSError, match=why):
        training.save()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert not list(tmp_path.glob(f"*{BESIDE}"))
    train(small(tmp_path, resume=tmp_path))


def test_deep_monte_carlo_refuses_an_unwritable_folder_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def work(training: Learner) -> None:
        raise AssertionError("the work has started")

    monkeypatch.setattr(Learner, "iterate", work)
    with files_of_at_most(2000), pytest.raises(OSError, match="cannot be written"):
        train(small(tmp_path / "full"))


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a card")
def test_deep_monte_carlo_refuses_a_missing_gpu_at_once(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="device cuda needs an NVIDIA card"):
        train(small(tmp_path / "out", device="cuda"))
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a card")
@pytest.mark.parametrize("env", ["six_card_v0", "table_top_v0"])
def test_deep_monte_carlo_gpu_learns_as_the_cpu(env: str, tmp_path: Path) -> None:
    found = []
    for device in ("cpu", "cuda"):
        out = tmp_path / device
        training = begun(small(out, env=env, device=device))
        training.learn_batch()
        out.mkdir()
        training.save()
        again = begun(small(out, env=env, device=device, resume=out))
        again.learn_batch()
        found.append(again.learner.self_play.weights(again.learner.self_play.nets, "").flat())
    assert found[0] == pytest.approx(found[1], abs=1e-3)


def test_batches_use_every_sample_once() -> None:
    groups = {"many": {"x": torch.arange(1000)}, "few": {"x": torch.arange(70)}}
    found: dict[str, list[Any]] = {name: [] for name in groups}
    sizes = []
    for rows in batches(Samples(groups, 0), 100, np.random.default_rng(0)):
        sizes.append([len(rows[name]) for name in groups])
        for name in groups:
            found[name] += rows[name].tolist()
    assert sizes == [[100, 7]] * 10
    assert all(sorted(found[name]) == list(range(len(groups[name]["x"]))) for name in groups)


def test_pegging_targets_are_the_remaining_points() -> None:
    """Points that a card pegs at once, and heels, are no part of them."""
    torch.manual_seed(1)
    self_play = TwoHandSelfPlay(PRESETS["hoyle"], 2, small(Path()))
    samples = self_play.play(200, 0.5, np.random.default_rng(3))
    groups = [samples.groups[f"discard_{role}"] for role in ("pone", "dealer")]
    pone, dealer = (group["targets"] for group in groups)
    means = [8 * group["inputs"][:, MEAN_CRIB_AT] for group in groups]
    torch.testing.assert_close(pone[:, 0] - means[0], dealer[:, 0] + means[1])  # one crib
    assert means[0].max() < 0 < means[1].min()
    assert (pone[:, 1] == dealer[:, 2]).all()  # own and other points, swapped
    assert (pone[:, 2] == dealer[:, 1]).all()
    play = samples.groups["pegging"]["targets"]
    assert play.min() >= 0
    assert 4 * 200 < samples.decisions == 4 * 200 + len(play)
    # The last card pegs: a deal's pegging is one point or more, and rarely more than 20.
    assert (pone[:, 1] + pone[:, 2]).min() >= 1
    assert 3 < (pone[:, 1] + pone[:, 2]).mean() < 12


def test_mean_cribs_is_over_the_undealt_starters() -> None:
    from crib_training.learn.deep_monte_carlo.two_hand import mean_cribs

    from crib_env.engine.show import show_table
    from reference.scoring import score_show

    for preset in ("hoyle", "five_card"):
        rules = PRESETS[preset]
        games = GameBatch(rules, 20, episode="deal", seed=9)
        games.reset()
        rng = np.random.default_rng(1)
        for _ in range(4):
            legal = games.views(np.arange(20))["hand"][:, :4]
            games.step(np.arange(20), np.ascontiguousarray(rng.permuted(legal, axis=1)[:, 0]))
        means = np.empty(20)
        mean_cribs(games.states, show_table(), rules.crib_flush_size, means)
        for state, mean in zip(games.states, means, strict=True):
            dealt = [int(c) for c in state["dealt"] if c >= 0]
            crib = [
                int(state["dealt"][6 * seat + i])
                for seat in range(2)
                for i in range(6)
                if state["discarded"][seat] >> i & 1
            ]
            starters = [c for c in range(52) if c not in dealt]
            points = [score_show(crib, c, True, preset) for c in starters]
            assert len(crib) == 4
            assert mean == pytest.approx(np.mean(points))


OPEN = {"adjacency": False, "partners_confer": False, "target": 61}


@pytest.mark.parametrize(
    ("preset", "players", "changes"),
    [
        ("hoyle", 2, {"dealt": 5, "flush_size": 3, "target": 31}),
        ("hoyle", 2, {"single_count": True, "target": 31}),
        ("table_top", 2, OPEN),
        ("table_top", 4, OPEN),
    ],
)
def test_deep_monte_carlo_learns_house_rules(preset: str, players: int, changes: dict[str, Any]) -> None:
    house = replace(PRESETS[preset], name="house", **changes)
    self_play: Any = TableTopSelfPlay if preset == "table_top" else TwoHandSelfPlay
    self_play = self_play(house, players, small(Path()))
    for progress in (0.0, 0.9):
        samples = self_play.play(10, progress, np.random.default_rng(1))
        rows = {name: torch.arange(len(next(iter(group.values())))) for name, group in samples.groups.items()}
        assert torch.isfinite(self_play.loss(samples, rows))
    games = GameBatch(house, 3, players=players, seed=1)
    games.reset()
    agent = MonteCarloAgent([self_play.weights(self_play.nets)])
    for _ in games.play(agent, np.random.default_rng(0)):
        pass
    assert games.states["over"].all()


@pytest.mark.slow
def test_deep_monte_carlo_one_minute_is_level_with_rule_based(tmp_path: Path) -> None:
    training = Learner(Settings(deals=320_000, final_eval_pairs=4000, out=tmp_path))
    while training.deals < 320_000:
        training.iterate()
    training.curve.measure(training)
    (point,) = training.curve.points
    assert point.won + point.won_interval > 0.5


def test_train_replay_option_writes_a_replay(tmp_path: Path) -> None:
    few = Settings(env="five_card_v0", deals=500, num_evals=1, eval_pairs=0, final_eval_pairs=0)
    run(replace(few, out=tmp_path, replay=True, progress=False))
    page = (tmp_path / "replay.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "rule_based" in page


# --- Table Top: targets, both ways of learning, and that it learns --------------------------------


def self_play_of(preset: str = "table_top", players: int = 2) -> TableTopSelfPlay:
    torch.manual_seed(1)
    return TableTopSelfPlay(PRESETS[preset], players, small(Path(), env="table_top_v0"))


@pytest.mark.parametrize("players", [2, 4])
@pytest.mark.parametrize("preset", ["table_top", "table_top_ship"])
def test_table_top_line_targets_are_final_points(preset: str, players: int) -> None:
    samples = self_play_of(preset, players).play(40, 0.0, np.random.default_rng(3))
    group = samples.groups["lines"]
    assert samples.decisions == 40 * 28
    assert 200 < len(group["points"]) < 450  # about three of ten positions, none of the last turn
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
        TurnResult(none, rng.normal(size=(3, LINES)), rng.integers(9, size=(3, 2)), none, none, none, none)
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
def test_table_top_one_minute_beats_rule_based_for_two_and_four(rules: str, least: float, tmp_path: Path) -> None:
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
        found = strength(training.agent(), find_agent("rule_based"), PRESETS[rules], "round", players, 4000)
        assert found["won"] + found["won_interval"] > share
