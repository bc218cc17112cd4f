"""`pegging_tree`: what follows each card of a decision, against slow searches of the same deals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from crib_agents.learned import MixedAgent
from crib_training.learn.deep_monte_carlo import pegging_tree
from crib_training.learn.deep_monte_carlo.inputs import one_card_per_rank
from crib_training.learn.deep_monte_carlo.pegging_tree import cards_loss, follow

from crib_env.arrays import Doubles
from crib_env.batch import GameBatch
from crib_env.rules import LARGEST_TARGET, PRESETS
from learned_nets import drawn_weights
from research.distill import net_of

WARM = 3.0  # a temperature at which no card is rare


def discarded(preset: str, deals: int, seed: int) -> GameBatch:
    """Return deals of a preset after the discards, which are the first cards of each hand."""
    rules: Any = PRESETS[preset]
    games = GameBatch(replace(rules, target=LARGEST_TARGET, for_last=0), deals, episode="deal", seed=seed)
    games.reset()
    for _ in range(4):
        games.step(np.arange(deals), games.views(np.arange(deals))["hand"][:, 0])
    return games


def slow_rest(games: GameBatch, policy: MixedAgent) -> Doubles:
    """Return both seats' mean points of the rest of a pegging, by every card of the policy."""
    if not len(games.running()):
        return np.zeros(2)
    means = np.zeros(2)
    for card, chance in enumerate(policy.action_probabilities(games.views(np.array([0])))[0]):
        if chance > 0:
            then = games.copies(np.array([0]))
            then.step(np.array([0]), np.array([card]))
            means += chance * (then.tally[0, :, 0] + slow_rest(then, policy))
    return means


@pytest.mark.parametrize(("preset", "deals"), [("five_card", 12), ("hoyle", 2)])
def test_follow_agrees_with_a_slow_search(preset: str, deals: int) -> None:
    weights = replace(drawn_weights(PRESETS[preset]), temperature=WARM)
    policy, games = MixedAgent([weights]), discarded(preset, deals, seed=4)
    before = games.states.copy()
    found = follow(games, net_of(weights), WARM, 0.0, np.random.default_rng(1))
    assert (games.states == before).all()
    for k in range(deals):
        slow = slow_rest(games.copies(np.array([k])), policy)
        assert found.means[k] == pytest.approx(slow, abs=1e-4)
    views = games.views(np.arange(deals))
    first = [k for k in range(deals) if len({card >> 2 for card in views[k]["hand"][: views[k]["hand_n"]]}) > 1]
    cards, targets = found.cards[-len(first) :], found.targets[-len(first) :]  # every first decision
    for k, there, points in zip(first, cards, targets.numpy(), strict=True):
        seat = int(views[k]["seat"])
        for place in np.flatnonzero(there):
            then = games.copies(np.array([k]))
            then.step(np.array([0]), views["hand"][k : k + 1, place])
            assert not then.tally[0, :, 0].any()  # a first card pegs nothing
            slow = slow_rest(then, policy)
            assert points[place] == pytest.approx([slow[seat], slow[1 - seat]], abs=1e-4)


def test_follow_meets_decisions_as_often_as_play() -> None:
    weights = replace(drawn_weights(PRESETS["five_card"]), temperature=WARM)
    rng, deals = np.random.default_rng(2), 3000
    found = follow(discarded("five_card", deals, seed=5), net_of(weights), WARM, 0.0, rng)
    games, policy = discarded("five_card", deals, seed=5), MixedAgent([weights])
    met = np.zeros(deals)
    while len(running := games.running()):
        cards, _ = one_card_per_rank(games.views(running))
        met[running] += np.bincount(cards[:, 0]) > 1
        games.ask(policy, running, rng)
    assert 2 < met.mean() < found.positions / deals
    assert len(found.inputs) / deals == pytest.approx(met.mean(), abs=5 * met.std() / deals**0.5)


def test_follow_leaves_rare_cards_out_but_behind_a_decision(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = replace(drawn_weights(PRESETS["five_card"]), temperature=0.3)
    found = []
    for rare in (0.0, pegging_tree.RARE):
        monkeypatch.setattr(pegging_tree, "RARE", rare)
        games = discarded("five_card", 400, seed=6)
        found.append(follow(games, net_of(weights), 0.3, 0.1, np.random.default_rng(3)))
    every, few = found
    assert few.positions < 0.9 * every.positions
    assert np.abs(few.means - every.means).max() < 0.5
    assert np.abs(few.means - every.means).mean() < 0.02
    assert all((one.cards.sum(dim=1) > 1).all() for one in found)


def test_follow_hides_the_discards() -> None:
    weights, games = drawn_weights(PRESETS["five_card"]), discarded("five_card", 20, seed=7)
    inputs = []
    for hide in (False, True):
        inputs.append(follow(games, net_of(weights), WARM, 0.0, np.random.default_rng(1), hide).inputs[-10:])
    assert not torch.equal(*inputs)


def test_cards_loss_is_of_the_differences_and_of_the_points() -> None:
    rng = np.random.default_rng(8)
    errors, decisions = rng.normal(size=(7, 2)).astype(np.float32), np.array([0, 0, 0, 4, 4, 9, 9])
    slow = 0.0
    for one in (0, 4, 9):
        worth = errors[decisions == one] @ [1, -1]
        slow += ((worth - worth.mean()) ** 2).sum() / 7
    slow += pegging_tree.SCALE * (errors**2).mean()
    assert float(cards_loss(torch.from_numpy(errors), torch.from_numpy(decisions))) == pytest.approx(slow)
