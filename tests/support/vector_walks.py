"""Opponents in plain Python, and random walks through a vector environment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

from crib_env import ENVIRONMENTS, find_agent, six_card_v0
from crib_env.registration import env_module

MODULES = [env_module(name) for name in ENVIRONMENTS]
every_module = pytest.mark.parametrize("module", MODULES, ids=lambda module: module.maker.name)

# The forms of an environment with a learner's seat; a batch has three games.
LEARNER_FORMS: dict[str, Callable[..., Any]] = {
    "gym": six_card_v0.gym_env,
    "vector": partial(six_card_v0.vector_env, 3),
    "sb3": partial(six_card_v0.sb3_env, 3),
}
THREE = [("greedy", 1), ("rule_based", 2.0), ("random", 0.5)]  # opponents, with their shares
every_learner_form = pytest.mark.parametrize("form", LEARNER_FORMS)


def lowest(view: Any, rng: np.random.Generator) -> int:
    """The opponent of most tests: deterministic, and needs no other package."""
    bits = int(view["legal"])
    first = (bits & -bits).bit_length() - 1
    return int(view["hand"][first]) if "hand" in view.dtype.names else first


class Lowest:
    """`lowest` as an agent over a batch of views."""

    name = "lowest"

    def act(self, views: Any, rng: np.random.Generator) -> Any:
        return np.array([lowest(view, rng) for view in views], dtype=np.int64)


class InPython:
    """An agent, or the agent of a name, that is not compiled: the batch calls its ``act``."""

    name = "in_python"

    def __init__(self, agent: Any) -> None:
        self.agent = find_agent(agent) if isinstance(agent, str) else agent

    def act(self, views: Any, rng: np.random.Generator) -> Any:
        return self.agent.act(views, rng)


def pick(info: dict[str, Any], rng: np.random.Generator) -> Any:
    """Draw a legal action in every game."""
    noise = rng.random(info["action_mask"].shape)
    return (noise * info["action_mask"]).argmax(axis=1)


def walk(env: Any, seed: int, steps: int) -> Iterator[tuple[Any, ...]]:
    rng = np.random.default_rng(seed)
    _, info = env.reset(seed=seed)
    for _ in range(steps):
        result = env.step(pick(info, rng))
        info = result[-1]
        yield result


def picture(env: Any, seed: int, steps: int) -> list[Any]:
    """Return a vector environment's results along a random walk, as comparable values."""
    seen = []
    for observations, rewards, ends, truncations, info in walk(env, seed, steps):
        final = [None if o is None else o.tobytes() for o in info.get("final_obs", [])]
        seen.append(
            (
                observations.tobytes(),
                rewards.tolist(),
                ends.tolist(),
                truncations.tolist(),
                info["action_mask"].tobytes(),
                final,
                env.batch.seats.tolist(),
            )
        )
    return seen
