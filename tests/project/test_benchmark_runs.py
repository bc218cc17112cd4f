"""The benchmark's protocol: drawn settings fit their method, and a stopped run resumes."""

from __future__ import annotations

import json
import re
from importlib import import_module
from pathlib import Path
from unittest.mock import Mock, create_autospec

import pytest
from crib_training.exploit import exploitability, measure
from crib_training.interrupts import Stopped
from crib_training.learn.run import DivergedError
from crib_training.methods import METHODS

from research import benchmark_runs, make_benchmark
from research.benchmark_runs import (
    FINAL,
    PROTOCOL,
    SEARCH,
    Job,
    Line,
    Row,
    digest,
    is_current,
    jobs,
    key_of,
    lines,
    read_ledger,
)


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


def test_benchmark_run_trains_and_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(benchmark_runs.PROTOCOL, "hidden_sizes", [8])
    job = Job(Line("raw", "mmd"), "final", 0, 1, 4000)
    monkeypatch.setitem(FINAL, "marks", [1000])
    measure = create_autospec(exploitability, return_value=Mock(points_per_deal=0.5, ci95=0.1))
    monkeypatch.setattr(benchmark_runs, "exploitability", measure)
    learned = benchmark_runs.train(job, tmp_path / "run")
    hands = {"hands": FINAL["mark_hands"], "seed": FINAL["hands_seed"]}
    assert measure.call_args.kwargs == {"env": "five_card_v0", "suits": "ranks", **hands}
    assert learned["cpu_seconds"] > 0
    assert [point["decisions"] >= 1000 for point in learned["curve"]] == [True]
    assert learned["curve"][0]["mean"] == 0.5
    policy = (tmp_path / "run" / "policy.safetensors").read_bytes()
    assert benchmark_runs.train(job, tmp_path / "run") == learned
    assert (tmp_path / "run" / "policy.safetensors").read_bytes() == policy


def test_ledger_rejects_rows_of_other_settings_or_hands() -> None:
    row = next(row for row in read_ledger() if row["stage"] == "search")
    job = Job(Line(row["track"], row["line"]), "search", row["settings_number"], row["seed"], row["decisions"])
    assert job.key == key_of(row)
    assert job.key != key_of({**row, "settings": {**row["settings"], "epochs": 99}})
    assert is_current(row)
    others = {
        "hands_seed": row["hands_seed"] + 1,
        "settings": {},
        "line": "former_method",
        "stage": "earlier",
        "seed": SEARCH["seed"] + 1,
        "suits": "real",
        "decisions": 2 * SEARCH["decisions"],
    }
    assert [name for name, other in others.items() if is_current({**row, name: other})] == []
    final = next(row for row in read_ledger() if row["stage"] == "final" and row["decisions"] == FINAL["decisions"])
    assert is_current(final)
    assert not is_current({**final, "seed": FINAL["first_seed"] + FINAL["seeds"]})
    assert not is_current({**final, "decisions": 2 * FINAL["decisions"]})


def test_ledger_counts_a_run_made_twice_once_and_names_a_torn_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = read_ledger()
    monkeypatch.setattr(benchmark_runs, "LEDGER", tmp_path / "ledger.jsonl")
    assert read_ledger() == []
    for row in (*rows, {**rows[0], "cpu_seconds": -1.0}):
        benchmark_runs.add(row)
    assert [row.get("cpu_seconds") == -1.0 for row in read_ledger()] == [True] + [False] * (len(rows) - 1)
    with benchmark_runs.LEDGER.open("a") as ledger:
        ledger.write('{"stage": "fin')
    with pytest.raises(ValueError, match=rf"ledger.jsonl, line {len(rows) + 2} is not valid JSON .*: delete the line"):
        read_ledger()


