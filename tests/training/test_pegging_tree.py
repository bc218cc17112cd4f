"""`pegging_tree`: targets and drawn decisions equal those of a slow walk of the same deals."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
import torch
from crib_agents.learned import MixedAgent
from crib_training.learn.deep_monte_carlo import pegging_tree
from crib_training.learn.deep_monte_carlo.inputs import inputs_of, one_card_per_rank
from crib_training.learn.deep_monte_carlo.pegging_tree import Followed, cards_loss, follow

from crib_env.arrays import Array, Doubles
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


def first_of(found: Followed) -> Array:
    """Return the place of the first card of each decision."""
    places: Array = found.cards.numpy().argmax(axis=1)
    return places


@dataclass
class Slow:
    """The whole tree of one deal, walked card by card."""

    policy: MixedAgent
    epsilon: float
    points: dict[bytes, tuple[float, float]] = field(default_factory=dict)  # by a card's inputs
    drawn: dict[bytes, float] = field(default_factory=dict)  # frequency, by the first card's inputs

    def walk(self, games: GameBatch, reach: Doubles) -> Doubles:
        """Return mean points by seat; ``reach`` [seat, 2] is by the policy and by uniform play."""
        means = np.zeros(2)
        if not len(games.running()):
            return means
        views = games.views(np.array([0]))
        seat, hand = int(views[0]["seat"]), views[0]["hand"]
        by_rank = self.policy.action_probabilities(views)[0].reshape(13, 4).sum(axis=1)
        cards, _ = one_card_per_rank(views)
        inputs, certain = inputs_of(views, cards)
        if len(cards) > 1:
            own = (1 - self.epsilon) * reach[seat, 0] + self.epsilon * reach[seat, 1]
            self.drawn[inputs[0].tobytes()] = reach[1 - seat, 0] * own
        for (_, place), row, sure in zip(cards, inputs, certain, strict=True):
            then, further = games.copies([0]), reach.copy()
            then.step(np.array([0]), hand[[place]])
            further[seat] *= by_rank[hand[place] >> 2], 1 / len(cards)
            after = then.tally[0, :, 0] + self.walk(then, further)
            self.points[row.tobytes()] = after[seat] - sure, after[1 - seat]
            means += by_rank[hand[place] >> 2] * after
        return means


@pytest.mark.parametrize(("preset", "deals"), [("five_card", 12), ("hoyle", 1)])
def test_follow_agrees_with_a_slow_walk(preset: str, deals: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the means, in every card's targets, and in how often decisions are drawn."""
    temperature, epsilon, times = 0.5, 0.6, 400
    weights = replace(drawn_weights(PRESETS[preset]), temperature=temperature)
    policy, games = MixedAgent([weights]), discarded(preset, deals, seed=4)
    before = games.states.copy()
    rng, net = np.random.default_rng(1), net_of(weights)
    fewer = 0
    for k in range(deals):
        slow = Slow(policy, epsilon)
        means = slow.walk(games.copies([k]), np.ones((2, 2)))
        monkeypatch.setattr(pegging_tree, "RARE", 0.0)
        found = follow(games.copies([k] * times), net, temperature, epsilon, rng)
        inputs, targets = found.inputs[found.cards].numpy(), found.targets[found.cards].numpy()
        points = np.array([slow.points[row.tobytes()] for row in inputs])
        assert found.means == pytest.approx(np.tile(means, (times, 1)), abs=1e-4)
        assert targets == pytest.approx(points, abs=1e-4)
        counts = Counter(row.tobytes() for row in found.inputs[range(len(found.cards)), first_of(found)].numpy())
        assert set(counts) <= set(slow.drawn)
        for key, weight in slow.drawn.items():
            assert counts[key] / times == pytest.approx(weight, abs=5 * (weight * (1 - weight) / times) ** 0.5 + 0.01)
        # Without rare cards: the shares of the others add up to 1.
        monkeypatch.setattr(pegging_tree, "RARE", 0.02)
        few = follow(games.copies([k] * times), net, temperature, epsilon, rng)
        fewer += found.positions - few.positions
        assert few.means.mean(axis=0) == pytest.approx(means, abs=0.04)
        points = np.array([slow.points[row.tobytes()] for row in few.inputs[few.cards].numpy()])
        assert few.targets[few.cards].numpy() == pytest.approx(points, abs=0.5)
    assert fewer > 0
    assert (games.states == before).all()


def test_follow_hides_the_discards() -> None:
    """Other discards change nothing if hidden, and change the inputs if seen."""
    weights, games = drawn_weights(PRESETS["five_card"]), discarded("five_card", 20, seed=7)
    others = games.copies(range(games.n))
    for state in others.states:
        free = [card for card in range(52) if card not in (*state["dealt"], state["starter"])]
        slots = [6 * seat + i for seat in range(2) for i in range(6) if state["discarded"][seat] >> i & 1]
        state["dealt"][slots] = free[: len(slots)]
    for hide in (False, True):
        inputs = [
            follow(each, net_of(weights), WARM, 0.0, np.random.default_rng(1), hide).inputs for each in (games, others)
        ]
        assert torch.equal(*inputs) == hide


def test_cards_loss_is_of_the_differences_and_of_the_points() -> None:
    rng = np.random.default_rng(8)
    errors, decisions = rng.normal(size=(7, 2)).astype(np.float32), np.array([0, 0, 0, 4, 4, 9, 9])
    slow = 0.0
    for one in (0, 4, 9):
        worth = errors[decisions == one] @ [1, -1]
        slow += ((worth - worth.mean()) ** 2).sum() / 7
    slow += pegging_tree.SCALE * (errors**2).mean()
    assert float(cards_loss(torch.from_numpy(errors), torch.from_numpy(decisions))) == pytest.approx(slow)
