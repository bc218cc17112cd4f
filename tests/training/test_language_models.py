"""`crib evaluate text:MODEL` against a local server: resumed, counted, with its regret."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crib_agents.analyze import DiscardChoice, analyze
from crib_training.evaluation import evaluate
from crib_training.evaluation.ledger import Ledger
from crib_training.language_models import REPLIES, ReplyCache, equilibrium_for, regrets

from commands import crib
from crib_env import Game, find_agent, parse_cards
from crib_env.rules import PRESETS
from model_server import ModelServer, model_server


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    pytest.importorskip("openai")
    with model_server() as running:
        yield running


@pytest.fixture(autouse=True)
def one_pair_a_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluate, "MODEL_PAIRS", 1)


def words(server: ModelServer, model: str, pairs: int = 1) -> list[str]:
    name = f"text:{model}?base_url={server.url}&server_retries=0"
    short = ["--env", "five_card_v0", "--rules", "five_card[target=31]"]
    return ["evaluate", name, "rule_based", *short, "--pairs", str(pairs), "--json"]


def evaluated(path: Path) -> dict[str, Any]:
    """Return a result without the fields that a stop changes."""
    result: dict[str, Any] = json.loads(path.read_text())
    for found in result["language_models"].values():
        for key in ("seconds", "seconds_per_decision", "errors"):
            found.pop(key)
    return result


def test_evaluate_resumed_result_is_the_same(
    server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = words(server, "good", 2)
    alone, stopped = tmp_path / "alone.json", tmp_path / "stopped.json"
    ran = crib(*command, str(alone))
    assert ran.returncode == 0, ran.stderr
    assert "regret per decision" in ran.stdout
    asked = server.asked["good"]
    add = Ledger.add

    for number in (0, 1):  # stopped before and after a pair is stored

        def stop(self: Ledger, record: Any, stored: int = number) -> Any:
            if stored:
                add(self, record)
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(Ledger, "add", stop)
            ran = crib(*command, str(stopped))
        assert ran.returncode
        assert f"{number} of 2 pairs are stored" in ran.stderr
    assert not stopped.exists()
    assert crib(*command, str(stopped)).returncode == 0
    assert server.asked["good"] == 2 * asked  # nothing was paid twice
    assert evaluated(stopped) == evaluated(alone)
    (found,) = evaluated(alone)["language_models"].values()
    assert found["illegal_share"] == found["unparsable_share"] == 0
    assert found["tokens_per_decision"] > 30
    for phase in ("discarding", "pegging"):
        assert found["regret"][phase]["expert"] > 0.001
        assert found["regret"][phase]["equilibrium"] is not None


def test_evaluate_stores_no_result_of_a_failed_server(
    server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An outage, a wrong key: each model keeps its own replies, and none is paid twice."""
    command = words(server, "good")
    command[2] = command[1].replace("text:good", "text:last")
    alone, stopped = tmp_path / "alone.json", tmp_path / "stopped.json"
    asked = server.asked.copy()
    assert crib(*command, str(alone)).returncode == 0
    paid = server.asked - asked
    assert paid.keys() == {"good", "last"}
    asked = server.asked.copy()
    for left in (0, sum(paid.values()) // 2):
        monkeypatch.setattr(server, "left", left)
        ran = crib(*command, str(stopped))
        assert ran.returncode == 1
        assert "no reply in 3 tries: AuthenticationError" in ran.stderr
        assert "0 of 1 pairs are stored in" in ran.stderr
        assert ran.stderr.count("\n") == 1
    assert not stopped.exists()
    monkeypatch.setattr(server, "left", math.inf)
    ran = crib(*command, str(stopped))
    assert ran.returncode == 0, ran.stderr
    assert server.asked - asked == paid
    assert evaluated(stopped) == evaluated(alone)


def test_evaluate_full_disk_keeps_paid_replies(
    server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The full disk cuts the last line short; the same command resumes with those before it."""
    command = words(server, "good")
    alone, full = tmp_path / "alone.json", tmp_path / "full.json"
    assert crib(*command, str(alone)).returncode == 0
    asked = server.asked["good"]
    open_path = Path.open

    def until_full(self: Path, mode: str = "r", **options: Any) -> Any:
        file = open_path(self, mode, **options)
        if self.name == REPLIES and mode == "a" and self.stat().st_size > 500:
            file.write('["cut sho')
            file.close()
            raise OSError(28, "No space left on device")
        return file

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", until_full)
        ran = crib(*command, str(full))
    assert ran.returncode == 1
    assert "a reply cannot be stored: [Errno 28] No space left on device" in ran.stderr
    stored = (full.with_suffix(".games") / REPLIES).read_text()
    assert '["cut sho' in stored
    paid = server.asked["good"] - asked
    ran = crib(*command, str(full))
    assert ran.returncode == 0, ran.stderr
    assert evaluated(full) == evaluated(alone)
    assert server.asked["good"] - asked - paid < asked


def test_evaluate_refuses_json_named_as_the_folder_of_games(server: ModelServer, tmp_path: Path) -> None:
    ran = crib(*words(server, "good"), str(tmp_path / "x.games"))
    assert ran.returncode == 2
    assert "x.games is the folder of the games: name a file evaluate.json" in ran.stderr
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(("option", "value"), [("--budget", "1"), ("--replay", "game.html")])
def test_evaluate_refuses_option_that_a_model_would_ignore(
    option: str, value: str, server: ModelServer, tmp_path: Path
) -> None:
    name = words(server, "good")[1]
    out = str(tmp_path / "out.json")
    ran = crib("evaluate", name, "random", "--env", "table_top_v0", "--json", out, option, value)
    assert ran.returncode == 2
    assert f"a match of a language model takes no {option}: leave it out" in ran.stderr
    assert not [*tmp_path.iterdir()]


def test_reply_cache_names_a_line_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / REPLIES
    path.write_text('["a", "5H"]\n["b"\n["c", "6H"]\n')
    with pytest.raises(RuntimeError, match=rf"line 2 of .*{REPLIES} cannot be read: remove it"):
        ReplyCache(path)


def test_regret_of_a_discard_is_for_both_cards() -> None:
    """Of random pairs; `analyze` values each pair as a whole."""
    rng, views, actions, losses = np.random.default_rng(2), [], [], []
    for seed in (1, 1, 2, 3):  # the first two are alike up to the cards chosen
        game = Game("five_card", seed=seed)
        for _ in range(2):
            choices = analyze(np.array([game.view(game.seat)]))
            assert all(isinstance(choice, DiscardChoice) for choice in choices)
            chosen = choices[rng.integers(len(choices))]
            losses.append(choices[0].win - chosen.win)
            for card in parse_cards(chosen.discard):
                views.append(game.view(game.seat))
                actions.append(card)
                game.step(card)
    order = rng.permutation(len(views))
    (row,) = regrets(np.array(views)[order], np.array(actions)[order], None).values()
    assert row["decisions"] == len(losses) == 8
    # The values of the second card are computed again, after the first.
    assert row["expert"] == pytest.approx(sum(losses), rel=0.02)


def test_regret_of_the_expert_is_zero() -> None:
    """Every decision is also counted against the equilibrium."""
    expert, mixed = find_agent("expert"), equilibrium_for(PRESETS["five_card"])
    views, actions = [], []
    for seed in range(2):
        game = Game("five_card", seed=seed)
        while not game.over:
            view = game.view(game.seat)
            action = int(expert.act(view, np.random.default_rng(0)))
            views.append(view)
            actions.append(action)
            game.step(action)
    sums = regrets(np.array(views), np.array(actions), mixed)
    assert sums.keys() == {"discarding", "pegging"}
    for row in sums.values():
        assert row["decisions"] > 20
        assert row["expert"] / row["decisions"] < 2e-4
        assert row["equilibrium_decisions"] == row["decisions"]
