"""A learned policy plays its trained game as its network would, and rejects other games."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crib_agents.adapters.models import from_sb3
from crib_agents.policy_net import PolicyNetAgent
from crib_training.loading import find_game
from crib_training.methods import ppo
from safetensors.numpy import load_file, save_file

from crib_env.batch import GameBatch
from crib_env.rules import PRESETS, Rules
from learned_nets import HIDDEN, choices_differ, policy, saved_but_for
from small_runs import small_ppo

RNG = np.random.default_rng(0)
HOYLE = PRESETS["hoyle"]


def actions_of(agent: PolicyNetAgent, rules: Rules) -> Any:
    """Return the policy's actions for the first views of three games."""
    games = GameBatch(rules, 3, seed=2)
    games.reset()
    return agent.act(games.views(np.arange(3)), RNG)


def test_policy_file_round_trips(tmp_path: Path) -> None:
    path = tmp_path / "policy.safetensors"
    for preset in ("hoyle", "five_card", "table_top", "table_top_ship"):
        agent = policy(preset)
        agent.save(path)
        again = PolicyNetAgent.load(path)
        assert (actions_of(again, PRESETS[preset]) == actions_of(agent, PRESETS[preset])).all()
        assert again.to_bytes() == agent.to_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("trained", "rules", "reason"),
    [
        ("hoyle", PRESETS["table_top"], "table_top or table_top_ship: it plays hoyle"),
        ("table_top", HOYLE, "hoyle or five_card: it plays table_top"),
        ("hoyle", PRESETS["five_card"], "where target is 61.* it plays hoyle .target 121"),
        ("hoyle", replace(HOYLE, single_count=True), "where single_count is True: .*_count False"),
    ],
)
def test_policy_rejects_other_rules(trained: str, rules: Rules, reason: str) -> None:
    with pytest.raises(ValueError, match=f"learned does not play {reason}"):
        actions_of(policy(trained), rules)


def test_policy_separates_house_rules_from_their_preset(tmp_path: Path) -> None:
    house = Rules.preset("hoyle", flush_size=5)
    path = tmp_path / "house.safetensors"
    policy(house).save(path)
    agent = PolicyNetAgent.load(path)
    assert len(actions_of(agent, house)) == 3
    with pytest.raises(ValueError, match=r"where flush_size is 4: it plays hoyle \(flush_size 5\)"):
        actions_of(agent, HOYLE)


def test_policy_file_with_preset_only_is_read(tmp_path: Path) -> None:
    path = saved_but_for(policy(), tmp_path / "old.safetensors", {"rules_fields": None}, {})
    agent = PolicyNetAgent.load(path)
    assert len(actions_of(agent, HOYLE)) == 3
    with pytest.raises(ValueError, match="does not play where target is 61"):
        actions_of(agent, PRESETS["five_card"])


@pytest.mark.parametrize(
    ("about", "tensors", "reason"),
    [
        ({"family": "chess"}, {}, "chess"),
        ({"family": "table_top"}, {}, "its rules 'hoyle' are not possible: .*'dealt'"),
        ({"observation_layout": 5}, {}, "trained on another observation of six_card_v0"),
        ({"actions": 26}, {}, "trained on 26 actions of six_card_v0, which has 52"),
        ({"rules": "mine", "rules_fields": None}, {}, "trained under the rules 'mine': its header"),
        ({}, {"1.bias": None}, "holds the tensors 0.bias, 0.weight, 1.weight, expected"),
        ({}, {"0.weight": np.zeros((HIDDEN, 7))}, r"layer 0 .* \(3, 7\) .* expected \(3, \d+\)"),
        (
            {},
            {"1.weight": np.zeros((26, HIDDEN)), "1.bias": np.zeros(26)},
            r"layer 1 .* \(26, 3\) .* expected \(52, 3\).* there are 52 actions",
        ),
    ],
)
def test_policy_file_of_wrong_shape_is_rejected(
    about: dict[str, Any], tensors: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    path = saved_but_for(policy(), tmp_path / "x.safetensors", about, tensors)
    with pytest.raises(ValueError, match=rf"x\.safetensors.*{reason}"):
        PolicyNetAgent.load(path)


def test_policy_file_without_tensors_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    save_file({}, path, metadata={"crib_env": json.dumps(policy().about)})
    with pytest.raises(ValueError, match=r"holds the tensors none, expected 0\.bias, 0\.weight"):
        PolicyNetAgent.load(path)
    with pytest.raises(ValueError, match="there are no layers"):
        PolicyNetAgent([], policy().about)


# --- trained with features ------------------------------------------------------------------------


TRAININGS: dict[str, dict[str, Any]] = {"six_card": {"reward": "expected"}, "table_top": {"env": "table_top_v0"}}


@pytest.fixture(scope="module", params=TRAININGS)
def trained(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    out = tmp_path_factory.mktemp("ppo")
    settings = small_ppo(out, **TRAININGS[request.param])
    ppo.train(settings)
    return settings


def test_policy_saved_plays_as_the_trained_network(trained: ppo.Settings) -> None:
    agent = PolicyNetAgent.load(trained.out / "policy.safetensors")
    model = from_sb3(trained.out / "model.zip", trust=True)
    assert agent.about["features"] is True
    assert agent.suits == model.suits == ppo.suits_of(agent.family)
    games = GameBatch(find_game(trained.env)[1], 100, seed=1)
    games.reset()
    lanes = np.arange(100)
    for _ in range(8):
        views = games.views(lanes)
        assert choices_differ(agent, model, views) < 1e-4
        values, logits = agent.action_values(views), model.action_values(views)
        gap = values - logits  # that of log-probabilities is one number a view
        assert np.nanmax(np.nanmax(gap, axis=1) - np.nanmin(gap, axis=1)) < 1e-4
        games.ask(agent, lanes, RNG)
        lanes = games.running(lanes)


def test_policy_file_names_its_features_and_is_checked(trained: ppo.Settings, tmp_path: Path) -> None:
    source, path = trained.out / "policy.safetensors", tmp_path / "changed.safetensors"
    agent = PolicyNetAgent.load(source)
    about, tensors = agent.about, load_file(source)

    def refused(reason: str, about: dict[str, Any], **changed: Any) -> None:
        held = {name: one for name, one in {**tensors, **changed}.items() if one is not None}
        save_file(held, path, metadata={"crib_env": json.dumps(about)})
        with pytest.raises(ValueError, match=reason):
            PolicyNetAgent.load(path)

    refused("version 1", {**about, "features": None})
    refused("version 3", {**about, "version": 2, "features": "reply"})
    refused("features must be", {**about, "features": "more"})
    refused("holds the tensors", about, **{"sure.weight": None})
    refused("sure.weight is of shape", about, **{"sure.weight": np.zeros(2, np.float32)})
    bad = np.full_like(tensors["out.weight"], np.nan)
    refused("out.weight' holds numbers that are not finite", about, **{"out.weight": bad})
    with pytest.raises(ValueError, match="its header says features True"):
        PolicyNetAgent([], about)
    agent.save(path)
    games = GameBatch(find_game(trained.env)[1], 20, seed=1)
    games.reset()
    views = games.views(np.arange(20))
    assert (PolicyNetAgent.load(path).act(views, RNG) == agent.act(views, RNG)).all()
