"""After an agent has failed, its game is over until the next reset, in every form."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import pytest
from crib_agents.rule_based import RuleBasedAgent

from compiled import NO_ACTION, RAISES, Watched
from crib_env import EpisodeOverError, discard_v0, pegging_v0, six_card_v0, table_top_v0
from crib_env.policy import Act
from vector_walks import lowest


class Asked:
    """Fails in Python: with an error, or with an illegal action."""

    name = "asked"

    def __init__(self, error: BaseException | None) -> None:
        self.error = error
        self.failing = False

    def fail(self, failing: bool) -> None:
        self.failing = failing

    def act(self, views: Any, rng: np.random.Generator) -> Any:
        if self.failing and self.error is not None:
            raise self.error
        actions: Any = np.array([lowest(view, rng) for view in views])
        return np.full_like(actions, NO_ACTION) if self.failing else actions


AGENTS: dict[str, tuple[Callable[[], Any], type[BaseException]]] = {
    "compiled": (Watched, ValueError),
    "illegal": (lambda: Asked(None), ValueError),
    "raises": (lambda: Asked(KeyError("no book move")), KeyError),
    "interrupted": (lambda: Asked(KeyboardInterrupt()), KeyboardInterrupt),
}
ROLES: dict[str, tuple[ModuleType, str, dict[str, Any]]] = {
    "opponent": (six_card_v0, "opponent", {}),
    "opponent where a phase is left out": (pegging_v0, "opponent", {}),
    "pegging_policy": (discard_v0, "pegging_policy", {}),
    "discard_policy": (pegging_v0, "discard_policy", {}),
    "partner": (table_top_v0, "partner", {"players": 4}),
}
FORMS: dict[str, tuple[str, list[int], dict[str, Any]]] = {
    "gym": ("gym_env", [], {}),
    "vector": ("vector_env", [4], {"threads": 1}),
    "vector of threads": ("vector_env", [4], {"threads": 2}),
    "sb3": ("sb3_env", [4], {}),
}


def begin(env: Any, seed: int | None = None) -> None:
    """Reset an environment through its library's methods."""
    if hasattr(env, "reset_infos"):  # Stable-Baselines3's
        env.seed(seed)
        env.reset()
    else:
        env.reset(seed=seed)


def play(env: Any, steps: int) -> list[Any]:
    """Take first legal actions, resetting after the end of an episode; return the messages."""
    seen: list[Any] = []
    for _ in range(steps):
        masks = env.action_masks()
        if masks.any():
            seen.append([np.asarray(one).tolist() for one in env.step(masks.argmax(axis=-1))[:3]])
        else:
            begin(env)
    return seen


@pytest.mark.parametrize(
    ("form", "kind", "role"),
    [
        ("gym", "compiled", "opponent"),
        ("gym", "interrupted", "opponent"),
        ("gym", "raises", "partner"),
        ("gym", "raises", "discard_policy"),
        ("gym", "compiled", "pegging_policy"),
        ("vector", "illegal", "opponent"),
        ("vector", "raises", "opponent where a phase is left out"),
        ("vector", "compiled", "discard_policy"),
        ("vector of threads", "compiled", "opponent"),
        ("vector of threads", "raises", "pegging_policy"),
        ("sb3", "raises", "opponent"),
        ("sb3", "illegal", "opponent"),
    ],
)
def test_opponent_failure_blocks_step_until_reset(form: str, kind: str, role: str) -> None:
    (module, keyword, more), (make, error), (maker, n, how) = ROLES[role], AGENTS[kind], FORMS[form]
    agent = make()
    given = {"opponent": Watched() if kind == "compiled" else "greedy", "seat": None, **more, **how}
    env, fresh = (getattr(module, maker)(*n, **given | {keyword: one}) for one in (agent, make()))
    begin(env, seed=1)
    play(env, 3)
    agent.fail(True)
    # Also in a reset, in which an opponent may begin or the discard policy plays.
    begins = () if role == "pegging_policy" else (lambda: [begin(env) for _ in range(20)],)
    for failing in (lambda: play(env, 60), *begins):
        with pytest.raises(error, match=f"'{agent.name}' failed"):
            failing()
        before = env.batch.states.tobytes()
        for _ in range(2):
            with pytest.raises(EpisodeOverError, match=r"reset\(\)"):
                env.step(0 if form == "gym" else np.zeros(4, dtype=np.int64))
        assert env.batch.states.tobytes() == before
    agent.fail(False)
    for one in (env, fresh):
        begin(one, seed=2)
    assert play(env, 40) == play(fresh, 40)


