"""Learning curves: the same table for every method, and several runs in one picture."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from crib_training.learn import curve as curve_module
from crib_training.learn.curve import (
    Point,
    Settings,
    Strength,
    groups_of,
    line_of,
    of_run,
    of_runs,
    read_points,
    read_words,
    run,
    shared_baselines,
)
from crib_training.learn.run import Screen
from crib_training.loading import find_env
from crib_training.methods import deep_monte_carlo, ppo
from crib_training.outputs import csv_table

from crib_env import find_agent
from crib_env.rules import PRESETS


def point(seconds: float, won: float, opponent: str = "greedy") -> Point:
    return Point(100, 1000, seconds, opponent, 2.0, 0.5, won, 0.1)


def strength(opponents: str) -> Strength:
    settings = deep_monte_carlo.Settings(eval_opponents=opponents, num_evals=1, eval_pairs=20, final_eval_pairs=20)
    return Strength(find_env("six_card_v0"), PRESETS["hoyle"], 2, "a test", settings)


def written(folder: Path, *points: Point) -> Path:
    folder.mkdir()
    (folder / "curve.csv").write_bytes(csv_table(Point, list(points)))
    return folder


def test_curve_round_trips(tmp_path: Path) -> None:
    curve = strength("random")
    curve.measure_agent(find_agent("greedy"), 10, 100, 1.234, 20)
    measured = curve.points
    assert (measured[0].cpu_seconds, measured[0].opponent) == (1.23, "random")
    assert measured[0].won > 0.9
    curve.finish()
    curve.write(tmp_path)
    curve.draw(tmp_path)
    assert read_points(tmp_path) == curve.points
    assert curve.shares == {"random": 0.5, "greedy": measured[0].won}  # the same deals
    words = {"title": "Six card for 2, learned by a test", "baselines": curve.shares}
    assert read_words(tmp_path) == json.loads(json.dumps(words))
    again = strength("random")
    again.restore(json.loads(json.dumps(curve.state())))
    assert (again.points, again.shares) == (curve.points, curve.shares)


def test_strength_opponent_may_hold_a_comma(monkeypatch: pytest.MonkeyPatch) -> None:
    program = "command:./bot --levels 1,2"
    monkeypatch.setattr(curve_module, "load_agent", lambda name: name)  # it would start the program
    curve = Strength(find_env("six_card_v0"), PRESETS["hoyle"], 2, "a test", ppo.Settings(opponent=program))
    assert [*curve.opponents] == [program]
    assert [*strength("greedy,random").opponents] == ["greedy", "random"]


def test_line_of_is_named_after_the_folder_of_a_dot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(written(tmp_path / "mine", point(0, 0.0)))
    assert line_of("", [Path()], "greedy", "won").label == "mine"
    assert read_words(Path())["title"] == "mine"


def test_strength_without_opponents_is_rejected() -> None:
    with pytest.raises(ValueError, match="against one opponent at least"):
        strength("")


def test_curve_line_is_one_opponent_with_interval() -> None:
    points = [asdict(p) for p in (point(0, 0.1), point(0, 0.9, "random"), point(5, 0.4))]
    line = of_run("x", points, "greedy")
    assert line.seconds.tolist() == [0, 5]
    assert line.mean == pytest.approx([10, 40])
    assert line.low == pytest.approx([0, 30])
    assert line.high == pytest.approx([20, 50])
    assert of_run("x", points, "greedy", "points").high == pytest.approx([2.5, 2.5])


def test_curves_of_several_runs_are_mean_and_range(tmp_path: Path) -> None:
    first = written(tmp_path / "1", point(0, 0.0), point(10, 0.4))
    second = written(tmp_path / "2", point(2, 0.1), point(8, 0.7))
    line = line_of("", [first, second], "greedy", "won")
    assert line.label == "mean of 2 runs"
    assert (line.seconds[0], line.seconds[-1]) == (2, 8)  # where both have been
    at = line.seconds
    one, other = 4 * at, 10 + 10 * (at - 2)
    assert line.mean == pytest.approx((one + other) / 2)
    assert line.low == pytest.approx(np.minimum(one, other))
    assert line.high == pytest.approx(np.maximum(one, other))
    alone = line_of("", [first], "greedy", "won")
    assert of_runs("x", [alone]).band == "95 % interval"


@pytest.mark.parametrize("text", ["{", "[]", '{"title": "a run"}'])
def test_read_words_names_a_file_that_cannot_be_read(tmp_path: Path, text: str) -> None:
    (tmp_path / "curve.json").write_text(text)
    with pytest.raises(ValueError, match=r"curve\.json does not hold a run's title"):
        read_words(tmp_path)


def test_groups_of_reads_one_group_or_named_groups() -> None:
    assert groups_of(("a", "b")) == {"": [Path("a"), Path("b")]}
    assert groups_of(("x=a,b", "y=c")) == {"x": [Path("a"), Path("b")], "y": [Path("c")]}
    for runs in ((), ("x=a", "b"), ("x=a", "x=b"), ("=a",), ("x=",), ("x=a,",), ("",)):
        with pytest.raises(ValueError, match="NAME=FOLDER,FOLDER"):
            groups_of(runs)


def test_shared_baselines_omit_lines_that_differ() -> None:
    six, five = {"rule_based": 0.5, "greedy": 0.36}, {"rule_based": 0.5, "greedy": 0.4}
    assert shared_baselines([six, six]) == six
    assert shared_baselines([six, five]) == {"rule_based": 0.5}


@pytest.mark.usefixtures("pictures")
def test_curves_command_draws_runs_and_rejects_other_folders(tmp_path: Path) -> None:
    folder = written(tmp_path / "1", point(0, 0.0), point(10, 0.4))
    out = tmp_path / "curves.png"
    run(Settings((str(folder), str(folder)), out=out))
    assert out.read_bytes()[1:4] == b"PNG"
    with pytest.raises(ValueError, match=r"has no curve\.csv"):
        run(Settings((str(tmp_path),), out=out))
    (tmp_path / "exploitability.csv").touch()
    with pytest.raises(ValueError, match="of a method that measures exploitability"):
        run(Settings((str(tmp_path),), out=out))
    with pytest.raises(ValueError, match="was not measured against 'expert'"):
        run(Settings((str(folder),), eval_opponent="expert", out=out))
    (folder / "curve.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="is not the table of a run"):
        run(Settings((str(folder),), out=out))


def test_tensorboard_gets_the_watched_values(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    with Screen("deals", 200, 0, 0, tmp_path, True) as progress:
        progress.measured([point(1.5, 0.4).measured()], 1000)
        progress.learned(100, 1000, {"loss": 0.25})
    assert "40.0 ± 10.0 % against greedy" in capsys.readouterr().out
    events = EventAccumulator(str(tmp_path / "tb"))
    events.Reload()
    assert [e.value for e in events.Scalars("loss")] == [0.25]
    (won,) = events.Scalars("games_won/greedy")
    assert (won.step, round(won.value, 3)) == (1000, 0.4)
