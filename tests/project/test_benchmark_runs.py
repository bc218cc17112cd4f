"""The protocol of the benchmark: drawn settings fit their methods, and a stopped run goes on."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest
from crib_training.learn.train import METHODS

from research import benchmark_runs, make_benchmark
from research.benchmark_runs import Job, Line, key_of, lines, on_hands, read_ledger


@pytest.mark.parametrize("line", lines(), ids=lambda line: f"{line.track}/{line.name}")
def test_settings_drawn_for_a_line_are_settings_of_its_method(line: Line) -> None:
    module = import_module(METHODS[line.method])
    for number in range(20):
        given = line.settings(number)
        if "features" in given:
            given["features"] = given["features"] != "none"
        known = module.Settings(decisions=1000)
        assert given.keys() <= vars(known).keys()
        module.Settings(decisions=1000, **given)  # within its ranges


def test_a_run_is_trained_and_one_that_was_stopped_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(benchmark_runs.PROTOCOL, "hidden_sizes", [8])
    job = Job(Line("raw", "mmd"), "final", 0, 1, 4000)
    assert benchmark_runs.train(job, tmp_path / "run") > 0
    policy = (tmp_path / "run" / "policy.safetensors").read_bytes()
    assert benchmark_runs.train(job, tmp_path / "run") > 0
    assert (tmp_path / "run" / "policy.safetensors").read_bytes() == policy


def test_a_row_of_other_settings_or_hands_is_no_run_of_the_protocol() -> None:
    row = next(row for row in read_ledger() if row["stage"] == "search")
    job = Job(Line(row["track"], row["line"]), "search", row["settings_number"], row["seed"],
              row["decisions"])  # fmt: skip
    assert job.key == key_of(row)
    assert job.key != key_of({**row, "settings": {**row["settings"], "epochs": 99}})
    assert on_hands(row)
    assert not on_hands({**row, "hands_seed": row["hands_seed"] + 1})


def test_the_page_is_what_the_ledger_and_the_template_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = make_benchmark.PAGE.read_text("utf-8")
    monkeypatch.setattr(make_benchmark, "PAGE", tmp_path / "benchmark.md")
    monkeypatch.setattr(make_benchmark, "PICTURE", tmp_path / "benchmark.png")
    make_benchmark.write_page(read_ledger())
    assert (tmp_path / "benchmark.md").read_text("utf-8") == written
