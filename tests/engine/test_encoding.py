"""`encode` and `observation_layout`: what a network of one's own reads, and what it means."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import crib_env
from checkout import ROOT
from crib_env import ENVIRONMENTS, Game, encode, observation_layout


@pytest.mark.parametrize("name", ENVIRONMENTS)
@pytest.mark.parametrize("features", [None, "lookahead", True])
def test_encode_writes_what_the_environment_shows(name: str, features: Any) -> None:
    env = getattr(crib_env, name).gym_env(opponent="greedy", features=features)
    observation, info = env.reset(seed=1)
    for _ in range(12):
        encoded, masks = encode(env.view(), features)
        assert encoded.dtype == observation.dtype
        assert np.array_equal(encoded[0], observation)
        assert np.array_equal(masks[0], info["action_mask"])
        observation, _, done, _, info = env.step(int(masks[0].argmax()))
        if done:
            observation, info = env.reset()


def test_encode_takes_one_view_or_many() -> None:
    games = [Game("hoyle", seed=seed) for seed in range(5)]
    views = np.array([game.view(game.seat) for game in games])
    observations, masks = encode(views)
    assert observations.shape == (5, 425)
    assert masks.shape == (5, 52)
    one, _ = encode(games[3].view(games[3].seat))
    assert np.array_equal(one[0], observations[3])


@pytest.mark.parametrize("given", [np.zeros(3), np.zeros((2, 425), dtype=np.uint8)])
def test_what_is_no_view_is_refused(given: Any) -> None:
    with pytest.raises(ValueError, match=r"env\.unwrapped\.view\(\)"):
        encode(given)


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_every_slice_has_a_meaning(name: str) -> None:
    layout = observation_layout(name, features=True)
    assert layout.meanings.keys() == layout.keys()
    assert all(meaning.strip() for meaning in layout.meanings.values())
    for row, (part, where) in zip(str(layout).splitlines()[2:], layout.items(), strict=True):
        assert row == f"| `{part}` | {where.start} to {where.stop - 1} | {layout.meanings[part]} |"


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_the_page_of_observations_names_every_feature(name: str) -> None:
    page = (ROOT / "docs" / "observations.md").read_text()
    tables = page.partition("\n## Features\n")[2].partition("\n## ")[0]
    plain, full = (observation_layout(name, features=level) for level in (None, True))
    for feature in list(full)[len(plain) :]:
        assert f"`{feature}`" in tables
