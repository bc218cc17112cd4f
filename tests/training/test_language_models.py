"""`crib evaluate text:MODEL` against a server of our own: resumed, counted, with its regret."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crib_training.language_models import equilibrium_for, regrets
from crib_training.tournament.ledger import Ledger

from commands import crib
from crib_env import Game, find_agent
from crib_env.rules import PRESETS
from model_server import ModelServer, model_server


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    pytest.importorskip("openai")
    with model_server() as running:
        yield running


def words(server: ModelServer, model: str, pairs: int) -> list[str]:
    name = f"text:{model}?base_url={server.url}&server_retries=0"
    short = ["--env", "five_card_v0", "--rules", "five_card[target=31]"]
    return ["evaluate", name, "rule_based", *short, "--pairs", str(pairs), "--json"]


def same(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Compare all but times."""
    for result in (one, other):
        for found in result["language_models"].values():
            for key in ("seconds", "seconds_per_decision"):
                found.pop(key)
    assert one == other


def test_stopped_and_resumed_it_is_the_same_result(
    server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = words(server, "good", 10)
    alone, stopped = tmp_path / "alone.json", tmp_path / "stopped.json"
    ran = crib(*command, str(alone))
    assert ran.returncode == 0, ran.stderr
    assert "regret per decision" in ran.stdout
    asked = server.asked["good"]
    add = Ledger.add

    def stop(self: Ledger, record: Any) -> Any:
        add(self, record)
        raise KeyboardInterrupt

    def lose(*_: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "add", lose)  # played, and not yet stored
        ran = crib(*command, str(stopped))
    assert ran.returncode
    assert "0 of 10 pairs are stored" in ran.stderr
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "add", stop)
        ran = crib(*command, str(stopped))
    assert ran.returncode
    assert "5 of 10 pairs are stored" in ran.stderr
    assert not stopped.exists()
    assert crib(*command, str(stopped)).returncode == 0
    assert server.asked["good"] == 2 * asked  # nothing was paid twice
    results = [json.loads(path.read_text()) for path in (alone, stopped)]
    same(*results)
    (found,) = results[0]["language_models"].values()
    assert found["illegal_share"] == found["unparsable_share"] == 0
    assert found["tokens_per_decision"] > 30
    for phase in ("discarding", "pegging"):
        assert found["regret"][phase]["expert"] > 0.001
        assert found["regret"][phase]["equilibrium"] is not None


def test_a_bad_answer_costs_that_game_and_is_named(server: ModelServer, tmp_path: Path) -> None:
    """Whatever is bad about it: tests/agents/test_text_agent.py has all that servers do."""
    path = tmp_path / "out.json"
    ran = crib(*words(server, "sometimes-500", 5), str(path))
    assert ran.returncode == 1
    result = json.loads(path.read_text())
    lost = sum(one["times"] for one in result["failures"])
    assert 0 < lost < 20  # of twenty games and deals
    assert "text:sometimes-500" in result["failures"][0]["agent"]
    (found,) = result["language_models"].values()
    assert found["errors"] == lost


def test_an_experts_decisions_cost_nothing() -> None:
    """And those of an equilibrium about nothing against itself."""
    expert, mixed = find_agent("expert"), equilibrium_for(PRESETS["five_card"])
    views, actions = [], []
    for seed in range(6):
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
