"""A learned policy plays the game and the rules it was trained for, and is refused elsewhere."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crib_agents.nets import PolicyNetAgent
from safetensors.numpy import save_file

from crib_env.batch import GameBatch
from crib_env.rules import PRESETS, Rules
from learned_nets import HIDDEN, policy, saved_but_for

RNG = np.random.default_rng(0)
HOYLE = PRESETS["hoyle"]


def actions_of(agent: PolicyNetAgent, rules: Rules) -> Any:
    """Return what the policy answers to the first views of three games."""
    games = GameBatch(rules, 3, seed=2)
    games.reset()
    return agent.act(games.views(np.arange(3)), RNG)


def test_a_file_comes_back_as_it_was_saved(tmp_path: Path) -> None:
    path = tmp_path / "policy.safetensors"
    for preset in ("hoyle", "five_card", "table_top", "table_top_ship"):
        agent = policy(preset)
        agent.save(path)
        again = PolicyNetAgent.load(path)
        assert (actions_of(again, PRESETS[preset]) == actions_of(agent, PRESETS[preset])).all()


def test_views_of_another_game_are_refused() -> None:
    with pytest.raises(
        ValueError, match="learned does not play table_top or table_top_ship: it plays hoyle"
    ):
        actions_of(policy(), PRESETS["table_top"])
    with pytest.raises(
        ValueError, match="learned does not play hoyle or five_card: it plays table_top"
    ):
        actions_of(policy("table_top"), HOYLE)


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        (PRESETS["five_card"], "target is 61.* it plays hoyle .target 121"),
        (replace(HOYLE, target=61), "target is 61.* it plays hoyle .target 121"),
        (replace(HOYLE, crib_flush_size=4), "crib_flush_size is 4: .* .crib_flush_size 5"),
        (replace(HOYLE, single_count=True), "single_count is True: .* .single_count False"),
        (replace(HOYLE, match_target=5), "match_target is 5: .* .match_target 7"),
    ],
)
def test_other_rules_are_refused(rules: Rules, reason: str) -> None:
    with pytest.raises(ValueError, match=f"learned does not play where {reason}"):
        actions_of(policy(), rules)


def test_house_rules_are_told_from_their_preset(tmp_path: Path) -> None:
    house = Rules.preset("hoyle", flush_size=5)
    path = tmp_path / "house.safetensors"
    policy(house).save(path)
    agent = PolicyNetAgent.load(path)
    assert len(actions_of(agent, house)) == 3
    with pytest.raises(ValueError, match=r"where flush_size is 4: it plays hoyle \(flush_size 5\)"):
        actions_of(agent, HOYLE)


def test_files_whose_header_names_a_preset_alone_are_read(tmp_path: Path) -> None:
    path = saved_but_for(policy(), tmp_path / "old.safetensors", {"rules_fields": None}, {})
    agent = PolicyNetAgent.load(path)
    assert len(actions_of(agent, HOYLE)) == 3
    with pytest.raises(ValueError, match="does not play where target is 61"):
        actions_of(agent, PRESETS["five_card"])


@pytest.mark.parametrize(
    ("about", "tensors", "reason"),
    [
        ({"family": "chess"}, {}, "chess"),
        ({"family": None}, {}, "None"),
        ({"family": "table_top"}, {}, "its rules 'hoyle' are not possible: .*'dealt'"),
        ({"observation_layout": 5}, {}, "trained on another observation of six_card_v0"),
        ({"actions": 26}, {}, "trained on 26 actions of six_card_v0, which has 52"),
        ({"rules": "mine", "rules_fields": None}, {}, "trained under the rules 'mine': its header"),
        ({"version": 7}, {}, "not a policy: expected the format 'crib_env policy' version 1"),
        ({}, {"1.bias": None}, "holds the tensors 0.bias, 0.weight, 1.weight, expected"),
        ({}, {"extra": np.zeros(3)}, "holds the tensors 0.bias, 0.weight, 1.bias, 1.weight, extra"),
        ({}, {"0.weight": np.zeros((HIDDEN, 7))}, r"layer 0 .* \(3, 7\) .* expected \(3, \d+\)"),
        ({}, {"0.weight": np.zeros(HIDDEN)}, r"layer 0 has a weight of shape \(3,\)"),
        ({}, {"0.bias": np.zeros((HIDDEN, 1))}, r"0 .* bias of shape \(3, 1\), expected \(n, "),
        ({}, {"1.weight": np.zeros((52, 5))}, r"layer 1 .* expected \(52, 3\) and \(52,\)"),
        (
            {},
            {"1.weight": np.zeros((26, HIDDEN)), "1.bias": np.zeros(26)},
            r"layer 1 .* \(26, 3\) .* expected \(52, 3\).* there are 52 actions",
        ),
    ],
)
def test_a_file_that_does_not_fit_is_refused(
    about: dict[str, Any], tensors: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    path = saved_but_for(policy(), tmp_path / "x.safetensors", about, tensors)
    with pytest.raises(ValueError, match=rf"x\.safetensors.*{reason}"):
        PolicyNetAgent.load(path)


def test_a_policy_of_no_tensors_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    save_file({}, path, metadata={"crib_env": json.dumps(policy().about)})
    with pytest.raises(ValueError, match=r"holds the tensors none, expected 0\.bias, 0\.weight"):
        PolicyNetAgent.load(path)
    with pytest.raises(ValueError, match="there are no layers"):
        PolicyNetAgent([], policy().about)
