"""Info dictionaries: the same keys, shapes and types at every reset and step, for libraries."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

import crib_env
from vector_walks import LEARNER_FORMS, every_learner_form, lowest

SINGLE = {
    "action_mask": ((52,), "i1"),
    "scores": ((2,), "i8"),
    "winner": ((), "i8"),
    "skunk": ((), "i8"),
    "seat": ((), "i8"),
    "opponent": ((), "i8"),
    "illegal_action": ((), "i8"),
}
SIDES = {"crib_env/ThreeHand-v0": 3}  # the others have two
IDS = [f"crib_env/{name}" for name in crib_env.ENVIRONMENTS.values()]


def described(info: dict[str, Any]) -> dict[str, Any]:
    """Return the keys, shapes and types that libraries compare."""
    return {key: (value.shape, value.dtype.str[1:]) for key, value in info.items()}


def walk(env: Any, steps: int) -> Any:
    """Yield "reset", "step" or "end", and the info; some actions are illegal."""
    rng = np.random.default_rng(1)
    _, info = env.reset(seed=1)
    yield "reset", info
    for step in range(steps):
        mask = info["action_mask"]
        action = int(rng.choice(np.flatnonzero(mask)))
        *_, done, _, info = env.step(99 if step % 9 == 8 else action)
        yield "end" if done else "step", info
        if done:
            _, info = env.reset()
            yield "reset", info


@pytest.mark.parametrize("gym_id", IDS)
@pytest.mark.parametrize("opponent", ["greedy", lowest, [("greedy", 1), ("random", 1)]])
def test_info_of_a_single_game_has_constant_keys_shapes_and_types(gym_id: str, opponent: Any) -> None:
    env = gymnasium.make(gym_id, opponent=opponent, seat=None)
    expected = SINGLE | {
        "action_mask": ((int(env.action_space.n),), "i1"),  # type: ignore[attr-defined]
        "scores": ((SIDES.get(gym_id, 2),), "i8"),
    }
    seen = set()
    for when, info in walk(env, 60):
        assert described(info) == expected, when
        seen.add(when)
        if when != "end":
            assert (info["winner"], info["skunk"], info["illegal_action"]) == (-1, 0, -1)
        assert tuple(info["scores"]) == env.unwrapped.scores  # type: ignore[attr-defined]
        assert info["seat"] == env.unwrapped.seat  # type: ignore[attr-defined]
        names = env.unwrapped.opponent_names  # type: ignore[attr-defined]
        assert names[info["opponent"]] == env.unwrapped.opponent.name  # type: ignore[attr-defined]
    assert seen == {"reset", "step", "end"}


@every_learner_form
@pytest.mark.parametrize(
    ("action", "reported"), [(99, 99), (-1, -2), (-7, -2), (2**63, 2**63 - 1), (2**64 - 1, 2**63 - 1)]
)
def test_info_separates_illegal_action_from_none(form: str, action: int, reported: int) -> None:
    env = LEARNER_FORMS[form](opponent="greedy")
    env.reset()
    if form == "gym":
        assert env.step(action)[-1]["illegal_action"] == reported
        return
    info = env.step(np.array(3 * [action]))[-1]
    found = info["final_info"]["illegal_action"][0] if form == "vector" else info[0]
    assert (found if form == "vector" else found["illegal_action"]) == reported


@every_learner_form
def test_last_mask_is_empty_after_an_illegal_action(form: str) -> None:
    for masked in (False, True):
        env = LEARNER_FORMS[form](opponent="greedy", mask_in_observation=masked)
        env.reset()
        if form == "gym":
            seen, _, _, _, info = env.step(99)
            lasts, masks = [seen], [info["action_mask"]]
        else:
            info = env.step(np.full(3, 99))[-1]
            lasts = info["final_obs"] if form == "vector" else [one["terminal_observation"] for one in info]
            masks = info["final_info"]["action_mask"] if form == "vector" else []
        assert not any(one.any() for one in masks)
        assert not masked or not any(one["action_mask"].any() for one in lasts)
