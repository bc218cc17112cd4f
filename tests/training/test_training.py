"""The training scripts: their files, resuming, and the figures of evaluation."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from crib_agents import PhasedAgent, PolicyNetAgent
from crib_agents.loading import load_agent, of_two
from crib_training import COMMANDS, warmup
from crib_training.evaluation.duplicate import estimate
from crib_training.evaluation.evaluate import evaluate
from crib_training.evaluation.report import comparison_table, phase_table
from crib_training.learn.curve import read_points
from crib_training.methods import ppo
from crib_training.outputs import command

from checkout import SUPPORT
from commands import crib
from crib_env import ENVIRONMENTS, find_agent, six_card_v0, table_top_v0
from crib_env.rules import PRESETS
from learned_nets import choices_differ, views_of
from research.tables.__main__ import ORDER
from small_runs import small_ppo

small = partial(small_ppo, timesteps=512, num_evals=2, eval_pairs=6, final_eval_pairs=8)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("ppo")
    ppo.train(small(out))
    return out


def test_train_writes_its_files(trained: Path) -> None:
    policy = load_agent(str(trained / "policy.safetensors"))
    model = load_agent(f"trust:{trained / 'model.zip'}")
    assert isinstance(policy, PolicyNetAgent)
    assert choices_differ(policy, model, views_of("hoyle", 20, 1)) < 1e-4
    points = read_points(trained)
    assert [point.decisions for point in points] == [0, 256, 512]
    assert len((trained / "curve.csv").read_text().splitlines()) == 1 + len(points)
    assert (trained / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert any((trained / "tb").rglob("events.out.*"))


def test_train_resumes_where_it_stopped(trained: Path, tmp_path: Path) -> None:
    again = small(tmp_path, timesteps=128, resume=trained)
    with pytest.raises(ValueError, match="holds a pickle"):
        ppo.train(again)
    ppo.train(replace(again, trust=True))
    before, after = read_points(trained), read_points(tmp_path)
    assert after[: len(before)] == before
    assert before[-1].decisions == 512
    assert [point.decisions for point in after[len(before) :]] == [640]
    assert after[-1].deals > before[-1].deals
    assert after[-1].cpu_seconds > before[-1].cpu_seconds


def test_evaluate_intervals_are_over_pairs() -> None:
    shown = estimate(np.array([0.0, 1.0, 1.0, 0.0]))
    assert shown.mean == 0.5
    assert shown.ci95 == pytest.approx(1.96 * np.sqrt(1 / 3) / 2)


def test_evaluate_prints_a_row_and_the_phases() -> None:
    random, greedy = find_agent("random"), find_agent("greedy")
    result = evaluate(six_card_v0.maker, PRESETS["hoyle"], greedy, random, 60, seed=1)
    assert result["won"]["mean"] > 0.9
    assert "| greedy  | random    |" in comparison_table([result])
    assert phase_table(result).count("\n") == 5
    json.dumps(result)
    four = evaluate(table_top_v0.maker, PRESETS["table_top"], random, random, 4, 1, players=4)
    assert four["players"] == 4
    assert four["points_per_deal"]["pone"]["random"].keys() == {"heels", "lines", "crib"}
    assert four["skunks_for"]["mean"] is None  # T9 has no skunks
    assert "| – / – % " in comparison_table([four])


@pytest.mark.parametrize(
    ("name", "two"),
    [
        ("expert/rule_based", ("expert", "rule_based")),
        ("a.module:Class/greedy", ("a.module:Class", "greedy")),
        ("a+b.safetensors/greedy", ("a+b.safetensors", "greedy")),
        ("greedy/runs/six/policy.safetensors", ("greedy", "runs/six/policy.safetensors")),
        ("runs/six/policy.safetensors/greedy", ("runs/six/policy.safetensors", "greedy")),
        ("trust:runs/model.zip/greedy", ("trust:runs/model.zip", "greedy")),
        ("runs/six/policy.safetensors", None),
        ("greedy/policy.safetensors", None),  # a file that is there
        ("greedy", None),
        ("greedy+rule_based", None),
        ("trust:runs/model.zip", None),
    ],
)
def test_find_agent_reads_two_names_with_slash_and_paths(
    name: str, two: tuple[str, str] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "greedy").mkdir()
    (tmp_path / "greedy" / "policy.safetensors").touch()
    assert of_two(name) == two


def test_find_agent_makes_phased_agents_and_explains_plus() -> None:
    agent = load_agent("greedy/rule_based")
    assert isinstance(agent, PhasedAgent)
    assert (agent.discard.name, agent.pegging.name) == ("greedy", "rule_based")
    assert agent.name == "greedy/rule_based"
    with pytest.raises(ValueError, match="no agent is called 'nobody'"):
        load_agent("greedy/nobody")
    with pytest.raises(ValueError, match="two agents are joined by a slash: greedy/rule_based"):
        load_agent("greedy+rule_based")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "no agent is called ''"),
        ("greedy/", "no agent is called ''"),
        ("folder", "folder is a folder: name a file in it, such as folder/policy.safetensors"),
        ("trust:folder", "write package.module:name, or name a file that ends in .safetensors, .zip"),
        ("a:b:c", "there is no agent at 'a:b:c': .* write package.module:name"),
        ("command:'./bot", "command:'./bot cannot be read as a shell reads it: No closing quotation"),
    ],
)
def test_load_agent_names_what_was_given(
    name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    with pytest.raises(ValueError, match=message):
        load_agent(name)
    if name != "greedy/":  # a slash joins two agents on command lines alone
        with pytest.raises(ValueError, match=message):
            find_agent(name)


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        ("evaluate nobody greedy", 2, "no agent is called 'nobody'"),
        ("evaluate greedy random --env whist_v0", 2, "no environment is called 'whist_v0'"),
        ("evaluate greedy random --rules table_top", 2, "no rules for this game"),
        ("evaluate greedy random --pairs 0", 2, "--pairs must be a whole number from 1 to "),
        ("evaluate greedy random --players 4 --no-games", 2, "has 2 players, got players=4"),
        ("evaluate greedy failing_agents:Cheats --pairs 9", 1, "'cheats' failed: 99 is not an action"),
        ("play greedy random expert", 2, "nothing takes 'expert'; see crib play --help"),
        ("play greedy random --seat 1", 2, "leave --seat out to watch two agents"),
        ("bot check greedy", 2, "write command:greedy to check a program"),
        ("bot", 2, "AGENT is missing; see crib bot --help"),
        ("play --partner greedy", 2, "with two players nobody has a partner"),
        ("analyze 6D 4S 9C --discarded KC", 2, "both --discarded and --starter"),
        ("analyze 5H 5D JC 4S 6S KH --others-crib 1", 2, "--others-crib is for Table Top"),
        ("analyze 6D --layout ...../...../..7H../...../..... --dealer", 2, "--dealer is for six"),
        ("evaluate greedy random --adjust never --no-duplicate", 2, "leave --adjust never out"),
        ("evaluate greedy random --env three_hand_v0 --no-duplicate", 2, "leave --no-duplicate out"),
        ("evaluate greedy random --env three_hand_v0 --players 2", 2, "3 players, got players=2"),
        ("train pp", 2, "no method is called 'pp': choose from "),
        ("train mdm --decisions 9", 2, "did you mean 'mmd'?"),
        ("train --seed 1 ppo", 2, "nothing takes 'ppo': name ppo before its options; see crib train"),
        ("train ppo --sead 1", 2, "Did you mean --seed?; see crib train ppo --help"),
        ("train monte_carlo --hidden-sizes 9 513", 2, "--hidden-sizes must be a tuple of 2, each a whole number from"),
        ("tournament greedy random --anchor gredy", 2, "did you mean 'greedy'?"),
        ("trian", 2, "no command is called 'trian': see crib --help; did you mean 'train'?"),
        ("--versoin", 2, "no command is called '--versoin': see crib --help; did you mean '--version'?"),
    ],
)
def test_command_line_errors_are_one_line(words: str, status: int, message: str) -> None:
    run = crib(*words.split(), folder=SUPPORT)
    assert run.returncode == status, run.stderr
    assert status == 1 or not run.stdout
    *progress, said = run.stderr.splitlines()
    assert all(re.search(r": \d+ of \d+ in \d+:\d\d", line) for line in progress)  # if it is slow
    assert said.startswith("error: ")
    assert message in said
    assert not (SUPPORT / "run").exists()


def test_evaluate_names_house_rules_by_their_changes(tmp_path: Path) -> None:
    rules = "hoyle[target=31]"
    run = crib("evaluate", "greedy", "random", "--pairs", "2", "--rules", rules, folder=tmp_path)
    assert f"rules {rules}, seed 1" in run.stdout, run.stderr


def test_help_is_quick_without_training_imports() -> None:
    run = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "crib_training.command_line", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    for name in COMMANDS:
        assert f"  {name} " in run.stdout
    slow = r"\| +(torch|numba|numpy|argparse|cyclopts|pydantic)$"
    assert not re.search(slow, run.stderr, re.MULTILINE)


# Their files name no command; the README beside them tells how the first was made.
UNSIGNED = {"endgame", "table_top_values", "table_top_rounds"}


@pytest.mark.parametrize("name", sorted(ORDER.keys() - UNSIGNED))
def test_tables_store_the_command_of_their_defaults(name: str) -> None:
    settings = getattr(import_module(f"research.tables.{ORDER[name]}"), name).Settings()
    if settings.out.suffix == ".json":
        made_by = json.loads(settings.out.read_bytes())["made_by"]
    else:
        made_by = str(np.load(settings.out)["made_by"])
    assert made_by == command(f"python -m research.tables {name}", settings, ("out",))


def test_warmup_names_each_environment(capsys: pytest.CaptureFixture[str]) -> None:
    """tests/project/test_command_line.py warms up each of them."""
    assert warmup.Settings().envs == tuple(ENVIRONMENTS)
    envs = ("discard_v0", "table_top_v0")
    warmup.run(warmup.Settings(envs=envs, agents=("random",)))
    *played, stored = capsys.readouterr().out.splitlines()
    assert tuple(line.partition(":")[0] for line in played) == envs
    assert stored.startswith("stored in ")
