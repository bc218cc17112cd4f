"""Values of every action in self-play, against a slow walk through single deals."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
import torch
from crib_training.learn.deal_batch import DealBatch
from crib_training.learn.self_play import Policy, RunSettings
from crib_training.methods.mmd_tree import Trees

from crib_env.batch import GameBatch
from crib_env.engine.family import family_for
from crib_env.rules import TwoHandRules

FIVE = TwoHandRules.preset("five_card")
DEALS = 6
STARTERS = 42  # unseen by both seats: the unit of mean points


@pytest.fixture(scope="module")
def played() -> Any:
    """Return deals, a policy that is far from uniform, and its agent."""
    torch.manual_seed(7)
    games = DealBatch(FIVE, DEALS, seed=3)
    policy = Policy(games, (16,))
    with torch.no_grad():
        policy.last.weight.normal_(0, 2)
    return games, policy, policy.agent("any", RunSettings(features=None, hidden_sizes=(16,)))


def deal_of(games: DealBatch, lane: int) -> GameBatch:
    """Return a batch of one deal in the state of a lane."""
    family = family_for(FIVE.engine, "expected", "canonical")
    batch = GameBatch(FIVE, 1, episode="deal", family=family)
    batch.states[:] = games.batch.states[lane : lane + 1]
    batch.states["gain"] = 0
    return batch


def outcomes(batch: GameBatch, agent: Any) -> tuple[float, dict[int, float]]:
    """Return the mean points of seat 0 less those of seat 1, and by first action."""
    one = np.array([0])
    view = batch.views(one)
    probabilities = agent.action_probabilities(view)[0]
    found = {}
    for place, card in enumerate(view["hand"][0]):
        if int(view["legal"][0]) >> place & 1:
            after = copy.deepcopy(batch)
            assert after.step(one, np.array([card])) is None
            gain = after.states["gain"][0]
            value = (int(gain[0]) - int(gain[1])) / STARTERS
            after.states["gain"] = 0
            if not after.states["over"][0]:
                value += outcomes(after, agent)[0]
            found[int(card)] = value
    return sum(probabilities[card] * value for card, value in found.items()), found


def discarded(games: DealBatch, trees: Trees) -> tuple[list[DealBatch], list[Any]]:
    """Return the deals before each of the four discards and after them, and the discards."""
    rng = np.random.default_rng(1)
    stages, cards = [games], []
    for _ in range(4):
        cards.append(trees.draw(stages[-1], rng))
        after, _, running = stages[-1].after(stages[-1].lanes, cards[-1])
        assert len(running) == DEALS
        after.observe()
        stages.append(after)
    return stages, cards


def test_pegging_is_valued_as_by_a_walk_card_by_card(played: Any) -> None:
    games, policy, agent = played
    before = games.state().copy()
    trees = Trees(policy, 0.1, 0.5)
    stages, _ = discarded(games, trees)
    values, choices = trees.pegging(stages[4])
    first = choices.advantages[:DEALS].numpy()
    for lane in range(DEALS):
        mean, by_card = outcomes(deal_of(stages[4], lane), agent)
        assert values[lane] == pytest.approx(mean, abs=1e-4)
        sign = 1 - 2 * int(stages[4].movers[lane])
        for card, value in by_card.items():
            assert first[lane, card] == pytest.approx(sign * (value - mean), abs=1e-4)
    assert (games.state() == before).all()  # only copies were played


def test_weights_are_the_chances_to_meet_a_decision(played: Any) -> None:
    """With the mover's own probabilities and no exploration: those of a deal sum to its depth."""
    games, policy, _ = played
    trees = Trees(policy, 0.0, 1.0)
    stages, _ = discarded(games, trees)
    _, found = trees._follow(stages[4], np.ones((DEALS, 2)))
    depths = []
    rng = np.random.default_rng(2)
    for _ in range(300):
        now, depth = stages[4], 0
        while len(now.lanes):
            depth += len(now.lanes)
            now, _, running = now.after(now.lanes, trees.draw(now, rng))
            if len(running):
                now.observe()
        depths.append(depth)
    total = sum(float(part.weights.sum()) for part in found)
    assert total == pytest.approx(np.mean(depths), abs=5 * np.std(depths) / np.sqrt(300) + 1e-6)


@pytest.mark.parametrize("stage", [0, 2])
def test_discards_are_valued_as_by_a_walk_card_by_card(played: Any, stage: int) -> None:
    """Without any value for the pegging: by the mean points of the show alone."""
    games, policy, agent = played
    trees = Trees(policy, 0.1, 0.5)
    stages, cards = discarded(games, trees)
    replies = cards[2:] if stage == 0 else []
    found = trees.discards(stages[stage], replies, lambda after: np.zeros(len(after.lanes)))
    assert len(found.weights) == DEALS * 6  # a first card, then a second after each of five
    for lane in range(DEALS):
        batch = deal_of(stages[stage], lane)
        sign = 1 - 2 * int(stages[stage].movers[lane])
        mean, by_card = show_means(batch, agent, [reply[lane] for reply in replies])
        for card, value in by_card.items():
            assert found.advantages[lane, card].item() == pytest.approx(
                sign * (value - mean), abs=1e-4
            )


def show_means(batch: GameBatch, agent: Any, replies: list[int]) -> tuple[float, dict[int, float]]:
    """Return the mean of the show over a seat's two discards, and that by the first of them."""
    one = np.array([0])
    mover = batch.movers(one)[0]

    def finish(after: GameBatch) -> float:
        for card in replies:
            assert after.step(one, np.array([card])) is None
        gain = after.states["gain"][0]
        return (int(gain[0]) - int(gain[1])) / STARTERS

    def choose(now: GameBatch, left: int) -> tuple[float, dict[int, float]]:
        view = now.views(one)
        probabilities = agent.action_probabilities(view)[0]
        assert now.movers(one)[0] == mover
        found = {}
        for card in view["hand"][0][: view["hand_n"][0]]:
            after = copy.deepcopy(now)
            assert after.step(one, np.array([card])) is None
            found[int(card)] = choose(after, left - 1)[0] if left > 1 else finish(after)
        return sum(probabilities[card] * value for card, value in found.items()), found

    return choose(batch, 2)
