"""`CardNet` scores a row equally at any place; Stable-Baselines3 trains and saves it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from crib_agents.adapters.models import from_sb3, from_torch
from crib_agents.card_net import CardNet
from crib_agents.card_policy import CardPolicy
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import VecNormalize
from torch import nn

from crib_env import observation_layout, six_card_v0
from crib_env.registration import env_module

GAMES = ("six_card_v0", "three_hand_v0", "table_top_v0")


def drawn_net(name: str) -> CardNet:
    torch.manual_seed(1)
    net = CardNet(observation_layout(name, features=True), hidden=12, inner=6)
    for weights in net.parameters():
        nn.init.normal_(weights, std=0.3)
    return net


def observed(name: str, n: int = 40) -> tuple[Any, Any]:
    """Return observations and masks of decisions in the middle of games."""
    envs = env_module(name).vector_env(n, opponent="greedy", features=True)
    observations, info = envs.reset(seed=1)
    for _ in range(3):
        observations, *_, info = envs.step(info["action_mask"].argmax(axis=1))
    return torch.from_numpy(observations), info["action_mask"]


@pytest.mark.parametrize("name", GAMES)
def test_card_net_logits_are_the_scores_of_action_rows(name: str) -> None:
    layout, net = observation_layout(name, features=True), drawn_net(name)
    observations, masks = observed(name)
    with torch.no_grad():
        logits, values = net.logits_and_value(observations)
        for seen, mask, found, value in zip(observations, masks, logits, values, strict=True):
            encoded = torch.relu(net.encode(seen[net.state]))
            context = net.of_state(encoded)
            scores, parts = {}, 0.0
            for row in seen[layout["rows"]].reshape(layout.rows):
                score, part = net.score(row[1:], context)
                if place := int(row[0]):
                    scores[abs(place) - 1] = score * np.sign(place)
                    parts += float(part * np.sign(place))
            legal = mask.nonzero()[0].tolist()
            places = layout.places or [(action,) for action in range(layout.actions)]
            of = [float(sum(scores[place] for place in places[action])) for action in legal]
            assert found[legal].tolist() == pytest.approx([score * float(net.scale.exp()) for score in of], abs=1e-4)
            chances = found[legal].softmax(0).tolist()
            mean = sum(p * score for p, score in zip(chances, of, strict=True))
            assert float(value) == pytest.approx(float(net.base(encoded)) + parts + mean, abs=1e-4)


@pytest.mark.parametrize("name", GAMES)
def test_card_policy_sb3_model_round_trips(name: str, tmp_path: Path) -> None:
    venv = env_module(name).sb3_env(8, opponent="greedy", reward="points", features=True)
    keywords = {"hidden": 12, "inner": 6, "reads_score": False}
    model = MaskablePPO(CardPolicy, venv, n_steps=8, batch_size=32, policy_kwargs=keywords, seed=1)
    before = [weights.clone() for weights in model.policy.parameters()]
    model.learn(64)
    assert all((a != b).any() for a, b in zip(before, model.policy.parameters(), strict=True))
    model.save(tmp_path / "model.zip")
    with pytest.raises(ValueError, match="trust"):
        from_sb3(tmp_path / "model.zip")
    agent, again = from_sb3(model), from_sb3(tmp_path / "model.zip", trust=True)
    views = np.array([venv.batch.view(lane) for lane in range(8)])
    np.testing.assert_array_equal(agent.action_values(views), again.action_values(views))
    observations, masks = np.asarray(venv.reset()), venv.action_masks()
    views = np.array([venv.batch.view(lane) for lane in range(8)])
    chosen, _ = model.predict(observations, action_masks=masks, deterministic=True)
    np.testing.assert_array_equal(agent.act(views, np.random.default_rng(1)), chosen)


@pytest.mark.parametrize("name", GAMES)
def test_card_net_without_score_ignores_it(name: str) -> None:
    layout, (observations, masks) = observation_layout(name, features=True), observed(name)
    torch.manual_seed(1)
    net, other = CardNet(layout, 12, 6, reads_score=False), observations.clone()
    optimizer = torch.optim.Adam(net.parameters(), 0.1)
    logits, value = net.logits_and_value(observations)
    (logits[torch.from_numpy(masks != 0)].sum() + value.sum()).backward()
    optimizer.step()
    for slice_ in ("need", "other_need", "match_score"):
        if slice_ in layout:
            other[:, layout[slice_]] = 1 - other[:, layout[slice_]]
    before, after = net.logits_and_value(observations), net.logits_and_value(other)
    assert torch.equal(before[0], after[0])
    assert torch.equal(before[1], after[1])
    reads = CardNet(layout, 12, 6).logits_and_value
    assert not torch.equal(reads(observations)[1], reads(other)[1])


def test_card_net_with_temperature_keeps_it() -> None:
    layout, (observations, masks) = observation_layout("six_card_v0", True), observed("six_card_v0")
    net = CardNet(layout, 12, 6, temperature=0.25)
    nn.init.zeros_(net.out.weight)
    rows = observations[:, layout["rows"]].reshape(-1, *layout.rows)
    logits = net(observations)
    for found, mask, row in zip(logits.detach(), masks, rows, strict=True):
        sure = {int(one[0]) - 1: float(one[1]) for one in row if one[0]}
        for action in mask.nonzero()[0]:
            assert float(found[action]) == pytest.approx(4 * sure[int(action)], abs=1e-4)
    logits[torch.from_numpy(masks != 0)].sum().backward()
    assert net.scale.grad is None
    for wrong in (0, -1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="temperature must be positive"):
            CardNet(layout, temperature=wrong)


def test_card_policy_without_features_is_refused() -> None:
    with pytest.raises(ValueError, match="features=True"):
        MaskablePPO(CardPolicy, six_card_v0.sb3_env(2))


def test_card_net_scaled_observations_are_refused() -> None:
    venv = VecNormalize(six_card_v0.sb3_env(2, features=True))
    model = MaskablePPO(CardPolicy, venv, n_steps=2, batch_size=4)
    with pytest.raises(ValueError, match="norm_obs=False"):
        model.learn(4)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [("six_card_v0", torch.bfloat16), ("three_hand_v0", torch.float16), ("table_top_v0", torch.bfloat16)],
)
def test_card_net_learns_in_mixed_precision(name: str, dtype: torch.dtype) -> None:
    net, (observations, masks) = drawn_net(name), observed(name)
    exact = net.logits_and_value(observations)
    with torch.autocast("cpu", dtype=dtype):
        logits, value = net.logits_and_value(observations)
    legal = torch.from_numpy(masks != 0)
    assert torch.allclose(logits[legal].float(), exact[0][legal], rtol=0.1, atol=1.0)
    assert torch.allclose(value.float(), exact[1], rtol=0.1, atol=1.0)
    (logits[legal].float().sum() + value.float().sum()).backward()
    assert all(weights.grad is not None for weights in net.parameters())


def test_card_net_without_features_says_where_to_ask_for_them() -> None:
    for name in GAMES:
        with pytest.raises(ValueError, match="give observation_layout, the environment and from_torch"):
            CardNet(observation_layout(name))
    net, (observations, _) = drawn_net("six_card_v0"), observed("six_card_v0")
    for wrong in (observations[:, :425], observations[0]):
        with pytest.raises(ValueError, match=r"of shape \[B, 1160\], got .*425.*|got \[1160\]: "):
            net(wrong)
    views = np.array([six_card_v0.sb3_env(1).batch.view(0)])
    with pytest.raises(ValueError, match="from_torch features=True"):
        from_torch(net).act(views, np.random.default_rng(1))
