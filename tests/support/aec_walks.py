"""Random walks through any registered environment, and an opponent for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from crib_env.engine.entries import entries_of


def lowest_legal(family: Any) -> Callable[[Any, np.random.Generator], int]:
    """Return an opponent for any game: it takes its lowest legal action."""

    def act(view: Any, rng: np.random.Generator) -> int:
        observation = np.zeros((1, family.obs_size), dtype=np.uint8)
        mask = np.zeros((1, family.actions), dtype=np.int8)
        entries_of(family).encode(np.array([view], dtype=family.view), observation, mask)
        return int(mask[0].argmax())

    return act


def over(env: Any) -> bool:
    return not env.agents or all(env.terminations.values())


def legal(env: Any) -> np.ndarray:
    return np.flatnonzero(env.observe(env.agent_selection)["action_mask"])


def walk(env: Any, rng: np.random.Generator, decisions: int) -> Iterator[str]:
    """Play random decisions, yielding before each; an ended episode is followed by the next."""
    for _ in range(decisions):
        if over(env):
            env.reset()
        yield env.agent_selection
        env.step(int(rng.choice(legal(env))))


def trajectory(env: Any, seed: int, decisions: int) -> list[Any]:
    """Return observations, rewards, scores and events along a random walk drawn by ``seed``."""
    seen = []
    for agent in walk(env, np.random.default_rng(seed), decisions):
        observations = [env.observe(other) for other in env.possible_agents]
        seen.append(
            (
                agent,
                [o["observation"].tobytes() + o["action_mask"].tobytes() for o in observations],
                [float(reward) for reward in env.rewards.values()],
                [float(total) for total in env._cumulative_rewards.values()],
                env.scores,
                env.dealer,
                tuple(env.events),
            )
        )
    return seen