def test_run_that_diverges_has_a_row_and_is_not_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmark_runs, "LEDGER", tmp_path / "ledger.jsonl")
    monkeypatch.setattr(benchmark_runs, "train", Mock(side_effect=DivergedError("the loss is not a number")))
    line = Line("raw", "mmd")
    row = benchmark_runs.make(Job(line, "search", 0, SEARCH["seed"], SEARCH["decisions"]), tmp_path)
    assert row["diverged"] == "the loss is not a number"
    assert row["made_with"]["trees"].keys() == {"crib_env", "agents", "training", "research"}
    assert read_ledger() == [row]
    assert benchmark_runs.chosen([row], line) == (0, 0)


def test_make_other_code_begins_another_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train = Mock(side_effect=DivergedError("the loss is not a number"))
    monkeypatch.setattr(benchmark_runs, "LEDGER", tmp_path / "ledger.jsonl")
    monkeypatch.setattr(benchmark_runs, "train", train)
    job = Job(Line("raw", "mmd"), "search", 0, SEARCH["seed"], SEARCH["decisions"])
    for tree in ("a", "a", "b"):
        monkeypatch.setattr(benchmark_runs, "made_with", lambda tree=tree: {"trees": {"training": tree}})
        benchmark_runs.make(job, tmp_path)
    first, again, other = (call.args[1] for call in train.call_args_list)
    assert first == again != other


