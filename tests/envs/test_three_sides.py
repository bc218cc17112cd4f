"""A learner among three sides: rewards, infos and opponents, in the toy game for three."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sides import shares
from toy import toy_v0
from toy.agents import HighCard
from vector_walks import InPython


def walked(opponent: Any, reward: str, episode: str) -> list[Any]:
    """Return what a vector environment of three seats says, with two opponents."""
    env = toy_v0.vector_env(
        8, players=3, opponent=opponent, reward=reward, episode=episode, seat=None
    )
    _, info = env.reset(seed=4)
    rng = np.random.default_rng(4)
    seen: list[Any] = []
    for _ in range(120):
        action = (rng.random(info["action_mask"].shape) * info["action_mask"]).argmax(axis=1)
        obs, rewards, ends, _, info = env.step(action)
        final = info.get("final_info", {})
        seen.append((obs.tolist(), rewards.tolist(), ends.tolist(), [
            final[key][ends].tolist() for key in ("scores", "winner", "skunk", "seat") if final
        ]))  # fmt: skip
    return seen


@pytest.mark.parametrize("episode", ["game", "deal"])
@pytest.mark.parametrize("reward", ["win", "points"])
def test_a_learner_meets_two_opponents_compiled_or_not(reward: str, episode: str) -> None:
    seen = walked(HighCard(), reward, episode)
    assert seen == walked(InPython(HighCard()), reward, episode)
    assert seen == walked([(HighCard(), 1.0), (HighCard(), 1.0)], reward, episode)
    ended = 0
    for _, rewards, ends, final in seen:
        if not final:
            continue
        paid = [one for one, end in zip(rewards, ends, strict=True) if end]
        for made, scores, winner, skunk, seat in zip(paid, *final, strict=True):
            ended += 1
            assert len(scores) == 3
            expected = shares(tuple(scores))
            first = [side for side in range(3) if scores[side] == max(scores)]
            assert winner == (first[0] if len(first) == 1 else -1)
            assert skunk == 0
            if reward == "win":
                assert made == expected[seat]
            elif episode == "deal":
                assert made == scores[seat] - (sum(scores) - scores[seat]) / 2
    assert ended > 20


def test_the_single_environment_says_three_scores() -> None:
    env = toy_v0.gym_env(players=3, opponent=HighCard(), seat=2)
    _, info = env.reset(seed=1, options={"scores": [1, 2, 3]})
    done = False
    while not done:
        assert info["scores"].tolist() == list(env.scores)
        assert info["scores"].shape == (3,)
        _, reward, done, _, info = env.step(int(info["action_mask"].argmax()))
    assert reward == (1.0 if info["winner"] == 2 else -0.5)
    with pytest.raises(ValueError, match="a game of partners"):
        toy_v0.gym_env(players=3, opponent=HighCard(), partner=HighCard())


def test_every_seat_of_three_is_rewarded_by_its_points() -> None:
    env = toy_v0.raw_env(players=3, reward="points", episode="deal")
    for seed in range(10):
        env.reset(seed=seed)
        while env.agents and not env.terminations[env.agent_selection]:
            env.step(env.game.legal_actions[0])
        made = env.scores
        expected = [mine - (sum(made) - mine) / 2 for mine in made]
        assert list(env.rewards.values()) == expected
