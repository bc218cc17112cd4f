"""`action_probabilities`: what an agent that mixes says of itself, and what others are asked."""

from __future__ import annotations

import numpy as np
import pytest
from crib_agents.adapters.wrappers import PhasedAgent

from crib_env import find_agent
from crib_env.batch import GameBatch
from crib_env.engine.hands.encode import ACTIONS
from crib_env.policy import Actions, Views, action_probabilities
from crib_env.rules import PRESETS

RNG = np.random.default_rng


def met(name: str) -> Views:
    """Return the views of 40 deals as an agent meets them on both sides."""
    games = GameBatch(PRESETS["five_card"], 40, episode="deal", seed=3)
    games.reset()
    views = []
    lanes = games.running()
    while len(lanes):
        views.append(games.views(lanes))
        games.ask(find_agent(name), lanes, RNG(4))
        lanes = games.running(lanes)
    return np.concatenate(views)


def test_random_takes_every_legal_card_as_likely() -> None:
    views = met("random")
    probabilities = action_probabilities(find_agent("random"), views, ACTIONS, RNG(0))
    for view, row in zip(views, probabilities, strict=True):
        legal = [c for i, c in enumerate(view["hand"]) if view["legal"] >> i & 1]
        assert set(np.nonzero(row)[0]) == set(legal)
        assert row[legal] == pytest.approx(1 / len(legal))


def test_an_agent_that_does_not_mix_is_asked() -> None:
    views = met("greedy")
    greedy = find_agent("greedy")
    probabilities = action_probabilities(greedy, views, ACTIONS, RNG(0))
    assert (probabilities.sum(axis=1) == 1).all()
    assert (probabilities.argmax(axis=1) == greedy.act(views, RNG(0))).all()


def test_an_agent_of_two_says_the_chances_of_either() -> None:
    views = met("random")
    both = PhasedAgent(discard="greedy", pegging="random")
    probabilities = action_probabilities(both, views, ACTIONS, RNG(0))
    discarding = views["phase"] == 0
    assert set(probabilities[discarding].max(axis=1)) == {1.0}
    theirs = find_agent("random")
    assert (probabilities[~discarding] == theirs.action_probabilities(views[~discarding])).all()  # type: ignore[attr-defined]


def test_an_agent_that_draws_and_does_not_say_how_is_refused() -> None:
    class Drawing:
        name = "drawing"
        draws = True

        def act(self, views: Views, rng: np.random.Generator) -> Actions:
            raise AssertionError("it is not asked")

    with pytest.raises(ValueError, match="'drawing' draws its choices"):
        action_probabilities(Drawing(), met("greedy"), ACTIONS, RNG(0))