def test_jobs_finishes_a_line_before_the_next_and_budgets_last() -> None:
    two = lines()[:2]
    rows: list[Row] = []
    made = list(jobs(rows, two, 3, 100, 2, FINAL["decisions"]))
    assert [(job.line, job.stage) for job in made] == [
        (line, stage) for line in two for stage in ("search",) * 3 + ("final",) * 2
    ]  # no budgets before a final run gives the decisions per second
    whole = {
        "stage": "final",
        "track": two[0].track,
        "line": two[0].name,
        "settings_number": 0,
        "settings": two[0].settings(0),
        "seed": FINAL["first_seed"],
        "decisions": FINAL["decisions"],
        "cpu_seconds": 600.0,
    }
    assert len(list(jobs([whole], two, 0, 100, 2, FINAL["decisions"] - 1))) == 4
    last = list(jobs([whole], two, 0, 100, 2, FINAL["decisions"]))[4:]
    assert [(job.stage, job.budget, job.decisions, job.seed) for job in last] == [
        ("seconds", budget, budget * FINAL["decisions"] // 600, seed) for budget in (300, 3000) for seed in (2001, 2002)
    ]
    near = {**whole, "cpu_seconds": 1.3 * 300}  # near enough to 300 seconds to replace those runs
    assert {job.budget for job in jobs([near], two, 0, 100, 2, FINAL["decisions"])} == {0, 3000}
    begun = Job(two[0], "seconds", 0, FINAL["first_seed"], FINAL["decisions"], budget=300).about
    assert {job.budget for job in jobs([near, begun], two, 0, 100, 2, FINAL["decisions"])} == {0, 300, 3000}


def fake_run(job: Job, mean: float) -> Row:
    """Return a row as `make` would, with a given figure."""
    row = next(row for row in read_ledger() if row["stage"] == job.stage and "by_hand" in row)
    gain = {"both": {part: [mean, 0.01] for part in ("all", "discard", "pegging")}}
    return {**row, **job.about, "gain": gain}


def test_run_makes_each_job_once_by_earlier_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = read_ledger()
    made: list[tuple[str, int]] = []

    def make(job: Job, _runs: Path) -> Row:
        made.append((job.stage, job.number))
        if made[-1] == ("search", 0):
            hands = {"hands": SEARCH["hands"], "hands_seed": SEARCH["hands_seed"]}
            return benchmark_runs.add({**job.about, **hands, "diverged": "the loss is not a number"})
        return benchmark_runs.add(drawn[job.stage, job.number])

    line = Line("raw", "mmd")
    searches = [fake_run(Job(line, "search", i, SEARCH["seed"], SEARCH["decisions"]), 0.5 - 0.1 * i) for i in (1, 2)]
    final = fake_run(Job(line, "final", 2, FINAL["first_seed"], 1000, 2), 0.3)
    drawn = {(row["stage"], row["settings_number"]): row for row in (*searches, final)}
    monkeypatch.setattr(benchmark_runs, "LEDGER", tmp_path / "ledger.jsonl")
    for row in rows:
        if row["stage"] == "level":
            benchmark_runs.add(row)
    monkeypatch.setattr(benchmark_runs, "make", make)
    pages = Mock()
    monkeypatch.setattr(make_benchmark, "write_page", pages)
    settings = make_benchmark.Settings(lines=("raw/mmd",), search=3, seeds=1, decisions=1000)
    for _ in range(2):
        make_benchmark.run(settings)
        assert made == [("search", 0), ("search", 1), ("search", 2), ("final", 2)]
        assert [row["stage"] for row in pages.call_args.args[0] if row["stage"] != "level"] == [
            stage for stage, _ in made
        ]


def test_run_that_is_stopped_names_the_same_command(monkeypatch: pytest.MonkeyPatch) -> None:
    stopped = Stopped("the run is saved after 0 decisions; resume with crib train mmd")
    monkeypatch.setattr(benchmark_runs, "make", Mock(side_effect=stopped))
    due = [Job(Line("raw", "mmd"), "search", 0, 1, 1000)]
    monkeypatch.setattr(benchmark_runs, "jobs", Mock(return_value=due))
    with pytest.raises(Stopped, match="the same command continues it"):
        make_benchmark.run(make_benchmark.Settings(lines=("raw/mmd",)))


def test_page_has_more_methods_than_colors_and_names_runs_that_diverged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [row for row in read_ledger() if row["stage"] in ("final", "level")]
    line = Line("raw", "one_more")
    monkeypatch.setitem(PROTOCOL["tracks"]["raw"]["methods"], line.name, {"method": "mmd", "ranges": []})
    job = Job(line, "final", 0, FINAL["first_seed"], FINAL["decisions"])
    rows += [fake_run(job, 0.123), {**job.about, "seed": 2002, "cpu_seconds": 1.0, "diverged": "no number"}]
    monkeypatch.setattr(make_benchmark, "PAGE", tmp_path / "benchmark.md")
    monkeypatch.setattr(make_benchmark, "PICTURE", tmp_path / "benchmark.png")
    make_benchmark.write_page(rows)
    page = (tmp_path / "benchmark.md").read_text("utf-8")
    assert re.search(r"\| 10 M +\| `one_more` +\| \*\*0\.123\*\*", page)
    assert "Diverged, and not in the tables' means: raw/one_more seed 2002." in page
    assert "\n0 of 160 runs of the search" in page


def test_hours_left_falls_by_each_run_made(monkeypatch: pytest.MonkeyPatch) -> None:
    line = Line("raw", "mmd")
    monkeypatch.setattr(benchmark_runs, "lines", lambda: [line])
    job = Job(line, "final", 0, FINAL["first_seed"], FINAL["decisions"])
    row = {**fake_run(job, 0.3), "cpu_seconds": 1000.0, "measured_in": 100.0}
    measurements = 100 * (len(FINAL["marks"]) + 1)
    final, search = (FINAL["seeds"] - 1) * (1000 + measurements), 10 * (100 + 100)
    budgets = 3 * (300 + 100) + 3 * (3000 + 100)
    assert make_benchmark.hours_left([row]) == pytest.approx((final + search + budgets) / 3600)
    timed = {**row, **Job(line, "seconds", 0, 2001, 3_000_000, 10, 300).about, "cpu_seconds": 300.0}
    assert make_benchmark.hours_left([row, timed]) == pytest.approx((final + search + budgets - 400) / 3600)
    tried = Job(line, "search", 1, SEARCH["seed"], SEARCH["decisions"])
    diverged = {**tried.about, "cpu_seconds": 1.0, "diverged": "no number"}
    assert make_benchmark.hours_left([row, diverged]) == pytest.approx((final + search + budgets - 200) / 3600)


def test_hours_left_takes_the_slowest_line_of_a_track_for_one_without_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    slow, fast, other = Line("open", "selfplay_ppo"), Line("open", "monte_carlo"), Line("open", "mmd")
    monkeypatch.setattr(benchmark_runs, "lines", lambda: [slow, fast, other])
    per_decision = {slow: 4e-4, fast: 4e-5}
    rows = [
        {**fake_run(job, 0.1), "cpu_seconds": rate * FINAL["decisions"], "measured_in": 0.0}
        for line, rate in per_decision.items()
        for job in jobs([], [line], 0, 1, FINAL["seeds"], FINAL["decisions"])
    ]
    budgets = 3 * 3 * (300 + 3000)
    searches = SEARCH["settings"] * SEARCH["decisions"] * (4e-4 + 4e-5 + 4e-4)
    finals = FINAL["seeds"] * FINAL["decisions"] * 4e-4
    assert make_benchmark.hours_left(rows) == pytest.approx((budgets + searches + finals) / 3600)


def test_best_group_keeps_runs_of_one_setting_that_saw_searches_of_different_sizes() -> None:
    line = Line("raw", "mmd")
    made = [
        fake_run(Job(line, "final", number, seed, 1000, searched), 0.3)
        for number, seed, searched in ((1, 2001, 3), (2, 2001, 4), (2, 2002, 5))
    ]
    assert make_benchmark.longest_group(made, line) == made[1:]


def test_budget_runs_prefers_own_runs_to_final_runs_of_about_that_length() -> None:
    line = Line("raw", "mmd")
    finals = [
        {**fake_run(Job(line, "final", 0, seed, FINAL["decisions"]), 0.3), "cpu_seconds": 380.0}
        for seed in (2001, 2002)
    ]
    assert make_benchmark.budget_runs(finals, line, 300) == finals
    assert make_benchmark.budget_runs(finals, line, 3000) == []
    assert make_benchmark.budget_runs(finals[1:], line, 300) == []  # the first seed gives the rate
    own = fake_run(Job(line, "seconds", 0, 2001, 8_000_000, budget=300), 0.4)
    assert make_benchmark.budget_runs([*finals, own], line, 300) == [own]


def test_benchmark_page_equals_ledger_and_template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = make_benchmark.PAGE.read_text("utf-8")
    monkeypatch.setattr(make_benchmark, "PAGE", tmp_path / "benchmark.md")
    monkeypatch.setattr(make_benchmark, "PICTURE", tmp_path / "benchmark.png")
    make_benchmark.write_page(read_ledger())
    assert (tmp_path / "benchmark.md").read_text("utf-8") == written


def test_benchmark_name_changes_with_its_protocol() -> None:
    """Methods may join, with their ranges; any other change needs a new name."""
    parts = ("env", "suits", "hidden_sizes", "search", "final", "seconds")
    frozen = {part: PROTOCOL[part] for part in parts}
    first = ("policy_gradient", "entropy", "pull", "lambda", "traces", "magnet", "r_nad", "regret", "critic",
             "traversal", "nfsp", "softmax", "deep_monte_carlo")  # fmt: skip
    frozen["ranges"] = {name: PROTOCOL["ranges"][name] for name in first}
    frozen["tracks"] = {name: track["fixed"] for name, track in PROTOCOL["tracks"].items()}
    assert (PROTOCOL["name"], digest(frozen)) == ("crib-bench v1", "80c8e4dc")
    assert f"# The benchmark: {PROTOCOL['name']}\n" in make_benchmark.PAGE.read_text("utf-8")


def test_submissions_follow_the_protocol() -> None:
    assert make_benchmark.SUBMISSIONS.is_dir()
    about = {"hands": FINAL["hands"], "seed": FINAL["hands_seed"], "suits": PROTOCOL["suits"]}
    assert {"env": PROTOCOL["env"], "rules": None, **about} == measure.PROTOCOL
    assert PROTOCOL["name"] == measure.BENCHMARK
    for file in make_benchmark.SUBMISSIONS.glob("*.json"):
        row = json.loads(file.read_text("utf-8"))
        assert row["benchmark"] == PROTOCOL["name"]
        assert row["about"]
        assert row["command"]
        assert {name: row[name] for name in about} == about