@pytest.mark.parametrize("role", ["opponent", "pegging_policy"])
def test_compiled_agent_that_raises_blocks_step_until_reset(role: str) -> None:
    module, keyword, _ = ROLES[role]
    agent = Watched()
    env = module.gym_env(**{keyword: agent})
    begin(env, seed=1)
    agent.fail(RAISES)
    with pytest.raises(ValueError, match=r"'watched' failed: no book move"):
        play(env, 60)
    with pytest.raises(ValueError, match="no book move"):
        agent.act(np.array([env.batch.view(0)]), np.random.default_rng(1))
    with pytest.raises(EpisodeOverError, match=r"reset\(\)"):
        env.step(0)
    agent.fail(False)
    begin(env, seed=1)
    assert play(env, 40)


@pytest.mark.parametrize(("kind", "role"), [("compiled", "pegging_policy"), ("raises", "discard_policy")])
def test_aec_phase_policy_failure_blocks_step_until_reset(kind: str, role: str) -> None:
    (module, keyword, _), (make, error) = ROLES[role], AGENTS[kind]
    agent = make()

    def play_out(env: Any) -> list[Any]:
        seen = []
        while not all(env.terminations.values()):
            observation = env.observe(env.agent_selection)
            seen.append(observation["observation"].tobytes())
            env.step(int(observation["action_mask"].argmax()))
        return [*seen, env.scores]

    env, fresh = (module.env(**{keyword: one}, episode="deal") for one in (agent, make()))
    env.reset(seed=1)
    agent.fail(True)
    with pytest.raises(error, match=f"'{agent.name}' failed"):  # it plays in the reset
        play_out(env) if role == "pegging_policy" else env.reset()
    assert env.agents == []
    before = env.game.states.tobytes()
    for looks in (lambda: env.step(0), lambda: env.step(None), env.last):
        with pytest.raises(EpisodeOverError, match=r"reset\(\)"):
            looks()
    assert env.game.states.tobytes() == before
    agent.fail(False)
    for one in (env, fresh):
        one.reset(seed=2)
    assert play_out(env) == play_out(fresh)


def test_step_waits_for_every_thread_when_one_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    env = six_card_v0.vector_env(8, opponent="greedy", threads=4)
    _, info = env.reset(seed=1)
    ended, one_pass = [], type(env.batch._stepper)._one_pass

    def slow(self: Any, batch: Any, opponent: Any, actions: Any, thread: int, *rest: int) -> None:
        if thread == 1:
            raise KeyError("thread 1")
        time.sleep(0.2 * (thread > 1))
        one_pass(self, batch, opponent, actions, thread, *rest)
        ended.append(thread)

    monkeypatch.setattr(type(env.batch._stepper), "_one_pass", slow)
    with pytest.raises(KeyError, match="thread 1"):
        env.step(info["action_mask"].argmax(1))
    assert sorted(ended) == [0, 2, 3]


class Wrong(Watched):
    acts: ClassVar[dict[str, Act]] = {"two_hand": lambda view: 0}


def test_set_opponent_refused_leaves_the_opponents() -> None:
    env = six_card_v0.vector_env(4, opponent=[(Watched(), 1), (Watched(), 1)])
    begin(env, seed=1)
    before = env.batch.opponents.drawn.tolist()
    flat = Watched()
    flat.weights = flat.weights.reshape(2, -1)
    for wrong, error, text in ((Wrong(), TypeError, "view, rng, table, weights"), (flat, ValueError, r"\[K\]")):
        with pytest.raises(error, match=text):
            env.set_opponent(wrong, [0, 1])
    assert env.batch.opponents.drawn.tolist() == before
    assert play(env, 20)


def test_weights_of_other_dtypes_and_strides_are_read_right() -> None:
    env = six_card_v0.gym_env(opponent="greedy")
    begin(env, seed=1)
    views = np.array([env.batch.view(0)])
    agent, rng = RuleBasedAgent(), np.random.default_rng(1)
    before = agent.act(views, rng)
    twice = np.repeat(agent.weights, 2)
    twice[1::2] = np.nan
    for weights in (agent.weights.astype(np.longdouble), twice[::2], np.array(agent.weights).tolist()):
        agent.weights = weights
        assert agent.act(views, rng) == before
